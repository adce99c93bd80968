//! Progress of a run, on standard error: a bar on a terminal, plain lines elsewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::judging::Decided;
use super::say;
use crate::record::{Outcome, Usage};
use crate::runner::Event;
use crate::store::{Condition, JudgeConfig, ModelConfig, RunConfig, Store};

/// How often a plain line is written at most.
const PLAIN_EVERY: Duration = Duration::from_secs(10);

/// Names the models beside the agent's own: the one that answers tools, and the one that
/// plays the user.
fn asked_beside(config: &RunConfig) -> String {
    let named = |what: &str, model: fn(&Condition) -> Option<&ModelConfig>| {
        let models = config.conditions.values().filter_map(model);
        let names: BTreeSet<&str> = models.map(|model| model.name.as_str()).collect();
        let names = names.into_iter().collect::<Vec<_>>().join(", ");
        if names.is_empty() { names } else { format!("{what}{names}") }
    };
    let tools = named(" · tools ask ", |one| one.tool_model.as_ref());
    tools + &named(" · user played by ", |one| one.user_model.as_ref())
}

/// Shows what happens.
pub(super) struct Progress {
    quiet: bool,
    bar: Option<ProgressBar>,
    state: Mutex<State>,
}

struct State {
    began: Instant,
    said: Option<Instant>,
    trials: usize,
    before: usize,
    done: usize,
    again: usize,
    usage: Usage,
    outcomes: BTreeMap<String, usize>,
    /// Whether answers are judged and nothing is tried.
    judging: bool,
}

impl Progress {
    pub(super) fn new(quiet: bool) -> Self {
        let bar = (!quiet && std::io::stderr().is_terminal()).then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{bar:30} {msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar
        });
        let state = State {
            began: Instant::now(),
            said: None,
            trials: 0,
            before: 0,
            done: 0,
            again: 0,
            usage: Usage::default(),
            outcomes: BTreeMap::new(),
            judging: false,
        };
        Self { quiet, bar, state: Mutex::new(state) }
    }

    /// Says what is run and where it is kept.
    pub(super) fn label(&self, store: &Store, config: &RunConfig) {
        if self.quiet {
            return;
        }
        let conditions: Vec<&str> = config.conditions.keys().map(String::as_str).collect();
        say(&format!(
            "{} {} · {}{} · k = {} · seed {} · judge {}{} · {}",
            config.suite.name,
            config.suite.version,
            conditions.join(", "),
            asked_beside(config),
            config.plan.k,
            config.plan.seed,
            super::judging::label(
                &config.judge,
                config.cassette.is_some(),
                Decided::in_run(store, config)
            ),
            if config.cassette.is_some() { " · models replayed" } else { "" },
            store.root(),
        ));
    }

    /// Says who judges stored answers, of which there are `count`.
    pub(super) fn judging(
        &self,
        judge: &JudgeConfig,
        count: usize,
        replayed: bool,
        decided: Decided,
    ) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        (state.trials, state.judging) = (count, true);
        if let Some(bar) = &self.bar {
            bar.set_length(count as u64);
        }
        if !self.quiet {
            let noun = if count == 1 { "answer" } else { "answers" };
            let judge = super::judging::label(judge, replayed, decided);
            say(&format!("judge {judge} · {count} {noun}"));
        }
    }

    /// Takes note of an event.
    pub(super) fn see(&self, event: Event) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            Event::Planned { trials, finished } => {
                (state.trials, state.before) = (trials, finished);
                if let Some(bar) = &self.bar {
                    bar.set_length(trials as u64);
                    bar.set_position(finished as u64);
                }
                if finished > 0 && !self.quiet {
                    say(&format!("{finished} of {trials} trials were finished before"));
                }
            }
            Event::Began { .. } => {}
            Event::Ended { trial, attempt, outcome, detail, usage, again } => {
                state.usage.add(usage);
                // One line for all that are skipped for the same want.
                let skipped = matches!(outcome, Outcome::Skipped(_))
                    && !state.outcomes.contains_key(&outcome.to_string());
                if (outcome.is_lost() || skipped) && !self.quiet {
                    let why = detail.map(|detail| format!(": {detail}")).unwrap_or_default();
                    self.line(&format!("{trial} attempt {attempt} {outcome}{why}"));
                }
                if again {
                    state.again += 1;
                } else {
                    state.done += 1;
                    *state.outcomes.entry(outcome.to_string()).or_default() += 1;
                }
                self.show(&mut state);
            }
            Event::Judged { trial, verdict, detail } => {
                if let Some(why) = detail.filter(|_| !self.quiet) {
                    self.line(&format!("{trial} not judged: {why}"));
                }
                let name = format!("{verdict:?}").to_lowercase();
                *state.outcomes.entry(name).or_default() += 1;
                if state.judging {
                    state.done += 1;
                    self.show(&mut state);
                }
            }
        }
    }

    /// Writes the last line.
    pub(super) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.quiet {
            say(&state.line());
        }
    }

    fn show(&self, state: &mut State) {
        if let Some(bar) = &self.bar {
            bar.set_position((state.before + state.done) as u64);
            bar.set_message(state.line());
            return;
        }
        let due = state.said.unwrap_or(state.began).elapsed() >= PLAIN_EVERY;
        if due && !self.quiet {
            state.said = Some(Instant::now());
            say(&state.line());
        }
    }

    fn line(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.println(text),
            None => say(text),
        }
    }
}

impl State {
    /// Counts by outcome and verdict, rate, tokens, time left.
    #[expect(clippy::cast_precision_loss, reason = "counts of trials are small")]
    fn line(&self) -> String {
        let seconds = self.began.elapsed().as_secs_f64();
        let rate = if seconds > 0.0 { self.done as f64 / seconds } else { 0.0 };
        let left = self.trials.saturating_sub(self.before + self.done);
        let counts: Vec<String> =
            self.outcomes.iter().map(|(name, count)| format!("{name} {count}")).collect();
        let noun = if self.judging { "answers" } else { "trials" };
        let mut parts = vec![format!("{}/{} {noun}", self.before + self.done, self.trials)];
        parts.extend(counts);
        if self.again > 0 {
            parts.push(format!("attempted again {}", self.again));
        }
        if self.usage.total() > 0 {
            parts.push(format!("{} tokens", self.usage.total()));
        }
        parts.push(format!("{rate:.1}/s"));
        if left > 0 && rate > 0.0 {
            parts.push(format!("{:.0} s left", left as f64 / rate));
        }
        parts.join(" · ")
    }
}
