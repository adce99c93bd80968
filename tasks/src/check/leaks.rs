//! Looks for the answer in what the agent is given.

use std::fmt;

use super::forms::{Forms, Normal};
use super::materials::Material;
use super::pattern::Pattern;
use crate::task::Task;

/// The answer stands where it should not, or does not where it should.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Leak {
    /// It stands in an undeclared place.
    Stands {
        /// The place.
        place: String,
        /// The form in which it stands there.
        form: String,
        /// Some of the text around it.
        excerpt: String,
    },
    /// It stands in the request, where no declaration helps.
    Request {
        /// The variants whose request holds it.
        variants: Vec<String>,
        /// The form in which it stands there.
        form: String,
        /// Some of the text around it.
        excerpt: String,
    },
    /// It does not stand in a declared place.
    Absent {
        /// The place, as declared.
        place: String,
    },
}

impl fmt::Display for Leak {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stands { place, form, excerpt } => write!(
                f,
                "the answer ({form:?}) stands in `{place}` (\"…{excerpt}…\"); take it out, or declare the place in `[[answer.stands]]`"
            ),
            Self::Request { variants, form, excerpt } => write!(
                f,
                "the answer ({form:?}) stands in the request of {} (\"…{excerpt}…\"); reword it, since a request cannot be declared",
                listed(variants)
            ),
            Self::Absent { place } => {
                write!(f, "the answer does not stand in `{place}`, as `[[answer.stands]]` declares")
            }
        }
    }
}

/// Most variants that one message names.
const NAMED: usize = 4;

fn listed(variants: &[String]) -> String {
    let named: Vec<String> = variants.iter().take(NAMED).map(|name| format!("`{name}`")).collect();
    match variants.len().saturating_sub(NAMED) {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

/// Returns where the answer of a task stands undeclared, and the declarations that are
/// wrong. A leak in a request cannot be declared away, and counts once for all variants.
#[must_use]
pub fn leaks(task: &Task, materials: impl IntoIterator<Item = Material>) -> Vec<Leak> {
    let forms = Forms::of(&task.meta.answer);
    let declared = &task.meta.answer.stands;
    let patterns: Vec<_> = declared.iter().map(|one| Pattern::new(&one.place)).collect();
    let mut held = vec![false; patterns.len()];
    let mut requests: Option<(Vec<String>, String, String)> = None;
    let mut leaks = Vec::new();
    for Material { places, texts, .. } in materials {
        let found = texts.iter().find_map(|text| forms.standing_in(&Normal::of(text)));
        let Some((form, excerpt)) = found else { continue };
        let mut excused = false;
        for (pattern, held) in patterns.iter().zip(&mut held) {
            if places.iter().any(|place| pattern.matches(place)) {
                *held = true;
                excused = true;
            }
        }
        let place = places.into_iter().next().unwrap_or_default();
        if let Some(variant) = place.strip_prefix("instruction:") {
            let (variants, ..) = requests.get_or_insert_with(|| (Vec::new(), form, excerpt));
            variants.push(variant.to_owned());
        } else if !excused {
            leaks.push(Leak::Stands { place, form, excerpt });
        }
    }
    if let Some((variants, form, excerpt)) = requests {
        leaks.insert(0, Leak::Request { variants, form, excerpt });
    }
    let absent = declared.iter().zip(held).filter(|(_, held)| !held);
    leaks.extend(absent.map(|(one, _)| Leak::Absent { place: one.place.clone() }));
    leaks
}
