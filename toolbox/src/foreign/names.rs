//! Names that models can call foreign tools by.
//!
//! `server__tool`, in letters that every endpoint takes (`A-Z a-z 0-9 _ -`, at most 64). A
//! server's name has no `_`, so the first `__` ends it and two servers never share a name. What
//! has to be replaced or cut is told apart by a piece of the digest of the tool's own name.

use std::collections::BTreeMap;

/// Most characters of a name.
const LONGEST: usize = 64;

/// Hexadecimal digits of the digest that tell like names apart.
const DIGITS: usize = 8;

/// Returns the names of a server's tools, in the order of `tools`.
pub(super) fn names(server: &str, tools: &[&str]) -> Vec<String> {
    let plain: Vec<String> =
        tools.iter().map(|tool| format!("{server}__{}", cleaned(tool))).collect();
    let mut count: BTreeMap<&str, usize> = BTreeMap::new();
    for name in &plain {
        *count.entry(name).or_default() += 1;
    }
    let name = |(tool, name): (&&str, &String)| {
        let fits = name.len() <= LONGEST && count.get(name.as_str()) == Some(&1);
        if fits && name.ends_with(*tool) { name.clone() } else { apart(name, tool) }
    };
    tools.iter().zip(&plain).map(name).collect()
}

/// Replaces what endpoints do not take.
fn cleaned(tool: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' };
    tool.chars().map(plain).collect()
}

/// Cuts a name and adds a piece of the digest of what it stands for.
fn apart(name: &str, tool: &str) -> String {
    let digest = blake3::hash(tool.as_bytes()).to_hex();
    let kept: String = name.chars().take(LONGEST - DIGITS - 1).collect();
    format!("{kept}_{}", &digest[..DIGITS])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_name_says_whose_tool_it_is() {
        assert_eq!(names("fs", &["read_file", "b-2"]), ["fs__read_file", "fs__b-2"]);
        let replaced = names("fs", &["a.b", "a/b", "a_b"]);
        assert!(replaced.iter().all(|name| name.starts_with("fs__a_b")), "{replaced:?}");
        let long = names("fs", &["x".repeat(80).as_str(), &format!("{}y", "x".repeat(79))]);
        assert!(long.iter().all(|name| name.len() == LONGEST), "{long:?}");
        assert_ne!(long[0], long[1]);
        assert!(names("fs", &["读取"])[0].starts_with("fs_____"), "no letter is left");
    }

    proptest! {
        #[test]
        fn every_name_is_one_tools_alone(tools in prop::collection::btree_set(".{1,90}", 1..12)) {
            let tools: Vec<&str> = tools.iter().map(String::as_str).collect();
            let made = names("my-server", &tools);
            let different: std::collections::BTreeSet<&String> = made.iter().collect();
            prop_assert_eq!(different.len(), tools.len());
            for name in &made {
                prop_assert!(name.len() <= LONGEST);
                prop_assert!(name.starts_with("my-server__"));
                let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
                prop_assert!(name.chars().all(plain));
            }
        }
    }
}
