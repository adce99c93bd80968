//! An output stream of the guest that keeps its beginning and its end.
//!
//! A program that prints too much goes on and ends as it would; what does not fit is
//! counted and dropped from the middle. So the reader sees how the output starts, and
//! the error at its end.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use tokio::io::AsyncWrite;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamResult};

/// What was kept.
#[derive(Debug, Default)]
struct Kept {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    dropped: u64,
}

/// A stream of at most `limit` bytes, three quarters of them from the beginning; clones
/// are the same stream.
#[derive(Debug, Clone)]
pub(super) struct Stream {
    limit: usize,
    kept: Arc<Mutex<Kept>>,
}

impl Stream {
    /// Opens an empty stream.
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, kept: Arc::default() }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns how many bytes were dropped.
    pub(super) fn dropped(&self) -> u64 {
        self.kept().dropped
    }

    /// Returns what was kept, with a line in the place of what was not.
    pub(super) fn text(&self) -> String {
        let kept = self.kept();
        let tail: Vec<u8> = kept.tail.iter().copied().collect();
        if kept.dropped == 0 {
            return String::from_utf8_lossy(&[&kept.head[..], &tail[..]].concat()).into_owned();
        }
        let head = String::from_utf8_lossy(&kept.head);
        let tail = String::from_utf8_lossy(&tail);
        let cut = '\u{fffd}';
        format!(
            "{}\n[{} bytes dropped]\n{}",
            head.trim_end_matches(cut),
            kept.dropped,
            tail.trim_start_matches(cut)
        )
    }

    fn push(&self, bytes: &[u8]) {
        let first = self.limit - self.limit / 4;
        let mut kept = self.kept();
        let fits = bytes.len().min(first.saturating_sub(kept.head.len()));
        let (head, tail) = bytes.split_at(fits);
        kept.head.extend_from_slice(head);
        // Of a write longer than the whole tail only its end can stay.
        let room = self.limit / 4;
        let (lost, tail) = tail.split_at(tail.len().saturating_sub(room));
        kept.dropped += lost.len() as u64;
        kept.tail.extend(tail);
        let over = kept.tail.len().saturating_sub(room);
        kept.tail.drain(..over);
        kept.dropped += over as u64;
    }
}

impl IsTerminal for Stream {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for Stream {
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(self.clone())
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }
}

#[wasmtime_wasi::async_trait]
impl Pollable for Stream {
    async fn ready(&mut self) {}
}

#[wasmtime_wasi::async_trait]
impl OutputStream for Stream {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.push(&bytes);
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(1 << 20)
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.push(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beginning_and_end_are_kept() {
        let table: [(&[&str], &str, u64, &str); 5] = [
            (&["abc"], "abc", 0, "it fits"),
            (&["abcdef", "gh"], "abcdefgh", 0, "it fits exactly"),
            (&["abcdefgh", "ij"], "abcdef\n[2 bytes dropped]\nij", 2, "the middle goes"),
            (&["abcdefghijkl"], "abcdef\n[4 bytes dropped]\nkl", 4, "in one write"),
            (&["abcdé", "xxxx", "yé"], "abcdé\n[5 bytes dropped]\né", 5, "whole characters"),
        ];
        for (writes, want, dropped, why) in table {
            let stream = Stream::new(8);
            for write in writes {
                stream.push(write.as_bytes());
            }
            assert_eq!((stream.text().as_str(), stream.dropped()), (want, dropped), "{why}");
        }
    }
}
