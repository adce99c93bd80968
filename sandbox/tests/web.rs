//! The hermetic web as callers see it: hosts, redirects, the block list, the search
//! engine, the encyclopedia.

#![expect(clippy::unwrap_used, reason = "the makers of test webs are not tests themselves")]

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use proptest::prelude::*;
use serde_json::{Value, json};
use wildgym_sandbox::web::{AccessLog, Hermetic, HermeticError, Request, Response, Web, WebError};
use wildgym_tasks::environment::{Article, ArticleMeta, Service, Site, SiteKind, SiteMeta};
use wildgym_tasks::scenario::Language;

/// Small sites, written into a directory of their own.
struct Sites {
    dir: tempfile::TempDir,
    sites: BTreeMap<String, Site>,
}

impl Sites {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap(), sites: BTreeMap::new() }
    }

    fn root(&self) -> &Utf8Path {
        Utf8Path::from_path(self.dir.path()).unwrap()
    }

    fn site(&mut self, host: &str, language: Language) -> &mut Site {
        let meta = SiteMeta::new(format!("Site {host}"), language, SiteKind::Pages);
        let site = Site::new(host, meta);
        self.sites.entry(host.to_owned()).or_insert(site)
    }

    fn file(&mut self, host: &str, path: &str, bytes: impl AsRef<[u8]>) -> Utf8PathBuf {
        let name = file_name(&format!("{host}{path}"));
        let file = self.root().join(name);
        std::fs::write(&file, bytes).unwrap();
        let site = self.sites.get_mut(host).unwrap();
        site.pages.insert(path.to_owned(), file.clone());
        file
    }

    fn page(&mut self, host: &str, path: &str, title: &str, head: &str, text: &str) {
        let html = format!(
            "<!DOCTYPE html><html><head><title>{title}</title>{head}</head>\
             <body><h1>{title}</h1><p>{text}</p></body></html>"
        );
        self.file(host, path, html);
    }

    fn article(&mut self, host: &str, title: &str, redirects: &[&str], body: &str) {
        let meta = ArticleMeta {
            title: title.to_owned(),
            redirects: redirects.iter().map(ToString::to_string).collect(),
            disambiguation: title.contains("disambiguation") || title.contains("消歧义"),
            date: "2026-01-02".parse().unwrap(),
            categories: Vec::new(),
            languages: BTreeMap::new(),
            user: None,
            comment: None,
        };
        let file = format!("{title}.md").into();
        let article = Article { meta, body: body.to_owned(), file, revisions: Vec::new() };
        self.sites.get_mut(host).unwrap().articles.push(article);
    }

    fn open(&self) -> Arc<Hermetic> {
        Arc::new(Hermetic::open(&self.sites, &self.root().join("cache")).unwrap())
    }

    fn web(&self, blocked: &[&str]) -> Web {
        Web::hermetic(self.open(), blocked.iter().map(ToString::to_string).collect())
    }
}

/// A file name out of a host and a path.
fn file_name(text: &str) -> String {
    data_encoding::HEXLOWER.encode(text.as_bytes())
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

fn now() -> Timestamp {
    "2026-03-01T09:00:00Z".parse().unwrap()
}

fn send(web: &Web, request: Request) -> Result<Response, WebError> {
    block_on(web.send(request, now(), &AccessLog::default()))
}

fn get(web: &Web, url: &str) -> Result<Response, WebError> {
    send(web, Request::get(url.parse().unwrap()))
}

fn text(response: &Response) -> String {
    String::from_utf8_lossy(&response.body).into_owned()
}

fn json_of(response: &Response) -> Value {
    serde_json::from_slice(&response.body).unwrap()
}

fn post(web: &Web, path: &str, body: &str) -> Response {
    let url = web.endpoints().search.join(path).unwrap();
    let method = http::Method::POST;
    let body = Bytes::from(body.to_owned());
    send(web, Request { method, body, ..Request::get(url) }).unwrap()
}

/// Returns the links that a search finds, in order.
fn links(web: &Web, query: &str) -> Vec<String> {
    let found = json_of(&post(web, "search", &json!({ "q": query }).to_string()));
    let hits = found["organic"].as_array().unwrap();
    hits.iter().map(|hit| hit["link"].as_str().unwrap().to_owned()).collect()
}

fn harbour() -> Sites {
    let mut sites = Sites::new();
    let site = sites.site("tides.test", Language::En);
    site.meta.aliases = vec!["潮汐.test".into(), "old-tides.test".into()];
    site.meta.redirects = [
        ("/old", "/new"),
        ("/new", "https://other.test/landing"),
        ("/loop", "/loop2"),
        ("/loop2", "/loop"),
        ("/out", "ftp://files.test/x"),
        ("/hidden", "https://secret.other.test/"),
        ("/void", "https://nowhere.test/"),
    ]
    .map(|(from, to)| (from.to_owned(), to.to_owned()))
    .into();
    sites.page(
        "tides.test",
        "/",
        "Tide tables",
        "<meta name=\"date\" content=\"2026-02-03\">",
        "All tide tables of the harbour.",
    );
    sites.page("tides.test", "/docs/", "Documentation", "", "How to read tide tables.");
    sites.page(
        "tides.test",
        "/报告/二月",
        "二月财务报告",
        "",
        "云岫水务的财务报告：二月利润下降。",
    );
    sites.file("tides.test", "/data.csv", "day,level\n1,4.2\n");
    sites.site("other.test", Language::En);
    sites.page("other.test", "/landing", "Landing", "", "You have arrived.");
    sites
}

#[test]
fn hosts_answer_under_their_names_and_paths() {
    let web = harbour().web(&[]);
    let table = [
        ("https://tides.test/", 200, "All tide tables", "the front page"),
        ("http://TIDES.test.:80/?q=1#x", 200, "All tide tables", "another spelling"),
        ("https://www.tides.test/", 200, "All tide tables", "www"),
        ("https://潮汐.test/", 200, "All tide tables", "an alias in Chinese"),
        ("https://tides.test/docs", 200, "How to read", "the slash is added"),
        ("https://tides.test/报告/二月", 200, "云岫", "a Chinese path"),
        (
            "https://tides.test/%E6%8A%A5%E5%91%8A/%E4%BA%8C%E6%9C%88/",
            200,
            "云岫",
            "escaped, slash",
        ),
        ("https://tides.test/data.csv", 200, "1,4.2", "data"),
        ("https://tides.test/old", 200, "arrived", "two redirects, to another host"),
        ("https://tides.test/no<b>pe", 404, "This site has no page", "no page"),
        ("https://tides.test/robots.txt", 200, "Disallow:\n", "nothing lists the pages"),
        ("https://tides.test/sitemap.xml", 404, "no page", "nothing lists the pages"),
    ];
    for (url, status, want, why) in table {
        let response = get(&web, url).unwrap();
        assert_eq!(response.status, status, "{url}: {why}");
        assert!(text(&response).contains(want), "{url}: {why}: {}", text(&response));
        assert!(!text(&response).contains("<b>pe"), "what was asked for is escaped");
    }
}

#[test]
fn headers_follow_the_logical_time_and_the_content() {
    let web = harbour().web(&[]);
    let page = get(&web, "https://tides.test/").unwrap();
    let want = [
        ("content-type", "text/html; charset=utf-8"),
        ("date", "Sun, 01 Mar 2026 09:00:00 GMT"),
        ("last-modified", "Tue, 03 Feb 2026 00:00:00 GMT"),
    ];
    for (name, value) in want {
        assert_eq!(page.header(name), Some(value));
    }
    assert_eq!(page.header("content-length"), Some(page.body.len().to_string().as_str()));
    let head = Request { method: http::Method::HEAD, ..Request::get(page.url.clone()) };
    let head = send(&web, head).unwrap();
    assert_eq!((head.status, head.body.len()), (200, 0));
    assert_eq!(head.header("content-length"), page.header("content-length"));
    let etag = page.header("etag").unwrap().to_owned();
    let mut again = Request::get(page.url.clone());
    again.headers.push(("if-none-match".into(), etag));
    assert_eq!(send(&web, again).unwrap().status, 304);
    let put = Request { method: http::Method::PUT, ..Request::get(page.url) };
    let put = send(&web, put).unwrap();
    assert_eq!((put.status, put.header("allow")), (405, Some("GET, HEAD")));
}

#[test]
fn what_cannot_be_reached_says_why() {
    let web = harbour().web(&["secret.other.test"]);
    let table = [
        ("https://nowhere.test/", "the host is unknown"),
        ("https://sub.tides.test/", "the host is unknown"),
        ("https://127.0.0.1/", "addresses are not served"),
        ("http://localhost:8000/", "this machine"),
        ("file:///etc/passwd", "local files"),
        ("https://tides.test:8443/", "port 8443"),
        ("https://tides.test/out", "only `http` and `https`"),
        ("https://tides.test/void", "the host is unknown"),
        ("https://tides.test/loop", "more than 10 redirects"),
        ("https://tides.test/hidden", "blocked for this task"),
    ];
    for (url, want) in table {
        let error = get(&web, url).unwrap_err().to_string();
        assert!(error.contains(want), "{url}: {error}");
    }
    let long = format!("https://tides.test/{}", "x".repeat(9000));
    let error = get(&web, &long).unwrap_err().to_string();
    assert!(error.contains("longer than") && error.len() < 300, "{error}");
}

#[test]
fn a_blocked_host_is_blocked_under_every_name_and_in_the_search() {
    let sites = harbour();
    assert!(links(&sites.web(&[]), "tide tables").iter().any(|link| link.contains("tides.test")));
    for list in ["tides.test", "test"] {
        let web = sites.web(&[list]);
        for host in ["tides.test", "www.tides.test", "old-tides.test"] {
            let error = get(&web, &format!("https://{host}/")).unwrap_err();
            assert_eq!(error, WebError::Blocked(host.to_owned()), "list {list}");
        }
    }
    assert!(links(&sites.web(&["tides.test"]), "tide tables").is_empty(), "nor seen in snippets");
}

#[test]
fn each_hop_is_logged() {
    let web = harbour().web(&["other.test"]);
    let log = AccessLog::default();
    let url = "https://me:pw@tides.test/old#top".parse().unwrap();
    block_on(web.send(Request::get(url), now(), &log)).unwrap_err();
    let lines: Vec<_> = log.take().into_iter().map(|line| (line.url, line.status)).collect();
    let want = [
        ("https://tides.test/old", Some(301)),
        ("https://tides.test/new", Some(301)),
        ("https://other.test/landing", None),
    ];
    assert_eq!(lines, want.map(|(url, status)| (url.to_owned(), status)));
}

#[test]
fn a_reply_that_is_too_large_is_refused() {
    let mut sites = harbour();
    sites.file("tides.test", "/big.bin", vec![0; (32 << 20) + 1]);
    let web = sites.web(&[]);
    let error = get(&web, "https://tides.test/big.bin").unwrap_err();
    assert_eq!(error, WebError::TooLarge(32 << 20));
}

#[test]
fn services_answer_from_their_tables() {
    let mut sites = harbour();
    let table = sites.root().join("tides.json");
    std::fs::write(&table, r#"[{"station": "Ellery", "level": 4.2}]"#).unwrap();
    let service = Service {
        path: "/api/tides".into(),
        table,
        required: vec!["station".into()],
        optional: Vec::new(),
        require_header: Some("X-Key: 7".into()),
        page_size: None,
    };
    sites.sites.get_mut("tides.test").unwrap().meta.services.push(service);
    let web = sites.web(&[]);
    let url = "https://tides.test/api/tides?station=Ellery";
    assert_eq!(get(&web, url).unwrap().status, 401);
    let mut request = Request::get(url.parse().unwrap());
    request.headers.push(("x-key".into(), "7".into()));
    let response = send(&web, request.clone()).unwrap();
    assert_eq!(
        json_of(&response),
        json!({"count": 1, "rows": [{"station": "Ellery", "level": 4.2}]})
    );
    let response = send(&web, Request { method: http::Method::POST, ..request }).unwrap();
    assert_eq!(response.status, 405);
}

#[test]
fn sites_that_cannot_be_served_are_refused_with_the_reason() {
    let mut twice = harbour();
    twice.sites.get_mut("other.test").unwrap().meta.aliases = vec!["OLD-tides.test".into()];
    let mut gone = harbour();
    let missing = gone.root().join("missing.html");
    gone.sites.get_mut("tides.test").unwrap().pages.insert("/x".into(), missing);
    let mut searching = Sites::new();
    searching.site("search.wild.test", Language::En);
    let mut titles = encyclopedia();
    titles.article("wiki.test", "Ellery Bay", &[], "x");
    for (sites, want) in [
        (twice, "claimed by"),
        (gone, "missing.html"),
        (searching, "the search engine"),
        (titles, "used twice"),
    ] {
        let opened = Hermetic::open(&sites.sites, sites.root());
        let error: HermeticError = opened.unwrap_err();
        assert!(error.to_string().contains(want), "{error}");
    }
}

fn library() -> Sites {
    let mut sites = harbour();
    sites.site("news.test", Language::En).meta.unlisted = vec!["/drafts/*".into()];
    let news = "<meta property=\"og:type\" content=\"article\"><meta name=date content=2026-02-20>";
    for (path, title, head, text) in [
        ("/committee", "Committees met", news, "The committees discussed the harbour budget."),
        (
            "/spring",
            "Spring tide floods quay",
            news,
            "The spring tide at Port Ellery rose to 4.2 m.",
        ),
        ("/moon", "Moon and tide", "", "The moon pulls the tide; a full moon makes a spring tide."),
        ("/drafts/x", "Draft on tide", "", "A draft nobody may find: zeppelin."),
        ("/secret", "Secret", "<meta name=robots content=noindex>", "Also unlisted: zeppelin."),
        ("/twin-a", "Twin page", "", "Identical words here."),
        ("/twin-b", "Twin page", "", "Identical words here."),
    ] {
        sites.page("news.test", path, title, head, text);
    }
    sites
}

#[test]
fn the_search_engine_finds_what_is_meant() {
    let web = library().web(&[]);
    let table = [
        ("committee", "https://news.test/committee", "an English stem"),
        ("财务报告", "https://tides.test/%E6%8A%A5%E5%91%8A/%E4%BA%8C%E6%9C%88", "Chinese"),
        ("云岫水务 report", "https://tides.test/%E6%8A%A5%E5%91%8A/%E4%BA%8C%E6%9C%88", "mixed"),
        ("\"spring tide\" \"port ellery\"", "https://news.test/spring", "phrases"),
        ("what did the spring tide do at Port Ellery?", "https://news.test/spring", "a question"),
        ("tide site:news.test -moon", "https://news.test/spring", "operators"),
        ("identical twin", "https://news.test/twin-a", "a tie goes by URL"),
    ];
    for (query, want, why) in table {
        assert_eq!(links(&web, query).first().map(String::as_str), Some(want), "{query}: {why}");
    }
    let none = ["zeppelin", "\"tide spring\"", "", "  ", "\"", "-tide", "AND", "((", "qqqqzz"];
    for query in none.into_iter().filter(|query| !query.trim().is_empty()) {
        assert_eq!(links(&web, query), Vec::<String>::new(), "{query}");
    }
}

#[test]
fn the_search_engine_speaks_serper() {
    let web = library().web(&[]);
    let found = json_of(&post(&web, "search", r#"{"q": "spring tide", "gl": "us", "num": 2}"#));
    assert_eq!(
        found["searchParameters"],
        json!({"q": "spring tide", "gl": "us", "num": 2, "type": "search", "engine": "google"})
    );
    let hits = found["organic"].as_array().unwrap();
    assert_eq!(hits.len(), 2);
    assert_eq!(hits[0]["position"], 1);
    let second = json_of(&post(&web, "search", r#"{"q": "spring tide", "num": 1, "page": 2}"#));
    assert_eq!(second["organic"][0]["link"], hits[1]["link"], "pages go on where one ended");
    let news = json_of(&post(&web, "news", r#"{"q": "spring tide"}"#));
    assert_eq!(
        news["news"][0],
        json!({
            "title": "Spring tide floods quay", "link": "https://news.test/spring",
            "snippet": "Spring tide floods quay The spring tide at Port Ellery rose to 4.2 m.",
            "date": "1 week ago", "source": "Site news.test", "position": 1,
        })
    );
    assert!(
        news["news"].as_array().unwrap().iter().all(|hit| hit["link"] != "https://news.test/moon")
    );
    for (body, want) in [("{", "invalid JSON"), ("{}", "`q`"), (r#"{"q":"a","page":0}"#, "`page`")]
    {
        let response = post(&web, "search", body);
        assert_eq!(response.status, 400, "{body}");
        assert!(json_of(&response)["message"].as_str().unwrap().contains(want), "{body}");
    }
    let page = get(&web, "https://search.wild.test/search?q=%3Cscript%3E+spring+tide").unwrap();
    assert!(text(&page).contains("href=\"https://news.test/spring\""));
    assert!(!text(&page).contains("<script>"), "the query is escaped");
    assert_eq!(get(&web, "https://search.wild.test/images").unwrap().status, 404);
}

#[test]
fn ranking_does_not_depend_on_the_cache_or_the_run() {
    let sites = library();
    let queries = ["tide", "spring tide harbour", "报告", "identical words", "the moon"];
    let ask = |web: &Web| queries.map(|query| links(web, query));
    let built = ask(&sites.web(&[]));
    let stored = ask(&sites.web(&[]));
    assert_eq!(built, stored, "from the cache");
    let file = sites.root().join("not-a-directory");
    std::fs::write(&file, "x").unwrap();
    let in_memory = Hermetic::open(&sites.sites, &file).unwrap();
    assert_eq!(built, ask(&Web::hermetic(Arc::new(in_memory), Vec::new())), "in memory");
    for entry in std::fs::read_dir(sites.root().join("cache")).unwrap() {
        let place = entry.unwrap().path();
        if place.is_dir() {
            std::fs::remove_file(place.join("meta.json")).unwrap();
        } else {
            std::fs::write(place, "no ledger").unwrap();
        }
    }
    assert_eq!(built, ask(&sites.web(&[])), "a damaged index is built again");
}

fn encyclopedia() -> Sites {
    let mut sites = Sites::new();
    sites.site("wiki.test", Language::En).meta.kind = SiteKind::Encyclopedia;
    sites.site("百科.test", Language::Zh).meta.kind = SiteKind::Encyclopedia;
    let w = "wiki.test";
    sites.article(
        w,
        "Port Ellery",
        &["Ellery", "Ellery harbour"],
        "**Port Ellery** is a harbour. It lies in the [[Veldt Coast|north]]. Third sentence.\n\n\
         ## History\n\nFounded in 1702 by [[Anna Veldt]].\n",
    );
    sites.article(w, "Ellery Bay", &[], "Ellery Bay is a bay.\n");
    sites.article(
        w,
        "Veldt (disambiguation)",
        &["Veldt"],
        "- [[Veldt Coast]], a coast\n- [[Anna Veldt]], a sailor\n",
    );
    sites.article(w, "Veldt Coast", &[], "The Veldt Coast is a coast.\n");
    sites.article("百科.test", "云岫港", &["云岫"], "云岫港是一座港口。它建于1702年。\n");
    sites
}

fn api(web: &Web, query: &str) -> Value {
    let url = format!("https://wiki.test/w/api.php?format=json&{query}");
    json_of(&get(web, &url).unwrap())
}

#[test]
fn the_encyclopedia_speaks_mediawiki() {
    let web = encyclopedia().web(&[]);
    let table = [
        (
            "action=query&titles=ellery_harbour&redirects=1&prop=extracts|info&inprop=url&explaintext=1&exintro=1&formatversion=2",
            "/query/pages/0/extract",
            json!("Port Ellery is a harbour. It lies in the north. Third sentence."),
            "an intro through a redirect",
        ),
        (
            "action=query&titles=ellery_harbour&redirects=1",
            "/query/redirects/0",
            json!({"from": "Ellery harbour", "to": "Port Ellery"}),
            "the redirect is told",
        ),
        (
            "action=query&titles=ellery_harbour&redirects=1",
            "/query/normalized/0",
            json!({"from": "ellery_harbour", "to": "Ellery harbour"}),
            "and so is the spelling",
        ),
        (
            "action=query&titles=Port Ellery&prop=extracts&explaintext&exsentences=1",
            "/query/pages/1/extract",
            json!("Port Ellery is a harbour."),
            "one sentence, first format",
        ),
        ("action=query&titles=Atlantis", "/query/pages/-1/missing", json!(""), "missing"),
        (
            "action=query&titles=Atlantis&formatversion=2",
            "/query/pages/0/missing",
            json!(true),
            "missing, second format",
        ),
        (
            "action=query&titles=Veldt&redirects&prop=pageprops&formatversion=2",
            "/query/pages/0/pageprops/disambiguation",
            json!(""),
            "a disambiguation page",
        ),
        (
            "action=query&titles=Veldt&redirects&prop=links&formatversion=2",
            "/query/pages/0/links/1/title",
            json!("Anna Veldt"),
            "its options",
        ),
        (
            "action=query&titles=Port Ellery&prop=revisions&formatversion=2",
            "/query/pages/0/revisions/0/timestamp",
            json!("2026-01-02T00:00:00Z"),
            "the last revision",
        ),
        (
            "action=query&list=search&srsearch=founded 1702",
            "/query/search/0/title",
            json!("Port Ellery"),
            "a search",
        ),
        (
            "action=query&list=search&srsearch=ellery&srlimit=1",
            "/continue/sroffset",
            json!(1),
            "goes on",
        ),
        (
            "action=query&list=search&srsearch=zeppelin",
            "/query/searchinfo/totalhits",
            json!(0),
            "no hit",
        ),
        ("action=query&list=search", "/error/code", json!("missingparam"), "no text"),
        ("action=edit", "/error/code", json!("badvalue"), "an unknown action"),
        ("", "/error/code", json!("missingparam"), "no action"),
        ("action=query&titles=x&format=xml", "/error/code", json!("badvalue"), "another format"),
        (
            "action=query&titles=x&prop=images",
            "/warnings/query/*",
            json!("Unrecognized value for parameter \"prop\": images."),
            "a warning",
        ),
    ];
    for (query, pointer, want, why) in table {
        let answer = api(&web, query);
        assert_eq!(answer.pointer(pointer), Some(&want), "{why}: {query}: {answer}");
    }
}

#[test]
fn articles_are_pages_too() {
    let web = encyclopedia().web(&[]);
    let table = [
        ("https://wiki.test/wiki/Port_Ellery", 200, "href=\"/wiki/Veldt_Coast\"", "links"),
        (
            "https://wiki.test/wiki/ellery harbour",
            200,
            "redirect=no\">Ellery harbour</a>)",
            "redirect",
        ),
        ("https://wiki.test/wiki/Veldt", 200, "Anna_Veldt", "options"),
        ("https://wiki.test/wiki/Atlantis", 404, "no page", "missing"),
        ("https://百科.test/wiki/云岫", 200, "重定向自", "Chinese"),
        (
            "https://wiki.test/api/rest_v1/page/summary/ellery",
            200,
            "\"type\":\"standard\"",
            "summary",
        ),
        ("https://wiki.test/api/rest_v1/page/summary/Atlantis", 404, "not_found", "no summary"),
        ("https://wiki.test/w/index.php?search=founded", 200, "Port Ellery", "search page"),
    ];
    for (url, status, want, why) in table {
        let response = get(&web, url).unwrap();
        assert_eq!(response.status, status, "{url}: {why}");
        assert!(text(&response).contains(want), "{url}: {why}: {}", text(&response));
    }
    let endpoints = &web.endpoints().encyclopedia;
    assert_eq!(endpoints["en"].as_str(), "https://wiki.test/w/api.php");
}

#[test]
fn no_query_makes_the_search_engine_fail() {
    let web = library().web(&[]);
    let config =
        ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() };
    let written = r#"([-"“”:()*+^~\[\]{}\\ ]|site:|OR|AND|tide|潮汐|spring|[a-z]{1,3}|\PC){0,24}"#;
    proptest!(config, |(written in written)| {
        let response = post(&web, "search", &json!({ "q": format!("x{written}") }).to_string());
        prop_assert_eq!(response.status, 200);
    });
}
