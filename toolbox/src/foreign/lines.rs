//! The pipes of a server as a transport of the SDK: one message a line.
//!
//! The SDK has one of its own, which drops what it cannot read, a line that is too long among
//! it, and says so to a log. Who waits for the answer then waits for its limit and is told
//! the wrong reason. Here a line that answers a request and cannot be used fails that request
//! with what is wrong with it, and what answers none is kept for the error that may follow.
//!
//! Reading goes on in a task of its own and stops while nobody takes what was read, so a
//! server that talks without end fills a pipe and no memory.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::RoleClient;
use rmcp::model::{ErrorCode, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;

use super::line::{ENDLESS, Ended, LARGEST, Line, id_of};

/// How much of a line that is none is kept.
const SHOWN: usize = 4 << 10;

/// Messages that wait in each direction.
const WAITING: usize = 16;

/// Requests that a server may send in its whole life.
const REQUESTS: usize = 10_000;

/// What a server wrote to its standard output that was no message: the last of it.
pub(super) type Stray = Arc<Mutex<String>>;

/// A line to write, and who waits for that.
type Outgoing = (Vec<u8>, oneshot::Sender<io::Result<()>>);

/// The two pipes.
#[derive(Debug)]
pub(super) struct Lines {
    outgoing: mpsc::Sender<Outgoing>,
    incoming: mpsc::Receiver<ServerJsonRpcMessage>,
    tasks: [AbortHandle; 2],
}

impl Lines {
    /// Speaks over two pipes; `stray` takes what is no message.
    pub(super) fn open(
        input: impl AsyncWrite + Send + Unpin + 'static,
        output: impl AsyncRead + Send + Unpin + 'static,
        stray: Stray,
    ) -> Self {
        let (outgoing, lines) = mpsc::channel(WAITING);
        let (messages, incoming) = mpsc::channel(WAITING);
        let writing = tokio::spawn(write(input, lines)).abort_handle();
        let reading = tokio::spawn(read(output, messages, stray)).abort_handle();
        Self { outgoing, incoming, tasks: [writing, reading] }
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        self.tasks.iter().for_each(AbortHandle::abort);
    }
}

impl Transport<RoleClient> for Lines {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let outgoing = self.outgoing.clone();
        async move {
            let gone = || io::Error::from(io::ErrorKind::BrokenPipe);
            let mut line = serde_json::to_vec(&message)?;
            line.push(b'\n');
            let (done, written) = oneshot::channel();
            outgoing.send((line, done)).await.map_err(|_| gone())?;
            written.await.map_err(|_| gone())?
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        self.incoming.recv().await
    }

    async fn close(&mut self) -> io::Result<()> {
        self.tasks.iter().for_each(AbortHandle::abort);
        Ok(())
    }
}

/// Writes lines until nobody has more.
async fn write(mut input: impl AsyncWrite + Unpin, mut lines: mpsc::Receiver<Outgoing>) {
    while let Some((line, done)) = lines.recv().await {
        let written = async {
            input.write_all(&line).await?;
            input.flush().await
        };
        let _ = done.send(written.await);
    }
}

/// Reads lines until the pipe is closed, or nobody takes them.
async fn read(
    output: impl AsyncRead + Unpin,
    messages: mpsc::Sender<ServerJsonRpcMessage>,
    stray: Stray,
) {
    let mut output = BufReader::with_capacity(64 << 10, output);
    let mut line = Line::default();
    let mut requests = 0;
    loop {
        let (read, ended) = match output.fill_buf().await {
            Ok([]) | Err(_) => return,
            Ok(read) => {
                let end = read.iter().position(|byte| *byte == b'\n');
                line.add(&read[..end.unwrap_or(read.len())]);
                (end.map_or(read.len(), |end| end + 1), end.is_some())
            }
        };
        output.consume(read);
        if line.is_endless() {
            let most = ENDLESS >> 20;
            return keep(&stray, &format!("more than {most} MiB without the end of a line"));
        }
        if !ended {
            continue;
        }
        for message in messages_of(line.end(), &stray) {
            requests += usize::from(matches!(message, JsonRpcMessage::Request(_)));
            if requests > REQUESTS {
                return keep(&stray, &format!("it sent more than {REQUESTS} requests"));
            }
            if messages.send(message).await.is_err() {
                return;
            }
        }
    }
}

/// Returns the messages of a line that has ended.
fn messages_of(line: Ended, stray: &Stray) -> Vec<ServerJsonRpcMessage> {
    match line {
        Ended::Whole(line) => parsed(&line, stray),
        Ended::TooLong { head, tail, length } => {
            let problem = format!(
                "its reply has {} MiB, which is more than the {} MiB that are read",
                length >> 20,
                LARGEST >> 20
            );
            failed(&head, &tail, &problem, stray).into_iter().collect()
        }
    }
}

/// Reads the messages of a line: one, or a list of them, as older revisions of the protocol
/// allow.
fn parsed(line: &[u8], stray: &Stray) -> Vec<ServerJsonRpcMessage> {
    let line = line.trim_ascii();
    let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
    if line.is_empty() {
        return Vec::new();
    }
    if let Ok(message) = serde_json::from_slice(line) {
        return vec![message];
    }
    match serde_json::from_slice::<Value>(line) {
        Ok(Value::Array(parts)) => parts.into_iter().filter_map(one).collect(),
        Ok(part) if part.is_object() => one(part).into_iter().collect(),
        Ok(_) => {
            keep(stray, &String::from_utf8_lossy(line));
            Vec::new()
        }
        Err(error) => {
            let problem = format!("its reply is not JSON: {error}");
            failed(line, line, &problem, stray).into_iter().collect()
        }
    }
}

/// Reads one message. A reply that is none fails what it answers; anything else that is none
/// asks for nothing and is passed over.
fn one(part: Value) -> Option<ServerJsonRpcMessage> {
    let id = part.get("id").and_then(Value::as_i64).map(RequestId::Number);
    let is_reply = part.get("method").is_none();
    match serde_json::from_value::<ServerJsonRpcMessage>(part) {
        Ok(message) => Some(message),
        Err(_) if !is_reply => None,
        Err(_) => Some(failure(id?, "its reply has neither a result nor an error")),
    }
}

/// Fails the request that an unusable line answers; one that answers none is kept as stray.
fn failed(head: &[u8], tail: &[u8], problem: &str, stray: &Stray) -> Option<ServerJsonRpcMessage> {
    let id = id_of(head, tail);
    if id.is_none() {
        keep(stray, &String::from_utf8_lossy(&head[..head.len().min(SHOWN)]));
    }
    id.map(|id| failure(id, problem))
}

fn failure(id: RequestId, problem: &str) -> ServerJsonRpcMessage {
    let error = ErrorData::new(ErrorCode::PARSE_ERROR, problem.to_owned(), None);
    JsonRpcMessage::error(error, Some(id))
}

/// Keeps the beginning of what was said.
fn keep(stray: &Stray, said: &str) {
    let said: String = said.chars().filter(|c| !c.is_control()).take(200).collect();
    *stray.lock().unwrap_or_else(PoisonError::into_inner) = said;
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns what a line is read as: the numbers of failed requests, or what it is.
    fn said(line: &[u8]) -> Vec<String> {
        let stray = Stray::default();
        let said = |message: ServerJsonRpcMessage| match message {
            JsonRpcMessage::Error(error) => format!("{:?}: {}", error.id, error.error.message),
            JsonRpcMessage::Response(response) => format!("reply {}", response.id),
            JsonRpcMessage::Request(request) => format!("request {}", request.id),
            JsonRpcMessage::Notification(_) => "notification".to_owned(),
        };
        let mut all: Vec<String> = parsed(line, &stray).into_iter().map(said).collect();
        let stray = stray.lock().unwrap().clone();
        if !stray.is_empty() {
            all.push(format!("stray {stray}"));
        }
        all
    }

    #[test]
    fn every_line_is_a_message_a_failure_or_stray() {
        let table: [(&[u8], &[&str], &str); 15] = [
            (br#"{"jsonrpc":"2.0","id":3,"result":{"content":[]}}"#, &["reply 3"], "a reply"),
            (
                b"\xEF\xBB\xBF {\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{}}\r",
                &["reply 3"],
                "a mark",
            ),
            (br#"{"jsonrpc":"2.0","id":3,"result":7}"#, &["reply 3"], "a result of any form"),
            (br#"{"jsonrpc":"2.0","id":3}"#, &["neither a result nor"], "nothing in it"),
            (br#"{"id":3,"result":{}}"#, &["neither a result nor"], "of no version"),
            (br#"[{"jsonrpc":"2.0","id":3,"result":{}},7]"#, &["reply 3"], "a list"),
            (br#"{"jsonrpc":"2.0","id":3,"result":{"a":NaN}}"#, &["not JSON"], "NaN"),
            (br#"{"jsonrpc":"2.0","id":3,"result":"\ud800"}"#, &["not JSON"], "half a letter"),
            (b"{\"id\":3,\"result\":\"\xff\"}", &["not JSON"], "no UTF-8"),
            (br#"{"result":{"id":9,},"id": 3}"#, &["Number(3)"], "the number comes last"),
            (br#"{"result":{"id":9,}}"#, &["stray"], "a number of something else"),
            (b"Server started on stdio", &["stray Server started"], "a greeting"),
            (b"42", &["stray 42"], "JSON that is no message"),
            (b"   ", &[], "nothing"),
            (br#"{"jsonrpc":"2.0","method":7}"#, &[], "a notification that is none"),
        ];
        for (line, want, why) in table {
            let got = said(line);
            assert_eq!(got.len(), want.len(), "{why}: {got:?}");
            for (got, want) in got.iter().zip(want) {
                assert!(got.contains(want), "{why}: {got}");
            }
        }
        let deep = format!("{{\"id\":3,\"result\":{}{}}}", "[".repeat(9000), "]".repeat(9000));
        assert!(said(deep.as_bytes())[0].contains("Number(3)"), "nested without end");
    }

    #[test]
    fn a_line_that_is_too_long_fails_its_request() {
        let mut line = Line::default();
        line.add(br#"{"jsonrpc":"2.0","id":8,"result":""#);
        (0..50).for_each(|_| line.add(&vec![b'x'; 1 << 20]));
        let messages = messages_of(line.end(), &Stray::default());
        let [JsonRpcMessage::Error(error)] = messages.as_slice() else { panic!("{messages:?}") };
        assert_eq!(error.id, Some(RequestId::Number(8)));
        assert!(error.error.message.contains("50 MiB"), "{}", error.error.message);
    }

    /// A server that never ends its line is not read until somebody's limit.
    #[tokio::test]
    async fn a_line_without_end_ends_the_connection() {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (output, input) = tokio::io::split(ours);
        let stray = Stray::default();
        let mut lines = Lines::open(input, output, Arc::clone(&stray));
        let (_server, mut client) = tokio::io::split(theirs);
        let writing = tokio::spawn(async move {
            let more = vec![b'x'; 1 << 20];
            while client.write_all(&more).await.is_ok() {}
        });
        assert!(lines.receive().await.is_none(), "nothing more is read");
        assert!(stray.lock().unwrap().contains("more than 64 MiB"), "{stray:?}");
        writing.abort();
    }

    #[tokio::test]
    async fn both_directions_work_and_end() {
        let (ours, theirs) = tokio::io::duplex(64);
        let (output, input) = tokio::io::split(ours);
        let mut lines = Lines::open(input, output, Stray::default());
        let (mut server, mut client) = tokio::io::split(theirs);
        let long =
            format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"{}\"}}\n", "x".repeat(99_999));
        let writing = tokio::spawn(async move {
            client.write_all(b"noise\n").await.unwrap();
            client.write_all(long.as_bytes()).await.unwrap();
            client
        });
        let got = lines.receive().await.unwrap();
        assert!(matches!(got, JsonRpcMessage::Response(_)), "through a pipe of 64 bytes");
        let note = rmcp::model::ClientNotification::InitializedNotification(
            rmcp::model::InitializedNotification::default(),
        );
        let sent = tokio::spawn(lines.send(JsonRpcMessage::notification(note)));
        let mut read = vec![0; 20];
        tokio::io::AsyncReadExt::read_exact(&mut server, &mut read).await.unwrap();
        assert!(read.starts_with(b"{\"jsonrpc\""));
        tokio::io::AsyncReadExt::read(&mut server, &mut [0; 256]).await.unwrap();
        sent.await.unwrap().unwrap();
        let client = writing.await.unwrap();
        drop((client, server));
        assert!(lines.receive().await.is_none(), "the other side is gone");
    }

    proptest! {
        #[test]
        fn no_bytes_harm(line in prop::collection::vec(any::<u8>(), 0..200), cut in 0..80_usize) {
            let _ = said(&line);
            let whole = br#"{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"a"}]}}"#;
            let mut broken = whole[..cut.min(whole.len())].to_vec();
            broken.extend(line);
            let _ = said(&broken);
        }
    }
}
