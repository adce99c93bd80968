//! What the hermetic web costs, called through the tools as an agent calls them.
//!
//! `cargo bench --bench web` writes a web of 20,000 pages, 2,000 articles and one page of
//! 100 kB, builds its index, opens it again from the cache, and then times searches,
//! look-ups and reading the long page. It prints the median, the 95th percentile and the
//! least of each, and ends with 1 where an aim is missed. A smaller web can be asked for
//! with `WILDGYM_BENCH_PAGES`.

#![expect(clippy::print_stdout, reason = "a bench reports on standard output")]

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use camino::Utf8Path;
use serde_json::json;
use wildgym_sandbox::browser::{BrowserSettings, Browsers};
use wildgym_sandbox::scratch::Scratch;
use wildgym_sandbox::web::{Hermetic, Web};
use wildgym_sandbox::work::WorkClock;
use wildgym_sandbox::worker::Workers;
use wildgym_sandbox::workspace::{Quota, Workspace};
use wildgym_sandbox::{Clock, Host, Sandbox, Seed};
use wildgym_tasks::environment::{Article, ArticleMeta, Site, SiteKind, SiteMeta};
use wildgym_toolbox::{Bounds, Call, Catalog, Toolbox};

type Failure = Box<dyn Error>;

/// Calls that are measured, after some that warm up.
const RUNS: usize = 200;
const WARM: usize = 20;

/// Words of the generated pages; the index of a page decides which it has.
const WORDS: &[&str] = &[
    "harbour", "ferry", "tide", "quay", "keeper", "lantern", "survey", "council", "minutes",
    "fare", "notice", "gauge", "station", "water", "storm", "choir", "market", "bridge", "lock",
    "report", "wreck", "pilot", "island", "letter", "salt", "rope", "winter", "census", "school",
    "harvest", "railway", "viaduct", "charter", "parish", "quarry", "herring", "beacon", "chapel",
    "港口", "水位", "船闸", "公告", "补贴", "名录", "洪水", "测站", "渡船", "灯塔",
];

/// Returns the words of a page: some are on many pages, its number on one only.
fn prose(page: usize, words: usize) -> String {
    let mut text = format!("Record n{page}.");
    let mut state = page as u64 + 1;
    for place in 0..words {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let spread = (state >> 33) as usize;
        // The square makes the first words common and the last ones rare.
        let word = (spread % WORDS.len()) * (spread / 64 % WORDS.len()) / WORDS.len();
        text.push(if place % 12 == 11 { '.' } else { ' ' });
        text.push_str(WORDS[word]);
    }
    text
}

fn site(host: &str, kind: SiteKind) -> Result<Site, Failure> {
    let meta: SiteMeta = serde_json::from_value(json!({
        "title": host, "language": "en", "kind": kind,
    }))?;
    Ok(Site {
        host: host.to_owned(),
        meta,
        pages: BTreeMap::new(),
        articles: Vec::new(),
        templates: BTreeMap::new(),
    })
}

/// Writes the sites.
fn sites(folder: &Utf8Path, pages: usize) -> Result<BTreeMap<String, Site>, Failure> {
    let mut all = BTreeMap::new();
    for number in 0..20 {
        let mut site = site(&format!("site{number}.test"), SiteKind::Pages)?;
        let root = folder.join(&site.host);
        std::fs::create_dir_all(&root)?;
        for page in (number..pages).step_by(20) {
            let day = format!("20{:02}-{:02}-{:02}", 10 + page % 16, 1 + page % 12, 1 + page % 28);
            let html = format!(
                "<!DOCTYPE html><title>{0} {1} {page}</title><meta name=date content={day}>\
                 <meta property=og:type content=article><h1>{0}</h1><p>{2}</p>",
                WORDS[page % WORDS.len()],
                WORDS[page / 7 % WORDS.len()],
                prose(page, 300)
            );
            let file = root.join(format!("{page}.html"));
            std::fs::write(&file, html)?;
            site.pages.insert(format!("/{page}.html"), file);
        }
        all.insert(site.host.clone(), site);
    }
    let mut long = String::from("<!DOCTYPE html><title>Long</title><nav>menu</nav><article>");
    for section in 0.. {
        let _ = write!(long, "<h2>Part {section}</h2><p>{}</p><table>", prose(section, 60));
        for row in 0..4 {
            let _ = write!(long, "<tr><td><a href=/{row}>{row}</a></td><td>{section}</td></tr>");
        }
        long.push_str("</table>");
        if long.len() > 100_000 {
            break;
        }
    }
    let file = folder.join("long.html");
    std::fs::write(&file, long)?;
    let first = all.get_mut("site0.test").ok_or("no site")?;
    first.pages.insert("/long".to_owned(), file);
    let mut wiki = site("wiki.test", SiteKind::Encyclopedia)?;
    for number in 0..pages / 10 {
        let meta: ArticleMeta = serde_json::from_value(json!({
            "title": format!("Subject {number}"), "date": "2026-01-02",
        }))?;
        let body =
            format!("**Subject {number}** is a thing.\n\n## More\n\n{}\n", prose(number, 200));
        let file = format!("{number}.md").into();
        wiki.articles.push(Article { meta, body, file, revisions: Vec::new() });
    }
    all.insert(wiki.host.clone(), wiki);
    Ok(all)
}

/// Opens a sandbox with that web, as a trial does.
fn toolbox(hermetic: Hermetic, folder: &Utf8Path) -> Result<Arc<Toolbox>, Failure> {
    let program = std::env::current_exe()?;
    let browsers = Browsers::new(BrowserSettings::new(
        Err("no browser is measured here".to_owned()),
        program.clone(),
        folder.to_owned(),
    ));
    let workers = Workers::new(program, 1);
    let host = Arc::new(Host::new(browsers, Scratch::create(folder)?, workers, None));
    let workspace = Arc::new(Workspace::create(&host.scratch, Quota::default()));
    let sandbox = Sandbox {
        host,
        workspace,
        web: Some(Web::hermetic(Arc::new(hermetic), Vec::new())),
        browser: None,
        world: None,
        clock: Clock::starting_at("2026-03-01T09:00:00Z".parse()?),
        seed: Seed::of_run(1),
    };
    let work = Arc::new(WorkClock::default());
    let catalog = Arc::new(Catalog::all()?);
    let toolbox = Toolbox::new(Arc::new(sandbox), catalog, Vec::new(), Bounds::default(), work);
    Ok(Arc::new(toolbox))
}

/// One kind of call, with the median that it must not exceed.
struct Measured {
    name: &'static str,
    most: Duration,
    tool: &'static str,
    /// Arguments of the n-th call.
    arguments: fn(usize) -> String,
}

const CALLS: [Measured; 5] = [
    Measured {
        name: "search",
        most: Duration::from_millis(2),
        tool: "search_serper",
        arguments: |run| {
            let word = |at: usize| WORDS[(run * 7 + at * 13) % WORDS.len()];
            json!({"query": format!("{} {} n{}", word(1), word(2), run * 31)}).to_string()
        },
    },
    Measured {
        name: "question",
        most: Duration::from_millis(2),
        tool: "search_serper",
        arguments: |run| {
            let word = |at: usize| WORDS[(run * 5 + at * 11) % WORDS.len()];
            let query = format!("what did the {} of the {} say of {}", word(1), word(2), word(3));
            json!({ "query": query }).to_string()
        },
    },
    Measured {
        name: "news",
        most: Duration::from_millis(2),
        tool: "search_serper",
        arguments: |run| json!({"query": WORDS[run % WORDS.len()], "kind": "news"}).to_string(),
    },
    Measured {
        name: "wiki",
        most: Duration::from_millis(1),
        tool: "search_wiki",
        arguments: |run| json!({"entity": format!("Subject {}", run % 50)}).to_string(),
    },
    Measured {
        name: "scrape",
        most: Duration::from_millis(10),
        tool: "scrape",
        arguments: |_| json!({"url": "https://site0.test/long"}).to_string(),
    },
];

async fn measure(toolbox: &Arc<Toolbox>, kind: &Measured) -> Result<Duration, Failure> {
    let mut took = Vec::new();
    for run in 0..WARM + RUNS {
        let arguments = (kind.arguments)(run);
        let call = Call { id: "call".to_owned(), name: kind.tool.to_owned(), arguments };
        let start = Instant::now();
        let reply = toolbox.call(call).await?;
        took.push(start.elapsed());
        if let Some(error) = reply.error {
            return Err(format!("`{}` failed ({error}): {}", kind.name, reply.text).into());
        }
    }
    let mut took = took.split_off(WARM);
    took.sort();
    let (median, late) = (took[RUNS / 2], took[RUNS * 95 / 100]);
    println!("{:<9} median {median:>9.2?}  p95 {late:>9.2?}  least {:>9.2?}", kind.name, took[0]);
    Ok(median)
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let pages = std::env::var("WILDGYM_BENCH_PAGES").map_or(Ok(20_000), |pages| pages.parse())?;
    let folder = tempfile::tempdir()?;
    let folder = Utf8Path::from_path(folder.path()).ok_or("the path is not UTF-8")?;
    let (web, cache) = (folder.join("sites"), folder.join("cache"));
    let sites = sites(&web, pages)?;
    let opened = || {
        let start = Instant::now();
        Hermetic::open(&sites, &cache).map(|hermetic| (hermetic, start.elapsed()))
    };
    println!("build     {:>9.2?} ({pages} pages)", opened()?.1);
    // Files settle (see the ledger): the next opening trusts them, and the one after that
    // is what a user waits for.
    std::thread::sleep(Duration::from_secs(3));
    opened()?;
    let mut slow = Vec::new();
    let most = Duration::from_secs(1);
    let (hermetic, took) = opened()?;
    println!("open      {took:>9.2?}");
    if took > most {
        slow.push(format!("opening took {took:.2?}, more than {most:.2?}"));
    }
    let toolbox = toolbox(hermetic, folder)?;
    for kind in &CALLS {
        let median = measure(&toolbox, kind).await?;
        if median > kind.most {
            slow.push(format!("`{}` took {median:.2?}, more than {:.2?}", kind.name, kind.most));
        }
    }
    if slow.is_empty() { Ok(()) } else { Err(slow.join("; ").into()) }
}
