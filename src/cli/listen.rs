//! The address of `--listen`: how it is read, and whom it lets in.

use std::net::SocketAddr;

use tokio::net::TcpListener;

use super::Failure;

/// Reads an address; `localhost` stands for the machine's own.
pub(super) fn address(text: &str) -> Result<SocketAddr, String> {
    let (host, port) = text.rsplit_once(':').unwrap_or((text, ""));
    let own = if host.is_empty() || host == "localhost" { "127.0.0.1" } else { host };
    format!("{own}:{port}")
        .parse()
        .map_err(|_| "an address and a port are needed, such as `127.0.0.1:8642`".to_owned())
}

/// Refuses an address that other machines can reach, where they were not allowed to. `usual`
/// is one to take instead, and `what` what others would be let in for: `to step episodes`.
pub(super) fn check(
    address: &SocketAddr,
    allow_remote: bool,
    (usual, what): (&str, &str),
) -> Result<(), Failure> {
    if allow_remote || address.ip().is_loopback() {
        return Ok(());
    }
    let problem = format!("`{address}` can be reached from other machines");
    Err(Failure::usage(problem)
        .hint(format!("listen at `{usual}`, or add `--allow-remote` if others are {what}")))
}

/// Listens at an address; returns the one that it came to, too: port 0 takes a free one.
pub(super) async fn bind(address: SocketAddr) -> Result<(TcpListener, SocketAddr), Failure> {
    let unusable = |error: std::io::Error| {
        Failure::usage(format!("cannot listen at `{address}`: {error}"))
            .hint("take a free port with `--listen 127.0.0.1:0`")
    };
    let listener = TcpListener::bind(address).await.map_err(unusable)?;
    let taken = listener.local_addr().map_err(unusable)?;
    Ok((listener, taken))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_one_of_this_machine_unless_it_says_so() {
        let table = [
            ("127.0.0.1:8642", Some("127.0.0.1:8642")),
            ("localhost:8642", Some("127.0.0.1:8642")),
            (":0", Some("127.0.0.1:0")),
            ("[::1]:80", Some("[::1]:80")),
            ("0.0.0.0:80", Some("0.0.0.0:80")),
            ("8642", None),
            ("localhost", None),
            ("localhost:65536", None),
            ("example.com:80", None),
            ("", None),
        ];
        for (text, want) in table {
            let got = address(text).ok().map(|address| address.to_string());
            assert_eq!(got.as_deref(), want, "{text:?}");
        }
    }
}
