//! Which elements answer to clicks, out of the browser's snapshot of a page.
//!
//! The snapshot numbers nodes in its own way. What goes to the scripts is the way to each
//! element from its document: the index among the elements of its parent, step by step.

use std::collections::HashMap;

use serde_json::Value;

/// As many elements of a document are told.
const MOST: usize = 2_000;

/// The step from an element into its shadow tree.
const SHADOW: i64 = -1;

/// A node's type: an element, and what a document or a shadow tree hangs on.
const ELEMENT: i64 = 1;

/// Returns, by frame, the ways to elements that answer to clicks.
pub(super) fn paths(snapshot: &Value) -> HashMap<String, Vec<Vec<i64>>> {
    let strings = &snapshot["strings"];
    let mut out = HashMap::new();
    for document in snapshot["documents"].as_array().into_iter().flatten() {
        let name = document["frameId"].as_u64().and_then(|at| usize::try_from(at).ok());
        let frame = name.and_then(|at| strings[at].as_str()).unwrap_or_default();
        out.insert(frame.to_owned(), Document::read(&document["nodes"], strings).ways());
    }
    out
}

/// The nodes of a document.
struct Document {
    parents: Vec<i64>,
    /// The step from the parent; nothing for what is no element of the page's own.
    steps: Vec<Option<i64>>,
    clickable: Vec<usize>,
}

impl Document {
    fn read(nodes: &Value, strings: &Value) -> Self {
        let numbers = |key: &str| -> Vec<i64> {
            nodes[key].as_array().into_iter().flatten().filter_map(Value::as_i64).collect()
        };
        let rare = |key: &str| -> Vec<usize> {
            let index = nodes[key]["index"].as_array().into_iter().flatten();
            index.filter_map(|at| usize::try_from(at.as_u64()?).ok()).collect()
        };
        let (parents, kinds) = (numbers("parentIndex"), numbers("nodeType"));
        // What the browser puts into inputs and before or after texts is not the page's.
        let pseudo = rare("pseudoType");
        let mut shadows = HashMap::new();
        let values = nodes["shadowRootType"]["value"].as_array().cloned().unwrap_or_default();
        for (node, kind) in rare("shadowRootType").into_iter().zip(values) {
            let kind = kind.as_u64().and_then(|at| usize::try_from(at).ok());
            shadows.insert(node, kind.and_then(|at| strings[at].as_str()) == Some("open"));
        }
        let mut children: HashMap<i64, i64> = HashMap::new();
        let mut steps = Vec::with_capacity(parents.len());
        for (node, parent) in parents.iter().enumerate() {
            steps.push(match shadows.get(&node) {
                Some(true) => Some(SHADOW),
                Some(false) => None,
                None if kinds.get(node) == Some(&ELEMENT) && !pseudo.contains(&node) => {
                    let next = children.entry(*parent).or_default();
                    *next += 1;
                    Some(*next - 1)
                }
                None => None,
            });
        }
        Self { parents, steps, clickable: rare("isClickable") }
    }

    fn ways(&self) -> Vec<Vec<i64>> {
        self.clickable.iter().take(MOST).filter_map(|&node| self.way(node)).collect()
    }

    /// The way from the document to a node.
    fn way(&self, node: usize) -> Option<Vec<i64>> {
        let mut way = Vec::new();
        let mut at = node;
        loop {
            let parent = *self.parents.get(at)?;
            let Ok(parent) = usize::try_from(parent) else { break };
            way.push(self.steps[at]?);
            at = parent;
        }
        way.reverse();
        (!way.is_empty()).then_some(way)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_way_goes_through_elements_and_open_shadow_trees() {
        // document > html > [text, div > [::before, #shadow(open) > b], input > #shadow(user-agent) > i]
        let snapshot = json!({
            "strings": ["FRAME", "open", "user-agent", "before"],
            "documents": [{
                "frameId": 0,
                "nodes": {
                    "parentIndex": [-1, 0, 1, 1, 3, 3, 5, 1, 7, 8],
                    "nodeType":    [ 9, 1, 3, 1, 1, 11, 1, 1, 11, 1],
                    "pseudoType": { "index": [4], "value": [3] },
                    "shadowRootType": { "index": [5, 8], "value": [1, 2] },
                    "isClickable": { "index": [3, 6, 7, 9] },
                },
            }],
        });
        let want = vec![vec![0, 0], vec![0, 0, SHADOW, 0], vec![0, 1]];
        assert_eq!(paths(&snapshot)["FRAME"], want, "and nothing of the browser's own parts");
        assert!(paths(&json!({})).is_empty());
    }
}
