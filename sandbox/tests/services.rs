//! The services of the hermetic web, as their clients use them: the search engine's
//! operators, periods and papers, the quality of its ranking over the starter sites, the
//! encyclopedia's history and languages, media that players seek in.

#![expect(clippy::unwrap_used, reason = "the makers of test webs are not tests themselves")]

use std::collections::BTreeMap;
use std::sync::Arc;

use camino::Utf8Path;
use serde_json::{Value, json};
use wildgym_sandbox::web::{AccessLog, Hermetic, Request, Response, Web};
use wildgym_tasks::Suite;
use wildgym_tasks::environment::Site;

/// A suite of sites only, written into a directory of its own and read by the loader.
struct Sites(tempfile::TempDir);

impl Sites {
    fn new(files: &[(&str, &str)]) -> Self {
        let sites = Self(tempfile::tempdir().unwrap());
        // A suite has a task, and this one asks nothing of the web.
        wildgym_tasks::template::write(&sites.root().join("suite"), "some-task").unwrap();
        for (path, text) in files {
            sites.write(path, text);
        }
        sites
    }

    fn root(&self) -> &Utf8Path {
        Utf8Path::from_path(self.0.path()).unwrap()
    }

    fn write(&self, path: &str, text: &str) {
        let file = self.root().join("suite/sites").join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }

    fn open(&self) -> Web {
        let suite = Suite::load(&self.root().join("suite")).map_err(|faults| faults.to_string());
        web(&suite.unwrap().sites, &self.root().join("cache"))
    }
}

fn starter_folder() -> &'static Utf8Path {
    Utf8Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../tasks/suites/starter"))
}

fn web(sites: &BTreeMap<String, Site>, cache: &Utf8Path) -> Web {
    Web::hermetic(Arc::new(Hermetic::open(sites, cache).unwrap()), Vec::new())
}

fn send(web: &Web, request: Request) -> Response {
    let now = "2026-03-01T09:00:00Z".parse().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(web.send(request, now, &AccessLog::default())).unwrap()
}

fn get(web: &Web, url: &str) -> Response {
    send(web, Request::get(url.parse().unwrap()))
}

fn text(response: &Response) -> String {
    String::from_utf8_lossy(&response.body).into_owned()
}

fn ask(web: &Web, path: &str, body: &Value) -> Value {
    let url = web.endpoints().search.join(path).unwrap();
    let body = body.to_string().into();
    let response = send(web, Request { method: http::Method::POST, body, ..Request::get(url) });
    assert_eq!(response.status, 200, "{}", text(&response));
    serde_json::from_slice(&response.body).unwrap()
}

/// Returns the paths of what a search finds.
fn paths(answer: &Value) -> Vec<String> {
    let hits = ["organic", "news"].iter().find_map(|list| answer[list].as_array()).unwrap();
    let links = hits.iter().map(|hit| hit["link"].as_str().unwrap().parse::<url::Url>().unwrap());
    links.map(|url| url.path().to_owned()).collect()
}

fn page(title: &str, head: &str, body: &str) -> String {
    format!("<!DOCTYPE html><title>{title}</title>{head}<h1>{title}</h1><p>{body}</p>")
}

const SITE: &str = "title = \"Ellery Post\"\nlanguage = \"en\"\n";

fn post() -> Sites {
    let news = |day: &str| {
        format!("<meta property='og:type' content=article><meta name=date content={day}>")
    };
    let file = |path: &str, html: String| (format!("post.example/pages/{path}.html"), html);
    let files = [
        file("tide", page("Spring tide", &news("2026-02-27"), "The tide rose over the quay.")),
        file("old", page("Tide, tide, tide", &news("2019-02-27"), "A tide of the past. Tide.")),
        file("moon", page("The moon", "<meta name=date content=2026-02-01>", "It pulls at water.")),
        file("undated", page("Water", "", "Water without a day: the quay at noon.")),
        file("list", page("Files", "", "<a href=report.pdf>Harbour report of 2025</a>")),
    ];
    let sites = Sites::new(&[("post.example/site.toml", SITE)]);
    for (path, html) in &files {
        sites.write(path, html);
    }
    sites.write("post.example/pages/report.pdf", "%PDF-1.7");
    sites.write("post.example/pages/unlinked.pdf", "%PDF-1.7");
    sites.write("zh.example/site.toml", "title = \"潮报\"\nlanguage = \"zh\"\n");
    sites.write("zh.example/pages/chao.html", &page("Spring tide 大潮", "", "tide rose"));
    sites
}

#[test]
fn operators_work_as_googles_do() {
    let web = post().open();
    let table: [(&str, &[&str], &str); 12] = [
        ("moon OR tide -site:zh.example", &["/old", "/tide", "/moon"], "either"),
        ("quay moon OR noon", &["/undated"], "`OR` binds its neighbours, and must be met"),
        ("intitle:moon", &["/moon"], "a word of the title"),
        ("intitle:tides -site:zh.example", &["/old", "/tide"], "in any form"),
        ("water -intitle:water", &["/moon"], "not in the title"),
        ("filetype:pdf", &["/report.pdf"], "a file that a page links to"),
        ("harbour report ext:PDF", &["/report.pdf"], "the same, by its link"),
        ("harbour report -filetype:pdf", &["/list"], "no such file"),
        ("\"tide of the past\" OR \"pulls at\"", &["/old", "/moon"], "either phrase"),
        ("\"over the quay\"", &["/tide"], "a phrase"),
        ("-tide \"the quay\"", &["/undated"], "a phrase without a word"),
        ("site:zh.example OR site:nowhere.example", &["/chao"], "any of two sites"),
    ];
    for (query, want, why) in table {
        let mut got = paths(&ask(&web, "search", &json!({ "q": query })));
        let mut want: Vec<_> = want.iter().map(ToString::to_string).collect();
        got.sort();
        want.sort();
        assert_eq!(got, want, "{query}: {why}");
    }
}

#[test]
fn periods_languages_and_freshness_shape_the_results() {
    let web = post().open();
    let table = [
        (json!({"q": "tide", "tbs": "qdr:w"}), vec!["/tide"], "of the last week"),
        (
            json!({"q": "tide quay moon water", "tbs": "qdr:m,sbd:1"}),
            vec!["/tide", "/moon"],
            "the newest first",
        ),
        (
            json!({"q": "tide", "tbs": "cdr:1,cd_min:1/1/2019,cd_max:12/31/2019"}),
            vec!["/old"],
            "own days",
        ),
        (json!({"q": "tide", "tbs": "qdr:h"}), vec![], "none today"),
    ];
    for (body, want, why) in table {
        assert_eq!(paths(&ask(&web, "search", &body)), want, "{body}: {why}");
    }
    let first = |body: Value| paths(&ask(&web, "search", &body))[0].clone();
    assert_eq!(first(json!({"q": "spring tide", "hl": "zh-cn"})), "/chao", "in Chinese");
    assert_eq!(first(json!({"q": "spring tide", "hl": "en"})), "/tide", "in English");
    let news = ask(&web, "news", &json!({"q": "tide"}));
    assert_eq!(paths(&news), ["/tide", "/old"], "fresh news before a better fit");
    assert_eq!(news["news"][0]["date"], "2 days ago");
    assert_eq!(news["news"][1]["date"], "Feb 27, 2019");
    let several = ask(&web, "search", &json!([{"q": "moon"}, {"q": "zeppelin"}]));
    assert_eq!(several[0]["organic"][0]["title"], "The moon");
    assert_eq!(several[1]["organic"], json!([]));
}

#[test]
fn papers_are_found_counted_and_paged() {
    let sites = post();
    for (number, extra) in [
        (
            1,
            "<meta name=citation_pdf_url content='1.pdf'><meta name=citation_author content='Holm, Ida'><meta name=citation_journal_title content='Tidal Letters'><meta name=citation_date content=2019>",
        ),
        (2, "<meta name=citation_reference content='citation_title=Paper 1 on seiches'>"),
        (
            3,
            "<meta name=citation_reference content='Holm: Paper 1 on seiches, 2019'><meta name=citation_date content='2021/3'>",
        ),
    ] {
        let head = format!("<meta name=citation_title content='Paper {number} on seiches'>{extra}");
        let path = format!("post.example/pages/papers/{number}.html");
        sites.write(&path, &page(&format!("Paper {number} on seiches"), &head, "Abstract."));
    }
    let web = sites.open();
    let found = ask(&web, "scholar", &json!({"q": "seiches"}));
    assert_eq!(
        found["organic"][0],
        json!({
            "title": "Paper 1 on seiches", "link": "https://post.example/papers/1",
            "snippet": "Paper 1 on seiches Abstract.",
            "publicationInfo": "I Holm - Tidal Letters, 2019 - post.example", "year": 2019,
            "citedBy": 2, "pdfUrl": "https://post.example/papers/1.pdf",
            "id": found["organic"][0]["id"],
        }),
        "the most cited first"
    );
    assert_eq!(found["organic"].as_array().unwrap().len(), 3, "pages are no papers");
    assert_eq!(found["searchParameters"]["type"], "scholar");
    let second = ask(&web, "scholar", &json!({"q": "seiches", "num": 1, "page": 2}));
    assert_eq!(second["organic"][0], found["organic"][1], "pages go on where one ended");
}

#[test]
fn a_changed_site_is_seen_when_the_web_is_opened_again() {
    let sites = post();
    let first = sites.open();
    assert!(paths(&ask(&first, "search", &json!({"q": "zeppelin"}))).is_empty());
    let quay = page("Spring tide", "", "The zeppelin over the quay..");
    sites.write("post.example/pages/tide.html", &quay);
    let response = get(&first, "https://post.example/tide");
    assert!(text(&response).contains("The tide rose"), "a small web does not change meanwhile");
    let again = sites.open();
    assert_eq!(paths(&ask(&again, "search", &json!({"q": "zeppelin"}))), ["/tide"]);
    assert!(text(&get(&again, "https://post.example/tide")).contains("zeppelin"));
    std::fs::remove_file(sites.root().join("suite/sites/post.example/pages/tide.html")).unwrap();
    let gone = sites.open();
    assert_eq!(get(&gone, "https://post.example/tide").status, 404);
    assert!(paths(&ask(&gone, "search", &json!({"q": "zeppelin"}))).is_empty());
}

#[test]
fn a_large_web_refuses_what_changed_meanwhile() {
    let sites = post();
    sites.write("post.example/pages/large.txt", &"0123456789\n".repeat(400_000));
    let web = sites.open();
    sites.write("post.example/pages/moon.html", "<h1>Another moon</h1>");
    let response = get(&web, "https://post.example/moon");
    assert_eq!(response.status, 500, "{}", text(&response));
    assert!(text(&response).contains("changed after the web was opened"));
    assert_eq!(get(&web, "https://post.example/tide").status, 200, "the rest is served");
}

#[test]
fn players_seek_in_media_and_read_about_videos() {
    let sites = post();
    let data = r#"<script type="application/ld+json">{"@type": "VideoObject", "name": "Choir",
        "duration": "PT10S", "contentUrl": "choir.webm"}</script>"#;
    sites.write("post.example/pages/watch.html", &page("Choir", data, "A film."));
    sites.write("post.example/pages/choir.webm", "0123456789");
    sites.write("post.example/pages/choir.vtt", "WEBVTT\n\n00:01.000 --> 00:02.000\nLa.\n");
    let web = sites.open();
    let part = |range: &str, more: Option<(&str, &str)>| {
        let mut request = Request::get("https://post.example/choir.webm".parse().unwrap());
        request.headers.push(("range".into(), range.into()));
        request.headers.extend(more.map(|(name, value)| (name.to_owned(), value.to_owned())));
        send(&web, request)
    };
    let whole = get(&web, "https://post.example/choir.webm");
    assert_eq!(whole.header("accept-ranges"), Some("bytes"));
    assert_eq!(whole.header("content-type"), Some("video/webm"));
    let got = part("bytes=2-4", None);
    assert_eq!((got.status, text(&got).as_str()), (206, "234"));
    assert_eq!(got.header("content-range"), Some("bytes 2-4/10"));
    assert_eq!(got.header("content-length"), Some("3"));
    let got = part("bytes=10-", None);
    assert_eq!((got.status, got.header("content-range")), (416, Some("bytes */10")));
    let etag = whole.header("etag").unwrap();
    assert_eq!(part("bytes=0-0", Some(("if-range", etag))).status, 206);
    assert_eq!(part("bytes=0-0", Some(("if-range", "\"old\""))).status, 200, "another version");
    let captions = get(&web, "https://post.example/choir.vtt");
    assert_eq!(captions.header("content-type"), Some("text/vtt; charset=utf-8"));
    let table = [
        ("?url=https%3A%2F%2Fpost.example%2Fwatch", 200, "\"duration\":10"),
        ("?url=https%3A%2F%2Fwww.post.example%2Fwatch.html&maxwidth=100", 200, "\"width\":100"),
        ("?url=https%3A%2F%2Fpost.example%2Fmoon", 404, "no video"),
        ("?url=https%3A%2F%2Felsewhere.example%2Fwatch", 404, "no video"),
        ("?url=https%3A%2F%2Fpost.example%2Fwatch&format=xml", 501, "only `format=json`"),
        ("?format=json", 400, "missing parameter `url`"),
        ("", 404, "no page"),
    ];
    for (query, status, want) in table {
        let response = get(&web, &format!("https://post.example/oembed{query}"));
        assert_eq!(response.status, status, "{query}");
        assert!(text(&response).contains(want), "{query}: {}", text(&response));
    }
}

/// Each query must find the page that people mean within the first three.
#[test]
fn the_ranking_serves_the_starter_sites() {
    let suite = Suite::load(starter_folder()).map_err(|faults| faults.to_string()).unwrap();
    let cache = tempfile::tempdir().unwrap();
    let web = web(&suite.sites, Utf8Path::from_path(cache.path()).unwrap());
    let table: [(&str, &str); 38] = [
        ("ferry fares 2026", "tarrowferries.example/fares"),
        ("how much is the ferry from Kelmouth to Orrisay", "tarrowferries.example/"),
        ("Kelmouth Port Averil timetable", "tarrowferries.example/routes/kelmouth-port-averil"),
        ("former ferries sold ships", "tarrowferries.example/fleet/former"),
        ("register of ferry incidents", "tarrowferries.example/safety/incidents"),
        ("where are the tide gauge readings", "tarrowferries.example/notices/2025/41"),
        ("Kelmouth linkspan ramp", "tarrowferries.example/notices/2026/02"),
        ("choir singing fog ferry", "kelmouthcourier.example/2011/03/21"),
        ("correction boat towed choir", "kelmouthcourier.example/2011/03/23"),
        ("medal Nessock skipper", "kelmouthcourier.example/2011/10"),
        ("wedding guests Dunsay night", "kelmouthcourier.example/2009/11"),
        ("Ulveth rowers pontoon", "kelmouthcourier.example/2025/12"),
        ("gauge readings API version 2", "data.tarrow.example/developers/v2-gauge-readings"),
        ("list of gauge stations", "data.tarrow.example/developers/v2-gauge-stations"),
        ("population by place", "data.tarrow.example/datasets/population"),
        ("fish landings statistics", "data.tarrow.example/datasets/fish-landings"),
        ("passenger charter refund delay", "northshorerail.example/passengers/charter/"),
        ("passenger charter sixth edition", "northshorerail.example/passengers/charter/edition-6"),
        ("late running open data version 2", "northshorerail.example/open/late-running-v2"),
        ("ten-ride strips", "northshorerail.example/fares/ten-ride"),
        ("Infirmary Line stations", "northshorerail.example/lines/infirmary-line"),
        ("lost umbrella on the train", "northshorerail.example/passengers/lost-property"),
        ("Sallow viaduct works November 2025", "northshorerail.example/notices/2025-58"),
        ("lightkeepers families records", "tarrowarchive.example/guides/keepers"),
        ("last boat from Little Dunsay", "tarrowarchive.example/source-of-the-month/2019-05"),
        ("Catalina inquiry 1890", "tarrowarchive.example/transcripts/catalina-inquiry"),
        ("\"register of wreck\"", "tarrowarchive.example/catalogue/rw-2"),
        ("Marrable Point lighthouse", "commonlore.example/wiki/Marrable_Point_Lighthouse"),
        ("蓼湾船闸 收费标准", "shuili.tinglan.example/chuanzha/shoufei"),
        ("超时待闸退费办法 2025年修订", "shuili.tinglan.example/chuanzha/tuifei-2025"),
        ("船闸过闸要多少钱", "shuili.tinglan.example/chuanzha/"),
        ("过闸记录接口", "shuili.tinglan.example/shuju/guozha"),
        ("停航时段 API", "shuili.tinglan.example/shuju/tinghang"),
        ("2020年7月洪水", "shuili.tinglan.example/"),
        ("洪水题刻普查", "shuili.tinglan.example/wenhua/tike-pucha"),
        ("传习补贴怎么申请", "wenhua.tinglan.example/"),
        ("汀澜 非遗 现行名录", "wenhua.tinglan.example/minglu/2024"),
        ("茶船夜场", "wenhua.tinglan.example/xinwen/2026-01-chachuan"),
    ];
    let mut missed = Vec::new();
    for (query, want) in table {
        let found = ask(&web, "search", &json!({ "q": query }));
        let links: Vec<_> = found["organic"].as_array().unwrap().iter().take(3).collect();
        let links: Vec<_> = links.iter().map(|hit| hit["link"].as_str().unwrap()).collect();
        if !links.iter().any(|link| link.contains(want)) {
            missed.push(format!("{query}: {want} not in {links:?}"));
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
    let again = || ask(&web, "search", &json!({"q": "the harbour and the tide 潮 水"}));
    assert_eq!(again(), again(), "the same question, the same answer");
}

fn library() -> Sites {
    let wiki = |title: &str, language: &str| {
        format!("title = \"{title}\"\nlanguage = \"{language}\"\nkind = \"encyclopedia\"\n")
    };
    let sites = Sites::new(&[]);
    sites.write("wiki.example/site.toml", &wiki("Lore", "en"));
    sites.write("baike.example/site.toml", &wiki("百科", "zh"));
    let article = |title: &str, more: &str, body: &str| {
        format!("+++\ntitle = \"{title}\"\ndate = \"2025-11-02\"\n{more}+++\n\n{body}\n")
    };
    let revision = |date: &str, comment: &str, body: &str| {
        format!("+++\ndate = \"{date}\"\nuser = \"Ida\"\ncomment = \"{comment}\"\n+++\n\n{body}\n")
    };
    let sound = "redirects = [\"The Sound\"]\ncategories = [\"Straits\"]\nuser = \"Bo\"\n\
                 comment = \"depth\"\n[languages]\nzh = \"塔罗海峡\"\n";
    let body = "The **Sound** is 90 m deep. See [[Kelmouth]], [[Nowhere]] and \
                [maps](https://maps.example/).\n\n## Tides\n\nHigh.\n\n### Springs\n\nHigher.\n\n\
                ## Ships\n\nMany.";
    for (path, text) in [
        ("wiki.example/articles/sound.md", article("Tarrow Sound", sound, body)),
        (
            "wiki.example/articles/sound.history/1.md",
            revision("2019-05-02", "first", "The Sound is 70 m deep."),
        ),
        (
            "wiki.example/articles/sound.history/2.md",
            revision("2021-01-10", "new survey", "The Sound is 80 m deep."),
        ),
        (
            "wiki.example/articles/kelmouth.md",
            article("Kelmouth", "categories = [\"Towns\", \"Straits\"]\n", "A town."),
        ),
        ("wiki.example/articles/rock.md", article("R & B (rock)", "", "A rock.")),
        ("baike.example/articles/haixia.md", article("塔罗海峡", "", "海峡深九十米。")),
    ] {
        sites.write(path, &text);
    }
    sites
}

fn api(web: &Web, query: &str) -> Value {
    let response = get(web, &format!("https://wiki.example/w/api.php?format=json&{query}"));
    assert_eq!(response.status, 200);
    let answer: Value = serde_json::from_slice(&response.body).unwrap();
    let error = answer["error"]["code"].as_str();
    assert_eq!(response.header("mediawiki-api-error"), error, "errors are told in the header too");
    answer
}

#[test]
fn the_encyclopedia_keeps_its_history() {
    let web = library().open();
    let revisions = "action=query&prop=revisions&titles=Tarrow Sound&formatversion=2";
    let table = [
        ("", json!([["2025-11-02"]]), "the last one, by itself"),
        ("&rvlimit=max", json!([["2025-11-02", "2021-01-10", "2019-05-02"]]), "the newest first"),
        ("&rvdir=newer&rvlimit=1", json!([["2019-05-02"], "20210110000000"]), "goes on"),
        (
            "&rvstart=2022-01-01T00:00:00Z&rvlimit=1",
            json!([["2021-01-10"], "20190502000000"]),
            "as of a day",
        ),
        (
            "&rvdir=newer&rvstart=20200101000000&rvend=1640995200",
            json!([["2021-01-10"]]),
            "between",
        ),
        ("&rvuser=Ida&rvlimit=5", json!([["2021-01-10", "2019-05-02"]]), "of one user"),
    ];
    for (more, want, why) in table {
        let answer = api(&web, &format!("{revisions}&rvprop=timestamp{more}"));
        let shown = answer["query"]["pages"][0]["revisions"].as_array().unwrap();
        let days = shown.iter().map(|it| it["timestamp"].as_str().unwrap().get(..10));
        let mut got = vec![json!(days.collect::<Vec<_>>())];
        let next = answer["continue"]["rvcontinue"].as_str().and_then(|it| it.split('|').next());
        got.extend(next.map(Value::from));
        assert_eq!(json!(got), want, "{why}: {answer}");
        assert_eq!(answer.get("batchcomplete").is_some(), next.is_none(), "{why}");
    }
    let first = api(&web, &format!("{revisions}&rvdir=newer&rvlimit=1&rvprop=ids"));
    let next = first["continue"]["rvcontinue"].as_str().unwrap();
    let all = "ids|timestamp|user|comment|size|content";
    let second = api(
        &web,
        &format!("{revisions}&rvdir=newer&rvlimit=1&rvprop={all}&rvslots=main&rvcontinue={next}"),
    );
    let revision = &second["query"]["pages"][0]["revisions"][0];
    assert_eq!(revision["slots"]["main"]["content"], "The Sound is 80 m deep.");
    assert_eq!((&revision["user"], &revision["comment"]), (&json!("Ida"), &json!("new survey")));
    let id = first["query"]["pages"][0]["revisions"][0]["revid"].as_u64().unwrap();
    assert_eq!(revision["parentid"], json!(id));
    let old = api(&web, &format!("action=query&prop=revisions&rvprop=content&revids={id}"));
    let pages = old["query"]["pages"].as_object().unwrap();
    assert_eq!(pages.values().next().unwrap()["revisions"][0]["*"], "The Sound is 70 m deep.");
    let history = text(&get(&web, "https://wiki.example/wiki/Tarrow_Sound?action=history"));
    assert!(history.contains("<em>(new survey)</em>") && history.contains(&format!("oldid={id}")));
    let old = text(&get(&web, &format!("https://wiki.example/w/index.php?oldid={id}")));
    assert!(old.contains("70 m deep") && old.contains("This is an old revision"), "{old}");
    let found = ask(&web, "search", &json!({"q": "\"70 m deep\""}));
    assert_eq!(found["organic"], json!([]), "history is not searched");
}

/// A query, where in the answer to look, what stands there, and why.
type Asked = (&'static str, &'static str, Value, &'static str);

fn check_answers(table: impl IntoIterator<Item = Asked>) {
    let web = library().open();
    for (query, pointer, want, why) in table {
        let answer = api(&web, query);
        assert_eq!(
            answer.pointer(pointer).unwrap_or(&Value::Null),
            &want,
            "{why}: {query}: {answer}"
        );
    }
}

#[test]
fn the_encyclopedia_has_pages_of_its_own() {
    let web = library().open();
    let chinese = get(
        &web,
        "https://baike.example/w/api.php?action=query&titles=塔罗海峡&prop=langlinks&formatversion=2",
    );
    assert!(text(&chinese).contains("Tarrow Sound"), "links hold both ways");
    for (url, status, want) in [
        ("https://wiki.example/wiki/Tarrow_Sound", 200, "hreflang=\"zh\""),
        ("https://wiki.example/wiki/Category:Straits", 200, "Kelmouth"),
        ("https://wiki.example/wiki/R_&_B_(rock)", 200, "title=R_%26_B_%28rock%29"),
        ("https://wiki.example/w/index.php?title=R_%26_B_(rock)&action=raw", 200, "A rock."),
        ("https://wiki.example/w/index.php?title=The_Sound&redirect=no", 200, "→"),
        ("https://wiki.example/w/index.php?title=Kelmouth&action=delete", 400, "delete"),
        ("https://wiki.example/wiki/Kelmouth?oldid=7", 404, "no page"),
        ("https://wiki.example/wiki/Category:Nothing", 404, "no page"),
        ("https://baike.example/wiki/塔罗海峡?action=history", 200, "查看历史"),
    ] {
        let response = get(&web, url);
        assert_eq!(response.status, status, "{url}");
        assert!(text(&response).contains(want), "{url}: {}", text(&response));
    }
}

#[test]
fn the_encyclopedia_tells_what_clients_ask_of_pages() {
    check_answers([
        (
            "action=query&titles=The Sound&prop=info",
            "/query/pages/4/redirect",
            json!(""),
            "a redirect, not followed",
        ),
        (
            "action=query&titles=The Sound&redirects&prop=info&inprop=url",
            "/query/pages/3/fullurl",
            json!("https://wiki.example/wiki/Tarrow_Sound"),
            "followed",
        ),
        (
            "action=query&titles=Tarrow Sound&prop=langlinks&llprop=url&formatversion=2",
            "/query/pages/0/langlinks/0",
            json!({"lang": "zh", "url": "https://baike.example/wiki/%E5%A1%94%E7%BD%97%E6%B5%B7%E5%B3%A1", "title": "塔罗海峡"}),
            "another language",
        ),
        (
            "action=query&titles=Tarrow Sound|Kelmouth&prop=categories&cllimit=2&formatversion=2",
            "/query/pages/1/categories/0/title",
            json!("Category:Towns"),
            "categories, cut",
        ),
        (
            "action=query&titles=Tarrow Sound&prop=links&pllimit=1&formatversion=2",
            "/continue/plcontinue",
            json!("3|1"),
            "links go on",
        ),
        (
            "action=query&titles=Tarrow Sound&prop=links&pllimit=1&plcontinue=3|1&formatversion=2",
            "/query/pages/0/links/0/title",
            json!("Nowhere"),
            "and end",
        ),
        (
            "action=query&titles=Tarrow Sound&prop=extlinks&formatversion=2",
            "/query/pages/0/extlinks/0/url",
            json!("https://maps.example/"),
            "links out",
        ),
        (
            "action=query&titles=Tarrow Sound&prop=redirects&formatversion=2",
            "/query/pages/0/redirects/0/title",
            json!("The Sound"),
            "what leads here",
        ),
        (
            "action=query&titles=Tarrow Sound|Kelmouth&prop=extracts&explaintext",
            "/continue/excontinue",
            json!("1"),
            "one whole text at a time",
        ),
        (
            "action=query&titles=Tarrow Sound|Kelmouth&prop=extracts&exintro&explaintext&formatversion=2",
            "/query/pages/1/extract",
            json!("A town."),
            "introductions together",
        ),
    ]);
}

#[test]
fn the_encyclopedia_lists_searches_and_renders() {
    check_answers([
        (
            "action=query&list=allpages&aplimit=1&apfrom=L&formatversion=2",
            "/query/allpages/0/title",
            json!("R & B (rock)"),
            "all pages from a title",
        ),
        (
            "action=query&list=allpages&apfilterredir=redirects",
            "/query/allpages/0/title",
            json!("The Sound"),
            "redirects",
        ),
        (
            "action=query&list=categorymembers&cmtitle=Category:Straits&formatversion=2",
            "/query/categorymembers/1/title",
            json!("Tarrow Sound"),
            "a category",
        ),
        (
            "action=query&list=search&srsearch=90&srinfo=suggestion",
            "/query/searchinfo",
            Value::Null,
            "no hit count unless asked",
        ),
        (
            "action=query&generator=search&gsrsearch=deep&prop=info&formatversion=2",
            "/query/pages/0/title",
            json!("Tarrow Sound"),
            "a search as generator",
        ),
        ("action=query&meta=siteinfo", "/query/general/sitename", json!("Lore"), "the site"),
        (
            "action=opensearch&search=tarr",
            "",
            json!(["tarr", ["Tarrow Sound"], [""], ["https://wiki.example/wiki/Tarrow_Sound"]]),
            "the beginning of a title",
        ),
        (
            "action=parse&page=The Sound&prop=sections",
            "/parse/sections/1/number",
            json!("1.1"),
            "sections",
        ),
        (
            "action=parse&page=Tarrow Sound&prop=text&section=3&formatversion=2",
            "/parse/text",
            json!(
                "<div class=\"mw-parser-output\"><h2 id=\"Ships\">Ships</h2>\n<p>Many.</p>\n</div>"
            ),
            "one section",
        ),
        (
            "action=parse&page=Tarrow Sound&prop=wikitext&section=2",
            "/parse/wikitext/*",
            json!("### Springs\n\nHigher."),
            "its source",
        ),
        (
            "action=parse&page=Tarrow Sound&prop=links&formatversion=2",
            "/parse/links/1/exists",
            json!(false),
            "a link to nothing",
        ),
        ("action=query&titles=a[b", "/query/pages/-1/invalid", json!(""), "no title"),
        ("action=query&revids=7", "/query/badrevids/7/revid", json!("7"), "no such revision"),
        ("action=query&pageids=99", "/query/pages/99/missing", json!(""), "no such page"),
        ("action=parse&page=Atlantis", "/error/code", json!("missingtitle"), "nothing to parse"),
        (
            "action=parse&page=Kelmouth&section=9",
            "/error/code",
            json!("nosuchsection"),
            "no such section",
        ),
        (
            "action=query&titles=Kelmouth&prop=links&plcontinue=x",
            "/error/code",
            json!("badcontinue"),
            "a made-up continue",
        ),
        (
            "action=query&titles=Kelmouth&prop=links&pllimit=many",
            "/error/code",
            json!("badinteger"),
            "no number",
        ),
        (
            "action=query&titles=Kelmouth|Tarrow Sound&prop=revisions&rvlimit=2",
            "/error/code",
            json!("multpages"),
            "two histories",
        ),
        (
            "action=query&titles=Kelmouth&prop=revisions&rvstart=soon",
            "/error/code",
            json!("badtimestamp"),
            "no time",
        ),
        (
            "action=query&titles=a&formatversion=9",
            "/error/code",
            json!("badvalue"),
            "no such format",
        ),
    ]);
}
