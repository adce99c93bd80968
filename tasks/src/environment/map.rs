//! Hosts of the live web that are sent to a given address, for tests.

use std::collections::BTreeMap;

use url::{Host, Url};

/// The name that stands for every host.
const EVERY: &str = "*";

/// Where requests for hosts go instead of to the hosts themselves: `[web.live] map` of
/// `suite.toml`, and `--web-map`.
///
/// A request for `https://a.example/x` with `a.example` sent to `http://127.0.0.1:8080`
/// goes there in plain HTTP, with `a.example` as its host and the path as it was. `*`
/// stands for every host that has no entry of its own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostMap(BTreeMap<String, Url>);

impl HostMap {
    /// Adds an entry, or says what is wrong with it. A later one for the same host replaces
    /// the earlier one.
    pub fn insert(&mut self, host: &str, to: &str) -> Result<(), String> {
        let host = if host == EVERY { host.to_owned() } else { name(host)? };
        self.0.insert(host, address(to)?);
        Ok(())
    }

    /// Returns where requests for a host go; none where they go to the host.
    #[must_use]
    pub fn get(&self, host: &str) -> Option<&Url> {
        self.0.get(host).or_else(|| self.0.get(EVERY))
    }

    /// Returns whether every request goes to the host that it names.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the entries as they are written, in the order of hosts.
    #[must_use]
    pub fn written(&self) -> BTreeMap<String, String> {
        let bare = |url: &Url| url.as_str().trim_end_matches('/').to_owned();
        self.0.iter().map(|(host, url)| (host.clone(), bare(url))).collect()
    }
}

fn name(written: &str) -> Result<String, String> {
    let wrong = || format!("`{written}` is no host; expected one such as `example.org`, or `*`");
    if written.contains(['/', ':', '@', '*']) {
        return Err(wrong());
    }
    match Url::parse(&format!("http://{written}")).as_ref().map(Url::host) {
        Ok(Some(Host::Domain(name))) => Ok(name.trim_end_matches('.').to_owned()),
        Ok(_) | Err(_) => Err(wrong()),
    }
}

fn address(written: &str) -> Result<Url, String> {
    let wrong =
        |why: &str| format!("`{written}` {why}; expected one such as `http://127.0.0.1:8080`");
    let url = Url::parse(written).map_err(|error| wrong(&format!("is no address ({error})")))?;
    if url.scheme() != "http" {
        return Err(wrong("is no plain HTTP address"));
    }
    if url.host().is_none() || !url.username().is_empty() || url.password().is_some() {
        return Err(wrong("is more than a host and a port"));
    }
    if url.path() != "/" || url.query().is_some() || url.fragment().is_some() {
        return Err(wrong("has a path, and the path is the request's"));
    }
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_has_its_own_entry_or_that_of_all() {
        let mut map = HostMap::default();
        map.insert("*", "http://127.0.0.1:1").unwrap();
        map.insert("Tides.Example.", "http://127.0.0.1:2/").unwrap();
        assert_eq!(map.get("tides.example").unwrap().port(), Some(2));
        assert_eq!(map.get("other.example").unwrap().port(), Some(1));
        let want = [("*", "http://127.0.0.1:1"), ("tides.example", "http://127.0.0.1:2")];
        let written = map.written();
        assert!(written.iter().map(|(a, b)| (a.as_str(), b.as_str())).eq(want), "{written:?}");
    }

    #[test]
    fn what_is_no_entry_is_refused_with_the_reason() {
        let table = [
            ("a.example", "127.0.0.1:80", "is no"),
            ("a.example", "https://127.0.0.1", "no plain HTTP"),
            ("a.example", "http://127.0.0.1/x", "has a path"),
            ("a.example", "http://u:p@127.0.0.1", "more than a host"),
            ("a.example", "", "no address"),
            ("https://a.example", "http://127.0.0.1", "no host"),
            ("*.example", "http://127.0.0.1", "no host"),
            ("", "http://127.0.0.1", "no host"),
            ("127.0.0.1", "http://127.0.0.1", "no host"),
        ];
        for (host, to, want) in table {
            let error = HostMap::default().insert(host, to).unwrap_err();
            assert!(error.contains(want), "{host}={to}: {error}");
        }
    }
}
