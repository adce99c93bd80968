//! What a person would see of a page: its text without ids, and what can be acted on.
//!
//! An observation marks in its text what can be acted on (`[12] link "Fares" → …`). Here a
//! mark becomes what is seen of it: the name of a link or button, name and value of a field.
//! Marks are found by the elements that they stand for, so what a page itself writes in
//! brackets stays, and what it writes like a mark, which an observation escapes, is as written.

use std::collections::BTreeMap;

use wildgym_sandbox::browser::{Element, Observation, Scroll};

/// A page, as a person sees it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Seen {
    /// Its address.
    pub(super) url: String,
    /// What can be read in the window.
    pub(super) text: String,
    /// What can be acted on.
    pub(super) elements: Vec<Element>,
    /// Which part of it the window shows.
    pub(super) scroll: Scroll,
    /// Files that came into the workspace.
    pub(super) downloads: Vec<String>,
}

impl Seen {
    /// Looks at an observation.
    pub(super) fn of(page: &Observation) -> Self {
        Self {
            url: page.url.clone(),
            text: unmarked(page),
            elements: page.elements.clone(),
            scroll: page.scroll,
            downloads: page.downloads.clone(),
        }
    }
}

/// Returns the text of a page with what is seen in place of marks.
fn unmarked(page: &Observation) -> String {
    let elements: BTreeMap<u32, &Element> =
        page.elements.iter().map(|element| (element.id, element)).collect();
    let mut out = String::new();
    let mut rest = page.text.as_str();
    while let Some(at) = rest.find('[') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let id = rest[1..].split(']').next().and_then(|id| id.parse().ok());
        let escaped = id.is_some() && out.ends_with('\\');
        if escaped {
            out.pop();
        }
        let found = id.filter(|_| !escaped).and_then(|id: u32| elements.get(&id));
        let found = found.and_then(|element| Some((element, mark(element, rest)?)));
        let Some((element, end)) = found else {
            out.push('[');
            rest = &rest[1..];
            continue;
        };
        out.push_str(&shown(element));
        rest = &rest[end..];
    }
    out.push_str(rest);
    out
}

/// Returns how long the mark of an element is, with which a text begins; none where it
/// begins with something else.
fn mark(element: &Element, text: &str) -> Option<usize> {
    let mut rest = text.strip_prefix(&format!("[{}] {}", element.id, element.role))?;
    if !element.name.is_empty() {
        rest = unquoted(rest.strip_prefix(' ')?)?;
    }
    if element.value.as_ref().is_some_and(|value| *value != element.name) {
        if let Some(after) = rest.strip_prefix(" → ") {
            rest = &after[after.find(char::is_whitespace).unwrap_or(after.len())..];
        } else if let Some(after) = rest.strip_prefix(" = ") {
            rest = unquoted(after).unwrap_or(after);
        }
    }
    if !element.states.is_empty() {
        let states = format!(" ({})", element.states.join(", "));
        rest = rest.strip_prefix(&states).unwrap_or(rest);
    }
    if !element.options.is_empty()
        && let Some(mut after) = rest.strip_prefix(" {options: ")
    {
        while let Some(next) = unquoted(after) {
            after = next.strip_prefix(", ").unwrap_or(next);
        }
        rest = after.split_once('}').map_or(after, |(_, after)| after);
    }
    Some(text.len() - rest.len())
}

/// Returns what follows on a text in quotes, with which a text begins.
fn unquoted(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('"')?;
    let mut escaped = false;
    let end = inner.find(|letter| {
        let ends = letter == '"' && !escaped;
        escaped = letter == '\\' && !escaped;
        ends
    })?;
    Some(&inner[end + 1..])
}

/// Writes what is seen of an element.
fn shown(element: &Element) -> String {
    let value = element.value.as_deref().filter(|value| *value != element.name);
    let mut text = match (value, element.role.as_str()) {
        (None, _) | (_, "link") => element.name.clone(),
        (Some(value), _) if element.name.is_empty() => value.to_owned(),
        (Some(value), _) => format!("{}: {value}", element.name),
    };
    if element.states.iter().any(|state| state == "checked") {
        text.push_str(" (checked)");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn element(id: u32, role: &str, name: &str, value: Option<&str>) -> Element {
        let value = value.map(str::to_owned);
        let (role, name) = (role.to_owned(), name.to_owned());
        Element { id, role, name, value, shown: true, ..Element::default() }
    }

    #[test]
    fn marks_become_what_is_seen_of_them() {
        let menu = Element {
            options: vec!["Lund".into(), "Moss {old}".into()],
            states: vec!["required".into()],
            ..element(14, "combobox", "Port", Some("Lund"))
        };
        let ticked =
            Element { states: vec!["checked".into()], ..element(15, "checkbox", "News", None) };
        let long = "x".repeat(200);
        let page = Observation {
            elements: vec![
                element(10, "link", "The \"Sound\"", Some("https://port.test/a")),
                element(11, "button", "Go", None),
                element(12, "textbox", "Name", Some("Ann")),
                menu,
                ticked,
                element(16, "textbox", "", Some(&long)),
            ],
            text: format!(
                "# Ports\n| [10] link \"The \\\"Sound\\\"\" → https://port.test/a | 3.2 [m] |\n\
                 [11] button \"Go\" now \\[99] link \"No\", \\[11] button \"Go\"\n[12] textbox \"Name\" = \"Ann\"\n\
                 [14] combobox \"Port\" = \"Lund\" (required) {{options: \"Lund\", \"Moss {{old}}\"}} end\n\
                 [15] checkbox \"News\" (checked)\n[16] textbox = \"{}…\" ok",
                "x".repeat(159)
            ),
            notices: vec!["a dialog said `downloaded `c.csv` (1 bytes)`".into()],
            downloads: vec!["a b.csv".into()],
            ..Observation::default()
        };
        let seen = Seen::of(&page);
        let want = format!(
            "# Ports\n| The \"Sound\" | 3.2 [m] |\nGo now [99] link \"No\", [11] button \"Go\"\nName: Ann\n\
             Port: Lund end\nNews (checked)\n{long} ok"
        );
        assert_eq!(seen.text, want);
        assert_eq!(seen.downloads, ["a b.csv"]);
    }
}
