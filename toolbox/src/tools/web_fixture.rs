//! A small hermetic web for the tests of retrieval tools.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;

use camino::Utf8Path;
use jiff::Timestamp;
use wildgym_sandbox::web::{AccessLog, Hermetic, Web};
use wildgym_tasks::environment::{Article, ArticleMeta, Site, SiteKind, SiteMeta};
use wildgym_tasks::scenario::Language;

/// The sites, in a directory of their own.
pub(super) struct Fixture {
    _dir: tempfile::TempDir,
    web: Web,
}

impl Fixture {
    pub(super) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(dir.path()).unwrap();
        let mut news = site("news.test", "The Ellery Post", Language::En, SiteKind::Pages);
        news.meta.redirects.insert("/old-flood".into(), "/flood".into());
        for (number, (path, bytes)) in files().into_iter().enumerate() {
            let file = root.join(number.to_string());
            std::fs::write(&file, bytes).unwrap();
            news.pages.insert(path.to_owned(), file);
        }
        let mut wiki = site("wiki.test", "Wiki", Language::En, SiteKind::Encyclopedia);
        wiki.articles = [
            (
                "Port Ellery",
                "Ellery harbour",
                "Port Ellery is a harbour. It lies in the north.\n\n## More\n\nA lighthouse.\n",
            ),
            ("Veldt (disambiguation)", "Veldt", "- [[Veldt Coast]]\n- [[Anna Veldt]]\n"),
            ("Veldt (ship) (disambiguation)", "", "- [[Veldt (brig)]]\n"),
            ("Nested (disambiguation)", "Nested", "- [[Veldt]]\n- [[Veldt Coast]]\n"),
            ("Veldt Coast", "", "The Veldt Coast is a coast. It is long.\n"),
        ]
        .map(|(title, redirect, body)| article(title, redirect, body))
        .into();
        let mut baike = site("baike.test", "百科", Language::Zh, SiteKind::Encyclopedia);
        baike.articles = vec![article("云岫港", "", "云岫港是一座港口。\n")];
        let mut journal = site("journal.test", "Tidal Letters", Language::En, SiteKind::Pages);
        for (number, (path, html)) in papers().into_iter().enumerate() {
            let file = root.join(format!("paper-{number}.html"));
            std::fs::write(&file, html).unwrap();
            journal.pages.insert(path.to_owned(), file);
        }
        let sites = [news, wiki, baike, journal].map(|site| (site.host.clone(), site));
        let hermetic = Hermetic::open(&BTreeMap::from(sites), &root.join("cache")).unwrap();
        let web = Web::hermetic(Arc::new(hermetic), vec!["blocked.test".to_owned()]);
        Self { _dir: dir, web }
    }

    /// Runs a tool's inner function to its end.
    pub(super) fn run<T>(
        &self,
        body: impl for<'a> FnOnce(
            &'a Web,
            Timestamp,
            &'a AccessLog,
        ) -> Pin<Box<dyn Future<Output = T> + 'a>>,
    ) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let now = "2026-03-01T09:00:00Z".parse().unwrap();
        runtime.block_on(body(&self.web, now, &AccessLog::default()))
    }
}

fn site(host: &str, title: &str, language: Language, kind: SiteKind) -> Site {
    Site::new(host, SiteMeta::new(title, language, kind))
}

fn article(title: &str, redirect: &str, body: &str) -> Article {
    let redirects = Some(redirect).filter(|it| !it.is_empty()).map(ToOwned::to_owned);
    let meta = ArticleMeta {
        title: title.to_owned(),
        redirects: redirects.into_iter().collect(),
        disambiguation: title.contains("disambiguation"),
        date: "2026-01-02".parse().unwrap(),
        categories: Vec::new(),
        languages: BTreeMap::new(),
        user: None,
        comment: None,
    };
    let file = format!("{title}.md").into();
    Article { meta, body: body.to_owned(), file, revisions: Vec::new() }
}

fn papers() -> [(&'static str, &'static str); 2] {
    [
        (
            "/seiches",
            "<title>Seiches | Tidal Letters</title><meta name=citation_title \
             content='Seiches of the Ellery quay'><meta name=citation_author content='Holm, Ida'>\
             <meta name=citation_author content='Bo Rusk'><meta name=citation_journal_title \
             content='Tidal Letters'><meta name=citation_publication_date content=2019/05/02>\
             <meta name=citation_pdf_url content=/seiches.pdf><meta name=citation_abstract \
             content='Standing waves of 4.2 minutes.'><h1>Seiches of the Ellery quay</h1>",
        ),
        (
            "/survey",
            "<meta name=citation_title content='A survey of tides'><meta name=citation_reference \
             content='Holm (2019): Seiches of the Ellery quay'><h1>A survey of tides</h1>\
             <p>Seiches and more.",
        ),
    ]
}

fn files() -> Vec<(&'static str, Vec<u8>)> {
    let prose = "The water stood on the quay for hours, and the office closed the harbour. ";
    let flood = format!(
        "<html><head><title>Flood at the quay</title><meta name=date content=2026-02-20>\
         <meta property='og:type' content=article></head><body><nav>menu</nav><article>\
         <h1>Flood at the quay</h1><p>{}</p><table><tr><th>harbour</th><th>tide</th></tr>\
         <tr><td>Ellery</td><td>4.2</td></tr></table><p>See the \
         <a href=https://tides.test/>tables</a>. {prose}</p></article></body></html>",
        prose.repeat(8)
    );
    let paragraph = |n| format!("<p>Paragraph {n}. {prose}</p>");
    let filler = (0..900).map(paragraph).collect::<Vec<_>>().concat();
    let long = format!(
        "<title>Long</title><body>{filler}<h2>People</h2><p>The lighthouse keeper is Ida Holm.</p>"
    );
    // `二月财务报告：利润下降，支出上升。` in GB18030.
    let gb: &[u8] = b"\xb6\xfe\xd4\xc2\xb2\xc6\xce\xf1\xb1\xa8\xb8\xe6\xa3\xba\xc0\xfb\xc8\xf3\xcf\xc2\xbd\xb5\xa3\xac\xd6\xa7\xb3\xf6\xc9\xcf\xc9\xfd\xa1\xa3";
    vec![
        ("/flood", flood.into_bytes()),
        ("/水位", "<title>水位公告</title><p>今日水位四米。".into()),
        ("/long", long.into_bytes()),
        ("/data.csv", b"day,level\n1,4.2\n".to_vec()),
        ("/gb.txt", gb.to_vec()),
        ("/report.pdf", b"%PDF-1.7\n\xff".to_vec()),
        ("/book.xlsx", b"PK\x03\x04".to_vec()),
        ("/pack.zip", b"PK\x03\x04".to_vec()),
        ("/map.png", b"\x89PNG".to_vec()),
        ("/raw", vec![0, 1, 2]),
    ]
}
