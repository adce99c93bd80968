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
            Self::Absent { place } => {
                write!(f, "the answer does not stand in `{place}`, as `[[answer.stands]]` declares")
            }
        }
    }
}

/// Returns where the answer of a task stands undeclared, and the declarations that are
/// wrong. A leak in a request cannot be declared away.
#[must_use]
pub fn leaks(task: &Task, materials: impl IntoIterator<Item = Material>) -> Vec<Leak> {
    let forms = Forms::of(&task.meta.answer);
    let declared = &task.meta.answer.stands;
    let patterns: Vec<_> = declared.iter().map(|one| Pattern::new(&one.place)).collect();
    let mut held = vec![false; patterns.len()];
    let mut leaks = Vec::new();
    for Material { places, text } in materials {
        let Some((form, excerpt)) = forms.standing_in(&Normal::of(&text)) else { continue };
        let mut excused = false;
        for (pattern, held) in patterns.iter().zip(&mut held) {
            if places.iter().any(|place| pattern.matches(place)) {
                *held = true;
                excused |= !places.iter().any(|place| place.starts_with("instruction:"));
            }
        }
        if !excused {
            let place = places.into_iter().next().unwrap_or_default();
            leaks.push(Leak::Stands { place, form, excerpt });
        }
    }
    let absent = declared.iter().zip(held).filter(|(_, held)| !held);
    leaks.extend(absent.map(|(one, _)| Leak::Absent { place: one.place.clone() }));
    leaks
}
