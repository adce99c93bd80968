//! Pages of MiniWoB++, solved by our page actions and what they show, and nothing else.
//!
//! The pages are those of the Python package `miniwob` (MIT), unpacked where
//! `WILDGYM_MINIWOB` says, or `miniwob` below the cache; without them the test says so
//! and passes. Each has a fixed seed, time enough, and is scored by itself: the raw reward
//! must be 1.

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

async fn press_query(s: &mut Solver<'_>) {
    let name = s.quoted(0);
    s.press(&name).await;
}

async fn press_in_order(s: &mut Solver<'_>) {
    for name in ["ONE", "TWO"] {
        s.press(name).await;
    }
}

async fn press_with_delay(s: &mut Solver<'_>) {
    s.press("ONE").await;
    // The page asks for it.
    tokio::time::sleep(std::time::Duration::from_millis(2_100)).await;
    s.press("TWO").await;
}

async fn press_one(s: &mut Solver<'_>) {
    s.press("ONE").await;
}

async fn press_only(s: &mut Solver<'_>) {
    let id = s.nth("button", 0);
    s.click(id).await;
}

async fn ascending(s: &mut Solver<'_>) {
    s.press("1").await;
    // The numbers are hidden then; what is left keeps its order.
    for _ in 2..=5 {
        let left = s.all(|one| one.role == "clickable" && one.name.starts_with("rect"));
        s.click(left[0].id).await;
    }
}

async fn cheapest(s: &mut Solver<'_>) {
    let price = |name: &str| name.rsplit('$').next().and_then(|price| price.parse::<u32>().ok());
    let buttons = s.all(|one| price(&one.name).is_some());
    let best = buttons.iter().min_by_key(|one| price(&one.name)).unwrap().id;
    s.click(best).await;
}

async fn pick_date(s: &mut Solver<'_>, field: u32, date: &str) {
    let parts: Vec<u32> = date.split('/').map(|part| part.parse().unwrap()).collect();
    let months = [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ];
    let wanted = months[parts[0] as usize - 1];
    s.click(field).await;
    for _ in 0..12 {
        if s.text().contains(&format!("{wanted} {}", parts[2])) {
            break;
        }
        s.press("Prev").await;
    }
    s.press(&parts[1].to_string()).await;
}

async fn choose_date(s: &mut Solver<'_>) {
    let date = s.between("Select ", " as the date");
    let field = s.nth("textbox", 0);
    pick_date(s, field, &date).await;
    s.press("Submit").await;
}

async fn choose_list(s: &mut Solver<'_>) {
    let wanted = s.between("Select ", " from the");
    let list = s.all(|one| !one.options.is_empty())[0].id;
    s.fill(list, &wanted).await;
    s.press("Submit").await;
}

async fn check_named(s: &mut Solver<'_>) {
    for name in s.between("Select ", " and click").split(", ") {
        if let Some(id) = s.named(name) {
            s.fill(id, "true").await;
        }
    }
    s.press("Submit").await;
}

async fn check_similar(s: &mut Solver<'_>) {
    // What these words are like is knowledge, not skill with pages.
    for name in ["start", "cut", "vermillion", "conceal"] {
        let id = s.named(name).unwrap();
        s.fill(id, "true").await;
    }
    s.press("Submit").await;
}

async fn collapsible(s: &mut Solver<'_>) {
    let section = s.all(|one| one.role == "tab")[0].id;
    s.click(section).await;
    let button = s.all(|one| one.role == "button" && one.name == "Submit")[0].id;
    s.click(button).await;
}

/// Opens one section or tab after the other until the wanted link is there.
async fn search_tabs(s: &mut Solver<'_>, role: &str) {
    let wanted = s.quoted(0);
    for n in 0..8 {
        let found = s.all(|one| one.role == "clickable" && one.name == wanted && one.shown);
        if let Some(link) = found.first() {
            s.click(link.id).await;
            return;
        }
        let tabs = s.all(|one| {
            one.role == role
                && (role == "tab"
                    || one.value.as_ref().is_some_and(|value| value.contains("#tabs")))
        });
        s.click(tabs[n].id).await;
    }
    panic!("no `{wanted}`");
}

async fn sections(s: &mut Solver<'_>) {
    search_tabs(s, "tab").await;
}

async fn tabs(s: &mut Solver<'_>) {
    search_tabs(s, "link").await;
}

async fn one_tab(s: &mut Solver<'_>) {
    let wanted = s.between("Click on ", ".");
    let tab = s.all(|one| one.role == "link" && one.name == wanted)[0].id;
    s.click(tab).await;
}

async fn dialog(s: &mut Solver<'_>) {
    let name = match s.quoted(0).as_str() {
        "x" => "Close".to_owned(),
        other => other.to_owned(),
    };
    let button = s.all(|one| one.role == "button" && one.name == name)[0].id;
    s.click(button).await;
}

async fn menu(s: &mut Solver<'_>) {
    let query = s.query();
    let path: Vec<&str> = query.trim_start_matches("Select ").split('>').collect();
    for (n, name) in path.iter().enumerate() {
        let item = s.all(|one| one.role == "menuitem" && one.name == *name)[0].id;
        if n + 1 == path.len() {
            s.click(item).await;
        } else {
            s.hover(item).await;
            menu_opens(s, path[n + 1]).await;
        }
    }
}

/// A menu opens a moment after the pointer came.
async fn menu_opens(s: &mut Solver<'_>, name: &str) -> bool {
    for _ in 0..20 {
        if s.all(|one| one.role == "menuitem" && one.name == name).iter().any(|one| one.shown) {
            return true;
        }
        s.stage.look().await;
    }
    false
}

async fn menu_below(s: &mut Solver<'_>) {
    let wanted = s.quoted(1);
    s.press("Menu").await;
    for item in s.all(|one| one.role == "menuitem") {
        if menu_has(s, &wanted).await {
            return;
        }
        s.hover(item.id).await;
        menu_opens(s, &wanted).await;
    }
    assert!(menu_has(s, &wanted).await, "{}", s.stage.seen.to_text());
}

async fn menu_has(s: &mut Solver<'_>, wanted: &str) -> bool {
    let found = s.all(|one| one.role == "menuitem" && one.name == wanted && one.shown);
    if let Some(item) = found.first() {
        s.click(item.id).await;
    }
    !found.is_empty()
}

async fn widget(s: &mut Solver<'_>) {
    let role = match s.quoted(0).as_str() {
        "text" | "textarea" => "textbox".to_owned(),
        other => other.to_owned(),
    };
    let id = s.nth(&role, 0);
    s.click(id).await;
}

async fn copy(s: &mut Solver<'_>) {
    let n = s.query().split("the ").find_map(|rest| rest.chars().next()?.to_digit(10)).unwrap_or(1);
    let fields = s.all(|one| one.role == "textbox");
    let text = fields[n as usize - 1].value.clone().unwrap();
    let empty = fields.iter().find(|one| one.value.is_none()).unwrap().id;
    s.fill(empty, &text).await;
    s.press("Submit").await;
}

async fn email_icon(s: &mut Solver<'_>, who: &str, icon: &str) {
    let id = s.after(&format!("{who} "), icon);
    s.click(id).await;
}

async fn email_delete(s: &mut Solver<'_>) {
    let who = s.between("email by ", " and");
    email_icon(s, &who, "trash").await;
}

async fn email_star(s: &mut Solver<'_>) {
    let who = s.between("email by ", " and");
    email_icon(s, &who, "star").await;
}

async fn open_email(s: &mut Solver<'_>, who: &str) {
    let mail = s.all(|one| one.name.starts_with(&format!("{who} ")))[0].id;
    s.click(mail).await;
}

async fn reply(s: &mut Solver<'_>, who: &str, text: &str) {
    open_email(s, who).await;
    s.press("Reply").await;
    let field = s.nth("textbox", 0);
    s.fill(field, text).await;
    s.press("send-reply").await;
}

async fn forward(s: &mut Solver<'_>, who: &str, to: &str) {
    open_email(s, who).await;
    s.press("Forward").await;
    let field = s.nth("textbox", 0);
    s.fill(field, to).await;
    s.press("send-forward").await;
}

async fn email_reply(s: &mut Solver<'_>) {
    let (who, text) = (s.between("email by ", " and"), s.quoted(0));
    reply(s, &who, &text).await;
}

async fn email_reply_words(s: &mut Solver<'_>) {
    let (who, text) = (s.between("Find the ", " email"), s.quoted(0));
    reply(s, &who, &text).await;
}

async fn email_forward(s: &mut Solver<'_>) {
    let (who, to) = (s.between("email by ", " and"), s.between("email to ", "."));
    forward(s, &who, &to).await;
}

async fn email_forward_words(s: &mut Solver<'_>) {
    let (who, to) = (s.between("email from ", " to"), s.between(" to ", "."));
    forward(s, &who, &to).await;
}

async fn email_forward_latest(s: &mut Solver<'_>) {
    let (who, to) = (s.between("Open ", "'s"), s.between("it to ", "."));
    forward(s, &who, &to).await;
}

async fn enter_date(s: &mut Solver<'_>) {
    let date = s.between("Enter ", " as the date");
    let parts: Vec<&str> = date.split('/').collect();
    let id = s.nth("date", 0);
    s.fill(id, &format!("{}-{}-{}", parts[2], parts[0], parts[1])).await;
    s.press("Submit").await;
}

async fn enter_time(s: &mut Solver<'_>) {
    let time = s.between("Enter ", " as the time");
    let (clock, half) = time.split_once(' ').unwrap();
    let (hour, minute) = clock.split_once(':').unwrap();
    let hour = hour.parse::<u32>().unwrap() % 12 + if half == "PM" { 12 } else { 0 };
    let id = s.nth("time", 0);
    s.fill(id, &format!("{hour:02}:{minute}")).await;
    s.press("Submit").await;
}

async fn enter_all(s: &mut Solver<'_>) {
    let text = s.quoted(0);
    for field in s.all(|one| one.role == "textbox") {
        s.fill(field.id, &text).await;
    }
    s.press("Submit").await;
}

async fn enter_case(s: &mut Solver<'_>) {
    let text = s.quoted(0);
    let text = if s.query().contains("lower") { text.to_lowercase() } else { text.to_uppercase() };
    let id = s.nth("textbox", 0);
    s.fill(id, &text).await;
    s.press("Submit").await;
}

async fn greatest(s: &mut Solver<'_>) {
    let cards = s.all(|one| one.name.parse::<i32>().is_ok());
    let best = cards.iter().max_by_key(|one| one.name.parse::<i32>().unwrap()).unwrap().id;
    s.click(best).await;
    s.press("Submit").await;
}

fn ordinal(text: &str) -> usize {
    let digits: String =
        text.chars().skip_while(|c| !c.is_ascii_digit()).take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap()
}

async fn find_word(s: &mut Solver<'_>) {
    let n = ordinal(&s.query());
    let text = s.text();
    let paragraph = text.lines().filter(|line| !line.is_empty()).nth(1).unwrap();
    let word = paragraph.split_whitespace().nth(n - 1).unwrap().trim_matches(['.', ',']).to_owned();
    let id = s.nth("textbox", 0);
    s.fill(id, &word).await;
    s.press("Submit").await;
}

async fn focus(s: &mut Solver<'_>) {
    let query = s.query();
    let n = if query.contains("the textbox") { 1 } else { ordinal(&query) };
    let id = s.nth("textbox", n - 1);
    s.click(id).await;
}

async fn form_numbers(s: &mut Solver<'_>) {
    let query = s.query();
    let (radio, number) = (ordinal(&query), s.quoted(0));
    let field = ordinal(query.split("into").nth(1).unwrap());
    let id = s.nth("radio", radio - 1);
    s.fill(id, "true").await;
    let id = s.nth("textbox", field - 1);
    s.fill(id, &number).await;
    s.press("Submit").await;
}

async fn generate(s: &mut Solver<'_>) {
    let odd = s.query().contains("odd");
    for _ in 0..60 {
        s.press("Generate").await;
        let text = s.text();
        let number = text.lines().find_map(|line| line.trim().parse::<i32>().ok()).unwrap();
        if (number % 2 != 0) == odd {
            break;
        }
    }
    s.press("Submit").await;
}

async fn guess(s: &mut Solver<'_>) {
    let (mut low, mut high) = (0, 9);
    for _ in 0..6 {
        let middle = i32::midpoint(low, high);
        let id = s.nth("spinbutton", 0);
        s.fill(id, &middle.to_string()).await;
        s.press("Submit").await;
        let text = s.text();
        if text.contains("lower than") {
            high = middle - 1;
        } else if text.contains("higher than") {
            low = middle + 1;
        } else {
            break;
        }
    }
}

async fn identify(s: &mut Solver<'_>) {
    let drawn = s.all(|one| one.role == "clickable")[0].name.clone();
    let kind = match drawn.split(' ').next().unwrap_or_default() {
        "rect" => "Rectangle",
        "circle" => "Circle",
        "polygon" => "Triangle",
        text if text.chars().all(|c| c.is_ascii_digit()) => "Number",
        _ => "Letter",
    };
    s.press(kind).await;
}

async fn login(s: &mut Solver<'_>) {
    let (user, password) = (s.quoted(0), s.quoted(1));
    for (n, text) in [user, password].into_iter().enumerate() {
        for _ in 0..3 {
            let id = s.nth("textbox", n);
            let done = s.stage.act(&Action::FillInputId { id, text: text.clone() }).await;
            // Something came over the page, which wants an answer first.
            let Err(_) = done else { break };
            s.stage.look().await;
            popup(s).await;
        }
    }
    popup(s).await;
    s.press(if s.named("Login").is_some() { "Login" } else { "OK" }).await;
}

async fn popup(s: &mut Solver<'_>) {
    for name in ["Cancel", "No", "Stay"] {
        if let Some(id) = s.named(name) {
            s.click(id).await;
        }
    }
}

async fn search_movies(s: &mut Solver<'_>) {
    let query = s.query();
    let words: Vec<&str> = query.trim_end_matches('.').split(' ').collect();
    let after = |word: &str| words[words.iter().position(|one| *one == word).unwrap() + 1];
    let fields = [("genre", after("for")), ("director", after("by")), ("year", after("year"))];
    // Each field is told by what stands before it.
    let text = s.text().to_lowercase();
    for (label, value) in fields {
        let fields = s.all(|one| one.role == "textbox");
        let at = |id: u32| text.find(&format!("[{id}]")).unwrap_or(usize::MAX);
        let label = text[text.find('\n').unwrap_or(0)..].find(label).unwrap()
            + text.find('\n').unwrap_or(0);
        let field =
            fields.iter().filter(|one| at(one.id) > label).min_by_key(|one| at(one.id)).unwrap();
        s.fill(field.id, value).await;
    }
    let name = if s.named("Search").is_some() { "Search" } else { "Submit" };
    s.press(name).await;
}

async fn tree(s: &mut Solver<'_>) {
    let wanted = s.quoted(0);
    let mut opened = Vec::new();
    for _ in 0..30 {
        let found = s.all(|one| one.name == wanted && one.shown);
        if let Some(last) = found.last() {
            s.click(last.id).await;
            return;
        }
        let Some(next) = s
            .all(|one| {
                one.role == "clickable"
                    && !one.name.is_empty()
                    && one.shown
                    && !opened.contains(&one.id)
            })
            .into_iter()
            .next()
        else {
            return;
        };
        opened.push(next.id);
        s.click(next.id).await;
    }
}

async fn odd_or_even(s: &mut Solver<'_>) {
    let text = s.text();
    let numbers: Vec<i32> = text.lines().filter_map(|line| line.trim().parse().ok()).collect();
    let (odd, even) = (s.all(|one| one.name == "Odd"), s.all(|one| one.name == "Even"));
    for (n, number) in numbers.iter().enumerate() {
        let id = if number % 2 == 0 { even[n].id } else { odd[n].id };
        s.click(id).await;
    }
    s.press("Submit").await;
}

async fn phone_book(s: &mut Solver<'_>) {
    let (who, what) = (s.between("Find ", " in the"), s.between("click on their ", "."));
    for _ in 0..20 {
        if s.text().contains(&format!("## {who}")) {
            break;
        }
        let next = s.all(|one| one.role == "link" && one.name == ">")[0].id;
        s.click(next).await;
    }
    let text = s.text().to_lowercase();
    let line = text.lines().find(|line| line.starts_with(&format!("{what}"))).unwrap().to_owned();
    let id = line.split('[').nth(1).unwrap().split(']').next().unwrap().parse().unwrap();
    s.click(id).await;
}

/// The value that a table on the page has beside a label.
fn in_table(text: &str, label: &str) -> String {
    text.lines()
        .find_map(|line| {
            let cells: Vec<&str> =
                line.split('|').map(str::trim).filter(|cell| !cell.is_empty()).collect();
            (cells.len() == 2 && cells[0].trim_end_matches(':') == label)
                .then(|| cells[1].to_owned())
        })
        .unwrap_or_else(|| panic!("no `{label}` in {text}"))
}

async fn read_table(s: &mut Solver<'_>) {
    let label = s.between("value of ", " into");
    let value = in_table(&s.text(), &label);
    let id = s.nth("textbox", 0);
    s.fill(id, &value).await;
    s.press("Submit").await;
}

async fn read_table_twice(s: &mut Solver<'_>) {
    let text = s.text();
    let asked: Vec<String> = text
        .lines()
        .filter(|line| line.ends_with(':') && !line.contains('|'))
        .map(|line| line.trim_end_matches(':').to_owned())
        .collect();
    for (n, label) in asked.iter().enumerate() {
        let id = s.nth("textbox", n);
        s.fill(id, &in_table(&text, label)).await;
    }
    s.press("Submit").await;
}

async fn last_word(s: &mut Solver<'_>) {
    let fields = s.all(|one| one.role == "textbox");
    let text = fields[0].value.clone().unwrap();
    let word = text.split_whitespace().next_back().unwrap().trim_matches(['.', ',']).to_owned();
    s.fill(fields[1].id, &word).await;
    s.press("Submit").await;
}

async fn scroll(s: &mut Solver<'_>) {
    let action =
        if s.query().contains("bottom") { Action::ScrollToBottom } else { Action::ScrollToTop };
    s.stage.must(action).await;
    s.press("Submit").await;
}

async fn sign(s: &mut Solver<'_>) {
    let (name, button) = (s.quoted(0), s.quoted(1));
    s.stage.must(Action::ScrollToBottom).await;
    s.stage.look().await;
    let id = s.named("Name").unwrap();
    s.fill(id, &name).await;
    s.press(&button).await;
}

async fn search_results(s: &mut Solver<'_>) {
    let (text, n) = (s.quoted(0), ordinal(s.query().rsplit("the ").next().unwrap()));
    let field = s.nth("textbox", 0);
    s.fill(field, &text).await;
    s.press("Search").await;
    // Three results a page.
    let (page, at) = ((n - 1) / 3 + 1, (n - 1) % 3);
    if page > 1 {
        let link = s.all(|one| one.name == page.to_string())[0].id;
        s.click(link).await;
    }
    let results = s.all(|one| {
        one.shown
            && !one.name.is_empty()
            && one.name.chars().all(|c| c.is_alphabetic() || c == ' ')
            && one.name != "Search"
            && matches!(one.role.as_str(), "link" | "clickable")
    });
    s.click(results[at].id).await;
}

async fn algebra(s: &mut Solver<'_>) {
    let text = s.text();
    let line = text.lines().find(|line| line.contains(" = ") && !line.contains('[')).unwrap();
    let (left, right) = line.split_once(" = ").unwrap();
    let total: i32 = right.trim().parse().unwrap();
    let parts: Vec<&str> = left.split(' ').collect();
    let number = |text: &str| text.parse::<i32>().unwrap();
    let x = match (parts[0], parts[1], parts[2]) {
        ("x", "+", b) => total - number(b),
        ("x", "-", b) => total + number(b),
        (a, "+", "x") => total - number(a),
        (a, "-", "x") => number(a) - total,
        other => panic!("{other:?}"),
    };
    let id = s.nth("textbox", 0);
    s.fill(id, &x.to_string()).await;
    s.press("Submit").await;
}

async fn arithmetic(s: &mut Solver<'_>) {
    let text = s.text();
    let line = text.lines().find(|line| line.contains(" = [")).unwrap();
    let parts: Vec<&str> = line.split(' ').collect();
    let number = |text: &str| text.parse::<i32>().unwrap();
    let (a, b) = (number(parts[0]), number(parts[2]));
    let result = match parts[1] {
        "+" => a + b,
        "-" => a - b,
        _ => a * b,
    };
    let id = s.nth("textbox", 0);
    s.fill(id, &result.to_string()).await;
    s.press("Submit").await;
}

/// The ids of one kind of button under the posts of somebody, all of the page looked at.
async fn posts_by(s: &mut Solver<'_>, who: &str, class: &str) -> Vec<u32> {
    let buttons = s.all(|one| one.name.split(' ').next() == Some(class));
    let mut found = Vec::new();
    for button in buttons {
        // What stands above a button is read once it is in the window.
        s.hover(button.id).await;
        let text = s.text();
        let before = text.split(&format!("[{}]", button.id)).next().unwrap_or_default();
        let poster = before.split_whitespace().filter(|word| word.starts_with('@')).next_back();
        if poster == Some(who) {
            found.push(button.id);
        }
    }
    found
}

async fn social_one(s: &mut Solver<'_>) {
    let (who, what) = (s.between("the user ", ","), s.quoted(0).to_lowercase());
    let ids = posts_by(s, &who, &what).await;
    s.click(ids[0]).await;
}

async fn social_many(s: &mut Solver<'_>) {
    let query = s.query();
    let (who, what) = (s.between("by ", " and"), s.quoted(0).to_lowercase());
    let most = if query.contains("all posts") { usize::MAX } else { ordinal(&query) };
    let ids = posts_by(s, &who, &what).await;
    for id in ids.into_iter().take(most) {
        s.click(id).await;
    }
    s.press("Submit").await;
}

async fn transform(s: &mut Solver<'_>) {
    let text = s.text();
    let word = text.lines().filter(|line| !line.is_empty()).nth(1).unwrap().replace(' ', "");
    let id = s.nth("textbox", 0);
    s.fill(id, &word).await;
    s.press("Submit").await;
}

async fn autocomplete(s: &mut Solver<'_>) {
    let (start, end) = (s.quoted(0), s.query().split('"').nth(3).unwrap_or_default().to_owned());
    let id = s.nth("textbox", 0);
    s.fill(id, &start).await;
    for _ in 0..20 {
        let fits = |one: &Element| {
            one.shown
                && one.role != "textbox"
                && one.name.starts_with(&start)
                && one.name.ends_with(&end)
        };
        if let Some(item) = s.all(fits).first() {
            s.click(item.id).await;
            break;
        }
        s.stage.look().await;
    }
    s.press("Submit").await;
}

async fn spinner(s: &mut Solver<'_>) {
    let number = s.between("Select ", " with");
    let id = s.nth("spinbutton", 0);
    s.fill(id, &number).await;
    s.press("Submit").await;
}

async fn option(s: &mut Solver<'_>) {
    let name = s.between("Select ", " and click");
    let id = s.named(&name).unwrap();
    s.fill(id, "true").await;
    s.press("Submit").await;
}

async fn pick_from_hidden(s: &mut Solver<'_>) {
    let (size, button) = (s.between("Choose ", " from"), s.quoted(0));
    s.press("▾").await;
    s.press(&size).await;
    s.press(&button).await;
}

macro_rules! way {
    ($name:ident) => {
        (|s| Box::pin($name(s))) as Way
    };
}

/// Every page that is solved, and how.
fn solved() -> Vec<(&'static str, Way)> {
    vec![
        ("ascending-numbers", way!(ascending)),
        ("button-delay", way!(press_with_delay)),
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
        let ways = solved();
        let count = ways.len();
        let only = std::env::var("WILDGYM_MINIWOB_ONLY").ok();
        for (name, way) in ways {
            if only.as_ref().is_some_and(|only| !only.split(',').any(|one| one == name)) {
                continue;
            }
            let url = server.url(&format!("/miniwob/{name}.html"));
            let tried = AssertUnwindSafe(solve(&mut stage, &url, way)).catch_unwind().await;
            match tried {
                Ok(reward) if (reward - 1.0).abs() < 1e-9 => {}
                Ok(reward) => failed.push(format!("{name}: {reward}\n{}", stage.seen.to_text())),
                Err(_) => failed.push(format!("{name}: the solution stopped")),
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
