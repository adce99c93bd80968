//! With what a browser is started, so that nothing leaves it but through the proxies.
//!
//! Each line closes something that was seen to be open without it; the escape test
//! opens them again one by one in its control. What was found:
//!
//! - a context's own proxy goes before the global one, which is dead: it catches what
//!   belongs to no context, the browser's own errands;
//! - without `<-loopback>` in the bypass list, this machine is reached directly;
//! - only the made-up name of the proxy resolves, so whatever still goes past a proxy
//!   finds no address, loopback's own included;
//! - WebRTC asks servers over UDP unless told not to, by flag and preference;
//! - the media router and mDNS send multicasts;
//! - a failed name makes the browser ask public resolvers, unless alternate error pages
//!   are off;
//! - `file:`, `chrome:` and their like open when the remote control asks for them,
//!   unless a list of blocked addresses says no.

use camino::Utf8Path;
use serde_json::json;

/// The name under which the browser knows this machine's proxies; no other resolves.
pub(super) const PROXY_HOST: &str = "wildgym-proxy";

/// Addresses that no proxy is passed by for: none, not even this machine's.
pub(super) const BYPASS: &str = "<-loopback>";

/// Features switched off. Models on the device have a process of their own, which starts
/// late and stays.
///
/// The last three keep the frames of a page in its process, where actions can reach them.
/// Contexts have processes of their own all the same.
const FEATURES_OFF: &str = "MediaRouter,DialMediaRouteProvider,CastMediaRouteProvider,\
WebRtcHideLocalIpsWithMdns,TranslateUI,Translate,OptimizationHints,AutofillServerCommunication,\
OptimizationGuideOnDeviceModel,OptimizationGuideModelExecution,OnDeviceModelService,\
OptimizationGuideModelDownloading,IsolateOrigins,site-per-process,IsolateSandboxedIframes";

/// What is always said.
const ALWAYS: [&str; 34] = [
    "--headless=new",
    "--remote-debugging-pipe",
    // What keeps it in.
    "--proxy-server=http://127.0.0.1:9",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-background-networking",
    "--disable-sync",
    "--disable-client-side-phishing-detection",
    // What keeps it quiet and the same everywhere.
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-breakpad",
    "--disable-crash-reporter",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-component-extensions-with-background-pages",
    "--disable-hang-monitor",
    "--disable-popup-blocking",
    "--disable-prompt-on-repost",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--disable-site-isolation-trials",
    "--enable-automation",
    "--force-color-profile=srgb",
    "--hide-scrollbars",
    "--mute-audio",
    "--metrics-recording-only",
    "--no-default-browser-check",
    "--no-first-run",
    "--no-service-autorun",
    "--password-store=basic",
    "--lang=en-US",
];

/// Returns the arguments of a browser that trusts the key with the digest `pin`.
pub(super) fn arguments(profile: &Utf8Path, pin: &str, walls: bool) -> Vec<String> {
    let mut arguments: Vec<String> = ALWAYS.iter().map(ToString::to_string).collect();
    arguments.extend([
        format!("--proxy-bypass-list={BYPASS}"),
        format!("--host-resolver-rules=MAP {PROXY_HOST} 127.0.0.1, MAP * ~NOTFOUND"),
        format!("--disable-features={FEATURES_OFF}"),
        "--enable-features=NetworkService,NetworkServiceInProcess".to_owned(),
        format!("--ignore-certificate-errors-spki-list={pin}"),
        format!("--user-data-dir={profile}"),
    ]);
    if !walls {
        arguments.extend(["--no-sandbox".to_owned(), "--disable-setuid-sandbox".to_owned()]);
    }
    arguments.push("about:blank".to_owned());
    arguments
}

/// Returns the preferences of a new profile, as its file `Default/Preferences` has them.
pub(super) fn preferences() -> String {
    json!({
        "webrtc": { "ip_handling_policy": "disable_non_proxied_udp" },
        "alternate_error_pages": { "enabled": false },
        "policy": {
            "url_blocklist": [
                // A star alone leaves the browser's own pages open.
                "*", "chrome://*", "chrome-untrusted://*", "devtools://*", "file://*",
                "javascript://*"
            ],
            "url_allowlist": [
                "http://*", "https://*", "about:blank", "data:*", "blob:*", "about:srcdoc"
            ]
        }
    })
    .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_locks_are_there() {
        let arguments = arguments("/tmp/p".into(), "PIN=", true);
        for wanted in [
            "--proxy-server=http://127.0.0.1:9",
            "--proxy-bypass-list=<-loopback>",
            "--host-resolver-rules=MAP wildgym-proxy 127.0.0.1, MAP * ~NOTFOUND",
            "--webrtc-ip-handling-policy=disable_non_proxied_udp",
            "--ignore-certificate-errors-spki-list=PIN=",
            "--user-data-dir=/tmp/p",
            "--remote-debugging-pipe",
        ] {
            assert!(arguments.iter().any(|argument| argument == wanted), "{wanted}");
        }
        assert!(
            !arguments.iter().any(|argument| argument.starts_with("--remote-debugging-port")),
            "a port obeys everybody"
        );
        assert!(
            !arguments.contains(&"--disable-ipc-flooding-protection".to_owned()),
            "one page could keep the browser from all others"
        );
        assert!(!arguments.contains(&"--no-sandbox".to_owned()));
        assert!(super::arguments("/tmp/p".into(), "", false).contains(&"--no-sandbox".to_owned()));
    }
}
