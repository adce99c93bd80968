//! What a driven episode has spent, and the exchanges that are still to be written.
//!
//! It is kept apart from the episode, which a round of calls has to itself while it lasts.
//! Everything in it gets into the episode by [`Book::post`] and [`Book::write`].

use std::collections::VecDeque;

use super::super::noted::Noted;
use super::super::{Broken, Ending, Episode};
use crate::record::{Limit, Outcome, Usage};

/// One exchange, from when it was asked for until it is written.
#[derive(Debug)]
struct Entry {
    round: u32,
    ended: bool,
    /// What there is to write of it, once it has ended.
    noted: Option<Noted>,
}

/// What was spent and is to be written.
#[derive(Debug, Default)]
pub(super) struct Book {
    /// Rounds that have begun.
    pub(super) begun: u32,
    /// Whether the program asks the model that it was given.
    asks: bool,
    /// The round that calls belong to: that of the exchange written last.
    of_calls: u32,
    /// Tokens of exchanges that the episode does not know of yet.
    usage: Usage,
    entries: VecDeque<Entry>,
}

impl Book {
    /// Says which limit stands in the way of a request to the model; none where it may be
    /// sent.
    pub(super) fn forbids_ask(
        &self,
        limits: (Option<u32>, Option<u64>),
        spent: u64,
    ) -> Option<Ending> {
        self.forbids(limits, spent, true)
    }

    /// The same for a round of calls. A program that asks for no model here has as many rounds
    /// as rounds of calls.
    pub(super) fn forbids_calls(
        &self,
        limits: (Option<u32>, Option<u64>),
        spent: u64,
    ) -> Option<Ending> {
        self.forbids(limits, spent, !self.asks)
    }

    fn forbids(
        &self,
        (rounds, tokens): (Option<u32>, Option<u64>),
        spent: u64,
        begins: bool,
    ) -> Option<Ending> {
        let spent = spent + self.usage.total();
        if tokens.is_some_and(|limit| spent >= limit) {
            let detail = format!("{spent} tokens used");
            return Some(Ending::without(Outcome::Limit(Limit::Tokens), detail));
        }
        if begins && rounds.is_some_and(|limit| self.begun >= limit) {
            return Some(Ending::without(Outcome::Limit(Limit::Rounds), "no round left"));
        }
        None
    }

    /// Begins the round of a request, and returns its number.
    pub(super) fn ask(&mut self) -> u32 {
        self.asks = true;
        self.begun += 1;
        self.entries.push_back(Entry { round: self.begun, ended: false, noted: None });
        self.begun
    }

    /// Begins a round of calls, and returns the number of the round that they belong to.
    pub(super) fn call(&mut self) -> u32 {
        if !self.asks {
            self.begun += 1;
            self.of_calls = self.begun;
        }
        if self.of_calls == 0 { self.begun } else { self.of_calls }
    }

    /// Takes down how the exchange of a round ended.
    pub(super) fn ended(&mut self, round: u32, noted: Option<Noted>, usage: Usage) {
        self.usage.add(usage);
        if let Some(entry) = self.entries.iter_mut().find(|entry| entry.round == round) {
            (entry.ended, entry.noted) = (true, noted);
        }
    }

    /// Has the episode know what was spent.
    pub(super) fn post(&mut self, episode: &mut Episode) {
        episode.rounds = self.begun;
        episode.usage.add(std::mem::take(&mut self.usage));
    }

    /// Writes what has ended, in the order in which it was asked for, up to the first that has
    /// not; with `all` what comes after that too.
    pub(super) fn write(&mut self, episode: &mut Episode, all: bool) -> Result<(), Broken> {
        let mut at = 0;
        while let Some(entry) = self.entries.get(at) {
            if !entry.ended {
                if !all {
                    break;
                }
                at += 1;
                continue;
            }
            let entry = self.entries.remove(at);
            if let Some((round, noted)) = entry.and_then(|entry| Some((entry.round, entry.noted?)))
            {
                noted.append(episode.transcript())?;
                self.of_calls = round;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_round_begins_that_the_limits_do_not_allow() {
        let used = |input| Usage { input, ..Usage::default() };
        let end = |book: &Book, limits| book.forbids_ask(limits, 5).map(|end| end.outcome);
        let mut book = Book::default();
        assert_eq!((book.call(), book.call()), (1, 2), "rounds of calls are rounds");
        let limit = (Some(3), Some(9));
        assert_eq!(end(&book, limit), None);
        assert_eq!(book.ask(), 3);
        assert_eq!(end(&book, limit), Some(Outcome::Limit(Limit::Rounds)), "though none ended");
        assert_eq!(book.forbids_calls(limit, 5), None, "calls belong to the model's rounds now");
        assert_eq!(book.call(), 2, "no reply came yet");
        book.ended(3, None, used(3));
        assert_eq!(end(&book, (None, Some(9))), None, "8 of 9");
        book.ended(3, None, used(1));
        assert_eq!(end(&book, (None, Some(9))), Some(Outcome::Limit(Limit::Tokens)));
    }
}
