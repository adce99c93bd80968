//! `wildgym web`: what authors of sites see, over real sockets.

#![expect(clippy::unwrap_used, reason = "what fails here fails the story")]

mod common;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use common::Place;

/// A server that ends with the test.
struct Server {
    child: Child,
    port: u16,
}

impl Server {
    fn start(place: &Place, suite: &str) -> Self {
        let mut command = place.command(&["web", "serve", suite]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let port = line.trim().trim_end_matches('/').rsplit(':').next().unwrap();
        Self { child, port: port.parse().unwrap_or_else(|_| panic!("an address: {line:?}")) }
    }

    /// Sends a request head as written, with the server's own port for `PORT`.
    fn send(&self, head: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let head = head.replace("PORT", &self.port.to_string());
        write!(stream, "{head}\r\nConnection: close\r\n\r\n").unwrap();
        let mut reply = Vec::new();
        stream.read_to_end(&mut reply).unwrap();
        String::from_utf8_lossy(&reply).into_owned()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _gone = self.child.wait();
    }
}

#[test]
fn one_server_shows_all_hosts() {
    let place = Place::new();
    let server = Server::start(&place, "starter");
    let table = [
        ("GET / HTTP/1.1\r\nHost: 127.0.0.1:PORT", "200", "/~/tarrowferries.example/", "the index"),
        ("GET /about HTTP/1.1\r\nHost: tarrowferries.example", "200", "<title>", "by host"),
        ("GET /~/ HTTP/1.1\r\nHost: localhost:PORT", "200", "/~/tarrowferries.example/", "no host"),
        (
            "GET /search?q=ferry HTTP/1.1\r\nHost: google.serper.dev",
            "200",
            "ferry - Search",
            "the engine of a mapped live run",
        ),
        (
            "GET /w/api.php?action=query&titles=X&format=json HTTP/1.1\r\nHost: en.wikipedia.org",
            "200",
            "\"query\"",
            "the encyclopedia of a mapped live run",
        ),
        ("GET http://tarrowferries.example/about HTTP/1.1\r\nHost: x", "200", "<title>", "a proxy"),
        (
            "GET /~/tarrowferries.example HTTP/1.1\r\nHost: localhost:PORT",
            "307",
            "location: /~/tarrowferries.example/",
            "a slash",
        ),
        (
            "GET /~/tarrowferries.example/ HTTP/1.1\r\nHost: localhost:PORT",
            "200",
            "href=\"/~/tarrowferries.example/",
            "rewritten",
        ),
        (
            "GET /~/tarrowferries.example/timetables HTTP/1.1\r\nHost: localhost:PORT",
            "301",
            "location: /~/tarrowferries.example/routes/",
            "a redirect",
        ),
        (
            "GET /x.css HTTP/1.1\r\nHost: localhost:PORT\r\nReferer: http://localhost:PORT/~/tarrowferries.example/",
            "307",
            "location: /~/tarrowferries.example/x.css",
            "a style's own path",
        ),
        ("GET /x.css HTTP/1.1\r\nHost: localhost:PORT", "404", "listed at /", "nothing"),
        (
            "GET / HTTP/1.1\r\nHost: rebound.test:PORT",
            "421",
            "knows the hosts of its suite only",
            "a foreign name",
        ),
        (
            "GET / HTTP/1.1\r\nHost: localhost:PORT\r\nOrigin: http://evil.test",
            "403",
            "another origin",
            "a foreign page",
        ),
        ("CONNECT tarrowferries.example:443 HTTP/1.1\r\nHost: x", "501", "http only", "a tunnel"),
        (
            "HEAD /about HTTP/1.1\r\nHost: tarrowferries.example",
            "200",
            "content-length: ",
            "a head",
        ),
        ("GET /none HTTP/1.1\r\nHost: tarrowferries.example", "404", "no page", "the site's 404"),
    ];
    for (head, status, want, why) in table {
        let reply = server.send(head);
        assert!(reply.starts_with(&format!("HTTP/1.1 {status} ")), "{why}: {reply}");
        assert!(reply.to_lowercase().contains(&want.to_lowercase()), "{why}: {want} in {reply}");
    }
}

/// Ctrl-C ends it as done, as soon as the address is known, with a page still open.
#[test]
fn the_server_ends_cleanly() {
    let place = Place::new();
    let mut server = Server::start(&place, "starter");
    let _open = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    let pid = rustix::process::Pid::from_child(&server.child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
}

/// A server with all places taken, and visitors at the door, hears Ctrl-C as well.
#[test]
fn a_full_server_ends_cleanly() {
    let place = Place::new();
    let mut server = Server::start(&place, "starter");
    let visit = || TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    let taken = |_| {
        let mut stream = visit();
        write!(stream, "GET /about HTTP/1.1\r\nHost: tarrowferries.example\r\n\r\n").unwrap();
        stream.read_exact(&mut [0; 12]).unwrap();
        stream
    };
    let _inside: Vec<TcpStream> = (0..256).map(taken).collect();
    let _outside: Vec<TcpStream> = (0..8).map(|_| visit()).collect();
    let pid = rustix::process::Pid::from_child(&server.child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
}

#[test]
fn the_server_stays_at_home_and_says_what_helps() {
    let place = Place::new();
    let ran = place.wildgym(&["web", "serve", "starter", "--listen", "0.0.0.0:0"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("can be reached from other machines"), "{}", ran.err);
    assert!(ran.err.contains("--allow-remote"), "{}", ran.err);
    let ran = place.wildgym(&["web", "serve", "nowhere"]);
    assert!(ran.err.contains("there is no suite `nowhere`"), "{}", ran.err);
}

#[test]
fn the_starter_web_is_sound() {
    let place = Place::new();
    let ran = place.wildgym(&["web", "check", "starter", "--json"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    assert_eq!(ran.json()["errors"], 0);
}

#[test]
fn a_check_names_what_a_visitor_runs_into() {
    let place = Place::new();
    let root = place.path().join("mine");
    let put = |path: &str, text: &str| {
        let file = root.join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    };
    assert_eq!(place.wildgym(&["tasks", "new", "mine/da-one"]).code, Some(0));
    let route = "[[route]]\npath = \"/t/{n}\"\nexamples = [\"/t/x\"]\ntext = \"{{ path.n|number }}\"\n\
                 [[route]]\npath = \"/ok\"\nstatus = 503\ntext = \"down\"\n";
    put(
        "sites/a.example/site.toml",
        &format!("title = \"A\"\nlanguage = \"en\"\nunlisted = [\"/lost\"]\n{route}"),
    );
    put(
        "sites/a.example/pages/index.html",
        "<p id=a><b id=a>x</b><a href=/gone>x</a><a href='https://b.example/'>y</a><a href=/ok>z</a>",
    );
    put("sites/a.example/pages/lost.html", "<title>Lost</title>");
    let ran = place.wildgym(&["web", "check", "mine"]);
    assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.err);
    for want in [
        "the page has no title",
        "two elements have the id `a`",
        "`https://a.example/gone` leads to nothing (404)",
        "leads to `b.example`, which is no site of the suite",
        "is not a number",
        "no page links to it",
    ] {
        assert!(ran.out.contains(want), "{want} in:\n{}{}", ran.out, ran.err);
    }
    assert!(!ran.out.contains("/ok"), "what is declared to fail is no fault:\n{}", ran.out);
    assert!(ran.err.contains("1 sites, "), "{}", ran.err);
}
