//! What a URL means before it is sent, and which hosts are blocked.
//!
//! Two spellings of one address become one here: the case and the final dot of a
//! host, names and passwords, default ports, fragments (dot segments and
//! international names are settled by the URL parser before). What cannot be a host
//! of a web (files, addresses, this machine) is refused with the reason.

use url::{Host, Url};

use super::WebError;

/// Returns the URL as it is sent, or says why it cannot be.
pub(super) fn normal(url: &Url) -> Result<Url, WebError> {
    let bad = |reason: &str| WebError::BadUrl { url: url.to_string(), reason: reason.to_owned() };
    match url.scheme() {
        "http" | "https" => {}
        "file" => return Err(bad("local files are not on the web; give their workspace path")),
        _ => return Err(bad("only `http` and `https` are served")),
    }
    let host = match url.host() {
        Some(Host::Domain(name)) => name.trim_end_matches('.').to_ascii_lowercase(),
        Some(Host::Ipv4(_) | Host::Ipv6(_)) => {
            return Err(bad("addresses are not served; use the name of a host"));
        }
        None => return Err(bad("it names no host")),
    };
    if host == "localhost" || host.ends_with(".localhost") {
        return Err(bad("this machine is not part of the web"));
    }
    let mut clean = url.clone();
    clean.set_host(Some(&host)).map_err(|_| bad("it names no host"))?;
    // These fail only for URLs without a host, and this one has one.
    let _ = clean.set_username("");
    let _ = clean.set_password(None);
    clean.set_fragment(None);
    if let Some(port) = clean.port() {
        let reason = format!("`{host}` does not answer on port {port}; leave the port out");
        return Err(bad(&reason));
    }
    Ok(clean)
}

/// Returns a host name in its one spelling: lower case, punycode, no final dot.
/// Accepts what people write into lists: URLs, `*.` and a leading dot.
pub(super) fn host_name(written: &str) -> Option<String> {
    let written = written.trim();
    let bare = written.split_once("://").map_or(written, |(_, rest)| rest);
    let bare = bare.trim_start_matches("*.").trim_start_matches('.');
    let url = Url::parse(&format!("http://{bare}")).ok()?;
    let host = url.host_str()?.trim_end_matches('.').to_owned();
    (!host.is_empty()).then_some(host)
}

/// The hosts that a task may not reach; each stands for its subdomains too.
#[derive(Debug, Clone, Default)]
pub(super) struct BlockList(Vec<String>);

impl BlockList {
    /// Reads a list as written in a task. What is no host name is kept as it is: it
    /// blocks nothing, as no host has such a name.
    pub(super) fn new(written: &[String]) -> Self {
        Self(written.iter().map(|host| host_name(host).unwrap_or_else(|| host.clone())).collect())
    }

    /// Returns whether the list covers that host.
    pub(super) fn covers(&self, host: &str) -> bool {
        self.0.iter().any(|blocked| is_within(host, blocked))
    }

    /// Returns the blocked names.
    pub(super) fn names(&self) -> &[String] {
        &self.0
    }
}

/// Returns whether `host` is `domain` or a subdomain of it.
fn is_within(host: &str, domain: &str) -> bool {
    host.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_address_become_one() {
        let table = [
            ("HTTP://Tides.Test/a", "http://tides.test/a", "case of the host"),
            ("https://tides.test./a", "https://tides.test/a", "the final dot"),
            ("https://tides.test:443/a", "https://tides.test/a", "the default port"),
            ("https://me:secret@tides.test/", "https://tides.test/", "name and password"),
            ("https://tides.test/a?b=c#d", "https://tides.test/a?b=c", "the fragment"),
            ("https://tides.test/x/../a/./b", "https://tides.test/a/b", "dot segments"),
            ("https://tides.test/x/%2e%2e/a", "https://tides.test/a", "encoded dot segments"),
            ("https://潮汐.test/", "https://xn--usw99d.test/", "an international name"),
            ("https://tides.test/报告", "https://tides.test/%E6%8A%A5%E5%91%8A", "Chinese path"),
        ];
        for (written, want, why) in table {
            let got = normal(&Url::parse(written).unwrap()).map(|url| url.to_string());
            assert_eq!(got.as_deref(), Ok(want), "{why}");
        }
    }

    #[test]
    fn what_is_no_host_of_a_web_is_refused_with_the_reason() {
        let table = [
            ("file:///etc/passwd", "workspace path"),
            ("ftp://tides.test/a", "only `http`"),
            ("data:text/plain,hi", "only `http`"),
            ("http://127.0.0.1/", "addresses"),
            ("http://[::1]/", "addresses"),
            ("http://0x7f.1/", "addresses"),
            ("http://localhost/", "this machine"),
            ("http://a.localhost./", "this machine"),
            ("http://tides.test:8080/", "port 8080"),
        ];
        for (written, want) in table {
            let error = normal(&Url::parse(written).unwrap()).unwrap_err().to_string();
            assert!(error.contains(want), "{written}: {error}");
        }
    }

    #[test]
    fn a_block_list_covers_subdomains_and_nothing_beside_them() {
        let list = ["Tides.test".into(), "https://*.harbour.test/".into(), "潮汐.test".into()];
        let list = BlockList::new(&list);
        let table = [
            ("tides.test", true, "the host"),
            ("data.tides.test", true, "a subdomain"),
            ("lowtides.test", false, "the same ending, another host"),
            ("harbour.test", true, "written with a star"),
            ("xn--usw99d.test", true, "an international name"),
            ("test", false, "the domain above"),
        ];
        for (host, want, why) in table {
            assert_eq!(list.covers(host), want, "{host}: {why}");
        }
    }
}
