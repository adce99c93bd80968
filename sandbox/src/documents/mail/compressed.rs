//! Compressed RTF, as Outlook keeps the body of a message ([MS-OXRTFCP] 2.2, 3.1).

/// What the dictionary begins with ([MS-OXRTFCP] 2.1.3.1.4 lists these letters).
const BEGINNING: &[u8] = b"{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \
\\fswiss \\fmodern \\fscript \\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\
\\red0\\green0\\blue0\r\n\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx";

/// Bytes of the dictionary.
const DICTIONARY: usize = 4096;

/// The most bytes that come out.
const OUT: usize = 16 << 20;

/// Unpacks; returns nothing where the bytes are of another kind.
pub(super) fn unpack(bytes: &[u8]) -> Option<Vec<u8>> {
    let word = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let size = usize::try_from(word(4)?).ok()?.min(OUT);
    let body = bytes.get(16..)?;
    match &bytes[8..12] {
        b"MELA" => Some(body[..body.len().min(size)].to_vec()),
        b"LZFu" => Some(lzfu(body, size)),
        _ => None,
    }
}

fn lzfu(body: &[u8], size: usize) -> Vec<u8> {
    let mut dictionary = vec![b' '; DICTIONARY];
    dictionary[..BEGINNING.len()].copy_from_slice(BEGINNING);
    let mut end = BEGINNING.len();
    let mut out = Vec::new();
    let mut bytes = body.iter().copied();
    let mut put = |byte: u8, dictionary: &mut Vec<u8>, out: &mut Vec<u8>| {
        dictionary[end] = byte;
        end = (end + 1) % DICTIONARY;
        out.push(byte);
        end
    };
    let mut at_end = BEGINNING.len();
    while let Some(control) = bytes.next() {
        for bit in 0..8 {
            if out.len() >= size {
                return out;
            }
            if control >> bit & 1 == 0 {
                let Some(byte) = bytes.next() else { return out };
                at_end = put(byte, &mut dictionary, &mut out);
                continue;
            }
            let Some((high, low)) = bytes.next().zip(bytes.next()) else { return out };
            let reference = usize::from(u16::from_be_bytes([high, low]));
            let (offset, length) = (reference >> 4, (reference & 0xf) + 2);
            // A reference to the end of the dictionary is the end.
            if offset == at_end {
                return out;
            }
            for step in 0..length {
                let byte = dictionary[(offset + step) % DICTIONARY];
                at_end = put(byte, &mut dictionary, &mut out);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_example_of_the_specification() {
        // [MS-OXRTFCP] 4.1.1: `{\rtf1\ansi\ansicpg1252\pard hello world}` and a line end.
        let packed = [
            0x2d, 0, 0, 0, 0x2b, 0, 0, 0, b'L', b'Z', b'F', b'u', 0xf1, 0xc5, 0xc7, 0xa7, 0x03, 0,
            0x0a, 0, b'r', b'c', b'p', b'g', b'1', b'2', b'5', b'B', b'2', 0x0a, 0xf3, b' ', b'h',
            b'e', b'l', 0x09, 0, b' ', b'b', b'w', 0x05, 0xb0, b'l', b'd', b'}', 0x0a, 0x80, 0x0f,
            0xa0,
        ];
        let text = unpack(&packed).unwrap();
        assert_eq!(text, b"{\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n");
    }

    proptest! {
        #[test]
        fn any_bytes_end(mut bytes in prop::collection::vec(any::<u8>(), 16..300)) {
            bytes[8..12].copy_from_slice(b"LZFu");
            prop_assert!(unpack(&bytes).unwrap().len() <= 300 * 18);
        }
    }
}
