//! Articles as pages for people: the article, earlier revisions of it, its history, its
//! source, categories, and a search.

use std::fmt::Write as _;

use super::super::Request;
use super::super::pages::not_found;
use super::super::reply::{Reply, escape, http_day};
use super::super::search::{Engine, Query, Scope};
use super::article::{Entry, Rendered, normal_title, path_title};
use super::{Encyclopedia, before, timestamp};

/// What stands on pages in one language.
struct Words {
    article: &'static str,
    history: &'static str,
    search: &'static str,
    redirected: &'static str,
    edited: &'static str,
    old: &'static str,
    current: &'static str,
    categories: &'static str,
    languages: &'static str,
    bytes: &'static str,
}

fn words(language: &str) -> Words {
    if language == "zh" {
        return Words {
            article: "条目",
            history: "查看历史",
            search: "搜索",
            redirected: "重定向自",
            edited: "最后修订",
            old: "这是本页面的旧版本，日期为",
            current: "查看当前版本",
            categories: "分类",
            languages: "其他语言",
            bytes: "字节",
        };
    }
    Words {
        article: "Article",
        history: "View history",
        search: "Search",
        redirected: "Redirected from",
        edited: "Last edited",
        old: "This is an old revision of this page, as it was on",
        current: "View the current one",
        categories: "Categories",
        languages: "Languages",
        bytes: "bytes",
    }
}

/// Answers a request for a page; `path` is what follows `/wiki/`, where it does.
pub(super) fn answer(
    wiki: &Encyclopedia,
    request: &Request,
    path: Option<&str>,
    engine: &Engine,
) -> Reply {
    let parameter = |name: &str| {
        let found = request.url.query_pairs().find(|(key, _)| key == name);
        found.map(|(_, value)| value.into_owned())
    };
    let title = path.map(ToOwned::to_owned).or_else(|| parameter("title"));
    let old = parameter("oldid");
    let written = match (title, &old) {
        (Some(title), _) => title,
        (None, Some(_)) => String::new(),
        (None, None) => return front(wiki, &parameter("search").unwrap_or_default(), engine),
    };
    let desk = Desk { wiki, words: words(wiki.language) };
    let action = parameter("action").unwrap_or_default();
    if let Some(name) = written.strip_prefix("Category:") {
        return desk.category(&normal_title(name));
    }
    if written == "Special:Search" {
        return front(wiki, &parameter("search").unwrap_or_default(), engine);
    }
    if let Some(old) = old {
        let id = old.parse().ok();
        return match id.and_then(|id| wiki.revision(id)) {
            Some((_, entry, place)) => desk.revision(entry, place, &action),
            None => desk.missing(&format!("{written}?oldid={old}")),
        };
    }
    let title = normal_title(&written);
    if path.is_some() && written != title.replace(' ', "_") && request.url.query().is_none() {
        return Reply::moved(&format!("/wiki/{}", path_title(&title)));
    }
    let Some((_, entry)) = wiki.find(&title) else { return desk.missing(&written) };
    let stays = parameter("redirect").as_deref() == Some("no");
    match action.as_str() {
        "history" => desk.history(entry),
        "raw" => raw(entry.body()),
        "" | "view" if entry.title != title && stays => desk.redirect(&title, entry),
        "" | "view" => desk.article(&title, entry),
        other => {
            let text = format!("<h1>{0}</h1>\n<p>{0}: <code>action</code></p>", escape(other));
            Reply::html(400, wiki.language, "No such action", &text)
        }
    }
}

/// Returns a title as it stands in a query.
fn in_query(title: &str) -> String {
    url::form_urlencoded::byte_serialize(title.replace(' ', "_").as_bytes()).collect()
}

fn raw(source: &str) -> Reply {
    Reply::new(200, "text/markdown; charset=utf-8", source.to_owned())
}

struct Desk<'a> {
    wiki: &'a Encyclopedia,
    words: Words,
}

impl Desk<'_> {
    fn missing(&self, written: &str) -> Reply {
        not_found(self.wiki.language, &format!("/wiki/{written}"))
    }

    fn page(&self, title: &str, body: &str) -> Reply {
        let title = format!("{title} - {}", self.wiki.name);
        Reply::html(200, self.wiki.language, &title, body)
    }

    /// The links above every page of an article.
    fn tabs(&self, entry: &Entry) -> String {
        format!(
            "<nav><a href=\"/wiki/{}\">{}</a> | \
             <a href=\"/w/index.php?title={}&amp;action=history\">{}</a></nav>\n",
            escape(&path_title(&entry.title)),
            self.words.article,
            in_query(&entry.title),
            self.words.history
        )
    }

    /// Shows an article; a redirect shows its target and says where one came from.
    fn article(&self, title: &str, entry: &Entry) -> Reply {
        let mut body = self.tabs(entry);
        let _ = writeln!(body, "<main>\n<h1>{}</h1>", escape(&entry.title));
        if entry.title != title {
            let _ = writeln!(
                body,
                "<p>({} <a href=\"/w/index.php?title={}&amp;redirect=no\">{}</a>)</p>",
                self.words.redirected,
                in_query(title),
                escape(title)
            );
        }
        let _ = writeln!(body, "{}</main>", entry.rendered().html);
        body.push_str(&self.foot(entry));
        let _ = write!(
            body,
            "<footer>{} <time datetime=\"{1}\">{1}</time></footer>",
            self.words.edited,
            entry.date()
        );
        self.page(&entry.title, &body).with("last-modified", &http_day(entry.date()))
    }

    /// Categories and other languages.
    fn foot(&self, entry: &Entry) -> String {
        let mut foot = String::new();
        let link =
            |path: &str, text: &str| format!("<a href=\"{}\">{}</a>", escape(path), escape(text));
        if !entry.categories.is_empty() {
            let all = entry.categories.iter();
            let all = all.map(|name| link(&format!("/wiki/Category:{}", path_title(name)), name));
            let all = all.collect::<Vec<_>>().join(" | ");
            let _ = writeln!(foot, "<nav>{}: {all}</nav>", self.words.categories);
        }
        if !entry.languages.is_empty() {
            let all = entry.languages.iter();
            let all = all.map(|(language, title, address)| {
                let (address, title) = (escape(address), escape(title));
                format!(
                    "<a hreflang=\"{language}\" lang=\"{language}\" href=\"{address}\">{title}</a>"
                )
            });
            let all = all.collect::<Vec<_>>().join(" | ");
            let _ = writeln!(foot, "<nav>{}: {all}</nav>", self.words.languages);
        }
        foot
    }

    /// Shows a redirect itself.
    fn redirect(&self, title: &str, entry: &Entry) -> Reply {
        let body = format!(
            "<main>\n<h1>{}</h1>\n<p>→ <a href=\"/wiki/{}\">{}</a></p>\n</main>",
            escape(title),
            escape(&path_title(&entry.title)),
            escape(&entry.title)
        );
        self.page(title, &body)
    }

    /// Shows what an article said.
    fn revision(&self, entry: &Entry, place: usize, action: &str) -> Reply {
        let Some(revision) = entry.revisions.get(place) else { return self.missing(&entry.title) };
        if action == "raw" {
            return raw(&revision.body);
        }
        let mut body = self.tabs(entry);
        let _ = writeln!(body, "<main>\n<h1>{}</h1>", escape(&entry.title));
        if place + 1 < entry.revisions.len() {
            let _ = writeln!(
                body,
                "<p><em>{} {}. <a href=\"/wiki/{}\">{}</a>.</em></p>",
                self.words.old,
                revision.date,
                escape(&path_title(&entry.title)),
                self.words.current
            );
        }
        let _ = write!(body, "{}</main>", Rendered::new(&revision.body).html);
        self.page(&entry.title, &body).with("last-modified", &http_day(revision.date))
    }

    /// Lists the revisions of an article, the newest first.
    fn history(&self, entry: &Entry) -> Reply {
        let mut body = self.tabs(entry);
        let title = format!("{}: {}", entry.title, self.words.history);
        let _ = writeln!(body, "<main>\n<h1>{}</h1>\n<ul>", escape(&title));
        for (place, revision) in entry.revisions.iter().enumerate().rev() {
            let size = revision.body.len();
            let change = before(entry, place).map_or(0, |old| old.body.len());
            let change = i128::try_from(size).unwrap_or(0) - i128::try_from(change).unwrap_or(0);
            let comment = match revision.comment.as_str() {
                "" => String::new(),
                comment => format!(" <em>({})</em>", escape(comment)),
            };
            let _ = writeln!(
                body,
                "<li><a href=\"/w/index.php?title={0}&amp;oldid={1}\">\
                 <time datetime=\"{2}\">{2}</time></a> {3} ({size} {4}, {change:+}){comment}</li>",
                in_query(&entry.title),
                revision.id,
                revision.date,
                escape(&revision.user),
                self.words.bytes
            );
        }
        body.push_str("</ul>\n</main>");
        self.page(&title, &body)
    }

    /// Lists the articles of a category.
    fn category(&self, name: &str) -> Reply {
        let Some(members) = self.wiki.categories.get(name) else {
            return self.missing(&format!("Category:{name}"));
        };
        let title = format!("Category:{name}");
        let mut body = format!("<main>\n<h1>{}</h1>\n<ul>\n", escape(&title));
        for entry in members.iter().filter_map(|number| self.wiki.entries.get(*number)) {
            let (path, title) = (path_title(&entry.title), escape(&entry.title));
            let _ = writeln!(body, "<li><a href=\"/wiki/{}\">{title}</a></li>", escape(&path));
        }
        body.push_str("</ul>\n</main>");
        self.page(&title, &body)
    }
}

/// The front page, which is a search box, and the results of a search.
fn front(wiki: &Encyclopedia, text: &str, engine: &Engine) -> Reply {
    let button = words(wiki.language).search;
    let mut body = format!(
        "<h1>{}</h1>\n<form action=\"/w/index.php\"><input name=\"search\" \
         aria-label=\"{button}\" value=\"{}\"><button>{button}</button></form>\n<ul>\n",
        escape(&wiki.name),
        escape(text)
    );
    let scope = Scope { host: Some(&wiki.host), ..Scope::default() };
    for hit in engine.search(&Query::parse(text), scope, 0, 20).hits {
        let [url, title, snippet] = [&hit.url, &hit.title, &hit.snippet].map(|it| escape(it));
        let day =
            hit.date.map(|day| format!(" ({})", timestamp(day).get(..10).unwrap_or_default()));
        let _ = writeln!(
            body,
            "<li><a href=\"{url}\">{title}</a>{}: {snippet}</li>",
            day.unwrap_or_default()
        );
    }
    body.push_str("</ul>\n");
    Reply::html(200, wiki.language, &wiki.name, &body)
}
