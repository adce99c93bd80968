//! Walks through the steps of one `browse_url` call of a solution.
//!
//! It is told what can be seen and says what to do next, whoever does it: the navigator's
//! loop inside `browse_url`, or page actions as calls of the agent's own. So one list of
//! steps gives one result either way. A step that names nothing on the page, or too much, and
//! one that could not be done, end the walk; nothing is guessed.

use wildgym_sandbox::browser::{Action, Element, NOWHERE};
use wildgym_tasks::solution::{Direction, Extent, Step, Target};

use super::seen::Seen;

/// Most screens of one page that are read.
const SCREENS: u32 = 100;

/// Most things that an error lists.
const LISTED: usize = 12;

/// What to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Next {
    /// This action.
    Do(Action),
    /// Nothing more: this is the result.
    Done(String),
    /// Nothing can be done: this is why.
    Stuck(String),
}

/// A walk, as far as it went.
#[derive(Debug)]
pub(super) struct Walk {
    steps: Vec<Step>,
    /// The step that comes next, or that goes on.
    at: usize,
    /// Screens of the page that is being read; none where none is.
    screens: Option<Screens>,
    /// Whether a question was asked and its answer comes next.
    asked: bool,
    /// Whether the address was asked for.
    located: bool,
    taken: Vec<String>,
    /// Files that came into the workspace.
    downloads: Vec<String>,
}

/// A page that is read screen by screen.
#[derive(Debug, Default)]
struct Screens {
    text: String,
    count: u32,
    /// Where the last screen began; none before the first.
    top: Option<u32>,
}

impl Walk {
    pub(super) fn new(steps: Vec<Step>) -> Self {
        Self {
            steps,
            at: 0,
            screens: None,
            asked: false,
            located: false,
            taken: Vec::new(),
            downloads: Vec::new(),
        }
    }

    /// Says what to do next on what is seen. `said` is what came of the last action, and
    /// `failed` whether it could not be done.
    pub(super) fn next(&mut self, seen: &Seen, said: &str, failed: bool) -> Next {
        for path in &seen.downloads {
            if !self.downloads.contains(path) {
                self.downloads.push(path.clone());
            }
        }
        if failed || self.missed(said) {
            let step = self.at.saturating_sub(usize::from(self.screens.is_none()));
            return Next::Stuck(format!("step {} could not be done: {said}", step + 1));
        }
        if std::mem::take(&mut self.asked) {
            self.taken.push(said.trim().to_owned());
        }
        if std::mem::take(&mut self.located) {
            self.taken.push(seen.url.clone());
        }
        loop {
            let Some(step) = self.steps.get(self.at).cloned() else {
                return Next::Done(self.result(seen));
            };
            match step {
                Step::Read(Extent::Window) => {
                    self.taken.push(seen.text.trim().to_owned());
                    self.at += 1;
                }
                Step::Read(Extent::Page) => match self.read(seen) {
                    Some(scroll) => return Next::Do(scroll),
                    None => self.at += 1,
                },
                Step::Read(Extent::Address)
                | Step::Fill(..)
                | Step::Click(_)
                | Step::Hover(_)
                | Step::Download(_)
                | Step::Find(_)
                | Step::Visit(_)
                | Step::Ask(_)
                | Step::Back
                | Step::Blank
                | Step::Scroll(_) => {
                    self.at += 1;
                    self.located = matches!(step, Step::Read(_));
                    self.asked = matches!(step, Step::Ask(_));
                    return match action(&step, seen) {
                        Ok(action) => Next::Do(action),
                        Err(why) => Next::Stuck(format!("step {}: {why}", self.at)),
                    };
                }
            }
        }
    }

    /// Returns whether the last step looked for a text that is not there: no failure of the
    /// action, but one of a step.
    fn missed(&self, said: &str) -> bool {
        let last = self.at.checked_sub(1).and_then(|at| self.steps.get(at));
        let looked = self.screens.is_none() && matches!(last, Some(Step::Find(_)));
        looked && said.starts_with('`') && said.contains(NOWHERE)
    }

    /// Takes a screen of the page; returns how to get at the next one, none at the end.
    fn read(&mut self, seen: &Seen) -> Option<Action> {
        let Some(screens) = &mut self.screens else {
            self.screens = Some(Screens::default());
            if seen.scroll.top > 0 {
                return Some(Action::ScrollToTop);
            }
            return self.read(seen);
        };
        let still = screens.top == Some(seen.scroll.top);
        screens.text = joined(&screens.text, seen.text.trim());
        screens.count += 1;
        screens.top = Some(seen.scroll.top);
        let seen_to = seen.scroll.top.saturating_add(seen.scroll.window);
        if still || seen_to >= seen.scroll.page || screens.count >= SCREENS {
            self.taken.extend(self.screens.take().map(|screens| screens.text));
            return None;
        }
        Some(Action::ScrollDown)
    }

    fn result(&self, seen: &Seen) -> String {
        let takes = |step: &Step| matches!(step, Step::Read(_) | Step::Ask(_));
        let mut parts = if self.steps.iter().any(takes) {
            self.taken.clone()
        } else {
            vec![seen.text.trim().to_owned()]
        };
        let lines: Vec<String> =
            self.downloads.iter().map(|path| format!("downloaded: {path}")).collect();
        if !lines.is_empty() {
            parts.push(lines.join("\n"));
        }
        parts.join("\n\n")
    }
}

/// Joins the text of two screens; lines that end the first and begin the second stand once.
fn joined(above: &str, below: &str) -> String {
    if above.is_empty() {
        return below.to_owned();
    }
    let (first, second): (Vec<&str>, Vec<&str>) =
        (above.lines().collect(), below.lines().collect());
    let common = (0..=first.len().min(second.len()))
        .rev()
        .find(|common| first[first.len() - common..] == second[..*common])
        .unwrap_or(0);
    let lines: Vec<&str> = first.iter().chain(&second[common..]).copied().collect();
    lines.join("\n")
}

/// Returns the action of a step that is neither a reading nor over.
fn action(step: &Step, seen: &Seen) -> Result<Action, String> {
    Ok(match step {
        Step::Fill(target, text) => {
            Action::FillInputId { id: find(target, seen, is_field)?, text: text.clone() }
        }
        Step::Click(target) => Action::ClickId { id: find(target, seen, |_| true)? },
        Step::Hover(target) => Action::HoverId { id: find(target, seen, |_| true)? },
        Step::Download(target) => Action::DownloadFileId { id: find(target, seen, |_| true)? },
        Step::Find(text) => Action::FindTextOnPage { text: text.clone() },
        Step::Visit(url) => Action::VisitPage { url: url.clone() },
        Step::Ask(question) => Action::AskQuestionAboutVideo { question: question.clone() },
        Step::Back => Action::Back,
        Step::Blank => Action::ClickBlankArea,
        Step::Scroll(Direction::Top) => Action::ScrollToTop,
        Step::Scroll(Direction::Bottom) => Action::ScrollToBottom,
        Step::Scroll(Direction::Up) => Action::ScrollUp,
        Step::Scroll(Direction::Down) => Action::ScrollDown,
        // The other readings take what is seen and do nothing; nobody asks for their action.
        Step::Read(_) => Action::GetUrl,
    })
}

/// Whether a thing can be filled in; its role says so.
fn is_field(element: &Element) -> bool {
    !matches!(element.role.as_str(), "link" | "button" | "tab" | "menuitem" | "img" | "heading")
}

/// Returns the id of the one thing that is meant.
fn find(target: &Target, seen: &Seen, likely: fn(&Element) -> bool) -> Result<u32, String> {
    let wanted = plain(&target.name);
    let fits = |element: &&Element| {
        let role = target.role.as_ref().is_none_or(|role| role.eq_ignore_ascii_case(&element.role));
        let frame = target.frame.as_ref().is_none_or(|part| {
            element.frame.as_ref().is_some_and(|frame| plain(frame).contains(&plain(part)))
        });
        role && frame
    };
    let all: Vec<&Element> = seen.elements.iter().filter(fits).collect();
    let named = |test: &dyn Fn(&str) -> bool| -> Vec<&Element> {
        all.iter().copied().filter(|element| test(&plain(&element.name))).collect()
    };
    let mut found = named(&|name| wanted == "*" || name == wanted);
    if found.is_empty() {
        found = named(&|name| name.contains(&wanted));
    }
    if found.len() > 1 && found.iter().any(|element| likely(element)) {
        found.retain(|element| likely(element));
    }
    let words = described(target);
    let nth = target.nth.map(|nth| (nth as usize).saturating_sub(1));
    match (nth, &found[..]) {
        (_, []) => Err(format!(
            "nothing on {} is {words}; there is {}",
            seen.url,
            listed(&seen.elements.iter().collect::<Vec<_>>())
        )),
        (None, [one]) => Ok(one.id),
        (None, several) => Err(format!(
            "{} things on {} are {words}: {}; say which by `role`, `frame` or `nth`",
            several.len(),
            seen.url,
            listed(several)
        )),
        (Some(nth), several) => several.get(nth).map(|one| one.id).ok_or_else(|| {
            let (count, there) = (several.len(), listed(several));
            format!("only {count} things on {} are {words}: {there}", seen.url)
        }),
    }
}

/// Folds case and runs of spaces.
fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

fn described(target: &Target) -> String {
    let Target { name, role, nth, frame } = target;
    let mut words = format!("named `{name}`");
    if let Some(role) = role {
        words = format!("a {role} {words}");
    }
    if let Some(frame) = frame {
        words = format!("{words} in frame `{frame}`");
    }
    if let Some(nth) = nth {
        words = format!("{words} (number {nth})");
    }
    words
}

fn listed(elements: &[&Element]) -> String {
    let words = |element: &&Element| format!("{} `{}`", element.role, element.name);
    let mut all: Vec<String> = elements.iter().take(LISTED).map(words).collect();
    if elements.len() > LISTED {
        all.push(format!("{} more", elements.len() - LISTED));
    }
    if all.is_empty() { "nothing that can be acted on".to_owned() } else { all.join(", ") }
}

#[cfg(test)]
mod tests {
    use wildgym_sandbox::browser::Scroll;

    use super::*;

    fn seen(text: &str, top: u32, elements: &[(u32, &str, &str)]) -> Seen {
        let element = |(id, role, name): &(u32, &str, &str)| Element {
            id: *id,
            role: (*role).to_owned(),
            name: (*name).to_owned(),
            ..Element::default()
        };
        Seen {
            url: "https://crew.test/".to_owned(),
            text: text.to_owned(),
            elements: elements.iter().map(element).collect(),
            scroll: Scroll { top, window: 100, page: 250 },
            downloads: Vec::new(),
        }
    }

    fn target(name: &str) -> Target {
        Target { name: name.to_owned(), role: None, nth: None, frame: None }
    }

    #[test]
    fn a_thing_is_found_by_what_is_seen_or_the_walk_ends() {
        let page = seen(
            "",
            0,
            &[
                (10, "link", "Next"),
                (11, "textbox", "User  name"),
                (12, "button", "User name help"),
                (13, "button", "Sign in"),
                (14, "link", "Next"),
                (15, "link", "Next year"),
            ],
        );
        let role = |name: &str, role: &str| Target { role: Some(role.into()), ..target(name) };
        let nth = |name: &str, nth: u32| Target { nth: Some(nth), ..target(name) };
        let table: [(Target, Result<u32, &str>, &str); 10] = [
            (target("sign IN"), Ok(13), "case"),
            (target("user name"), Ok(11), "equal comes before a part"),
            (target("year"), Ok(15), "a part"),
            (target("Next"), Err("2 things on https://crew.test/ are named `Next`"), "ambiguous"),
            (nth("Next", 2), Ok(14), "nth"),
            (nth("Next", 3), Err("only 2 things"), "nth beyond"),
            (role("*", "button"), Err("2 things"), "any button"),
            (Target { nth: Some(2), ..role("*", "button") }, Ok(13), "the second button"),
            (role("Next", "button"), Err("nothing on"), "role"),
            (target("Log out"), Err("there is link `Next`, textbox"), "says what is there"),
        ];
        for (wanted, want, why) in table {
            match (find(&wanted, &page, |_| true), want) {
                (Ok(got), Ok(want)) => assert_eq!(got, want, "{why}"),
                (Err(got), Err(want)) => assert!(got.contains(want), "{why}: {got}"),
                (got, _) => panic!("{why}: {got:?}"),
            }
        }
        let both = seen("", 0, &[(10, "link", "Date"), (11, "textbox", "Date")]);
        assert_eq!(find(&target("date"), &both, is_field), Ok(11), "a field is filled in");
    }

    #[test]
    fn a_page_is_read_screen_by_screen_and_common_lines_once() {
        let mut walk = Walk::new(vec![Step::Read(Extent::Page), Step::Click(target("Go"))]);
        let go = [(10, "button", "Go")];
        let first = walk.next(&seen("c\nd", 50, &go), "", false);
        assert_eq!(first, Next::Do(Action::ScrollToTop), "from the top");
        let down = Next::Do(Action::ScrollDown);
        assert_eq!(walk.next(&seen("a\nb\nc", 0, &go), "", false), down);
        assert_eq!(walk.next(&seen("b\nc\nd", 80, &go), "", false), down);
        let click = walk.next(&seen("d\ne", 150, &go), "", false);
        assert_eq!(click, Next::Do(Action::ClickId { id: 10 }));
        let done = walk.next(&seen("else", 0, &[]), "clicked", false);
        assert_eq!(done, Next::Done("a\nb\nc\nd\ne".to_owned()));
    }

    #[test]
    fn the_result_is_what_was_read_else_the_last_window() {
        let page = seen(" the end ", 0, &[]);
        let mut walk = Walk::new(vec![Step::Back]);
        assert_eq!(walk.next(&page, "", false), Next::Do(Action::Back));
        let came = Seen { downloads: vec!["a.csv".to_owned()], ..page.clone() };
        let done = Next::Done("the end\n\ndownloaded: a.csv".to_owned());
        assert_eq!(walk.next(&came, "", false), done);
        let steps = vec![Step::Read(Extent::Window), Step::Ask("why?".into()), Step::Back];
        let mut walk = Walk::new(steps);
        let ask = Action::AskQuestionAboutVideo { question: "why?".to_owned() };
        assert_eq!(walk.next(&page, "", false), Next::Do(ask));
        assert_eq!(walk.next(&page, "because", false), Next::Do(Action::Back));
        assert_eq!(walk.next(&page, "", false), Next::Done("the end\n\nbecause".to_owned()));
    }

    #[test]
    fn the_address_is_asked_for() {
        let steps = vec![Step::Read(Extent::Window), Step::Read(Extent::Address)];
        let (mut walk, page) = (Walk::new(steps), seen("all", 0, &[]));
        assert_eq!(walk.next(&page, "", false), Next::Do(Action::GetUrl));
        let done = Next::Done("all\n\nhttps://crew.test/".to_owned());
        assert_eq!(walk.next(&page, "this page is https://crew.test/", false), done);
    }

    #[test]
    fn a_text_that_is_not_there_ends_it() {
        let find = || Walk::new(vec![Step::Find("Rate".to_owned())]);
        let page = seen("all", 0, &[]);
        let after = |said: &str| {
            let mut walk = find();
            walk.next(&page, "", false);
            walk.next(&page, said, false)
        };
        assert_eq!(after("hit 1 of 1 for `Rate`: “Rate”"), Next::Done("all".to_owned()));
        let stuck = after(&format!("`Rate` {NOWHERE}; it may be elsewhere"));
        assert!(
            matches!(stuck, Next::Stuck(why) if why.starts_with("step 1 could not be done: `Rate`"))
        );
    }

    #[test]
    fn a_step_that_fails_ends_it() {
        let mut walk = Walk::new(vec![Step::Back, Step::Click(target("Go"))]);
        walk.next(&seen("", 0, &[]), "", false);
        let stuck = walk.next(&seen("", 0, &[]), "there is no page before this one", true);
        let why = "step 1 could not be done: there is no page before this one";
        assert_eq!(stuck, Next::Stuck(why.to_owned()));
        assert!(
            matches!(walk.next(&seen("", 0, &[]), "", false), Next::Stuck(why) if why.starts_with("step 2: nothing on"))
        );
    }
}
