//! What a task may not reach, asked at every hop.

use url::Url;
use wildgym_tasks::environment::Blocked;

/// The entries of a block list; see [`Blocked`] for what one stands for.
#[derive(Debug, Clone, Default)]
pub(super) struct BlockList {
    entries: Vec<Blocked>,
    /// Hosts of which nothing is left.
    hosts: Vec<String>,
}

impl BlockList {
    /// Reads a list as written in a task. What is no entry blocks nothing; loading the
    /// suite has refused it.
    pub(super) fn new(written: &[String]) -> Self {
        let entries: Vec<Blocked> =
            written.iter().filter_map(|entry| Blocked::parse(entry).ok()).collect();
        let whole = entries.iter().filter(|entry| entry.is_whole_host());
        let hosts = whole.map(|entry| entry.host().to_owned()).collect();
        Self { entries, hosts }
    }

    /// Returns whether nothing is blocked.
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns whether everything on that host is blocked.
    pub(super) fn covers(&self, host: &str) -> bool {
        self.entries.iter().any(|entry| entry.covers_host(host))
    }

    /// Returns whether that address is blocked, its host or its path.
    pub(super) fn covers_url(&self, url: &Url) -> bool {
        self.entries.iter().any(|entry| entry.covers(url))
    }

    /// The same for an address as a text has it; what is no address is not blocked.
    pub(super) fn covers_text(&self, url: &str) -> bool {
        !self.is_empty() && Url::parse(url.trim()).is_ok_and(|url| self.covers_url(&url))
    }

    /// Returns what to say is blocked where an address is: the host, or host and path.
    pub(super) fn refuses(&self, url: &Url) -> Option<String> {
        let host = url.host_str().unwrap_or_default();
        if self.covers(host) {
            return Some(host.to_owned());
        }
        self.covers_url(url).then(|| format!("{host}{}", url.path()))
    }

    /// Returns the hosts of which nothing is left.
    pub(super) fn names(&self) -> &[String] {
        &self.hosts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_list_covers_subdomains_and_nothing_beside_them() {
        let list = ["Tides.test", "https://*.harbour.test/", "潮汐.test", "news.test/a", "no host"];
        let list = BlockList::new(&list.map(ToOwned::to_owned));
        let table = [
            ("tides.test", true, "the host"),
            ("data.tides.test", true, "a subdomain"),
            ("lowtides.test", false, "the same ending, another host"),
            ("harbour.test", true, "written with a star"),
            ("xn--usw99d.test", true, "an international name"),
            ("test", false, "the domain above"),
            ("news.test", false, "a host with one blocked path"),
        ];
        for (host, want, why) in table {
            assert_eq!(list.covers(host), want, "{host}: {why}");
        }
        assert_eq!(list.names(), ["tides.test", "harbour.test", "xn--usw99d.test"]);
        let refuses = |url: &str| list.refuses(&Url::parse(url).unwrap());
        assert_eq!(refuses("https://a.tides.test/x").as_deref(), Some("a.tides.test"));
        assert_eq!(refuses("https://news.test/a/b").as_deref(), Some("news.test/a/b"));
        assert_eq!(refuses("https://news.test/b"), None);
    }
}
