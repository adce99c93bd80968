//! Which calls a fault can hit.
//!
//! A matcher looks at what was asked and at nothing else, so it fits or not whatever came
//! of earlier calls. Arguments that are not JSON fit no pattern of an argument; bad
//! arguments are otherwise calls like any other.

use globset::{Glob, GlobMatcher};
use regex::Regex;
use serde_json::Value;

use super::profile::When;

/// A call, as far as deciding looks at it.
#[derive(Debug, Clone, Copy)]
pub struct Observed<'a> {
    /// Its ingress number.
    pub ingress: &'a str,
    /// The server that offers the tool; `wildgym` for its own tools and those of worlds.
    pub server: &'a str,
    /// Name of the tool, as that server has it.
    pub tool: &'a str,
    /// The arguments as they came: JSON, one hopes.
    pub arguments: &'a str,
}

/// A compiled [`When`].
#[derive(Debug, Clone, Default)]
pub(super) struct Matcher {
    server: Option<GlobMatcher>,
    tool: Option<GlobMatcher>,
    arguments: Vec<(String, Regex)>,
}

impl Matcher {
    /// Compiles a matcher, or says which pattern is none.
    pub(super) fn of(when: &When) -> Result<Self, String> {
        let glob = |field: &str, pattern: Option<&String>| {
            let compile = |pattern: &String| {
                let glob = Glob::new(pattern);
                glob.map(|glob| glob.compile_matcher())
                    .map_err(|error| format!("`match.{field}`: {error}"))
            };
            pattern.map(compile).transpose()
        };
        let argument = |(name, pattern): (&String, &String)| {
            let regex = Regex::new(pattern)
                .map_err(|error| format!("`match.arguments.{name}`: {error}"))?;
            Ok((name.clone(), regex))
        };
        Ok(Self {
            server: glob("server", when.server.as_ref())?,
            tool: glob("tool", when.tool.as_ref())?,
            arguments: when.arguments.iter().map(argument).collect::<Result<_, String>>()?,
        })
    }

    /// Returns whether a call fits: server, tool, and every named argument.
    pub(super) fn fits(&self, call: &Observed<'_>) -> bool {
        let name =
            |glob: Option<&GlobMatcher>, name: &str| glob.is_none_or(|glob| glob.is_match(name));
        name(self.server.as_ref(), call.server)
            && name(self.tool.as_ref(), call.tool)
            && self.fits_arguments(call)
    }

    fn fits_arguments(&self, call: &Observed<'_>) -> bool {
        if self.arguments.is_empty() {
            return true;
        }
        let Ok(Value::Object(given)) = serde_json::from_str(call.arguments) else { return false };
        self.arguments.iter().all(|(name, regex)| match given.get(name) {
            Some(Value::String(text)) => regex.is_match(text),
            Some(other) => regex.is_match(&other.to_string()),
            None => false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn server_tool_and_arguments_must_all_fit() {
        let call = |tool, arguments| Observed { ingress: "1", server: "maps", tool, arguments };
        let routes = call("find_route", r#"{"to": "Tarrow", "hops": 2}"#);
        //     server       tool            argument            fits   why
        let table = [
            (None, None, None, true, "nothing asked, everything fits"),
            (Some("map*"), Some("find_*"), None, true, "globs"),
            (Some("weather"), None, None, false, "another server"),
            (None, Some("find"), None, false, "a glob is for the whole name"),
            (None, None, Some(("to", "^Tar")), true, "a text"),
            (None, None, Some(("hops", "^2$")), true, "another value, as JSON"),
            (None, None, Some(("from", "")), false, "an argument that is missing"),
            (None, Some("find_route"), Some(("to", "x")), false, "all of them must fit"),
        ];
        for (server, tool, argument, want, why) in table {
            let when = When {
                server: server.map(str::to_owned),
                tool: tool.map(str::to_owned),
                arguments: argument
                    .into_iter()
                    .map(|(name, pattern): (&str, &str)| (name.to_owned(), pattern.to_owned()))
                    .collect(),
            };
            assert_eq!(Matcher::of(&when).unwrap().fits(&routes), want, "{why}");
        }
        let when = When { arguments: [("to".into(), ".".into())].into(), ..When::default() };
        let matcher = Matcher::of(&when).unwrap();
        for bad in ["", "{", "[1]", "\"to\""] {
            assert!(!matcher.fits(&call("find_route", bad)), "{bad}: no object, no argument");
        }
    }

    #[test]
    fn a_bad_pattern_is_named() {
        let when = When { tool: Some("a[".into()), ..When::default() };
        assert!(Matcher::of(&when).unwrap_err().starts_with("`match.tool`: "));
        let when = When { arguments: [("q".into(), "(".into())].into(), ..When::default() };
        assert!(Matcher::of(&when).unwrap_err().starts_with("`match.arguments.q`: "));
    }
}
