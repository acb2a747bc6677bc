//! Where a frame is worth cutting.
//!
//! Belongs here: offsets at which a reader that looks at pieces, not at the whole, goes wrong.
//! Does not belong here: sending the pieces.

use std::collections::BTreeSet;

/// The offsets at which to cut `bytes`, ascending, each within `1..bytes.len()`: around quotes, inside
/// and around escapes, around line ends, inside and around characters of several bytes, and right
/// behind the first and before the last byte.
#[must_use]
pub fn boundaries(bytes: &[u8]) -> Vec<usize> {
    let mut cuts = BTreeSet::from([1, bytes.len().saturating_sub(1)]);
    for (at, byte) in bytes.iter().enumerate() {
        let behind = at.saturating_add(1);
        let reach = match byte {
            b'"' | b'\r' | b'\n' | 0x80.. => behind,
            b'\\' if bytes.get(behind) == Some(&b'u') => at.saturating_add(6),
            b'\\' => at.saturating_add(2),
            _ => continue,
        };
        cuts.extend(at..=reach);
    }
    cuts.into_iter().filter(|cut| (1..bytes.len()).contains(cut)).collect()
}

#[cfg(test)]
mod tests {
    use super::boundaries;

    #[test]
    fn cuts_stand_where_readers_stumble() {
        for (bytes, expected) in [
            (&b""[..], vec![]),
            (b"a", vec![]),
            (b"ab", vec![1]),
            (b"abcd", vec![1, 3]),
            (b"abc\"def", vec![1, 3, 4, 6]),
            (b"aaa\\nbbb", vec![1, 3, 4, 5, 7]),
            (b"aaa\\u00e9bbb", vec![1, 3, 4, 5, 6, 7, 8, 9, 11]),
            (b"aaa\r\nbbb", vec![1, 3, 4, 5, 7]),
            ("aaaébbb".as_bytes(), vec![1, 3, 4, 5, 7]),
            (b"\\", vec![]),
        ] {
            assert_eq!(boundaries(bytes), expected, "{:?}", String::from_utf8_lossy(bytes));
        }
    }
}
