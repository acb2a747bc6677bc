//! The head of a proxy's answer (RFC 9112 sections 4 and 5). Belongs here: where it ends, within bounds,
//! and its status. Must not: do I/O, or keep anything but the status: fields and reason are not ours to use.
//!
//! Strict: each line ends in CR LF, no field is folded. A body that is announced is not read: in a success
//! there is none (RFC 9110 section 9.3.6), and after anything else the connection is dropped.

use super::ProxyError;

/// The longest head, in bytes, with its last line end.
pub(super) const MAX_HEAD: usize = 8 * 1024;
/// The most fields in a head.
pub(super) const MAX_FIELDS: usize = 100;

/// A head that is being read.
#[derive(Debug, Default)]
pub(super) struct Head {
    length: usize,
    fields: usize,
    line: Vec<u8>,
    status: Option<u16>,
}

impl Head {
    /// Takes one byte. Gives the status, once, with the byte that ends the head.
    pub(super) fn push(&mut self, byte: u8) -> Result<Option<u16>, ProxyError> {
        self.length = self.length.saturating_add(1);
        if self.length > MAX_HEAD {
            return Err(ProxyError::Malformed);
        }
        if byte != b'\n' {
            self.line.push(byte);
            return Ok(None);
        }
        let line = core::mem::take(&mut self.line);
        let line = line.strip_suffix(b"\r").ok_or(ProxyError::Malformed)?;
        if self.status.is_some() && line.is_empty() {
            return Ok(self.status);
        }
        if self.status.is_none() {
            self.status = Some(status(line).ok_or(ProxyError::Malformed)?);
        } else {
            self.fields = self.fields.saturating_add(1);
            if self.fields > MAX_FIELDS || !is_field(line) {
                return Err(ProxyError::Malformed);
            }
        }
        Ok(None)
    }
}

/// The status in a status line. Proxies that speak HTTP/1.0 know the method, too; a reason and the space
/// before it may be left out.
fn status(line: &[u8]) -> Option<u16> {
    let rest = line.strip_prefix(b"HTTP/1.1 ").or_else(|| line.strip_prefix(b"HTTP/1.0 "))?;
    let (digits, reason) = rest.split_at_checked(3)?;
    let is_reason = matches!(reason.first(), None | Some(b' ')) && reason.iter().all(is_text);
    let is_number = digits.iter().all(u8::is_ascii_digit);
    let status = core::str::from_utf8(digits).ok()?.parse().ok()?;
    (is_reason && is_number && matches!(status, 100..=599)).then_some(status)
}

/// Whether a line is `name: value`. A folded line begins with a space, which no name does.
fn is_field(line: &[u8]) -> bool {
    let mut parts = line.splitn(2, |byte| *byte == b':');
    match (parts.next(), parts.next()) {
        (Some(name), Some(value)) => {
            !name.is_empty() && name.iter().all(is_token) && value.iter().all(is_text)
        }
        _ => false,
    }
}

/// RFC 9110 section 5.6.2.
fn is_token(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte)
}

/// RFC 9110 section 5.5: visible, space, tab, or beyond ASCII.
fn is_text(byte: &u8) -> bool {
    matches!(byte, b'\t' | 0x20..=0x7e | 0x80..)
}
