//! How each page is solved: from what is read of it, by page actions.

use wildgym_sandbox::browser::{Action, Element};

use super::Solver;

pub(super) async fn press_query(s: &mut Solver<'_>) {
    let name = s.quoted(0);
    s.press(&name).await;
}

pub(super) async fn press_in_order(s: &mut Solver<'_>) {
    for name in ["ONE", "TWO"] {
        s.press(name).await;
    }
}

pub(super) async fn press_one(s: &mut Solver<'_>) {
    s.press("ONE").await;
}

pub(super) async fn press_only(s: &mut Solver<'_>) {
    let id = s.nth("button", 0);
    s.click(id).await;
}

pub(super) async fn ascending(s: &mut Solver<'_>) {
    s.press("1").await;
    // The numbers are hidden then; what is left keeps its order.
    for _ in 2..=5 {
        let left = s.all(|one| one.role == "clickable" && one.name.starts_with("rect"));
        s.click(left[0].id).await;
    }
}

pub(super) async fn cheapest(s: &mut Solver<'_>) {
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

pub(super) async fn choose_date(s: &mut Solver<'_>) {
    let date = s.between("Select ", " as the date");
    let field = s.nth("textbox", 0);
    pick_date(s, field, &date).await;
    s.press("Submit").await;
}

pub(super) async fn choose_list(s: &mut Solver<'_>) {
    let wanted = s.between("Select ", " from the");
    let list = s.all(|one| !one.options.is_empty())[0].id;
    s.fill(list, &wanted).await;
    s.press("Submit").await;
}

pub(super) async fn check_named(s: &mut Solver<'_>) {
    for name in s.between("Select ", " and click").split(", ") {
        if let Some(id) = s.named(name) {
            s.fill(id, "true").await;
        }
    }
    s.press("Submit").await;
}

pub(super) async fn check_similar(s: &mut Solver<'_>) {
    // What these words are like is knowledge, not skill with pages.
    for name in ["start", "cut", "vermillion", "conceal"] {
        let id = s.named(name).unwrap();
        s.fill(id, "true").await;
    }
    s.press("Submit").await;
}

pub(super) async fn collapsible(s: &mut Solver<'_>) {
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

pub(super) async fn sections(s: &mut Solver<'_>) {
    search_tabs(s, "tab").await;
}

pub(super) async fn tabs(s: &mut Solver<'_>) {
    search_tabs(s, "link").await;
}

pub(super) async fn one_tab(s: &mut Solver<'_>) {
    let wanted = s.between("Click on ", ".");
    let tab = s.all(|one| one.role == "link" && one.name == wanted)[0].id;
    s.click(tab).await;
}

pub(super) async fn dialog(s: &mut Solver<'_>) {
    let name = match s.quoted(0).as_str() {
        "x" => "Close".to_owned(),
        other => other.to_owned(),
    };
    let button = s.all(|one| one.role == "button" && one.name == name)[0].id;
    s.click(button).await;
}

pub(super) async fn menu(s: &mut Solver<'_>) {
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

pub(super) async fn menu_below(s: &mut Solver<'_>) {
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

pub(super) async fn widget(s: &mut Solver<'_>) {
    let role = match s.quoted(0).as_str() {
        "text" | "textarea" => "textbox".to_owned(),
        other => other.to_owned(),
    };
    let id = s.nth(&role, 0);
    s.click(id).await;
}

pub(super) async fn copy(s: &mut Solver<'_>) {
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

pub(super) async fn email_delete(s: &mut Solver<'_>) {
    let who = s.between("email by ", " and");
    email_icon(s, &who, "trash").await;
}

pub(super) async fn email_star(s: &mut Solver<'_>) {
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

pub(super) async fn email_reply(s: &mut Solver<'_>) {
    let (who, text) = (s.between("email by ", " and"), s.quoted(0));
    reply(s, &who, &text).await;
}

pub(super) async fn email_reply_words(s: &mut Solver<'_>) {
    let (who, text) = (s.between("Find the ", " email"), s.quoted(0));
    reply(s, &who, &text).await;
}

pub(super) async fn email_forward(s: &mut Solver<'_>) {
    let (who, to) = (s.between("email by ", " and"), s.between("email to ", "."));
    forward(s, &who, &to).await;
}

pub(super) async fn email_forward_words(s: &mut Solver<'_>) {
    let (who, to) = (s.between("email from ", " to"), s.between(" to ", "."));
    forward(s, &who, &to).await;
}

pub(super) async fn email_forward_latest(s: &mut Solver<'_>) {
    let (who, to) = (s.between("Open ", "'s"), s.between("it to ", "."));
    forward(s, &who, &to).await;
}

pub(super) async fn enter_date(s: &mut Solver<'_>) {
    let date = s.between("Enter ", " as the date");
    let parts: Vec<&str> = date.split('/').collect();
    let id = s.nth("date", 0);
    s.fill(id, &format!("{}-{}-{}", parts[2], parts[0], parts[1])).await;
    s.press("Submit").await;
}

pub(super) async fn enter_time(s: &mut Solver<'_>) {
    let time = s.between("Enter ", " as the time");
    let (clock, half) = time.split_once(' ').unwrap();
    let (hour, minute) = clock.split_once(':').unwrap();
    let hour = hour.parse::<u32>().unwrap() % 12 + if half == "PM" { 12 } else { 0 };
    let id = s.nth("time", 0);
    s.fill(id, &format!("{hour:02}:{minute}")).await;
    s.press("Submit").await;
}

pub(super) async fn enter_all(s: &mut Solver<'_>) {
    let text = s.quoted(0);
    for field in s.all(|one| one.role == "textbox") {
        s.fill(field.id, &text).await;
    }
    s.press("Submit").await;
}

pub(super) async fn enter_case(s: &mut Solver<'_>) {
    let text = s.quoted(0);
    let text = if s.query().contains("lower") { text.to_lowercase() } else { text.to_uppercase() };
    let id = s.nth("textbox", 0);
    s.fill(id, &text).await;
    s.press("Submit").await;
}

pub(super) async fn greatest(s: &mut Solver<'_>) {
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

pub(super) async fn find_word(s: &mut Solver<'_>) {
    let n = ordinal(&s.query());
    let text = s.text();
    let paragraph = text.lines().filter(|line| !line.is_empty()).nth(1).unwrap();
    let word = paragraph.split_whitespace().nth(n - 1).unwrap().trim_matches(['.', ',']).to_owned();
    let id = s.nth("textbox", 0);
    s.fill(id, &word).await;
    s.press("Submit").await;
}

pub(super) async fn focus(s: &mut Solver<'_>) {
    let query = s.query();
    let n = if query.contains("the textbox") { 1 } else { ordinal(&query) };
    let id = s.nth("textbox", n - 1);
    s.click(id).await;
}

pub(super) async fn form_numbers(s: &mut Solver<'_>) {
    let query = s.query();
    let (radio, number) = (ordinal(&query), s.quoted(0));
    let field = ordinal(query.split("into").nth(1).unwrap());
    let id = s.nth("radio", radio - 1);
    s.fill(id, "true").await;
    let id = s.nth("textbox", field - 1);
    s.fill(id, &number).await;
    s.press("Submit").await;
}

pub(super) async fn generate(s: &mut Solver<'_>) {
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

pub(super) async fn guess(s: &mut Solver<'_>) {
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

pub(super) async fn identify(s: &mut Solver<'_>) {
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

pub(super) async fn login(s: &mut Solver<'_>) {
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

pub(super) async fn search_movies(s: &mut Solver<'_>) {
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

pub(super) async fn tree(s: &mut Solver<'_>) {
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

pub(super) async fn odd_or_even(s: &mut Solver<'_>) {
    let text = s.text();
    let numbers: Vec<i32> = text.lines().filter_map(|line| line.trim().parse().ok()).collect();
    let (odd, even) = (s.all(|one| one.name == "Odd"), s.all(|one| one.name == "Even"));
    for (n, number) in numbers.iter().enumerate() {
        let id = if number % 2 == 0 { even[n].id } else { odd[n].id };
        s.click(id).await;
    }
    s.press("Submit").await;
}

pub(super) async fn phone_book(s: &mut Solver<'_>) {
    let (who, what) = (s.between("Find ", " in the"), s.between("click on their ", "."));
    for _ in 0..20 {
        if s.text().contains(&format!("## {who}")) {
            break;
        }
        let next = s.all(|one| one.role == "link" && one.name == ">")[0].id;
        s.click(next).await;
    }
    let text = s.text().to_lowercase();
    let line = text.lines().find(|line| line.starts_with(&what)).unwrap().to_owned();
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

pub(super) async fn read_table(s: &mut Solver<'_>) {
    let label = s.between("value of ", " into");
    let value = in_table(&s.text(), &label);
    let id = s.nth("textbox", 0);
    s.fill(id, &value).await;
    s.press("Submit").await;
}

pub(super) async fn read_table_twice(s: &mut Solver<'_>) {
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

pub(super) async fn last_word(s: &mut Solver<'_>) {
    let fields = s.all(|one| one.role == "textbox");
    let text = fields[0].value.clone().unwrap();
    let word = text.split_whitespace().next_back().unwrap().trim_matches(['.', ',']).to_owned();
    s.fill(fields[1].id, &word).await;
    s.press("Submit").await;
}

pub(super) async fn scroll(s: &mut Solver<'_>) {
    let action =
        if s.query().contains("bottom") { Action::ScrollToBottom } else { Action::ScrollToTop };
    s.stage.must(action).await;
    s.press("Submit").await;
}

pub(super) async fn sign(s: &mut Solver<'_>) {
    let (name, button) = (s.quoted(0), s.quoted(1));
    s.stage.must(Action::ScrollToBottom).await;
    s.stage.look().await;
    let id = s.named("Name").unwrap();
    s.fill(id, &name).await;
    s.press(&button).await;
}

pub(super) async fn search_results(s: &mut Solver<'_>) {
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

pub(super) async fn algebra(s: &mut Solver<'_>) {
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

pub(super) async fn arithmetic(s: &mut Solver<'_>) {
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
        let poster = before.split_whitespace().rfind(|word| word.starts_with('@'));
        if poster == Some(who) {
            found.push(button.id);
        }
    }
    found
}

pub(super) async fn social_one(s: &mut Solver<'_>) {
    let (who, what) = (s.between("the user ", ","), s.quoted(0).to_lowercase());
    let ids = posts_by(s, &who, &what).await;
    s.click(ids[0]).await;
}

pub(super) async fn social_many(s: &mut Solver<'_>) {
    let query = s.query();
    let (who, what) = (s.between("by ", " and"), s.quoted(0).to_lowercase());
    let most = if query.contains("all posts") { usize::MAX } else { ordinal(&query) };
    let ids = posts_by(s, &who, &what).await;
    for id in ids.into_iter().take(most) {
        s.click(id).await;
    }
    s.press("Submit").await;
}

pub(super) async fn transform(s: &mut Solver<'_>) {
    let text = s.text();
    let word = text.lines().filter(|line| !line.is_empty()).nth(1).unwrap().replace(' ', "");
    let id = s.nth("textbox", 0);
    s.fill(id, &word).await;
    s.press("Submit").await;
}

pub(super) async fn autocomplete(s: &mut Solver<'_>) {
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

pub(super) async fn spinner(s: &mut Solver<'_>) {
    let number = s.between("Select ", " with");
    let id = s.nth("spinbutton", 0);
    s.fill(id, &number).await;
    s.press("Submit").await;
}

pub(super) async fn option(s: &mut Solver<'_>) {
    let name = s.between("Select ", " and click");
    let id = s.named(&name).unwrap();
    s.fill(id, "true").await;
    s.press("Submit").await;
}

pub(super) async fn pick_from_hidden(s: &mut Solver<'_>) {
    let (size, button) = (s.between("Choose ", " from"), s.quoted(0));
    s.press("▾").await;
    s.press(&size).await;
    s.press(&button).await;
}
