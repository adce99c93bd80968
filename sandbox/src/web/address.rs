//! What a URL means before it is sent.
//!
//! Two spellings of one address become one here: the case and the final dot of a
//! host, names and passwords, default ports, fragments (dot segments and
//! international names are settled by the URL parser before). What cannot be a host
//! of a web (files, addresses, this machine) is refused with the reason.

use url::{Host, Url};

use super::WebError;

/// Ports that may be asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Ports {
    /// Those of the schemes alone: hosts of the hermetic web have no others.
    #[default]
    OfScheme,
    /// Also those above 1023 on which no other well-known service listens.
    Open,
}

impl Ports {
    /// Services that must not be spoken to in HTTP though their ports are above 1023: those
    /// of the "bad ports" of the Fetch standard (whatwg.org).
    const OTHER_SERVICES: [u16; 19] = [
        1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668,
        6669, 6679, 6697, 10080,
    ];

    /// Returns whether a port that is not its scheme's default may be asked.
    fn allow(self, port: u16) -> bool {
        match self {
            Self::OfScheme => false,
            Self::Open => {
                matches!(port, 80 | 443) || (port > 1023 && !Self::OTHER_SERVICES.contains(&port))
            }
        }
    }
}

/// Returns the URL as it is sent, or says why it cannot be.
pub(super) fn normal(url: &Url, ports: Ports) -> Result<Url, WebError> {
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
    if let Some(port) = clean.port().filter(|port| !ports.allow(*port)) {
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
            let got =
                normal(&Url::parse(written).unwrap(), Ports::OfScheme).map(|url| url.to_string());
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
            let error =
                normal(&Url::parse(written).unwrap(), Ports::OfScheme).unwrap_err().to_string();
            assert!(error.contains(want), "{written}: {error}");
        }
    }

    #[test]
    fn the_open_web_has_more_ports_and_no_more_hosts() {
        let table = [
            ("https://tides.test:8443/a", true, "a port of its own"),
            ("http://tides.test:443/", true, "a port of the other scheme"),
            ("http://tides.test:22/", false, "another service"),
            ("http://tides.test:6667/", false, "another service"),
            ("http://tides.test:0/", false, "no port"),
            ("http://10.0.0.1:8080/", false, "an address"),
            ("http://localhost:8080/", false, "this machine"),
        ];
        for (written, want, why) in table {
            let got = normal(&Url::parse(written).unwrap(), Ports::Open);
            assert_eq!(got.is_ok(), want, "{written}: {why}: {got:?}");
        }
    }
}
