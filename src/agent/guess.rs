//! An agent without a model that makes an effort.
//!
//! It searches the web with the words of the request, reads the first hits and every
//! attachment, and answers with what it saw most often of the kind that the request seems to
//! ask for: a date, a number or a name. It knows nothing of the reference or its kind, and
//! works nothing out. A task that it passes needs no work, only a look at the right page.

mod candidates;
mod query;

use std::collections::BTreeSet;
use std::sync::LazyLock;

use futures::future::BoxFuture;
use regex::Regex;
use serde_json::{Value, json};
use wildgym_toolbox::{Call, Reply};

use super::{Agent, Broken, Ending, Episode};
use crate::record::{Limit, Outcome};
use candidates::Kind;

/// Most pages that it reads.
const PAGES: usize = 8;

/// Endings of the files that are workbooks.
const WORKBOOKS: [&str; 7] = [".xlsx", ".xlsm", ".xlsb", ".xls", ".ods", ".csv", ".tsv"];

/// Looks things up and guesses.
#[derive(Debug, Clone, Copy, Default)]
pub struct Guess;

impl Guess {
    async fn look(episode: &mut Episode) -> Result<Ending, Broken> {
        let request = episode.request.clone();
        episode.told("user", "task", &request.instruction)?;
        let mut asked = Vec::new();
        for query in query::searches(&request.instruction) {
            asked.push(("search_serper", json!({ "query": query })));
        }
        for entity in query::entities(&request.instruction) {
            asked.push(("search_wiki", json!({ "entity": entity })));
        }
        for path in &request.attachments {
            let is_workbook = WORKBOOKS.iter().any(|end| path.to_lowercase().ends_with(end));
            let tool =
                if is_workbook { "extract_excel_content" } else { "extract_document_content" };
            asked.push((tool, json!({ "document_path": path })));
        }
        let Some(found) = round(episode, asked).await? else { return Ok(no_round()) };
        let scrape = |url: String| ("scrape", json!({ "url": url }));
        let pages = addresses(&found).into_iter().take(PAGES).map(scrape).collect();
        let Some(read) = round(episode, pages).await? else { return Ok(no_round()) };
        let seen = found.iter().chain(&read).filter(|reply| reply.error.is_none());
        let texts: Vec<&str> = seen.map(|reply| reply.text.as_str()).collect();
        let kind = Kind::asked_for(&request.instruction);
        let mut rng = episode.seed.rng();
        let answer = candidates::most_frequent(kind, &request.instruction, &texts, &mut rng);
        Ok(Ending::answered(answer.unwrap_or_default()))
    }
}

impl Agent for Guess {
    fn run<'a>(&'a self, episode: &'a mut Episode) -> BoxFuture<'a, Result<Ending, Broken>> {
        Box::pin(Self::look(episode))
    }
}

/// Makes the calls whose tools are there; none where no round is left.
async fn round(
    episode: &mut Episode,
    asked: Vec<(&str, Value)>,
) -> Result<Option<Vec<Reply>>, Broken> {
    if !episode.next_round() {
        return Ok(None);
    }
    let round = episode.rounds;
    let catalog = episode.toolbox.catalog();
    let calls: Vec<Call> = asked
        .into_iter()
        .filter(|(tool, _)| catalog.entry(tool).is_ok())
        .enumerate()
        .map(|(index, (tool, arguments))| Call {
            id: format!("call_{round}_{index}"),
            name: tool.to_owned(),
            arguments: arguments.to_string(),
        })
        .collect();
    if calls.is_empty() {
        return Ok(Some(Vec::new()));
    }
    episode.call(calls).await.map(Some)
}

fn no_round() -> Ending {
    Ending::without(Outcome::Limit(Limit::Rounds), "no round left")
}

/// Returns the addresses in replies, the first hits of every search before the second.
fn addresses(replies: &[Reply]) -> Vec<String> {
    static ADDRESS: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r#"https?://[^\s<>"'()\[\]，。；、）》]+"#).ok());
    let Some(pattern) = ADDRESS.as_ref() else { return Vec::new() };
    let of = |reply: &Reply| -> Vec<String> {
        let found = pattern.find_iter(&reply.text);
        found.map(|address| address.as_str().trim_end_matches(['.', ',', ';']).to_owned()).collect()
    };
    let by_search: Vec<Vec<String>> =
        replies.iter().filter(|reply| reply.call.name.starts_with("search_")).map(of).collect();
    let most = by_search.iter().map(Vec::len).max().unwrap_or(0);
    let mut seen = BTreeSet::new();
    let in_turn =
        (0..most).flat_map(|place| by_search.iter().filter_map(move |list| list.get(place)));
    in_turn.filter(|address| seen.insert((*address).clone())).cloned().collect()
}
