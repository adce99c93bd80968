//! Going to an address, and back.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use url::Url;

use super::Session;
use super::ask::{self, Fault};
use super::signals::TabSignals;
use super::tab::TabState;
use super::text::cut;

/// Numbers of commands: never the same for two sessions of a process.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// The address of a page of nothing; no way back leads to one.
const EMPTY: &str = "about:blank";

/// The longest address that is opened.
const ADDRESS: usize = 8_192;

impl Session {
    /// Opens an address in the current tab.
    pub(super) async fn visit(&mut self, index: usize, url: &str) -> Result<String, Fault> {
        let url = address(url)?;
        let mut restless = self.tabs[index].loading();
        let mut again = "";
        for attempt in 0..2 {
            if restless {
                self.leave_behind(index).await?;
            }
            match self.navigate(index, &url).await? {
                Went::There(document) => {
                    let still = self.tabs[index].settle(self.options.load).await;
                    restless = !still && !self.came(index, document.as_deref());
                    if restless && attempt == 0 {
                        continue;
                    }
                    return Ok(self.arrived(index, &url, again));
                }
                Went::Downloads => return Ok(format!("`{url}` is a file, not a page")),
                Went::Failed(error) => {
                    return Err(Fault::refused(format!(
                        "cannot open `{}`: {}",
                        shown(&url),
                        explain(&error)
                    )));
                }
                Went::Silent if attempt == 0 => {
                    let _ = self.tabs[index].ask("Page.stopLoading", json!({})).await;
                    again = " at the second attempt";
                }
                Went::Silent => break,
            }
        }
        let _ = self.tabs[index].ask("Page.stopLoading", json!({})).await;
        let seconds = self.options.load.as_secs();
        Err(Fault::refused(format!(
            "cannot open `{}`: it did not answer within {seconds} s, twice",
            shown(&url)
        )))
    }

    /// Leaves a page that loads or goes elsewhere without end, by way of an empty one: what
    /// it still wants must not win over what is asked for next.
    async fn leave_behind(&mut self, index: usize) -> Result<(), Fault> {
        self.tabs[index].hold().await;
        let empty = Url::parse(EMPTY).map_err(|error| Fault::Said(error.to_string()))?;
        let went = self.navigate(index, &empty).await;
        self.tabs[index].let_run(true).await;
        went.map(|_| ())
    }

    /// Whether the tab ever had a document; one without a name is the one that was there.
    fn came(&self, index: usize, document: Option<&str>) -> bool {
        let came = |tab: &TabSignals| document.is_none_or(|name| tab.loaders.contains(name));
        self.signals.look(&self.tabs[index].target, came).unwrap_or(true)
    }

    fn arrived(&self, index: usize, url: &Url, again: &str) -> String {
        let tab = &self.tabs[index];
        let status = self.signals.look(&tab.target, |tab| tab.status.clone()).flatten();
        let answer = match status {
            Some((status, _)) if status >= 400 => format!("; the server answered {status}"),
            _ => String::new(),
        };
        format!("opened `{}`{again}{answer}", shown(url))
    }

    /// Sends the tab to an address and waits until it has the document, or will not.
    async fn navigate(&mut self, index: usize, url: &Url) -> Result<Went, Fault> {
        let line = self.line(index).await?;
        let target = self.tabs[index].target.clone();
        self.signals.tab(&target, |tab| {
            tab.status = None;
            tab.requests.clear();
            tab.loaders.clear();
        });
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let params = json!({ "url": url.as_str(), "transitionType": "typed" });
        let message = json!({ "id": number, "method": "Page.navigate", "params": params });
        let params = json!({ "sessionId": line, "message": message.to_string() });
        self.signals.lock().replies.insert(number, None);
        let sent = ask::browser(&self.browser, "Target.sendMessageToTarget", params).await;
        let went = match sent {
            Ok(_) => self.await_reply(index, number).await,
            Err(fault) => Err(fault),
        };
        self.signals.lock().replies.remove(&number);
        went
    }

    async fn await_reply(&self, index: usize, number: u64) -> Result<Went, Fault> {
        let end = Instant::now() + self.options.load;
        loop {
            let reply = self.signals.lock().replies.get(&number).cloned().flatten();
            if let Some(reply) = reply {
                return Ok(outcome(&reply));
            }
            if self.tabs[index].state() != TabState::Open {
                return Err(Fault::Closed);
            }
            if Instant::now() >= end {
                return Ok(Went::Silent);
            }
            let woke = self.signals.woke.notified();
            let _ = tokio::time::timeout(Duration::from_millis(50), woke).await;
        }
    }

    /// Returns a second line to the tab. The library waits with each navigation until the
    /// one before is done, and one that never ends would hold up all that follow.
    async fn line(&mut self, index: usize) -> Result<String, Fault> {
        if let Some(line) = &self.tabs[index].line {
            return Ok(line.clone());
        }
        let params = json!({ "targetId": self.tabs[index].target, "flatten": false });
        let answer = ask::browser(&self.browser, "Target.attachToTarget", params).await?;
        let line = answer["sessionId"].as_str().ok_or(Fault::Closed)?.to_owned();
        self.tabs[index].line = Some(line.clone());
        Ok(line)
    }

    /// Goes back in the history; a tab without one that a page opened is closed.
    pub(super) async fn back(&mut self, index: usize) -> Result<String, Fault> {
        let history = self.tabs[index].ask("Page.getNavigationHistory", json!({})).await?;
        let current = usize::try_from(history["currentIndex"].as_u64().unwrap_or(0)).unwrap_or(0);
        let mut before = (0..current).rev().map(|at| &history["entries"][at]);
        let Some(entry) = before.find(|entry| entry["url"] != EMPTY) else {
            return self.leave(index).await;
        };
        let url = entry["url"].as_str().unwrap_or_default().to_owned();
        let target = self.tabs[index].target.clone();
        let before = self.here(index).await?;
        self.signals.tab(&target, |tab| tab.status = None);
        self.tabs[index]
            .ask("Page.navigateToHistoryEntry", json!({ "entryId": entry["id"] }))
            .await?;
        // The page may be asked first whether it lets go, and may be slow to come.
        let end = Instant::now() + self.options.load;
        while Instant::now() < end && self.here(index).await? == before {
            let woke = self.signals.woke.notified();
            let _ = tokio::time::timeout(Duration::from_millis(30), woke).await;
        }
        self.tabs[index].forget_worlds();
        self.tabs[index].settle(self.options.load).await;
        Ok(format!("went back to `{}`", cut(&url, 300)))
    }

    /// Leaves a tab that has no history.
    async fn leave(&mut self, index: usize) -> Result<String, Fault> {
        if self.shown.len() > 1 {
            let target = self.tabs[index].target.clone();
            self.discard(&target).await;
            self.shown.pop();
            self.tabs.retain(|tab| tab.target != target);
            return Ok(
                "closed the tab, which has no page before this one; the tab before it is shown"
                    .into(),
            );
        }
        Err(Fault::refused("there is no page before this one; `visit_page` opens another"))
    }

    /// Which entry of the history is shown.
    async fn here(&self, index: usize) -> Result<Value, Fault> {
        let history = self.tabs[index].ask("Page.getNavigationHistory", json!({})).await?;
        Ok(history["currentIndex"].clone())
    }

    /// Tells the address of the page.
    pub(super) async fn address(&mut self, index: usize) -> Result<String, Fault> {
        let history = self.tabs[index].ask("Page.getNavigationHistory", json!({})).await?;
        let current = usize::try_from(history["currentIndex"].as_u64().unwrap_or(0)).unwrap_or(0);
        let url = history["entries"][current]["url"].as_str().unwrap_or(EMPTY);
        Ok(url.to_owned())
    }
}

/// How a navigation ended.
#[derive(Debug, PartialEq, Eq)]
enum Went {
    /// With the browser's name of the new document, where it is another.
    There(Option<String>),
    /// It was a file.
    Downloads,
    /// Nothing came of it; the browser's word for why.
    Failed(String),
    /// Nothing came in time.
    Silent,
}

/// Reads the browser's answer to a navigation.
fn outcome(reply: &Value) -> Went {
    if let Some(error) = reply.get("error") {
        return Went::Failed(error["message"].as_str().unwrap_or("unknown").to_owned());
    }
    let result = &reply["result"];
    if result["isDownload"] == true {
        return Went::Downloads;
    }
    match result["errorText"].as_str() {
        // An empty answer (204) leaves the page that was there.
        Some("net::ERR_ABORTED") => Went::Failed("the server had nothing to show".into()),
        Some(error) => Went::Failed(error.to_owned()),
        None => Went::There(result["loaderId"].as_str().map(str::to_owned)),
    }
}

/// Returns an address as it is opened, or says why it is not: nothing but `http` and
/// `https` is ever given to the browser.
fn address(text: &str) -> Result<Url, Fault> {
    let text = text.trim().trim_matches(['<', '>', '`']).trim();
    let refuse = |why: &str| Fault::refused(format!("cannot open `{}`: {why}", cut(text, 300)));
    if text.is_empty() {
        return Err(Fault::refused("there is no address; give one such as `https://example.com/`"));
    }
    if text.len() > ADDRESS {
        return Err(refuse("the address is too long"));
    }
    if text.chars().any(char::is_control) {
        return Err(refuse("it has control characters in it"));
    }
    // `localhost:8080/x` has no scheme either, though it looks like one.
    let bare = !text.contains("://")
        && text
            .split_once(':')
            .is_none_or(|(_, rest)| rest.starts_with(|c: char| c.is_ascii_digit()));
    let whole =
        if bare { format!("https://{}", text.trim_start_matches('/')) } else { text.to_owned() };
    let url = Url::parse(&whole).map_err(|error| refuse(&format!("it is no address ({error})")))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(refuse(&format!(
            "only `http` and `https` addresses can be opened, not `{}:`",
            cut(url.scheme(), 40)
        )));
    }
    if url.host_str().is_none_or(str::is_empty) {
        return Err(refuse("it names no host"));
    }
    Ok(url)
}

fn shown(url: &Url) -> String {
    cut(url.as_str(), 300)
}

/// What the browser's words for a failure mean to who asked.
fn explain(error: &str) -> String {
    let known = [
        ("NAME_NOT_RESOLVED", "there is no such host"),
        ("TUNNEL_CONNECTION_FAILED", "there is no such host, or it cannot be reached"),
        ("EMPTY_RESPONSE", "the server closed the connection without an answer"),
        ("CONNECTION_REFUSED", "nothing answers there"),
        ("CONNECTION_RESET", "the server broke the connection"),
        ("CONNECTION_CLOSED", "the server broke the connection"),
        ("PROXY_CONNECTION_FAILED", "the network of this attempt is gone"),
        ("TIMED_OUT", "it did not answer in time"),
        ("TOO_MANY_REDIRECTS", "it redirects in circles"),
        ("BLOCKED_BY_ADMINISTRATOR", "it may not be opened"),
        ("BLOCKED_BY_CLIENT", "it may not be opened"),
        ("ADDRESS_UNREACHABLE", "it cannot be reached"),
        ("INTERNET_DISCONNECTED", "it cannot be reached"),
        ("CERT_", "its certificate is not valid"),
        ("SSL_", "no secure connection to it can be made"),
        ("UNSAFE_PORT", "no page is served on such a port"),
        ("INVALID_RESPONSE", "its answer cannot be read"),
        ("HTTP_RESPONSE_CODE_FAILURE", "the server answered with an error and no page"),
    ];
    let meaning = known.iter().find(|(word, _)| error.contains(word)).map(|(_, meaning)| *meaning);
    meaning.map_or_else(|| error.to_owned(), |meaning| format!("{meaning} ({error})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_web_is_opened() {
        let table = [
            ("https://a.test/x?y#z", Ok("https://a.test/x?y#z"), "whole"),
            ("a.test", Ok("https://a.test/"), "without a scheme"),
            ("localhost:8080/x", Ok("https://localhost:8080/x"), "host and port"),
            ("//a.test/x", Ok("https://a.test/x"), "without a scheme, as in a page"),
            (" `http://a.test/` ", Ok("http://a.test/"), "as models write it"),
            ("http://a.test/путь", Ok("http://a.test/%D0%BF%D1%83%D1%82%D1%8C"), "another script"),
            ("", Err("no address"), "empty"),
            ("file:///etc/passwd", Err("only `http`"), "a file of the host"),
            ("view-source:http://a.test/", Err("only `http`"), "hides another"),
            ("chrome://version", Err("only `http`"), "the browser's own"),
            ("javascript:alert(1)", Err("only `http`"), "code"),
            ("data:text/html,x", Err("only `http`"), "made up"),
            ("about:blank", Err("only `http`"), "nothing"),
            ("devtools://devtools/x", Err("only `http`"), "the browser's own"),
            ("http://", Err("no address"), "no host"),
            ("https://a b/", Err("no address"), "a space in the host"),
            ("http://a.test/\u{0}", Err("control"), "a NUL"),
        ];
        for (text, want, why) in table {
            match (address(text), want) {
                (Ok(url), Ok(want)) => assert_eq!(url.as_str(), want, "{why}"),
                (Err(Fault::Refused(said)), Err(word)) => {
                    assert!(said.contains(word), "{why}: {said}");
                }
                (got, _) => panic!("{text}: {got:?} ({why})"),
            }
        }
        assert!(address(&format!("http://a.test/{}", "x".repeat(ADDRESS))).is_err(), "too long");
    }

    #[test]
    fn ends_of_a_navigation() {
        let table = [
            (
                json!({ "result": { "frameId": "F", "loaderId": "L" } }),
                Went::There(Some("L".into())),
            ),
            (json!({ "result": { "frameId": "F" } }), Went::There(None)),
            (
                json!({ "result": { "errorText": "net::ERR_ABORTED", "isDownload": true } }),
                Went::Downloads,
            ),
            (
                json!({ "error": { "message": "Cannot navigate" } }),
                Went::Failed("Cannot navigate".into()),
            ),
        ];
        for (reply, want) in table {
            assert_eq!(outcome(&reply), want);
        }
        assert!(explain("net::ERR_NAME_NOT_RESOLVED").starts_with("there is no such host"));
        assert_eq!(explain("net::ERR_ODD"), "net::ERR_ODD");
    }
}
