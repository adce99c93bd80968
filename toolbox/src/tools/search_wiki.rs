//! `search_wiki`: looks an entity up in an encyclopedia.
//!
//! The title is taken as written. Nothing is guessed: a forerunner's automatic
//! suggestion answered about another entity and nobody could tell. What is missing
//! comes with suggestions to choose from, what is ambiguous with its options.

use std::sync::Arc;

use std::fmt::Write as _;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use url::Url;
use wildgym_sandbox::web::{AccessLog, Request, Web, WebError};

use crate::error::ToolError;
use crate::footprint::Footprint;
use crate::tool::{CallContext, Category, Output, Tool};

/// Most suggestions for a title that is missing.
const SUGGESTIONS: &str = "5";

/// Most options of an ambiguous title; MediaWiki gives 20 introductions at once.
const OPTIONS: usize = 20;

/// Longest title that MediaWiki knows, in bytes.
const LONGEST_TITLE: usize = 255;

/// Looks an entity up in an encyclopedia.
#[derive(Debug, Default)]
pub struct SearchWiki;

/// Arguments of [`SearchWiki`].
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Title of the article: a person, place, organisation, thing.
    entity: String,
    /// Language of the encyclopedia, such as "en" or "zh". Left out: the language of `entity`.
    #[serde(default)]
    language: Option<String>,
}

impl Tool for SearchWiki {
    const NAME: &'static str = "search_wiki";
    const DESCRIPTION: &'static str = "Look an entity up in Wikipedia. Returns the introduction of \
        its article and the URL (read the rest with `scrape`); for an ambiguous title its possible \
        meanings; for a missing one the nearest articles.";
    const CATEGORY: Category = Category::InformationRetrieval;
    const EXAMPLE: &'static str = r#"{"entity": "Tarrow Sound"}"#;
    type Args = Args;

    fn footprint(&self, _args: &Args) -> Footprint {
        Footprint::none()
    }

    async fn call(&self, context: &Arc<CallContext>, args: Args) -> Result<Output, ToolError> {
        let web = context.sandbox.web.as_ref().ok_or(WebError::NoWeb)?;
        let wiki = Wiki::choose(web, context.now, &context.accesses, &args)?;
        wiki.look_up(args.entity.trim()).await.map(Output::from)
    }
}

/// One encyclopedia, and what it takes to ask it.
struct Wiki<'a> {
    web: &'a Web,
    now: Timestamp,
    log: &'a AccessLog,
    api: Url,
}

impl<'a> Wiki<'a> {
    /// Chooses the encyclopedia and checks the arguments.
    fn choose(
        web: &'a Web,
        now: Timestamp,
        log: &'a AccessLog,
        args: &Args,
    ) -> Result<Self, ToolError> {
        let refuse =
            |reason: String| ToolError::BadArguments { tool: SearchWiki::NAME.to_owned(), reason };
        let entity = args.entity.trim();
        if entity.is_empty() {
            return Err(refuse("`entity` is empty; give the title of an article".to_owned()));
        }
        if entity.len() > LONGEST_TITLE
            || entity.contains(['|', '\n', '[', ']', '{', '}', '<', '>'])
        {
            let hint = "`entity` is no title; give a name, and ask questions of `search_serper`";
            return Err(refuse(hint.to_owned()));
        }
        let known = &web.endpoints().encyclopedia;
        let own = if entity.chars().any(is_chinese) { "zh" } else { "en" };
        let language = args.language.as_deref().unwrap_or(own).to_ascii_lowercase();
        let short = language.split(['-', '_']).next().unwrap_or_default();
        let mut found = known.get(&language).or_else(|| known.get(short));
        if args.language.is_none() {
            // The language was a guess, so any encyclopedia is better than none.
            found = found.or_else(|| known.values().next());
        }
        let api = found.cloned().ok_or_else(|| {
            let languages: Vec<_> = known.keys().map(|name| format!("`{name}`")).collect();
            refuse(if languages.is_empty() {
                "there is no encyclopedia here; use `search_serper`".to_owned()
            } else {
                format!(
                    "there is no encyclopedia in `{language}`; there are {}",
                    languages.join(", ")
                )
            })
        })?;
        Ok(Self { web, now, log, api })
    }

    /// Asks the action API.
    async fn query(&self, parameters: &[(&str, &str)]) -> Result<Value, ToolError> {
        let mut answer = self.ask(parameters).await?;
        Ok(answer["query"].take())
    }

    /// Asks the action API and returns all of its answer.
    async fn ask(&self, parameters: &[(&str, &str)]) -> Result<Value, ToolError> {
        let mut url = self.api.clone();
        url.query_pairs_mut()
            .extend_pairs([("action", "query"), ("format", "json"), ("formatversion", "2")])
            .extend_pairs(parameters);
        let response = self.web.send(Request::get(url), self.now, self.log).await?;
        read(response.status, &response.body)
    }

    async fn look_up(&self, entity: &str) -> Result<String, ToolError> {
        let query = self
            .query(&[
                ("titles", entity),
                ("redirects", "1"),
                ("prop", "extracts|info|pageprops|links"),
                ("inprop", "url"),
                ("explaintext", "1"),
                ("exintro", "1"),
                ("ppprop", "disambiguation"),
                ("plnamespace", "0"),
                ("pllimit", "max"),
            ])
            .await?;
        let page = &query["pages"][0];
        if page["missing"] == true || page["title"].is_null() {
            return self.missing(entity).await;
        }
        let title = page["title"].as_str().unwrap_or(entity);
        let url = page["fullurl"].as_str().unwrap_or_default();
        let mut out = format!("# {title}\nURL: {url}\n");
        if let Some(from) = query["redirects"][0]["from"].as_str() {
            let _ = writeln!(out, "Redirected from: {from}");
        }
        if page["pageprops"].get("disambiguation").is_some() {
            let _ =
                writeln!(out, "\n`{entity}` may mean any of these; ask again with one of them:");
            out.push_str(&self.options(page).await?);
            return Ok(out.trim_end().to_owned());
        }
        let _ = write!(out, "\n{}", page["extract"].as_str().unwrap_or("(no introduction)").trim());
        Ok(out)
    }

    /// Lists what an ambiguous title may mean, each with the first sentence about it; an
    /// option that is ambiguous itself is marked, not followed.
    async fn options(&self, page: &Value) -> Result<String, ToolError> {
        let links = page["links"].as_array().map_or(&[][..], Vec::as_slice);
        let titles: Vec<&str> =
            links.iter().filter_map(|link| link["title"].as_str()).take(OPTIONS).collect();
        if titles.is_empty() {
            return Ok(page["extract"].as_str().unwrap_or_default().to_owned());
        }
        let query = self
            .query(&[
                ("titles", &titles.join("|")),
                ("redirects", "1"),
                ("prop", "extracts|pageprops"),
                ("ppprop", "disambiguation"),
                ("exintro", "1"),
                ("explaintext", "1"),
                ("exsentences", "1"),
                ("exlimit", "max"),
            ])
            .await?;
        let known = query["pages"].as_array().map_or(&[][..], Vec::as_slice);
        // A link may be spelled otherwise than its page, and lead to it by a redirect.
        let changed = |list: &str, title: &str| {
            let all = query[list].as_array().map_or(&[][..], Vec::as_slice);
            let one = all.iter().find(|one| one["from"] == title);
            one.and_then(|one| one["to"].as_str()).unwrap_or(title).to_owned()
        };
        let mut out = String::new();
        for title in &titles {
            let target = changed("redirects", &changed("normalized", title));
            let page = known.iter().find(|page| page["title"] == target.as_str());
            let about = page.and_then(|page| page["extract"].as_str()).map(one_line);
            let again = page.is_some_and(|it| it["pageprops"].get("disambiguation").is_some());
            let about = if again { Some("itself ambiguous".to_owned()) } else { about };
            match about.filter(|about| !about.is_empty()) {
                Some(about) => {
                    let _ = writeln!(out, "- {title}: {about}");
                }
                None => {
                    let _ = writeln!(out, "- {title}");
                }
            }
        }
        if links.len() > titles.len() {
            let _ = writeln!(out, "- … and {} more on the page", links.len() - titles.len());
        }
        Ok(out)
    }

    /// Says that there is no article, and which ones are near.
    async fn missing(&self, entity: &str) -> Result<String, ToolError> {
        let query = self
            .query(&[("list", "search"), ("srsearch", entity), ("srlimit", SUGGESTIONS)])
            .await?;
        let near: Vec<_> = query["search"]
            .as_array()
            .map_or(&[][..], Vec::as_slice)
            .iter()
            .filter_map(|hit| hit["title"].as_str())
            .map(|title| format!("- {title}"))
            .collect();
        if near.is_empty() {
            return Ok(format!(
                "There is no article `{entity}`, and none that mentions it. \
                 Try another spelling, or `search_serper`."
            ));
        }
        Ok(format!(
            "There is no article `{entity}`. Articles that mention it:\n{}",
            near.join("\n")
        ))
    }
}

/// Reads a reply of the action API.
fn read(status: u16, body: &[u8]) -> Result<Value, ToolError> {
    let failed = |what: &str| {
        let hint = if status == 429 || status >= 500 { "; try again" } else { "" };
        Err(ToolError::Failed(format!("the encyclopedia answered {status}: {what}{hint}")))
    };
    let Ok(answer) = serde_json::from_slice::<Value>(body) else {
        return failed("no JSON");
    };
    // Errors are 200 with an `error`; the REST service has `title` and `detail` instead.
    let said = [&answer["error"]["info"], &answer["detail"], &answer["title"]];
    let said = said.into_iter().find_map(Value::as_str);
    if status != 200 || answer.get("error").is_some() {
        return failed(said.unwrap_or("no reason given"));
    }
    if answer.is_object() { Ok(answer) } else { failed("its JSON is no object") }
}

/// Returns whether a character is Chinese.
fn is_chinese(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}')
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::super::web_fixture::Fixture;
    use super::*;

    fn run(arguments: &str) -> Result<String, ToolError> {
        let args: Args = serde_json::from_str(arguments)
            .map_err(|error| ToolError::Failed(error.to_string()))?;
        Fixture::new().run(|web, now, log| {
            Box::pin(async move {
                Wiki::choose(web, now, log, &args)?.look_up(args.entity.trim()).await
            })
        })
    }

    #[test]
    fn an_entity_is_looked_up_as_written() {
        let table = [
            (
                r#"{"entity": "Port Ellery"}"#,
                "# Port Ellery\nURL: https://wiki.test/wiki/Port_Ellery\n\nPort Ellery is a harbour. It lies in the north.",
                "an article",
            ),
            (
                r#"{"entity": "ellery_harbour"}"#,
                "# Port Ellery\nURL: https://wiki.test/wiki/Port_Ellery\nRedirected from: Ellery harbour\n\nPort Ellery is a harbour. It lies in the north.",
                "a redirect is told",
            ),
            (
                r#"{"entity": "云岫港"}"#,
                "# 云岫港\nURL: https://baike.test/wiki/%E4%BA%91%E5%B2%AB%E6%B8%AF\n\n云岫港是一座港口。",
                "the language of the text",
            ),
            (
                r#"{"entity": "Veldt"}"#,
                "# Veldt (disambiguation)\nURL: https://wiki.test/wiki/Veldt_(disambiguation)\nRedirected from: Veldt\n\n`Veldt` may mean any of these; ask again with one of them:\n- Veldt Coast: The Veldt Coast is a coast.\n- Anna Veldt",
                "options, also those without an article",
            ),
            (
                r#"{"entity": "Ellery lighthouse"}"#,
                "There is no article `Ellery lighthouse`. Articles that mention it:\n- Port Ellery",
                "missing, never guessed",
            ),
            (
                r#"{"entity": "Zeppelin"}"#,
                "There is no article `Zeppelin`, and none that mentions it. Try another spelling, or `search_serper`.",
                "unknown",
            ),
        ];
        for (arguments, want, why) in table {
            assert_eq!(run(arguments).unwrap(), want, "{why}");
        }
        assert!(run(r#"{"entity": "Port Ellery", "language": "en-GB"}"#).is_ok(), "a region");
    }

    #[test]
    fn an_ambiguous_option_is_marked_and_not_followed() {
        let got = run(r#"{"entity": "Nested"}"#).unwrap();
        let want = "- Veldt: itself ambiguous\n- Veldt Coast: The Veldt Coast is a coast.";
        assert!(got.ends_with(want), "{got}");
        let got = run(r#"{"entity": "veldt (brig)"}"#).unwrap();
        assert!(
            got.starts_with("There is no article `veldt (brig)`"),
            "an option without one: {got}"
        );
    }

    #[test]
    fn replies_of_every_kind_are_told_apart() {
        let table: [(u16, &str, &str); 6] = [
            (
                200,
                r#"{"error": {"code": "maxlag", "info": "Waiting for a server"}}"#,
                "200: Waiting",
            ),
            (404, r#"{"title": "Not found.", "status": 404}"#, "404: Not found."),
            (429, "<html>Too many requests", "429: no JSON; try again"),
            (503, "{}", "503: no reason given; try again"),
            (200, "", "200: no JSON"),
            (200, "[]", "its JSON is no object"),
        ];
        for (status, body, want) in table {
            let error = read(status, body.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(want), "{body}: {error}");
        }
        assert!(read(200, br#"{"batchcomplete": true}"#).is_ok(), "nothing found is a reply");
    }

    #[test]
    fn bad_arguments_are_named() {
        let long = format!(r#"{{"entity": "{}"}}"#, "x".repeat(300));
        let table = [
            (r#"{"entity": " "}"#, "`entity` is empty"),
            (r#"{"entity": "a|b"}"#, "no title"),
            (&long, "no title"),
            (r#"{"entity": "Tide", "language": "fr"}"#, "there are `en`, `zh`"),
            (r#"{"entity": "Tide", "lang": "fr"}"#, "unknown field `lang`"),
        ];
        for (arguments, want) in table {
            let error = run(arguments).unwrap_err().to_string();
            assert!(error.contains(want), "{arguments}: {error}");
        }
    }
}
