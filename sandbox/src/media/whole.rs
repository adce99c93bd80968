//! Whether a file of sound was cut off, told by what its container says of its end.
//!
//! Decoders take such a file for a shorter one and say nothing. Only lengths and marks are
//! read, within the bytes; other containers are told by the decoder itself.

/// Says what is wrong with the end of a file, where something is.
pub(super) fn flaw(bytes: &[u8]) -> Option<String> {
    if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WAVE") {
        return wave(bytes);
    }
    if bytes.starts_with(b"OggS") {
        return ogg(bytes);
    }
    None
}

/// The `data` chunk of a WAV file tells its length; streams tell none (0 or all ones).
fn wave(bytes: &[u8]) -> Option<String> {
    let mut at = 12;
    loop {
        let head = bytes.get(at..at + 8)?;
        let size = u32::from_le_bytes([head[4], head[5], head[6], head[7]]) as usize;
        let there = bytes.len() - at - 8;
        if &head[..4] == b"data" {
            let told = size != 0 && size < 0xffff_f000;
            return (told && there < size).then(|| {
                format!(
                    "the file is cut off: it has {there} of the {size} bytes of sound that it tells"
                )
            });
        }
        at = at.checked_add(8 + size + size % 2)?;
    }
}

/// The last page of an Ogg stream bears a mark (RFC 3533, section 6, `header_type_flag`).
fn ogg(bytes: &[u8]) -> Option<String> {
    const LAST: u8 = 0x04;
    let page = bytes.windows(4).rposition(|window| window == b"OggS")?;
    let marked = bytes.get(page + 5).is_some_and(|flags| flags & LAST != 0);
    (!marked).then(|| "its last page is not marked as the end: the file may be cut off".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wav(told: u32, there: usize) -> Vec<u8> {
        let mut bytes = b"RIFF\0\0\0\0WAVELIST\x03\0\0\0abc\0data".to_vec();
        bytes.extend(told.to_le_bytes());
        bytes.resize(bytes.len() + there, 0);
        bytes
    }

    #[test]
    fn a_file_without_its_end_is_told() {
        let page = |flags: u8| [b"OggS\0".as_slice(), &[flags], &[0; 21]].concat();
        let table: &[(Vec<u8>, bool, &str)] = &[
            (wav(100, 100), false, "whole"),
            (wav(100, 104), false, "with more behind it"),
            (wav(100, 60), true, "cut off"),
            (wav(0, 60), false, "a stream tells no length"),
            (wav(u32::MAX, 60), false, "a stream tells no length, in another way"),
            (b"RIFF\0\0\0\0WAVEdat".to_vec(), false, "the decoder refuses it"),
            ([page(2), page(0), page(4)].concat(), false, "whole"),
            ([page(2), page(0)].concat(), true, "no last page"),
            (b"ID3".to_vec(), false, "another container"),
        ];
        for (bytes, want, why) in table {
            assert_eq!(flaw(bytes).is_some(), *want, "{why}");
        }
    }
}
