//! A file as a stream of bytes whose offset is always known.

use std::fs::File;
use std::io::{self, BufRead, Read};
use std::os::unix::fs::FileExt;

use sha2::{Digest as _, Sha256};

/// Bytes that are read from the file at once.
const BUFFER: usize = 64 << 10;

/// A reader of a file from an offset on. It moves no cursor, so many may read one file.
#[derive(Debug)]
pub(super) struct Source<'a> {
    file: &'a File,
    /// Where the next bytes are read from.
    next: u64,
    buffer: Box<[u8]>,
    /// Which part of the buffer is still to be used.
    used: usize,
    filled: usize,
    /// Of all bytes that were read.
    digest: blake3::Hasher,
}

impl<'a> Source<'a> {
    /// Reads from `offset` on.
    pub(super) fn new(file: &'a File, offset: u64) -> Self {
        let buffer = vec![0; BUFFER].into();
        Self { file, next: offset, buffer, used: 0, filled: 0, digest: blake3::Hasher::new() }
    }

    /// Returns the offset of the next byte.
    pub(super) fn offset(&self) -> u64 {
        self.next - (self.filled - self.used) as u64
    }

    /// Reads the rest and returns the digest of all that was read.
    pub(super) fn finish(mut self) -> io::Result<blake3::Hash> {
        while !self.fill_buf()?.is_empty() {
            self.used = self.filled;
        }
        Ok(self.digest.finalize())
    }
}

impl Read for Source<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(out)?;
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for Source<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.used == self.filled {
            let read = self.file.read_at(&mut self.buffer, self.next)?;
            (self.used, self.filled) = (0, read);
            self.digest.update(&self.buffer[..read]);
            self.next += read as u64;
        }
        Ok(&self.buffer[self.used..self.filled])
    }

    fn consume(&mut self, count: usize) {
        self.used = (self.used + count).min(self.filled);
    }
}

/// A reader that counts what is read from it.
#[derive(Debug)]
pub(super) struct Counted<R> {
    inner: R,
    count: u64,
}

impl<R: BufRead> Counted<R> {
    pub(super) fn new(inner: R) -> Self {
        Self { inner, count: 0 }
    }

    /// Returns how many bytes were read.
    pub(super) fn count(&self) -> u64 {
        self.count
    }
}

impl<R: BufRead> Read for Counted<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(out)?;
        self.consume(count);
        Ok(count)
    }
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        self.inner.consume(count);
        self.count += count as u64;
    }
}

/// The block of a record: its bytes, digested on the way, and the first error met.
///
/// Who reads a block may give up on what is in it; an error of the file below must not be
/// lost with that.
pub(super) struct Block<'a> {
    inner: io::Take<&'a mut dyn BufRead>,
    digest: Option<Sha256>,
    failed: Option<io::Error>,
}

impl<'a> Block<'a> {
    /// Returns the next `length` bytes of a reader; `digested` where a digest is wanted.
    pub(super) fn new(reader: &'a mut dyn BufRead, length: u64, digested: bool) -> Self {
        let digest = digested.then(Sha256::new);
        Self { inner: Read::take(reader, length), digest, failed: None }
    }

    /// Reads what is left; returns the SHA-256 of the block where that is wanted.
    pub(super) fn finish(mut self) -> io::Result<Option<[u8; 32]>> {
        while self.failed.is_none() {
            let count = match self.fill_buf() {
                Ok([]) => break,
                Ok(bytes) => bytes.len(),
                Err(_) => continue,
            };
            self.consume(count);
        }
        match self.failed {
            Some(error) => Err(error),
            None if self.inner.limit() > 0 => Err(io::ErrorKind::UnexpectedEof.into()),
            None => Ok(self.digest.map(|digest| digest.finalize().into())),
        }
    }
}

impl Read for Block<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(out)?;
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for Block<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if let Some(error) = &self.failed {
            return Err(error.kind().into());
        }
        match self.inner.fill_buf() {
            Err(error) => {
                let kind = error.kind();
                self.failed = Some(error);
                Err(kind.into())
            }
            // Asked again, as a borrow cannot be returned from one arm and ended in another.
            Ok(_) => self.inner.fill_buf(),
        }
    }

    fn consume(&mut self, count: usize) {
        if let Some(digest) = &mut self.digest
            && let Ok(bytes) = self.inner.fill_buf()
        {
            digest.update(&bytes[..count.min(bytes.len())]);
        }
        self.inner.consume(count);
    }
}
