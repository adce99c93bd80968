//! What a site computes, asked for over the `Web` as browsers and tools do.
//!
//! The site is the example of `tasks/README.md`; it lies in `tests/sites/club.example`.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use std::sync::{Arc, LazyLock};

use bytes::Bytes;
use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use serde_json::{Value, json};
use tempfile::TempDir;
use wildgym_sandbox::web::{AccessLog, Hermetic, Request, Response, Web, WebError};
use wildgym_tasks::Suite;

const CLUB: &str = "https://club.example";

/// Copies the example's site into a suite of its own.
fn suite() -> (TempDir, Suite) {
    let folder = tempfile::tempdir().unwrap();
    let root = Utf8Path::from_path(folder.path()).unwrap().to_owned();
    let sites = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sites");
    for entry in walkdir::WalkDir::new(&sites) {
        let entry = entry.unwrap();
        let below = entry.path().strip_prefix(&sites).unwrap();
        let to = root.as_std_path().join("sites").join(below);
        if entry.file_type().is_dir() {
            std::fs::create_dir_all(to).unwrap();
        } else {
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
    let meta = "format = 1\nname = \"club\"\nversion = \"1\"\ndescription = \"d\"\n";
    std::fs::write(root.join("suite.toml"), meta).unwrap();
    wildgym_tasks::template::write(&root, "da-parcels").unwrap();
    let suite = Suite::load(&root).unwrap_or_else(|faults| panic!("{faults}"));
    (folder, suite)
}

fn open(suite: &Suite) -> Web {
    let cache: Utf8PathBuf = suite.folder.join(".cache");
    Web::hermetic(Arc::new(Hermetic::open(&suite.sites, &cache).unwrap()), Vec::new())
}

static SHARED: LazyLock<(TempDir, Web)> = LazyLock::new(|| {
    let (folder, suite) = suite();
    let web = open(&suite);
    (folder, web)
});

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

/// A visitor with a cookie jar, at a time of the logical clock.
struct Visitor {
    now: Timestamp,
    jar: Vec<(String, String)>,
}

impl Visitor {
    fn new() -> Self {
        Self { now: "2026-03-02T09:00:00Z".parse().unwrap(), jar: Vec::new() }
    }

    fn later(&mut self, minutes: i64) {
        self.now = self.now.checked_add(jiff::Span::new().minutes(minutes)).unwrap();
    }

    /// Sends one request, and keeps the cookies of the reply.
    fn send(&mut self, mut request: Request) -> Response {
        if !self.jar.is_empty() {
            let all: Vec<_> =
                self.jar.iter().map(|(name, value)| format!("{name}={value}")).collect();
            request.headers.push(("cookie".to_owned(), all.join("; ")));
        }
        let log = AccessLog::default();
        let response = block_on(SHARED.1.exchange(request, self.now, &log)).unwrap();
        for (name, value) in &response.headers {
            if name == "set-cookie" {
                let (pair, attributes) = value.split_once(';').unwrap();
                let (name, value) = pair.split_once('=').unwrap();
                self.jar.retain(|(other, _)| other != name);
                if !attributes.contains("Max-Age=0") {
                    self.jar.push((name.to_owned(), value.to_owned()));
                }
            }
        }
        response
    }

    fn get(&mut self, path: &str) -> Response {
        self.send(Request::get(format!("{CLUB}{path}").parse().unwrap()))
    }

    fn post(&mut self, path: &str, fields: &[(&str, &str)]) -> Response {
        let mut body = url::form_urlencoded::Serializer::new(String::new());
        body.extend_pairs(fields);
        self.post_as(path, "application/x-www-form-urlencoded", body.finish().as_bytes())
    }

    fn post_as(&mut self, path: &str, kind: &str, body: &[u8]) -> Response {
        self.send(Request {
            method: http::Method::POST,
            headers: vec![("content-type".to_owned(), kind.to_owned())],
            body: Bytes::copy_from_slice(body),
            ..Request::get(format!("{CLUB}{path}").parse().unwrap())
        })
    }

    fn log_in(&mut self, user: &str, password: &str) -> Response {
        self.post("/login", &[("user", user), ("password", password), ("next", "")])
    }
}

fn text(response: &Response) -> String {
    String::from_utf8_lossy(&response.body).into_owned()
}

fn json_of(response: &Response) -> Value {
    serde_json::from_slice(&response.body).unwrap()
}

fn token(page: &str) -> String {
    let (_, rest) = page.split_once("name=\"csrf_token\" value=\"").unwrap();
    rest.split('"').next().unwrap().to_owned()
}

#[test]
fn every_kind_of_answer_is_given() {
    let table = [
        ("/", 200, "Kelmouth Rowing Club", "a page of its own"),
        ("/trips", 200, "<p>5 trips</p>", "a list"),
        ("/trips/", 301, "Moved", "a slash too many"),
        ("/outings", 301, "Moved", "a redirect to a route"),
        ("/trips/T-4", 200, "<h1>Fog horns &amp; herring</h1>", "a row, escaped"),
        ("/trips/T-%34", 200, "Fog horns", "the same, spelled otherwise"),
        ("/trips/T-99", 404, "<h1>404 Not Found</h1>", "no such row"),
        ("/trips/T-4/x", 404, "Trips</a>", "no route: the site's own 404"),
        ("/trips?q=night", 200, "<p>1 trips</p>", "a filter"),
        ("/trips?q=NIGHT&utm_source=x", 200, "<p>1 trips</p>", "capital letters, a stranger"),
        ("/trips?from=2026-05-01", 200, "<p>3 trips</p>", "from a day"),
        ("/trips?from=soon", 400, "The first day must be a date", "a wrong query"),
        ("/trips?sort=-day", 200, "06 June", "the last first"),
        ("/trips?sort=name", 400, "cannot sort by", "an order that is not offered"),
        ("/trips?page=3", 200, "Midsummer loop", "the last page"),
        ("/trips?page=4", 404, "the last is page 3", "beyond it"),
        ("/trips?page=x", 400, "must be a whole number", "no page"),
        ("/trips?page=2&page_size=4", 200, "Midsummer loop", "larger pages"),
        ("/export.csv", 200, "2026-05-09,Fog horns & herring,8\n", "nothing is escaped in CSV"),
        ("/rules", 200, "life jacket", "a file"),
        ("/tides", 200, "High water at 14:10 on 02 March 2026", "the logical clock"),
        ("/old-forum/a/b/c", 410, "closed in 2019", "gone"),
        ("/weather", 503, "down", "failing"),
        ("/robots.txt", 200, "User-agent: *\nDisallow: /export.csv\n", "robots"),
        ("/booked?code=%3Cb%3E", 200, "<b>&lt;b&gt;</b>", "what came in is escaped"),
    ];
    for (path, status, want, why) in table {
        let response = Visitor::new().get(path);
        let body = text(&response);
        assert_eq!(response.status, status, "{path}: {why}: {body}");
        assert!(body.contains(want), "{path}: {why}: {body}");
        assert_eq!(response.header("x-frame-options"), Some("DENY"), "{path}: every reply has it");
    }
}

#[test]
fn headers_say_what_an_answer_is() {
    let table = [
        ("/export.csv", "content-type", "text/csv; charset=utf-8"),
        ("/export.csv", "content-disposition", "attachment; filename=\"trips-2026-03-02.csv\""),
        ("/rules", "content-disposition", "attachment; filename=\"rules.txt\""),
        ("/weather", "retry-after", "120"),
        ("/api/trips", "content-type", "application/json; charset=utf-8"),
        ("/trips", "content-type", "text/html; charset=utf-8"),
        ("/trips/", "location", "/trips"),
        ("/water.js", "content-type", "text/javascript; charset=utf-8"),
    ];
    for (path, name, want) in table {
        assert_eq!(Visitor::new().get(path).header(name), Some(want), "{path} {name}");
    }
    assert_eq!(Visitor::new().get("/tides").delay.as_millis(), 4500);
    assert!(Visitor::new().get("/trips").delay.is_zero());
}

#[test]
fn a_page_pages_through_links() {
    let first = text(&Visitor::new().get("/trips?q=&sort=day"));
    for link in ["/trips?q=&amp;sort=day&amp;page=2", "/trips?q=&amp;sort=day&amp;page=3"] {
        let link = link.replace('/', "&#x2f;");
        assert!(first.contains(&link), "{link} in {first}");
    }
}

#[test]
fn programs_get_values_and_reasons() {
    let all = json_of(&Visitor::new().get("/api/trips"));
    assert_eq!(all["count"], 5, "a number, no text");
    assert_eq!(
        all["trips"][1],
        json!({"id": "T-2", "day": "2026-04-18", "name": "Night row to the light", "harbour": "Ulveth", "fare": "9.5"})
    );
    let some = json_of(&Visitor::new().get("/api/trips?harbour=Ulveth"));
    assert_eq!((&some["count"], &some["asked"]), (&json!(2), &json!("by Ulveth")));
    let wrong = Visitor::new().get("/api/trips?harbour=Atlantis");
    assert_eq!(wrong.status, 400);
    assert_eq!(
        json_of(&wrong),
        json!({"error": "Choose a valid harbour.", "fields": {"harbour": "Choose a valid harbour."}})
    );
}

#[test]
fn methods_are_kept_apart() {
    let ask = |method: &str, path: &str| {
        let request = Request {
            method: method.parse().unwrap(),
            ..Request::get(format!("{CLUB}{path}").parse().unwrap())
        };
        let response = Visitor::new().send(request);
        (response.status, response.header("allow").unwrap_or_default().to_owned())
    };
    let table = [
        ("HEAD", "/trips", 200, "", "comes with GET"),
        ("POST", "/trips", 405, "GET, HEAD, OPTIONS", "only read"),
        ("DELETE", "/book/T-1", 405, "GET, POST, HEAD, OPTIONS", "two routes, one path"),
        ("GET", "/theme", 405, "POST, OPTIONS", "only sent"),
        ("HEAD", "/theme", 405, "POST, OPTIONS", "no GET, no HEAD"),
        ("OPTIONS", "/book/T-1", 204, "GET, POST, HEAD, OPTIONS", "asked for"),
        ("OPTIONS", "/login", 204, "GET, HEAD, OPTIONS, POST", "the login"),
        ("PUT", "/login", 405, "GET, HEAD, OPTIONS, POST", "the login"),
        ("POST", "/", 405, "GET, HEAD", "a file"),
        ("POST", "/robots.txt", 405, "GET, HEAD", "robots"),
        ("BREW", "/trips", 405, "GET, HEAD, OPTIONS", "no method of this world"),
    ];
    for (method, path, status, allow, why) in table {
        assert_eq!(ask(method, path), (status, allow.to_owned()), "{method} {path}: {why}");
    }
    let head = Visitor::new().send(Request {
        method: http::Method::HEAD,
        ..Request::get(format!("{CLUB}/trips").parse().unwrap())
    });
    assert!(head.body.is_empty(), "HEAD has no body");
    assert_ne!(head.header("content-length"), Some("0"), "and says how long it would be");
}

/// Somebody books: the form comes back with messages until it is right, and the booking
/// number depends on what was typed and on nothing else.
#[test]
fn a_form_is_filled_in() {
    let mut visitor = Visitor::new();
    let page = text(&visitor.get("/book/T-2"));
    let token = token(&page);
    let wrong = [
        ("csrf_token", token.as_str()),
        ("name", "Ann \"Lee\""),
        ("day", "2026-03-01"),
        ("seats", "9"),
        ("card", "x"),
        ("extras", "lunch"),
        ("extras", "caviar"),
        ("unknown", "1"),
    ];
    let again = visitor.post("/book/T-2", &wrong);
    assert_eq!(again.status, 422);
    let shown = text(&again);
    for want in [
        "value=\"Ann &quot;Lee&quot;\"",
        "Day must not be before 2026-03-02.",
        "Seats must be at most 8.",
        "Cards look like K-118.",
        "Choose a valid extras.",
        "Your consent is required.",
        "value=\"lunch\" checked",
    ] {
        assert!(shown.contains(want), "{want} in {shown}");
    }
    assert!(!shown.contains("Your name is required"), "{shown}");
    let right = [
        ("csrf_token", token.as_str()),
        ("name", "Ann Lee"),
        ("day", "2026-03-02"),
        ("seats", "2"),
        ("card", ""),
        ("extras", "lunch"),
        ("agree", "on"),
    ];
    let done = visitor.post("/book/T-2", &right);
    assert_eq!(done.status, 303, "{}", text(&done));
    let booked = done.header("location").unwrap().to_owned();
    assert!(booked.starts_with("/booked?trip=T-2&code="), "{booked}");
    let page = text(&visitor.get(&booked));
    assert!(page.contains("Your booking for T-2 has the number"), "{page}");
    let mut other = Visitor::new();
    let same = other.post("/book/T-2", &right);
    assert_eq!(same.header("location"), Some(booked.as_str()), "the same for everybody");
    let changed: Vec<_> =
        right.iter().map(|(name, value)| (*name, value.replace("Ann", "Anne"))).collect();
    let changed: Vec<_> = changed.iter().map(|(name, value)| (*name, value.as_str())).collect();
    assert_ne!(other.post("/book/T-2", &changed).header("location"), Some(booked.as_str()));
    assert!(text(&visitor.get("/trips")).contains("In your basket: T-2<"), "a cookie holds it");
    assert!(text(&other.get("/trips")).contains("In your basket: T-2 T-2<"), "and another's his");
    visitor.jar[0].1 = visitor.jar[0].1.replace("T-2", "T-3");
    assert!(!text(&visitor.get("/trips")).contains("basket:"), "a changed one is none");
    other.post("/basket/empty", &[]);
    assert!(other.jar.is_empty(), "{:?}", other.jar);
    assert_eq!(other.post("/theme", &[("theme", "dark")]).status, 303);
    assert!(text(&other.get("/trips")).contains("<body class=\"dark\">"));
    assert_eq!(other.post("/theme", &[("theme", "pink")]).status, 422, "no template of its own");
}

#[test]
fn a_form_needs_the_token_of_its_session() {
    let fields = |token: &str| {
        let fields = [("csrf_token", token), ("name", "A"), ("day", "2026-03-02"), ("agree", "on")];
        fields.map(|(name, value)| (name.to_owned(), value.to_owned()))
    };
    let send = |visitor: &mut Visitor, token: &str| {
        let fields = fields(token);
        let fields: Vec<_> = fields.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        visitor.post("/book/T-1", &fields).status
    };
    let mut stranger = Visitor::new();
    let of_stranger = token(&text(&stranger.get("/book/T-1")));
    assert_eq!(send(&mut stranger, ""), 403);
    assert_eq!(send(&mut stranger, "0123456789abcdef0123456789abcdef"), 403);
    assert_eq!(send(&mut stranger, &of_stranger), 303);
    let mut member = Visitor::new();
    member.log_in("m.quill", "tern-41");
    assert_eq!(send(&mut member, &of_stranger), 403, "of another session");
    let of_member = token(&text(&member.get("/book/T-1")));
    assert_eq!(send(&mut member, &of_member), 303);
}

/// The way of a member: sent to the login, back to where he wanted to go, out again.
#[test]
fn members_log_in_and_out() {
    let mut visitor = Visitor::new();
    let sent = visitor.get("/members/handbook.html?page=2");
    let login = "/login?next=%2Fmembers%2Fhandbook.html%3Fpage%3D2";
    assert_eq!((sent.status, sent.header("location")), (303, Some(login)));
    let form = text(&visitor.get(login));
    assert!(
        form.contains("name=\"next\" value=\"&#x2f;members&#x2f;handbook.html?page=2\""),
        "{form}"
    );
    let wrong = [("user", "m.quill"), ("password", "tern"), ("next", "/members/handbook.html")];
    let wrong = visitor.post("/login", &wrong);
    assert_eq!(wrong.status, 401);
    let page = text(&wrong);
    assert!(page.contains("Unknown name or wrong password."), "{page}");
    assert!(page.contains("value=\"m.quill\"") && !page.contains("tern\""), "{page}");
    let right =
        [("user", " M.Quill "), ("password", "tern-41"), ("next", "/members/handbook.html")];
    let right = visitor.post("/login", &right);
    assert_eq!((right.status, right.header("location")), (303, Some("/members/handbook.html")));
    let cookie = right.header("set-cookie").unwrap();
    assert!(cookie.contains("; Max-Age=1800; HttpOnly; Secure; SameSite=Lax"), "{cookie}");
    assert!(text(&visitor.get("/members/handbook.html")).contains("behind the barometer"));
    let account = visitor.get("/account");
    let page = text(&account);
    assert!(page.contains("<h1>Marta Quill, card K-118</h1>"), "{page}");
    assert!(
        page.contains("<li>2026-02-15: 9,500 m fog</li><li>2026-02-01: 12,000 m </li>"),
        "{page}"
    );
    assert!(!page.contains("rain"), "no row of another member: {page}");
    assert_eq!(account.header("cache-control"), Some("private, no-store"));
    assert_eq!(visitor.get("/login?next=/trips").header("location"), Some("/trips"), "in already");
    visitor.later(29);
    assert_eq!(visitor.get("/account").status, 200);
    visitor.later(1);
    let ended = visitor.get("/account");
    assert_eq!(ended.header("location"), Some("/login?next=%2Faccount&expired=1"));
    assert!(text(&visitor.get("/login?next=%2Faccount&expired=1")).contains("has expired"));
    visitor.log_in("j.orr", "gannet-7");
    assert!(text(&visitor.get("/account")).contains("4,000 m rain"));
    assert_eq!(visitor.get("/logout").header("location"), Some("/"));
    assert!(visitor.jar.is_empty());
    assert_eq!(visitor.get("/account").status, 303);
}

#[test]
fn nobody_gets_in_by_other_doors() {
    let mut visitor = Visitor::new();
    for next in ["//evil.test", "/\\evil.test", "https://evil.test/", "javascript:x"] {
        let mut thief = Visitor::new();
        let fields = [("user", "m.quill"), ("password", "tern-41"), ("next", next)];
        assert_eq!(thief.post("/login", &fields).header("location"), Some("/account"), "{next}");
    }
    for cookie in ["session=m.quill", "session=m.quill.1772442000.00000000000000000000000000000000"]
    {
        let headers = vec![("cookie".to_owned(), cookie.to_owned())];
        let url = format!("{CLUB}/account").parse().unwrap();
        assert_eq!(visitor.send(Request { headers, ..Request::get(url) }).status, 303, "{cookie}");
    }
    for path in [
        "/members/handbook",
        "/members/%68andbook.html",
        "/members/none",
        "/Members/../members/handbook",
    ] {
        let got = visitor.get(path);
        assert_eq!(got.status, 303, "{path} {}", text(&got));
    }
    let posted = visitor.post("/members/handbook.html", &[]);
    assert_eq!(posted.header("location"), Some("/login"), "no way back to what was sent");
    // A session of a suite with other content is worth nothing here.
    let (folder, _) = suite();
    let root = Utf8Path::from_path(folder.path()).unwrap();
    std::fs::write(root.join("sites/club.example/pages/water.js"), "other()").unwrap();
    let other = open(&Suite::load(root).unwrap());
    let mut member = Visitor::new();
    member.log_in("m.quill", "tern-41");
    let cookie = format!("session={}", member.jar[0].1);
    let headers = vec![("cookie".to_owned(), cookie)];
    let request = Request { headers, ..Request::get(format!("{CLUB}/account").parse().unwrap()) };
    let ask = |web: &Web| {
        let log = AccessLog::default();
        block_on(web.exchange(request.clone(), member.now, &log)).unwrap().status
    };
    assert_eq!((ask(&SHARED.1), ask(&other)), (200, 303));
}

/// An answer is a function of site, request and time: another opening of the same site
/// gives the same bytes, wherever it lies.
#[test]
fn answers_are_the_same_everywhere() {
    let (_folder, suite) = suite();
    let other = open(&suite);
    let mut member = Visitor::new();
    member.log_in("m.quill", "tern-41");
    let cookie = format!("session={}", member.jar[0].1);
    for path in ["/account", "/trips?page=2", "/book/T-1", "/nowhere", "/api/trips"] {
        let headers = vec![("cookie".to_owned(), cookie.clone())];
        let request = Request { headers, ..Request::get(format!("{CLUB}{path}").parse().unwrap()) };
        let ask = |web: &Web| {
            block_on(web.exchange(request.clone(), member.now, &AccessLog::default())).unwrap()
        };
        assert_eq!(ask(&SHARED.1), ask(&other), "{path}");
    }
}

#[test]
fn files_are_sent() {
    let send = |name: &str, content: &str| {
        let body = format!(
            "--b\r\nContent-Disposition: form-data; name=\"sheet\"; filename=\"{name}\"\r\n\r\n{content}\r\n--b--\r\n"
        );
        let kind = "multipart/form-data; boundary=b";
        let response = Visitor::new().post_as("/results", kind, body.as_bytes());
        (response.status, text(&response))
    };
    let (status, page) = send("a<1>.csv", "1,2\n3,4\n");
    assert_eq!(status, 200, "{page}");
    assert!(page.contains("<h1>a&lt;1&gt;.csv: 8 bytes</h1>\n<p>2 lines</p>"), "{page}");
    assert!(send("a.exe", "x").1.contains("The sheet must be a file of the kind .csv."));
    assert!(send("a.csv", &"x".repeat(2001)).1.contains("at most 2000 bytes"));
    assert_eq!(send("", "").0, 422, "none was chosen");
}

#[test]
fn hostile_requests_are_refused_in_words() {
    let urlencoded = "application/x-www-form-urlencoded";
    let many = vec!["a=1"; 300].join("&");
    let large = "a".repeat((2 << 20) + 1);
    let table: [(&str, &str, &[u8], u16, &str); 6] = [
        ("/theme", urlencoded, large.as_bytes(), 413, "huge"),
        ("/theme", urlencoded, many.as_bytes(), 413, "many fields"),
        ("/theme", urlencoded, b"theme=%ff", 400, "no text"),
        ("/theme", "text/plain", b"dark", 415, "no form"),
        ("/theme", "multipart/form-data", b"x", 400, "no boundary"),
        ("/login", urlencoded, b"user=%c3%28", 400, "no text"),
    ];
    for (path, kind, body, status, why) in table {
        let response = Visitor::new().post_as(path, kind, body);
        assert_eq!(response.status, status, "{why}");
        assert!(text(&response).contains("The request cannot be read: "), "{why}");
    }
    let table = [
        (format!("/trips?{many}"), 413, "many parameters"),
        ("/trips?q=%ff".to_owned(), 400, "a query that is no text"),
        ("/trips/%ff%fe".to_owned(), 400, "a path that is no text"),
        (format!("/{}", "a/".repeat(2000)), 404, "deep"),
    ];
    for (path, status, why) in table {
        assert_eq!(Visitor::new().get(&path).status, status, "{why}");
    }
    let headers = (0..2000).map(|n| ("cookie".to_owned(), format!("c{n}=x"))).collect();
    let url = format!("{CLUB}/trips").parse().unwrap();
    let flood = Visitor::new().send(Request { headers, ..Request::get(url) });
    assert_eq!(flood.status, 431);
}

#[test]
fn a_host_that_is_too_slow_has_not_answered() {
    let now = "2026-03-02T09:00:00Z".parse().unwrap();
    let log = AccessLog::default();
    let request = || Request::get(format!("{CLUB}/webcam").parse().unwrap());
    let sent = block_on(SHARED.1.send(request(), now, &log));
    assert_eq!(sent, Err(WebError::TimedOut { host: "club.example".to_owned(), seconds: 30 }));
    assert_eq!(
        log.take()[0].error.as_deref(),
        Some("`club.example` did not answer within 30 s; try again, or another source")
    );
    let shown = block_on(SHARED.1.exchange(request(), now, &log)).unwrap();
    assert_eq!(shown.delay.as_secs(), 45, "who shows pages waits himself");
}

#[test]
fn search_lists_what_everybody_sees() {
    let find = |query: &str| -> Vec<String> {
        let url = SHARED.1.endpoints().search.join("search").unwrap();
        let body = Bytes::from(json!({ "q": query }).to_string());
        let request = Request { method: http::Method::POST, body, ..Request::get(url) };
        let found =
            block_on(SHARED.1.send(request, Visitor::new().now, &AccessLog::default())).unwrap();
        let hits = json_of(&found)["organic"].as_array().unwrap().clone();
        hits.iter().map(|hit| hit["link"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(find("herring horns"), ["https://club.example/trips/T-4"], "a page for each row");
    assert_eq!(find("barometer"), [""; 0], "behind the login");
    assert_eq!(find("planned"), [""; 0], "what a script would write");
    assert!(find("regatta").contains(&"https://club.example/trips/T-3".to_owned()));
}

/// The example of `tasks/README.md` is this site.
#[test]
fn the_readme_shows_this_site() {
    let root = Utf8Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = std::fs::read_to_string(root.join("../tasks/README.md")).unwrap();
    for file in ["site.toml", "templates/book.html", "templates/trips.html"] {
        let text =
            std::fs::read_to_string(root.join("tests/sites/club.example").join(file)).unwrap();
        assert!(readme.contains(&text), "tasks/README.md shows `{file}` as it stands");
    }
}
