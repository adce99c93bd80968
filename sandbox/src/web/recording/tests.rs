//! Recording and replaying as an attempt sees it: what was answered once is answered again.

mod interop;

use std::io::Read as _;
use std::process::Command;

use bytes::Bytes;
use camino::Utf8PathBuf;
use flate2::read::MultiGzDecoder;
use proptest::prelude::*;
use url::Url;

use super::*;
use crate::web::{AccessLog, Rules, Tape, TapeEntry, TapeError};

/// A web that answers each request by a function of it and of how many came before.
struct Scripted(Box<Script>, Mutex<u32>, Endpoints);

type Script = dyn Fn(&Request, u32) -> Result<Reply, WebError> + Send + Sync;

impl std::fmt::Debug for Scripted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Scripted")
    }
}

impl Exchange for Scripted {
    fn answer<'a>(
        &'a self,
        request: &'a Request,
        _: Timestamp,
        _: &'a BlockList,
    ) -> BoxFuture<'a, Result<Reply, WebError>> {
        let mut count = self.1.lock().unwrap();
        *count += 1;
        let reply = (self.0)(request, *count);
        if request.url.path() == "/never" {
            return Box::pin(std::future::pending());
        }
        Box::pin(std::future::ready(reply))
    }

    fn endpoints(&self) -> &Endpoints {
        &self.2
    }
}

fn endpoints() -> Endpoints {
    let search = Url::parse("https://search.test/").unwrap();
    Endpoints { search, encyclopedia: std::collections::BTreeMap::new() }
}

fn scripted(
    script: impl Fn(&Request, u32) -> Result<Reply, WebError> + Send + Sync + 'static,
) -> Web {
    let scripted = Scripted(Box::new(script), Mutex::new(0), endpoints());
    Web::new(Arc::new(scripted), Rules::default())
}

/// A web whose every answer is another one.
fn counting() -> Web {
    scripted(|request, count| {
        Ok(Reply::new(200, "text/plain", format!("{} {count}", request.url.path())))
    })
}

/// A recording in a folder of its own.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> Utf8PathBuf {
        Utf8PathBuf::try_from(self.0.path().join("web.warc.gz")).unwrap()
    }

    fn recorder(&self) -> Arc<Recorder> {
        Recorder::create(&self.path()).unwrap()
    }

    fn tape(&self) -> Arc<Tape> {
        Tape::open(&self.path()).unwrap()
    }

    /// All that the file holds, decompressed.
    fn text(&self) -> String {
        let mut bytes = Vec::new();
        let file = File::open(self.path()).unwrap();
        MultiGzDecoder::new(file).read_to_end(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

fn start() -> Timestamp {
    "2026-03-01T09:00:00.123456789Z".parse().unwrap()
}

fn get(url: &str) -> Request {
    Request::get(Url::parse(url).unwrap())
}

fn post(url: &str, media: &str, body: &str) -> Request {
    let headers = vec![("content-type".to_owned(), media.to_owned())];
    let body = Bytes::from(body.to_owned());
    Request { method: http::Method::POST, headers, body, ..get(url) }
}

fn ask(web: &Web, request: Request) -> Result<crate::web::Response, WebError> {
    futures::executor::block_on(web.send(request, start(), &AccessLog::default()))
}

/// Returns the body of an answer, or the words of its error.
fn told(web: &Web, request: Request) -> String {
    match ask(web, request) {
        Ok(response) => String::from_utf8_lossy(&response.body).into_owned(),
        Err(error) => error.to_string(),
    }
}

fn replay(tape: &Arc<Tape>, who: &str) -> Web {
    Web::replay(Arc::clone(tape), who, endpoints(), &[])
}

#[test]
fn a_replay_answers_as_the_recorded_web_did() {
    let place = Place::new();
    let script = |request: &Request, _| match request.url.path() {
        "/moved" => Ok(Reply::new(302, "text/html", "").with("location", "/there?token=K1#x")),
        "/gone" => Err(WebError::Unreachable("a.test".into())),
        "/chunked" => Ok(Reply::new(200, "text/plain", "chunks")
            .with("transfer-encoding", "chunked")
            .with("content-length", "3")
            .with("x-wildgym-orig-x", "1")),
        "/empty" => Ok(Reply::new(204, "text/plain", "")),
        "/odd" => {
            let mut reply = Reply::new(299, "text/plain", vec![0, 255, 13, 10, 13, 10]);
            reply.headers.push(("x-name".into(), "né\u{4e2d}, x".into()));
            reply.headers.push(("x-none".into(), String::new()));
            reply.headers.push(("x-name".into(), "again".into()));
            Ok(reply)
        }
        path => Ok(Reply::new(200, "text/html; charset=utf-8", format!("at {path}"))),
    };
    let head = Request { method: http::Method::HEAD, ..get("https://a.test/page") };
    let requests = || {
        vec![
            get("https://a.test/page"),
            get("https://a.test/moved"),
            get("https://a.test/gone"),
            get("https://a.test/chunked"),
            get("https://a.test/empty"),
            get("https://a.test/odd"),
            post("https://a.test/search", "application/json", r#"{"q":"tide","page":1}"#),
            head.clone(),
        ]
    };
    let live: Vec<_> = {
        let web = scripted(script).recorded(place.recorder(), "c/t/v/1", start());
        requests().into_iter().map(|request| ask(&web, request)).collect()
    };
    let tape = place.tape();
    let web = replay(&tape, "c/t/v/1");
    for (request, mut want) in requests().into_iter().zip(live) {
        let got = ask(&web, request.clone());
        if let Ok(response) = &mut want {
            // The one thing that is not the same: the secret of the redirect.
            if response.url.path() == "/there" {
                response.url.set_query(Some("token=redacted"));
            }
        }
        assert_eq!(got, want, "{request:?}");
    }
    assert_eq!(tape.misses(), 0);
    assert_eq!(tape.started("c/t/v/1"), Some(start()), "to the nanosecond");
    let body = post("https://a.test/search", "application/json", r#"{ "page": 1, "q": "tide" }"#);
    assert_eq!(told(&web, body), "at /search", "the order of keys does not count");
}

#[test]
fn the_nth_request_gets_the_nth_answer_of_its_own_attempt() {
    let place = Place::new();
    let recorder = place.recorder();
    let web = counting();
    // Each attempt asks twice, in turns: so the answers are 1 and 3, 2 and 4.
    let one = web.clone().recorded(Arc::clone(&recorder), "react/t/full/1", start());
    let two = web.clone().recorded(Arc::clone(&recorder), "react/t/full/2", start());
    for _ in 0..2 {
        told(&one, get("https://a.test/"));
        told(&two, get("https://a.test/"));
    }
    // A later session of the first attempt asks once.
    let again = web.recorded(recorder, "react/t/full/1", start());
    told(&again, get("https://a.test/"));
    let table: [(&str, &[&str], &str); 4] = [
        ("react/t/full/2", &["/ 2", "/ 4", "/ 4"], "its own, and the last again"),
        ("react/t/full/1", &["/ 5", "/ 3", "/ 5"], "its last session, then the n-th of any"),
        ("other/t/full/2", &["/ 2", "/ 4", "/ 4"], "another agent repeats the same trial"),
        ("react/u/full/2", &["/ 1", "/ 3", "/ 5"], "an unknown trial takes the n-th of any"),
    ];
    let tape = place.tape();
    for (who, want, why) in table {
        let web = replay(&tape, who);
        let got: Vec<_> = want.iter().map(|_| told(&web, get("https://a.test/"))).collect();
        assert_eq!(got, want, "{who}: {why}");
    }
}

#[test]
fn what_was_not_recorded_is_a_miss() {
    let place = Place::new();
    told(&counting().recorded(place.recorder(), "c/t/v/1", start()), get("https://a.test/x"));
    let tape = place.tape();
    let web = replay(&tape, "c/t/v/1");
    let table = [
        get("https://a.test/y"),
        get("https://a.test/x?q=1"),
        post("https://a.test/x", "text/plain", ""),
    ];
    for (number, request) in table.into_iter().enumerate() {
        let url = request.url.to_string();
        assert_eq!(ask(&web, request).unwrap_err(), WebError::NotRecorded(url));
        assert_eq!(tape.misses(), number as u64 + 1);
    }
    let blocked = ["a.test".to_owned()];
    let web = Web::replay(Arc::clone(&tape), "c/t/v/1", endpoints(), &blocked);
    let refused = ask(&web, get("https://a.test/x")).unwrap_err();
    assert!(matches!(refused, WebError::Blocked(_)), "blocked, though it is recorded");
    assert_eq!(tape.misses(), 3, "which is no miss");
}

#[test]
fn no_secret_reaches_the_file_and_requests_with_secrets_are_found() {
    let place = Place::new();
    let asked = |key: &str| {
        let url = format!("https://me:{key}@a.test/s?q=x&api_key={key}&sig={key}");
        let mut request = post(&url, "application/json", &format!(r#"{{"password":"{key}"}}"#));
        let secret = ["authorization", "cookie", "x-api-key", "proxy-authorization"];
        request.headers.extend(secret.map(|name| (name.to_owned(), format!("s={key}"))));
        request.headers.push(("referer".into(), format!("https://b.test/?token={key}")));
        request
    };
    let web = scripted(|_, _| {
        Ok(Reply::new(200, "text/plain", "found")
            .with("set-cookie", "sid=K1SECRET; Path=/")
            .with("location", "/next?access_token=K1SECRET"))
    });
    told(&web.recorded(place.recorder(), "c/t/v/1", start()), asked("K1SECRET"));
    assert!(!place.text().contains("K1SECRET"), "{}", place.text());
    let response = ask(&replay(&place.tape(), "c/t/v/1"), asked("ANOTHER")).unwrap();
    assert_eq!(response.body, "found");
    assert_eq!(response.header("set-cookie"), Some("sid=redacted; Path=/"), "a cookie to send");
}

#[test]
fn repeated_bodies_are_stored_once() {
    let place = Place::new();
    let noise: Vec<u8> = (0..100_000_u32)
        .flat_map(|n| blake3::hash(&n.to_le_bytes()).as_bytes()[..4].to_vec())
        .collect();
    let body = Bytes::from(noise);
    let served = body.clone();
    let script = move |_: &Request, count: u32| {
        Ok(Reply::new(200, "text/plain", served.clone()).with("x-count", &count.to_string()))
    };
    for opened in 0..2 {
        // The second time, the file is continued.
        let web = scripted(script.clone()).recorded(place.recorder(), "c/t/v/1", start());
        for n in 0..50 {
            told(&web, get(&format!("https://a.test/{opened}/{n}")));
        }
    }
    let size = std::fs::metadata(place.path()).unwrap().len();
    let once = body.len() as u64;
    assert!(size < once + 100 * 1600, "{size} bytes for 100 answers of {once} bytes");
    let tape = place.tape();
    let repeated = tape.entries().iter().filter(|entry| entry.repeated).count();
    assert_eq!((tape.entries().len(), repeated), (100, 99));
    let last = ask(&replay(&tape, "c/t/v/1"), get("https://a.test/1/49")).unwrap();
    assert_eq!((last.body, last.headers.last().unwrap().1.as_str()), (body, "50"));
}

#[test]
fn a_request_that_was_given_up_is_kept_as_such() {
    let place = Place::new();
    let web = counting().recorded(place.recorder(), "c/t/v/1", start());
    let log = AccessLog::default();
    let mut asked = Box::pin(web.send(get("https://a.test/never"), start(), &log));
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(asked.as_mut().poll(&mut context).is_pending());
    drop(asked);
    let got = ask(&replay(&place.tape(), "c/t/v/1"), get("https://a.test/never"));
    assert_eq!(got.unwrap_err(), WebError::Cut("https://a.test/never".into()));
}

#[test]
fn large_bodies_are_kept_beside_the_runtime() {
    let place = Place::new();
    let body = "x".repeat(4 * SMALL);
    let served = body.clone();
    let web = scripted(move |_, _| Ok(Reply::new(200, "text/plain", served.clone())));
    let web = web.recorded(place.recorder(), "c/t/v/1", start());
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let log = AccessLog::default();
    runtime.block_on(web.send(get("https://a.test/"), start(), &log)).unwrap();
    assert_eq!(told(&replay(&place.tape(), "c/t/v/1"), get("https://a.test/")), body);
}

#[test]
fn one_process_records_at_a_time() {
    let place = Place::new();
    let first = place.recorder();
    let error = Recorder::create(&place.path()).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
    assert!(error.to_string().contains("another process records"), "{error}");
    drop(first);
    place.recorder();
}

#[test]
fn what_is_no_recording_is_not_written_to() {
    let table: [(&[u8], &str); 3] = [
        (b"hello", "byte 0: no WARC record begins there"),
        (b"WARC/1.0\r\nWARC-Type: x\r\nContent-Length: 0\r\n\r\n\r\n\r\n", "not compressed"),
        (b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xff\xff\xff", "damaged at byte 0"),
    ];
    for (bytes, want) in table {
        let place = Place::new();
        std::fs::write(place.path(), bytes).unwrap();
        let error = Recorder::create(&place.path()).unwrap_err().to_string();
        assert!(error.contains(want), "{error}");
        assert_eq!(std::fs::read(place.path()).unwrap(), bytes, "left as it was");
    }
}

/// Cut at every byte, a recording still has every record that was whole, and goes on.
#[test]
fn a_cut_at_any_byte_costs_at_most_the_last_exchange() {
    let place = Place::new();
    let web = counting().recorded(place.recorder(), "c/t/v/1", start());
    let mut ends = Vec::new();
    for n in 0..3 {
        told(&web, get(&format!("https://a.test/{n}")));
        ends.push(std::fs::metadata(place.path()).unwrap().len());
    }
    drop(web);
    let whole = std::fs::read(place.path()).unwrap();
    for cut in 0..whole.len() {
        let rest = Place::new();
        std::fs::write(rest.path(), &whole[..cut]).unwrap();
        let kept = ends.iter().filter(|end| **end <= cut as u64).count();
        match Tape::open(&rest.path()) {
            Ok(tape) => assert_eq!(tape.entries().len(), kept, "cut at {cut}"),
            Err(TapeError::Damaged { offset: 0, .. }) if kept == 0 => {}
            Err(error) => panic!("cut at {cut}: {error}"),
        }
        if cut % 7 > 0 && !ends.contains(&(cut as u64)) {
            continue; // Going on costs more time, and what it does depends on the cut only.
        }
        let web = counting().recorded(rest.recorder(), "c/t/v/1", start());
        told(&web, get("https://a.test/new"));
        drop(web);
        let tape = rest.tape();
        assert_eq!(tape.entries().len(), kept + 1, "cut at {cut}, continued");
        let bytes = std::fs::read(rest.path()).unwrap();
        let same = usize::try_from(kept.checked_sub(1).map_or(0, |last| ends[last])).unwrap();
        assert_eq!(bytes[..same], whole[..same], "cut at {cut}: nothing whole is touched");
    }
}

/// Damage in the middle is no cut: nothing behind it is thrown away.
#[test]
fn damage_is_told_with_its_offset_and_never_cut_off() {
    let place = Place::new();
    let web = counting().recorded(place.recorder(), "c/t/v/1", start());
    for n in 0..3 {
        told(&web, get(&format!("https://a.test/{n}")));
    }
    drop(web);
    let offset = usize::try_from(place.tape().entries()[0].offset).unwrap();
    let whole = std::fs::read(place.path()).unwrap();
    for byte in offset..offset + 300 {
        let mut bytes = whole.clone();
        bytes[byte] ^= 0x55;
        std::fs::write(place.path(), &bytes).unwrap();
        let harmless = (offset + 4..offset + 10).contains(&byte); // time and system of a member
        match Tape::open(&place.path()) {
            Ok(tape) => assert!(harmless && tape.entries().len() == 3, "byte {byte} unnoticed"),
            Err(TapeError::Damaged { offset: at, .. }) => assert_eq!(at, offset as u64),
            Err(error) => panic!("byte {byte}: {error}"),
        }
        let opened = Recorder::create(&place.path());
        assert_eq!(opened.is_ok(), harmless, "byte {byte}");
        drop(opened);
        assert_eq!(std::fs::read(place.path()).unwrap(), bytes, "byte {byte}: left as it was");
    }
}

#[test]
fn entries_list_what_is_there() {
    let place = Place::new();
    let web = counting().recorded(place.recorder(), "c/t é/v/1", start());
    told(&web, post("https://a.test/a?key=K1", "text/plain", "x"));
    let tape = place.tape();
    let [entry] = &tape.entries()[..] else { panic!("{:?}", tape.entries()) };
    let TapeEntry { method, url, status, who, session, nth, .. } = entry;
    assert_eq!((method.as_str(), url.as_str()), ("POST", "https://a.test/a?key=redacted"));
    assert_eq!((*status, who.as_deref()), (Some(200), Some("c/t é/v/1")));
    assert_eq!((*session, *nth), (Some(1), 1));
    let digest = blake3::hash(&std::fs::read(place.path()).unwrap()).to_hex().to_string();
    assert_eq!(tape.digest(), digest);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_reply_comes_back_as_it_was(
        status in 100_u16..1000,
        headers in prop::collection::vec(("[a-z][a-z0-9-]{0,12}", "[!-~é中]([ -~é中]{0,20}[!-~é中])?"), 0..6),
        body in prop::collection::vec(any::<u8>(), 0..2000),
    ) {
        prop_assume!(!matches!(status, 301 | 302 | 303 | 307 | 308));
        let names = |name: &str| name.contains("key") || name.contains("auth");
        prop_assume!(headers.iter().all(|(name, _)| !names(name)));
        let place = Place::new();
        let reply = {
            let mut reply = Reply::new(status, "text/plain", body);
            reply.headers.extend(headers);
            reply
        };
        let served = reply.clone();
        let web = scripted(move |_, _| Ok(served.clone()));
        let asked = ask(&web.recorded(place.recorder(), "c/t/v/1", start()), get("https://a.test/"));
        let again = ask(&replay(&place.tape(), "c/t/v/1"), get("https://a.test/"));
        prop_assert_eq!(asked, again);
    }
}

/// Runs only as the child of the next test: records until it is killed.
#[test]
#[ignore = "it is killed by another test"]
fn child_that_records() {
    let Ok(path) = std::env::var("WILDGYM_TEST_RECORDING") else { return };
    let web = scripted(|request, count| {
        let size = usize::try_from(count % 7).unwrap() * 9000;
        let text = format!("{} {count} ", request.url.path()).repeat(1 + size / 10);
        Ok(Reply::new(200, "text/plain", text))
    });
    let recorder = Recorder::create(Utf8Path::new(&path)).unwrap();
    let who = format!("c/t/v/{}", std::process::id());
    let web = web.recorded(recorder, &who, start());
    for n in 0.. {
        told(&web, get(&format!("https://a.test/{n}")));
    }
}

/// A recorder is killed with SIGKILL again and again, and each goes on where the one before
/// was cut off. With `WILDGYM_BARS` set it happens 60 times.
#[test]
fn killed_recorders_lose_nothing_whole() {
    let place = Place::new();
    let kills = if std::env::var_os("WILDGYM_BARS").is_some() { 60 } else { 3 };
    let mut before: Vec<TapeEntry> = Vec::new();
    for kill in 0..kills {
        let length = || std::fs::metadata(place.path()).map_or(0, |it| it.len());
        let wanted = length() + 20_000 + kill * 977;
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "web::recording::tests::child_that_records"])
            .env("WILDGYM_TEST_RECORDING", place.path())
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        while length() < wanted {
            assert!(child.try_wait().unwrap().is_none(), "the child ended by itself");
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let after = place.tape().entries();
        assert_eq!(after[..before.len()], before[..], "kill {kill}: unchanged");
        assert!(after.len() > before.len(), "kill {kill}: and more");
        before = after;
    }
    println!("killed {kills} times: {} answers, all whole", before.len());
}
