//! A pair of streams as a transport of the SDK's: one message a line, and an answer to each.
//!
//! The SDK's own passes over what it cannot read, a line that is too long among it, and says so
//! to a log; who sent it then waits for ever. Here lines are looked at before they reach it.
//! What is no message is answered by an error: that of the request which it asks for, where that
//! can be told, else one of no request. Lines are held up to 16 MiB; a longer one is passed over,
//! and one that does not end within 64 MiB ends the connection.

use std::io;
use std::pin::Pin;

use rmcp::RoleServer;
use rmcp::model::{ErrorCode, ErrorData, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, DuplexStream};
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use wildgym_toolbox::foreign::line::{ENDLESS, Ended, LARGEST, Line, id_of};

/// How many bytes go to the SDK at once.
const PIPE: usize = 64 << 10;

/// Refusals that wait to be written.
const WAITING: usize = 16;

/// An error, and the request that it answers where that is known.
pub(super) type Refusal = (Option<RequestId>, ErrorData);

/// Something that is being written.
type Sending = Pin<Box<dyn Future<Output = io::Result<()>> + Send>>;

/// The two streams.
pub(super) struct Lines<W: AsyncWrite> {
    inner: AsyncRwTransport<RoleServer, DuplexStream, W>,
    refused: mpsc::Receiver<Refusal>,
    /// A refusal on its way. It stays here while nobody waits for a message.
    sending: Option<Sending>,
    reading: AbortHandle,
}

impl<W: AsyncWrite + Send + Unpin + 'static> Lines<W> {
    /// Speaks over two streams.
    pub(super) fn open(input: impl AsyncRead + Send + Unpin + 'static, output: W) -> Self {
        let (sound, read) = tokio::io::duplex(PIPE);
        let (refusals, refused) = mpsc::channel(WAITING);
        let reading = tokio::spawn(look(input, sound, refusals)).abort_handle();
        // What comes to it is bounded already.
        let inner = AsyncRwTransport::new_server(read, output).with_max_line_length(usize::MAX);
        Self { inner, refused, sending: None, reading }
    }
}

impl<W: AsyncWrite> Drop for Lines<W> {
    fn drop(&mut self) {
        self.reading.abort();
    }
}

impl<W: AsyncWrite + Send + Unpin + 'static> Transport<RoleServer> for Lines<W> {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        self.inner.send(message)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if let Some(sending) = &mut self.sending {
                // Who is gone needs no answer.
                let _gone = sending.await;
                self.sending = None;
            }
            tokio::select! {
                biased;
                Some((id, error)) = self.refused.recv() => {
                    let answer = self.inner.send(JsonRpcMessage::error(error, id));
                    self.sending = Some(Box::pin(answer));
                }
                message = self.inner.receive() => return message,
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.reading.abort();
        self.inner.close().await
    }
}

/// Reads lines and passes on those that are messages, until the stream ends: its last line may
/// lack a newline.
async fn look(
    input: impl AsyncRead + Unpin,
    mut sound: DuplexStream,
    refusals: mpsc::Sender<Refusal>,
) {
    let mut input = BufReader::with_capacity(PIPE, input);
    let mut line = Line::default();
    loop {
        let (read, ended, last) = match input.fill_buf().await {
            Ok([]) | Err(_) => (0, !line.is_empty(), true),
            Ok(read) => {
                let end = read.iter().position(|byte| *byte == b'\n');
                line.add(&read[..end.unwrap_or(read.len())]);
                (end.map_or(read.len(), |end| end + 1), end.is_some(), false)
            }
        };
        input.consume(read);
        if line.is_endless() {
            let problem = format!("a message has more than {} MiB and no end", ENDLESS >> 20);
            // Whoever does not hear it is gone.
            let _gone = refusals.send((None, ErrorData::invalid_request(problem, None))).await;
            return;
        }
        if ended {
            let told = match judged(line.end()) {
                Judged::Nothing => true,
                Judged::Message(mut message) => {
                    message.push(b'\n');
                    sound.write_all(&message).await.is_ok()
                }
                Judged::Refused(id, error) => refusals.send((id, error)).await.is_ok(),
            };
            if !told {
                return;
            }
        }
        if last {
            return;
        }
    }
}

/// What becomes of a line.
enum Judged {
    /// Nothing was said.
    Nothing,
    /// The SDK reads it.
    Message(Vec<u8>),
    /// It is answered here, as the request that it asks for where that is known.
    Refused(Option<RequestId>, ErrorData),
}

/// Says why a body is no message, and of which request it speaks where that can be told.
pub(super) fn refusal(body: &[u8]) -> Refusal {
    match judged(Ended::Whole(body.to_vec())) {
        Judged::Refused(id, error) => (id, error),
        Judged::Nothing | Judged::Message(_) => {
            (None, ErrorData::invalid_request("the body is no single message", None))
        }
    }
}

/// Decides what becomes of a line.
fn judged(line: Ended) -> Judged {
    let line = match line {
        Ended::Whole(line) => line,
        Ended::TooLong { head, tail, length } => {
            let (size, most) = (length >> 20, LARGEST >> 20);
            let problem = format!("the message has {size} MiB, and may have {most}");
            let error = ErrorData::invalid_request(problem, None);
            return Judged::Refused(id_of(&head, &tail), error);
        }
    };
    let text = line.trim_ascii();
    let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
    if text.is_empty() {
        return Judged::Nothing;
    }
    let Err(unfit) = serde_json::from_slice::<RxJsonRpcMessage<RoleServer>>(text) else {
        return Judged::Message(text.to_vec());
    };
    let value: Value = match serde_json::from_slice(text) {
        Ok(value) => value,
        Err(error) => {
            let problem = format!("the message is not JSON: {error}");
            let error = ErrorData::new(ErrorCode::PARSE_ERROR, problem, None);
            return Judged::Refused(id_of(text, text), error);
        }
    };
    let id = value.get("id").filter(|id| id.is_string() || id.is_i64());
    match id.and_then(|id| serde_json::from_value::<RequestId>(id.clone()).ok()) {
        Some(id) if value.get("method").is_some() => {
            let problem = format!("the message is no request: {unfit}");
            Judged::Refused(Some(id), ErrorData::invalid_request(problem, None))
        }
        // A notice that nobody knows is none of ours; of all else the SDK says itself that it
        // is nothing.
        Some(_) | None => Judged::Message(text.to_vec()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Says what becomes of a line.
    fn said(line: &[u8]) -> String {
        match judged(Ended::Whole(line.to_vec())) {
            Judged::Nothing => "nothing".to_owned(),
            Judged::Message(text) => format!("passed on {}", String::from_utf8_lossy(&text)),
            Judged::Refused(id, error) => format!("{id:?} {} {}", error.code.0, error.message),
        }
    }

    #[test]
    fn every_line_is_passed_on_or_answered() {
        let ping = r#"{"jsonrpc":"2.0","id":3,"method":"ping"}"#;
        let table: [(&[u8], &str, &str); 10] = [
            (ping.as_bytes(), "passed on", "a request"),
            (&[b"\xEF\xBB\xBF", ping.as_bytes(), b"\r"].concat(), "passed on", "a mark"),
            (br#"{"jsonrpc":"2.0","method":"notifications/x"}"#, "passed on", "a notice"),
            (br#"{"jsonrpc":"2.0","id":7,"result":{}}"#, "passed on", "a reply"),
            (b"[]", "passed on", "the SDK says what it thinks of it"),
            (b" \r", "nothing", "an empty line"),
            (b"hello", "None -32700 the message is not JSON", "no JSON"),
            (br#"{"id":4,"method":"ping","params":{]}"#, "Some(Number(4)) -32700", "broken"),
            (br#"{"id":"a","method":"ping""#, "Some(String(\"a\")) -32700", "cut"),
            (
                br#"{"jsonrpc":"1.0","id":5,"method":"ping"}"#,
                "Some(Number(5)) -32600",
                "no version",
            ),
        ];
        for (line, want, why) in table {
            let got = said(line);
            assert!(got.starts_with(want), "{why}: {got}");
        }
        let deep =
            format!(r#"{{"id":6,"method":"x","params":{}{}}}"#, "[".repeat(999), "]".repeat(999));
        assert!(said(deep.as_bytes()).starts_with("Some(Number(6)) -32700"), "nested without end");
        let long = Ended::TooLong {
            head: br#"{"method":"tools/call","params":"#.to_vec(),
            tail: br#"},"jsonrpc":"2.0","id":9}"#.to_vec(),
            length: 20 << 20,
        };
        let Judged::Refused(id, error) = judged(long) else { panic!("too long") };
        assert_eq!(id, Some(RequestId::Number(9)));
        assert_eq!(error.message, "the message has 20 MiB, and may have 16");
    }

    proptest! {
        #[test]
        fn no_bytes_harm(line in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = said(&line);
        }
    }
}
