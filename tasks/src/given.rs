//! Turns a task and a set of idealised factors into what the agent is given.
//!
//! A pure function of the two: it reads no file, and the order in which factors are
//! named cannot matter, since a variant is a set.
//!
//! The overlays that apply are chosen largest first: a folder that stands for several
//! factors at once wins over the folders of its parts. They are then applied in the
//! order of [`Factor::ALL`]. A whole other `instruction.md` replaces the request, edits
//! change it, appended paragraphs follow it, and the sentence that names tools comes
//! last. Overlays that would decide the same thing twice do not compose: two whole
//! requests, or two overlays that add, replace or remove the same attachment.

use std::collections::{BTreeMap, BTreeSet};

use camino::Utf8PathBuf;

use crate::factor::Factor;
use crate::scenario::Language;
use crate::task::{Overlay, Task};
use crate::variant::Variant;

/// What the agent is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    /// The request, without spaces around it.
    pub instruction: String,
    /// Attachments: path in the workspace to file on the host.
    pub files: BTreeMap<Utf8PathBuf, Utf8PathBuf>,
    /// Those of the attachments that are shown with the request, in the task's order.
    pub pictures: Vec<Utf8PathBuf>,
}

/// Why a variant cannot be made. A task that was loaded makes all of its own.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ComposeError {
    /// The task has no such factor.
    #[error("the task has no overlay for `{0}`")]
    NoOverlay(Factor),
    /// Two overlays replace the whole request.
    #[error("`{0}` and `{1}` both replace the whole request")]
    TwoInstructions(String, String),
    /// Two overlays decide over one attachment.
    #[error("`{0}` and `{1}` both add, replace or remove `{2}`")]
    SameFile(String, String, Utf8PathBuf),
    /// The text of an edit stands in the request never, or more than once.
    #[error("`{overlay}`: the text of edit {index} stands {count} times in the request, not once")]
    Edit {
        /// Name of the overlay's folder.
        overlay: String,
        /// Position of the edit in its file, from 0.
        index: usize,
        /// How often the text stands there.
        count: usize,
    },
}

/// The parts of a task that decide what is given.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ingredients<'a> {
    pub(crate) instruction: &'a str,
    pub(crate) language: Language,
    pub(crate) files: &'a BTreeMap<Utf8PathBuf, Utf8PathBuf>,
    pub(crate) overlays: &'a BTreeMap<BTreeSet<Factor>, Overlay>,
}

impl Task {
    /// Returns what the agent is given in a variant.
    pub fn given(&self, variant: &Variant) -> Result<Given, ComposeError> {
        let Self { meta, instruction, files, overlays, .. } = self;
        let language = meta.language;
        let mut given = Ingredients { instruction, language, files, overlays }.compose(variant)?;
        // What a variant takes away is not shown either.
        let shown = |path: &&Utf8PathBuf| given.files.contains_key(*path);
        given.pictures = meta.pictures.iter().filter(shown).cloned().collect();
        Ok(given)
    }

    /// Returns all variants of the task, the full one first.
    #[must_use]
    pub fn variants(&self) -> Vec<Variant> {
        Variant::all_of(&self.meta.factors)
    }
}

impl Ingredients<'_> {
    /// Applies the overlays of a variant.
    pub(crate) fn compose(&self, variant: &Variant) -> Result<Given, ComposeError> {
        let chosen = self.chosen(variant)?;
        let (instruction, files) = (self.request(&chosen)?, self.attachments(&chosen)?);
        Ok(Given { instruction, files, pictures: Vec::new() })
    }

    /// Chooses the overlays that together take away exactly the factors of `variant`.
    fn chosen(&self, variant: &Variant) -> Result<Vec<(String, &Overlay)>, ComposeError> {
        let mut left: BTreeSet<Factor> = variant.factors().collect();
        let mut sets: Vec<_> = self.overlays.iter().collect();
        sets.sort_by_key(|(set, _)| std::cmp::Reverse(set.len()));
        let mut chosen = BTreeMap::new();
        for (set, overlay) in sets {
            if !set.is_empty() && set.is_subset(&left) {
                left.retain(|factor| !set.contains(factor));
                chosen.insert(set, overlay);
            }
        }
        match left.first() {
            Some(factor) => Err(ComposeError::NoOverlay(*factor)),
            None => Ok(chosen.into_iter().map(|(set, overlay)| (name(set), overlay)).collect()),
        }
    }

    fn request(&self, chosen: &[(String, &Overlay)]) -> Result<String, ComposeError> {
        let mut whole =
            chosen.iter().filter_map(|(name, overlay)| Some((name, overlay.instruction.as_ref()?)));
        let first = whole.next();
        if let (Some((first, _)), Some((second, _))) = (first, whole.next()) {
            return Err(ComposeError::TwoInstructions(first.clone(), second.clone()));
        }
        let mut text = first.map_or(self.instruction, |(_, text)| text.as_str()).trim().to_owned();
        for (overlay, change) in chosen {
            for (index, edit) in change.meta.edits.iter().enumerate() {
                let count = text.matches(&edit.find).count();
                if count != 1 {
                    return Err(ComposeError::Edit { overlay: overlay.clone(), index, count });
                }
                text = text.replacen(&edit.find, &edit.replace, 1);
            }
        }
        for paragraph in chosen.iter().filter_map(|(_, overlay)| overlay.meta.append.as_ref()) {
            text = format!("{}\n\n{}", text.trim_end(), paragraph.trim());
        }
        let mut tools: Vec<&str> = Vec::new();
        for tool in chosen.iter().flat_map(|(_, overlay)| &overlay.meta.tools) {
            if !tools.contains(&tool.as_str()) {
                tools.push(tool);
            }
        }
        if !tools.is_empty() {
            text = format!("{}\n\n{}", text.trim_end(), tools_sentence(self.language, &tools));
        }
        Ok(text.trim().to_owned())
    }

    fn attachments(
        &self,
        chosen: &[(String, &Overlay)],
    ) -> Result<BTreeMap<Utf8PathBuf, Utf8PathBuf>, ComposeError> {
        let mut files = self.files.clone();
        let mut decided: BTreeMap<&Utf8PathBuf, &str> = BTreeMap::new();
        for (name, overlay) in chosen {
            for path in overlay.meta.remove.iter().chain(overlay.files.keys()) {
                if let Some(other) = decided.insert(path, name) {
                    let (a, b) = (other.to_owned(), name.clone());
                    return Err(ComposeError::SameFile(a, b, path.clone()));
                }
            }
            for path in &overlay.meta.remove {
                files.remove(path);
            }
            files.extend(overlay.files.clone());
        }
        Ok(files)
    }
}

/// Returns the name of an overlay's folder: its factors joined by `+`.
pub(crate) fn name(set: &BTreeSet<Factor>) -> String {
    set.iter().map(|factor| factor.name()).collect::<Vec<_>>().join("+")
}

/// Writes the sentence that names the tools needed.
fn tools_sentence(language: Language, tools: &[&str]) -> String {
    let ticked: Vec<_> = tools.iter().map(|tool| format!("`{tool}`")).collect();
    match (language, ticked.as_slice()) {
        (Language::Zh, all) => format!("需要使用的工具：{}。", all.join("、")),
        (Language::En, [one]) => format!("The tool needed for this is {one}."),
        (Language::En, [most @ .., last]) => {
            format!("The tools needed for this are {} and {last}.", most.join(", "))
        }
        (Language::En, []) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::task::{Edit, OverlayMeta};

    fn set(factors: &[Factor]) -> BTreeSet<Factor> {
        factors.iter().copied().collect()
    }

    fn edit(find: &str, replace: &str) -> OverlayMeta {
        let edits = vec![Edit { find: find.to_owned(), replace: replace.to_owned() }];
        OverlayMeta { edits, ..OverlayMeta::default() }
    }

    fn overlays() -> BTreeMap<BTreeSet<Factor>, Overlay> {
        let of = |meta| Overlay { meta, ..Overlay::default() };
        let files = BTreeMap::from([("clean.csv".into(), "/ideal/clean.csv".into())]);
        BTreeMap::from([
            (
                set(&[Factor::ToolDiscovery]),
                of(OverlayMeta { tools: vec!["a".into(), "b".into()], ..OverlayMeta::default() }),
            ),
            (set(&[Factor::Ambiguity]), of(edit("soon", "on Monday"))),
            (
                set(&[Factor::Bias]),
                of(OverlayMeta { append: Some("It is blue.".into()), ..edit("red", "blue") }),
            ),
            (
                set(&[Factor::DirtyData]),
                Overlay {
                    meta: OverlayMeta {
                        remove: vec!["dirty.csv".into()],
                        tools: vec!["b".into(), "c".into()],
                        ..OverlayMeta::default()
                    },
                    files,
                    instruction: None,
                },
            ),
            (
                set(&[Factor::Ambiguity, Factor::Bias]),
                Overlay { instruction: Some("Both at once.\n".into()), ..Overlay::default() },
            ),
        ])
    }

    fn compose(language: Language, factors: &[Factor]) -> Result<Given, ComposeError> {
        let files = BTreeMap::from([("dirty.csv".into(), "/files/dirty.csv".into())]);
        Ingredients {
            instruction: "Find the red ship soon.\n",
            language,
            files: &files,
            overlays: &overlays(),
        }
        .compose(&Variant::ideal(factors.iter().copied()))
    }

    #[test]
    fn overlays_compose() {
        use Factor::{Ambiguity, Bias, DirtyData, ToolDiscovery};
        let table: [(Language, &[Factor], &str, &str, &str); 7] = [
            (Language::En, &[], "Find the red ship soon.", "dirty.csv", "the wild"),
            (Language::En, &[Ambiguity], "Find the red ship on Monday.", "dirty.csv", "an edit"),
            (
                Language::En,
                &[Bias],
                "Find the blue ship soon.\n\nIt is blue.",
                "dirty.csv",
                "append",
            ),
            (Language::En, &[Bias, Ambiguity], "Both at once.", "dirty.csv", "the combined wins"),
            (
                Language::En,
                &[ToolDiscovery],
                "Find the red ship soon.\n\nThe tools needed for this are `a` and `b`.",
                "dirty.csv",
                "tools",
            ),
            (
                Language::Zh,
                &[DirtyData, ToolDiscovery],
                "Find the red ship soon.\n\n需要使用的工具：`a`、`b`、`c`。",
                "clean.csv",
                "tools of both, each once; files",
            ),
            (
                Language::En,
                &[Bias, DirtyData, Ambiguity],
                "Both at once.\n\nThe tools needed for this are `b` and `c`.",
                "clean.csv",
                "a combined one beside a single one",
            ),
        ];
        for (language, factors, instruction, file, why) in table {
            let given = compose(language, factors).unwrap();
            assert_eq!(given.instruction, instruction, "{why}");
            assert_eq!(given.files.keys().collect::<Vec<_>>(), [file], "{why}");
        }
        assert_eq!(
            compose(Language::En, &[Factor::Events]),
            Err(ComposeError::NoOverlay(Factor::Events))
        );
    }

    proptest! {
        /// Whatever order the factors are named in, and however often, the result is one.
        #[test]
        fn order_of_naming_does_not_matter(
            factors in Just(vec![Factor::ToolDiscovery, Factor::Ambiguity, Factor::Bias, Factor::DirtyData])
                .prop_shuffle(),
            count in 0_usize..5,
        ) {
            let named = &factors[..count];
            let mut sorted = named.to_vec();
            sorted.sort_unstable();
            let mut twice = named.to_vec();
            twice.extend(named);
            prop_assert_eq!(compose(Language::En, named), compose(Language::En, &sorted));
            prop_assert_eq!(compose(Language::En, &twice), compose(Language::En, &sorted));
        }
    }
}
