//! Which addresses are on the open web.
//!
//! A list of what is refused, after the special-purpose registries of IANA (RFC 6890 and its
//! successors) and the addresses by which clouds hand secrets to their machines. What an
//! address embeds (mapped IPv6, NAT64, 6to4, Teredo) is refused with the whole form: such an
//! address leads through a gateway that may stand anywhere.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Says why an address is not on the open web; nothing where it is.
pub(super) fn refusal(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(address) => refusal_v4(address),
        IpAddr::V6(address) => refusal_v6(address),
    }
}

fn refusal_v4(address: Ipv4Addr) -> Option<&'static str> {
    let [a, b, c, d] = address.octets();
    Some(match (a, b, c, d) {
        (0, ..) => "its address is unspecified",
        (127, ..) => "its address is this machine's",
        (10, ..) | (172, 16..=31, ..) | (192, 168, ..) => "its address is private",
        (169, 254, ..) => "its address is link-local, where machines find metadata and secrets",
        // Metadata of clouds that does not hide in a link-local address.
        (100, 100, 100, 200) | (168, 63, 129, 16) => "its address is a cloud's metadata service",
        (100, 64..=127, ..) => "its address is shared by a provider's customers (CGNAT)",
        (192, 0, 0, _) => "its address is kept for protocols",
        (192, 0, 2, _) | (198, 51, 100, _) | (203, 0, 113, _) => {
            "its address is kept for documentation"
        }
        (192, 88, 99, _) => "its address is a relay's (6to4)",
        (198, 18..=19, ..) => "its address is kept for measurements",
        (224..=239, ..) => "its address is a multicast group's",
        (255, 255, 255, 255) => "its address is the broadcast one",
        (240..=255, ..) => "its address is reserved",
        _ => return None,
    })
}

fn refusal_v6(address: Ipv6Addr) -> Option<&'static str> {
    let segments = address.segments();
    Some(match (segments[0], segments[1]) {
        (0, 0) if segments[..6] == [0; 6] => match address {
            Ipv6Addr::UNSPECIFIED => "its address is unspecified",
            Ipv6Addr::LOCALHOST => "its address is this machine's",
            _ => "its address embeds an IPv4 address",
        },
        (0, 0) if segments[..6] == [0, 0, 0, 0, 0, 0xffff] => {
            "its address is a mapped IPv4 address"
        }
        (0x64, 0xff9b) => "its address embeds an IPv4 address (NAT64)",
        (0x100, 0) => "its address leads nowhere",
        (0x2002, _) => "its address embeds an IPv4 address (6to4)",
        (0x2001, 0) => "its address embeds an IPv4 address (Teredo)",
        (0x2001, 0xdb8) | (0x3fff, 0..=0xfff) => "its address is kept for documentation",
        (0x2001, 0..=0x1ff) => "its address is kept for protocols",
        (0xfc00..=0xfdff, _) => "its address is unique-local, that is, private",
        (0xfe80..=0xfebf, _) => "its address is link-local",
        (0xfec0..=0xfeff, _) => "its address is site-local, that is, private",
        (0xff00..=0xffff, _) => "its address is a multicast group's",
        // Only this block was ever given to the open internet.
        (0x2000..=0x3fff, _) => return None,
        _ => "its address is reserved",
    })
}

/// Endings of names that are never resolved on the open web (RFC 6761, RFC 6762, RFC 8375,
/// ICANN's `internal`, and what networks use inside).
const INSIDE: [&str; 14] = [
    "localhost",
    "local",
    "localdomain",
    "internal",
    "intranet",
    "private",
    "corp",
    "home",
    "lan",
    "home.arpa",
    "test",
    "example",
    "invalid",
    "onion",
];

/// Says why a name is none of the open web, whatever it resolves to.
pub(super) fn name_refusal(host: &str) -> Option<&'static str> {
    if !host.contains('.') {
        return Some("it is no whole host name");
    }
    let inside = |ending: &&str| {
        host.strip_suffix(*ending).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    };
    INSIDE.iter().any(inside).then_some("names of this kind exist in single networks only")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_the_open_internet_pass() {
        let refused = [
            ("0.0.0.0", "unspecified"),
            ("0.1.2.3", "unspecified"),
            ("127.0.0.1", "this machine"),
            ("127.255.255.254", "this machine"),
            ("10.0.0.1", "private"),
            ("10.255.255.255", "private"),
            ("172.16.0.1", "private"),
            ("172.31.255.255", "private"),
            ("192.168.0.1", "private"),
            ("169.254.169.254", "metadata"),
            ("169.254.170.2", "metadata"),
            ("100.100.100.200", "metadata"),
            ("168.63.129.16", "metadata"),
            ("100.64.0.1", "CGNAT"),
            ("100.127.255.255", "CGNAT"),
            ("192.0.0.8", "protocols"),
            ("192.0.0.192", "protocols"),
            ("192.0.2.1", "documentation"),
            ("198.51.100.7", "documentation"),
            ("203.0.113.9", "documentation"),
            ("192.88.99.1", "relay"),
            ("198.18.0.1", "measurements"),
            ("198.19.255.255", "measurements"),
            ("224.0.0.1", "multicast"),
            ("239.255.255.255", "multicast"),
            ("240.0.0.1", "reserved"),
            ("255.255.255.255", "broadcast"),
            ("::", "unspecified"),
            ("::1", "this machine"),
            ("::7f00:1", "embeds"),
            ("::a00:1", "embeds"),
            ("::ffff:127.0.0.1", "mapped"),
            ("::ffff:93.184.216.34", "mapped"),
            ("64:ff9b::7f00:1", "NAT64"),
            ("64:ff9b::5db8:d822", "NAT64"),
            ("64:ff9b:1::a00:1", "NAT64"),
            ("100::1", "nowhere"),
            ("2002:7f00:1::", "6to4"),
            ("2002:a00:1::1", "6to4"),
            ("2001:0:4136:e378:8000:63bf:3fff:fdd2", "Teredo"),
            ("2001:db8::1", "documentation"),
            ("3fff:0:1::1", "documentation"),
            ("2001:2::1", "protocols"),
            ("2001:20::1", "protocols"),
            ("fc00::1", "unique-local"),
            ("fd00:ec2::254", "unique-local"),
            ("fe80::1", "link-local"),
            ("fec0::1", "site-local"),
            ("ff02::1", "multicast"),
            ("4000::1", "reserved"),
            ("5f00::1", "reserved"),
        ];
        for (address, want) in refused {
            let got = refusal(address.parse().unwrap());
            assert!(got.is_some_and(|why| why.contains(want)), "{address}: {got:?}, not {want}");
        }
        let open = [
            "93.184.216.34",
            "1.1.1.1",
            "172.15.0.1",
            "172.32.0.1",
            "100.63.255.255",
            "100.128.0.1",
            "192.1.0.1",
            "223.255.255.255",
            "2606:4700::1111",
            "2a00:1450::1",
            "2001:4860:4860::8888",
            "2003::1",
        ];
        for address in open {
            assert_eq!(refusal(address.parse().unwrap()), None, "{address}");
        }
    }

    #[test]
    fn names_of_single_networks_are_refused_unasked() {
        for host in
            ["intranet", "printer.local", "metadata.google.internal", "a.b.home.arpa", "x.test"]
        {
            assert!(name_refusal(host).is_some(), "{host}");
        }
        for host in ["example.org", "local.org", "internal.company.com", "mylocal.net"] {
            assert_eq!(name_refusal(host), None, "{host}");
        }
    }
}
