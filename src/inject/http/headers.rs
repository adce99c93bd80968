//! Which headers go through a proxy, and what they say.
//!
//! Those of one connection stop here; all others pass as they are.

use axum::http::{HeaderMap, HeaderName};
use wildgym_sandbox::web::OF_CONNECTION;

/// Returns the text of a header.
pub(super) fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// Returns whether a body comes in chunks.
pub(super) fn has_chunks(headers: &HeaderMap) -> bool {
    headers.contains_key("transfer-encoding")
}

/// Takes out what belongs to one connection, and what its header `Connection` names.
pub(super) fn drop_of_connection(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all("connection")
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in named {
        headers.remove(name);
    }
    for name in OF_CONNECTION {
        headers.remove(name);
    }
}

/// Returns whether a host with or without port is a name of this machine, as a client has it
/// that was given the proxy's address.
pub(super) fn is_of_this_machine(host: &str) -> bool {
    let without_port = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        Some(_) | None => host,
    };
    let name = without_port.trim_start_matches('[').trim_end_matches(']');
    name == "localhost"
        || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::super::SESSION;
    use super::*;

    #[test]
    fn names_of_this_machine_stand_for_the_server() {
        for host in ["localhost", "localhost:80", "127.0.0.1:1", "127.9.9.9", "[::1]:8000"] {
            assert!(is_of_this_machine(host), "{host}");
        }
        for host in ["evil.example", "evil.example:80", "localhost.evil.example", "10.0.0.1:80"] {
            assert!(!is_of_this_machine(host), "{host}");
        }
    }

    #[test]
    fn headers_of_one_connection_go_no_further() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("connection", "close, x-hop"),
            ("x-hop", "1"),
            ("transfer-encoding", "chunked"),
            ("mcp-session-id", "7"),
        ] {
            headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        drop_of_connection(&mut headers);
        assert_eq!(headers.keys().map(HeaderName::as_str).collect::<Vec<_>>(), [SESSION]);
    }
}
