//! Pages of `MiniWoB++`, solved by our page actions and what they show, and nothing else.
//!
//! The pages are those of the Python package `miniwob` (MIT), unpacked where
//! `WILDGYM_MINIWOB` says, or `miniwob` below the cache; without them the test says so
//! and passes. Each has a fixed seed, time enough, and is scored by itself: the raw reward
//! must be 1.

mod ways;

use std::panic::AssertUnwindSafe;
use std::path::PathBuf;

use futures::FutureExt;
use futures::future::BoxFuture;
use wildgym_sandbox::browser::{Action, Element};

use crate::stage::{Answer, Server, Stage, file, run};

/// What the pages' common script gets at its end: a fixed seed and ten minutes.
const SETUP: &str = "\nMath.seedrandom('wildgym'); core.EPISODE_MAX_TIME = 600000;\n";

/// Where the pages are, if they are anywhere.
fn pages() -> Option<PathBuf> {
    let given = std::env::var_os("WILDGYM_MINIWOB").map(PathBuf::from);
    let cache = std::env::var_os("WILDGYM_CACHE").map(PathBuf::from).or_else(|| {
        let home = PathBuf::from(std::env::var_os("HOME")?);
        let base = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
        Some(base.unwrap_or_else(|| home.join(".cache")).join("wildgym"))
    });
    let folder = given.or_else(|| Some(cache?.join("miniwob")))?;
    let html = folder.join("miniwob/html");
    [folder.join("html"), html, folder].into_iter().find(|at| at.join("core/core.js").is_file())
}

/// Serves them.
async fn serve(folder: PathBuf) -> Server {
    Server::route(Box::new(move |path| answer(&folder, path))).await
}

fn answer(folder: &std::path::Path, path: &str) -> Option<Answer> {
    let clean = path.trim_start_matches('/');
    if clean.split('/').any(|part| part == "..") {
        return None;
    }
    let mut bytes = std::fs::read(folder.join(clean)).ok()?;
    if clean.ends_with("core/core.js") {
        bytes.extend_from_slice(SETUP.as_bytes());
    }
    let kind = match clean.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css",
        "png" => "image/png",
        "svg" => "image/svg+xml",
        _ => "application/octet-stream",
    };
    Some(file(kind, None, bytes))
}

/// What solves a page.
struct Solver<'a> {
    stage: &'a mut Stage,
}

/// A way to solve pages.
type Way = for<'a> fn(&'a mut Solver<'_>) -> BoxFuture<'a, ()>;

impl Solver<'_> {
    /// What the page asks for: the first paragraph that it shows.
    fn query(&self) -> String {
        self.stage.seen.text.lines().next().unwrap_or_default().to_owned()
    }

    /// The n-th text in quotes of what is asked.
    fn quoted(&self, n: usize) -> String {
        self.query().split('"').nth(n * 2 + 1).expect("a text in quotes").to_owned()
    }

    /// What stands between two words of what is asked.
    fn between(&self, before: &str, after: &str) -> String {
        let query = self.query();
        let rest = query.split_once(before).unwrap_or_else(|| panic!("{query}: {before}")).1;
        rest.split(after).next().unwrap_or_default().trim().to_owned()
    }

    fn text(&self) -> String {
        self.stage.seen.text.clone()
    }

    fn all(&self, test: impl Fn(&Element) -> bool) -> Vec<Element> {
        self.stage.seen.elements.iter().filter(|one| test(one)).cloned().collect()
    }

    fn nth(&self, role: &str, n: usize) -> u32 {
        let all = self.all(|one| one.role == role);
        all.get(n).unwrap_or_else(|| panic!("no {role}:\n{}", self.stage.seen.to_text())).id
    }

    fn named(&self, name: &str) -> Option<u32> {
        self.all(|one| one.name == name).first().map(|one| one.id)
    }

    async fn click(&mut self, id: u32) {
        self.stage.must(Action::ClickId { id }).await;
    }

    async fn hover(&mut self, id: u32) {
        self.stage.must(Action::HoverId { id }).await;
    }

    async fn press(&mut self, name: &str) {
        let found = self.named(name);
        let id = found.unwrap_or_else(|| panic!("no `{name}`:\n{}", self.stage.seen.to_text()));
        self.click(id).await;
    }

    async fn fill(&mut self, id: u32, text: &str) {
        self.stage.must(Action::FillInputId { id, text: text.into() }).await;
    }

    /// The first element of a class after the one of that name.
    fn after(&self, name: &str, class: &str) -> u32 {
        let elements = &self.stage.seen.elements;
        let from = elements.iter().position(|one| one.name.starts_with(name)).expect(name);
        elements[from + 1..].iter().find(|one| one.name.contains(class)).expect(class).id
    }
}

macro_rules! way {
    ($name:ident) => {
        (|s| Box::pin(ways::$name(s))) as Way
    };
}

/// Pages that are solved mostly by clicks, and how.
fn clicked() -> Vec<(&'static str, Way)> {
    vec![
        ("ascending-numbers", way!(ascending)),
        ("buy-ticket", way!(cheapest)),
        ("choose-date", way!(choose_date)),
        ("choose-date-easy", way!(choose_date)),
        ("choose-date-medium", way!(choose_date)),
        ("choose-date-nodelay", way!(choose_date)),
        ("choose-list", way!(choose_list)),
        ("click-button", way!(press_query)),
        ("click-button-sequence", way!(press_in_order)),
        ("click-checkboxes", way!(check_named)),
        ("click-checkboxes-large", way!(check_named)),
        ("click-checkboxes-soft", way!(check_similar)),
        ("click-checkboxes-transfer", way!(check_named)),
        ("click-collapsible", way!(collapsible)),
        ("click-collapsible-nodelay", way!(collapsible)),
        ("click-collapsible-2", way!(sections)),
        ("click-collapsible-2-nodelay", way!(sections)),
        ("click-dialog", way!(dialog)),
        ("click-dialog-2", way!(dialog)),
        ("click-link", way!(press_query)),
        ("click-menu", way!(menu)),
        ("click-menu-2", way!(menu_below)),
        ("click-option", way!(option)),
        ("click-scroll-list", way!(choose_list)),
        ("click-tab", way!(one_tab)),
        ("click-tab-2", way!(tabs)),
        ("click-tab-2-easy", way!(tabs)),
        ("click-tab-2-hard", way!(tabs)),
        ("click-tab-2-medium", way!(tabs)),
        ("click-test", way!(press_only)),
        ("click-test-2", way!(press_one)),
        ("click-test-transfer", way!(press_one)),
        ("click-widget", way!(widget)),
    ]
}

/// Pages that are solved mostly by filling, and how.
fn filled() -> Vec<(&'static str, Way)> {
    vec![
        ("copy-paste", way!(copy)),
        ("copy-paste-2", way!(copy)),
        ("email-inbox", way!(email_reply)),
        ("email-inbox-delete", way!(email_delete)),
        ("email-inbox-forward", way!(email_forward)),
        ("email-inbox-forward-nl", way!(email_forward_words)),
        ("email-inbox-forward-nl-turk", way!(email_forward_latest)),
        ("email-inbox-important", way!(email_star)),
        ("email-inbox-nl-turk", way!(email_reply_words)),
        ("email-inbox-noscroll", way!(email_forward)),
        ("email-inbox-reply", way!(email_reply)),
        ("email-inbox-star-reply", way!(email_reply)),
        ("enter-date", way!(enter_date)),
        ("enter-password", way!(enter_all)),
        ("enter-text", way!(enter_all)),
        ("enter-text-2", way!(enter_case)),
        ("enter-text-dynamic", way!(enter_all)),
        ("enter-time", way!(enter_time)),
        ("find-greatest", way!(greatest)),
        ("find-word", way!(find_word)),
        ("focus-text", way!(focus)),
        ("focus-text-2", way!(focus)),
        ("form-sequence-2", way!(form_numbers)),
        ("form-sequence-3", way!(pick_from_hidden)),
        ("generate-number", way!(generate)),
        ("guess-number", way!(guess)),
        ("identify-shape", way!(identify)),
        ("login-user", way!(login)),
        ("login-user-popup", way!(login)),
        ("multi-layouts", way!(search_movies)),
        ("multi-orderings", way!(search_movies)),
        ("navigate-tree", way!(tree)),
        ("odd-or-even", way!(odd_or_even)),
        ("phone-book", way!(phone_book)),
        ("read-table", way!(read_table)),
        ("read-table-2", way!(read_table_twice)),
        ("scroll-text", way!(last_word)),
        ("scroll-text-2", way!(scroll)),
        ("search-engine", way!(search_results)),
        ("sign-agreement", way!(sign)),
        ("simple-algebra", way!(algebra)),
        ("simple-arithmetic", way!(arithmetic)),
        ("social-media", way!(social_one)),
        ("social-media-all", way!(social_many)),
        ("social-media-some", way!(social_many)),
        ("text-transform", way!(transform)),
        ("unicode-test", way!(press_query)),
        ("use-autocomplete", way!(autocomplete)),
        ("use-autocomplete-nodelay", way!(autocomplete)),
        ("use-spinner", way!(spinner)),
    ]
}

/// At least sixty pages are solved, each with the whole reward.
#[test]
fn sixty_pages_are_solved() {
    let Some(folder) = pages() else {
        eprintln!(
            "skipped: no MiniWoB++ pages; unpack the Python package `miniwob` and set WILDGYM_MINIWOB"
        );
        return;
    };
    run(async move {
        let server = serve(folder).await;
        let mut stage = Stage::open().await;
        let mut failed = Vec::new();
        let ways = [clicked(), filled()].concat();
        let count = ways.len();
        let only = std::env::var("WILDGYM_MINIWOB_ONLY").ok();
        for (name, way) in ways {
            if only.as_ref().is_some_and(|only| !only.split(',').any(|one| one == name)) {
                continue;
            }
            let url = server.url(&format!("/miniwob/{name}.html"));
            // Pages move things by themselves and limit the time, so where the machine was
            // busy the way of a page is gone a second time, on other data.
            let mut why = String::new();
            for _ in 0..2 {
                let tried = AssertUnwindSafe(solve(&mut stage, &url, way)).catch_unwind().await;
                why = match tried {
                    Ok(reward) if (reward - 1.0).abs() < 1e-9 => String::new(),
                    Ok(reward) => format!("{name}: {reward}\n{}", stage.seen.to_text()),
                    Err(_) => format!("{name}: the solution stopped"),
                };
                if why.is_empty() {
                    break;
                }
            }
            if !why.is_empty() {
                failed.push(why);
            }
        }
        stage.close().await;
        assert!(failed.is_empty(), "of {count}, {} failed:\n{}", failed.len(), failed.join("\n"));
        assert!(count >= 60);
    });
}

/// Solves a page and returns the reward that it gives itself.
async fn solve(stage: &mut Stage, url: &str, way: Way) -> f64 {
    stage.visit(url).await;
    stage.click("START").await;
    way(&mut Solver { stage: &mut *stage }).await;
    let reward = stage.page_says("[WOB_RAW_REWARD_GLOBAL, WOB_DONE_GLOBAL]").await;
    reward[0].as_f64().unwrap_or_default()
}
