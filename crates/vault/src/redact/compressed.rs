//! Bytes in which nothing can be found. Belongs here: the signatures of compressed data. Must not:
//! decompress.

/// How many bytes [`begins`] looks at.
const LOOKED_AT: usize = 16;

/// Whether a field that starts like this is compressed: gzip (RFC 1952), zlib (RFC 1950), ZIP, bzip2, xz,
/// Zstandard (RFC 8878).
pub(super) fn begins(field: &[u8]) -> bool {
    match field {
        [0x1f, 0x8b, 8, ..] | [0x28, 0xb5, 0x2f, 0xfd, ..] => true,
        [b'P', b'K', 3, 4, ..] | [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => true,
        [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, ..] => true,
        // `x^` may begin a formula; what follows it in zlib data is no text.
        [0x78, 0x01 | 0x5e | 0x9c | 0xda, ..] => !is_text(field.get(..LOOKED_AT).unwrap_or(field)),
        _ => false,
    }
}

fn is_text(bytes: &[u8]) -> bool {
    let valid = match std::str::from_utf8(bytes) {
        Ok(_) => true,
        // The last character may go on.
        Err(fault) => fault.error_len().is_none(),
    };
    valid && !bytes.iter().any(|byte| matches!(byte, 0..=8 | 0x0e..=0x1a | 0x1c..=0x1f | 0x7f))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compressed_data_and_text() {
        let compressed: [&[u8]; 8] = [
            b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03",
            b"\x78\x9c\xab\x50\x48\x2f",
            b"\x78\x01\x2b\x2f",
            b"\x78\x5e\x2b\x2f\x07\x00",
            b"PK\x03\x04\x14\x00",
            b"BZh91AY&SY\x94",
            b"\xfd7zXZ\x00\x00\x04",
            b"\x28\xb5\x2f\xfd\x24\x05",
        ];
        for bytes in compressed {
            assert!(begins(bytes), "{bytes:?}");
        }
        let text: [&[u8]; 6] =
            [b"", b"x", b"x^2 + y^2 = z^2 and more", b"x^\xc3\xb6", b"PK", b"BZh9 is a name"];
        for bytes in text {
            assert!(!begins(bytes), "{bytes:?}");
        }
    }
}
