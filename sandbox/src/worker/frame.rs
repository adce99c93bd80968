//! What host and worker say to each other.
//!
//! A frame is `WGF1`, the length of the head (u32), the length of the body (u64), both
//! little endian, the head (JSON) and the body (bytes). The host sends a request and the
//! file as body; the worker answers with an empty body. A reader states how much it
//! takes, and believes no length before that.

use std::io::{self, Read, Write};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::Job;

/// What every frame starts with.
const MAGIC: [u8; 4] = *b"WGF1";

/// Bytes before the head.
const PREFIX: usize = 16;

/// The head of a frame to a worker.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Request {
    /// The process that asks. A worker whose parent is another one has lost its host.
    pub host: u32,
    /// What it asks for.
    pub job: Job,
}

/// Lengths of head and body, once they are believed.
fn lengths(prefix: [u8; PREFIX], limit: u64) -> io::Result<(u64, u64)> {
    let invalid = |text: &str| io::Error::new(io::ErrorKind::InvalidData, text.to_owned());
    let [m0, m1, m2, m3, h0, h1, h2, h3, body @ ..] = prefix;
    if [m0, m1, m2, m3] != MAGIC {
        return Err(invalid("not a frame"));
    }
    let head = u64::from(u32::from_le_bytes([h0, h1, h2, h3]));
    let body = u64::from_le_bytes(body);
    if head.saturating_add(body) > limit {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "the frame is too large"));
    }
    Ok((head, body))
}

/// Returns what precedes a body of `body` bytes.
fn opening(head: &impl Serialize, body: usize) -> io::Result<Vec<u8>> {
    let head = serde_json::to_vec(head)?;
    let length = u32::try_from(head.len())
        .map_err(|_| io::Error::new(io::ErrorKind::FileTooLarge, "the head is too large"))?;
    let mut bytes = Vec::with_capacity(PREFIX + head.len());
    bytes.extend(MAGIC);
    bytes.extend(length.to_le_bytes());
    bytes.extend((body as u64).to_le_bytes());
    bytes.extend(head);
    Ok(bytes)
}

/// Writes a frame; used by the worker.
pub(super) fn write(to: &mut impl Write, head: &impl Serialize, body: &[u8]) -> io::Result<()> {
    to.write_all(&opening(head, body.len())?)?;
    to.write_all(body)?;
    to.flush()
}

/// Reads a frame; nothing at the end of input. Used by the worker.
pub(super) fn read<T: DeserializeOwned>(
    from: &mut impl Read,
    limit: u64,
) -> io::Result<Option<(T, Vec<u8>)>> {
    let mut prefix = [0; PREFIX];
    match from.read_exact(&mut prefix) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        result => result?,
    }
    let (head, body) = lengths(prefix, limit)?;
    let head = exactly(from, head)?;
    let body = exactly(from, body)?;
    Ok(Some((serde_json::from_slice(&head)?, body)))
}

fn exactly(from: &mut impl Read, count: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if from.take(count).read_to_end(&mut bytes)? as u64 == count {
        Ok(bytes)
    } else {
        Err(io::ErrorKind::UnexpectedEof.into())
    }
}

/// Writes a frame; used by the host.
pub(super) async fn send(
    to: &mut (impl AsyncWrite + Unpin),
    head: &impl Serialize,
    body: &[u8],
) -> io::Result<()> {
    to.write_all(&opening(head, body.len())?).await?;
    to.write_all(body).await?;
    to.flush().await
}

/// Reads the head of a frame, whose body must be empty; used by the host.
pub(super) async fn receive(
    from: &mut (impl AsyncRead + Unpin),
    limit: u64,
) -> io::Result<Vec<u8>> {
    let mut prefix = [0; PREFIX];
    from.read_exact(&mut prefix).await?;
    let (head, body) = lengths(prefix, limit)?;
    let mut bytes = Vec::new();
    let count = from.take(head).read_to_end(&mut bytes).await?;
    if count as u64 != head || body != 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::documents::Part;

    #[test]
    fn a_frame_survives_the_journey() {
        let request = Request {
            host: 7,
            job: Job::Workbook { name: "表.xlsx".into(), part: Part::default() },
        };
        let mut wire = Vec::new();
        write(&mut wire, &request, b"PK\0bytes").unwrap();
        write(&mut wire, &request, b"").unwrap();
        let mut wire = &wire[..];
        let (first, body) = read::<Request>(&mut wire, 1000).unwrap().unwrap();
        assert_eq!((first.host, first.job), (7, request.job));
        assert_eq!(body, b"PK\0bytes");
        assert!(read::<Request>(&mut wire, 1000).unwrap().unwrap().1.is_empty());
        assert!(read::<Request>(&mut wire, 1000).unwrap().is_none(), "the end is no error");
    }

    #[test]
    fn a_length_is_not_believed_beyond_the_limit() {
        let mut wire = Vec::from(MAGIC);
        wire.extend(4_u32.to_le_bytes());
        wire.extend(u64::MAX.to_le_bytes());
        let error = read::<Request>(&mut &wire[..], 1 << 20).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let _ = read::<Request>(&mut &bytes[..], 1 << 10);
        }
    }
}
