//! Request ids: a string, or an integer token of 64 bits, echoed exactly.
//!
//! Belongs here: what an id is and how two compare.
//! Does not belong here: which ids are in use.

use core::fmt;

use crate::json::Value;
use crate::limits::Limits;
use crate::reason::Reason;

/// A request's id (JSON-RPC 2.0, section 4; never null, never a fraction).
///
/// `1` and `"1"` are different ids; `0` and `-0` are the same one.
#[derive(Clone, Debug)]
pub enum RequestId {
    /// An integer, with the digits that the peer wrote.
    Integer {
        /// Its value.
        value: i64,
        /// Its digits.
        token: Box<str>,
    },
    /// A string, decoded.
    Text(Box<str>),
}

impl RequestId {
    /// Reads an id from a JSON value.
    ///
    /// # Errors
    /// [`Reason::MessageId`] for any other type or range, [`Reason::MessageIdTooLong`].
    pub fn read(value: Value<'_>, limits: &Limits) -> Result<Self, Reason> {
        if let Some(text) = value.as_str() {
            return if text.len() > limits.max_id {
                Err(Reason::MessageIdTooLong)
            } else {
                Ok(Self::Text(text.into()))
            };
        }
        let number = value.as_number().ok_or(Reason::MessageId)?;
        let value = number.as_i64().ok_or(Reason::MessageId)?;
        Ok(Self::Integer { value, token: number.text().into() })
    }
}

impl PartialEq for RequestId {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Integer { value, .. }, Self::Integer { value: other, .. }) => value == other,
            (Self::Text(text), Self::Text(other)) => text == other,
            (Self::Integer { .. }, Self::Text(_)) | (Self::Text(_), Self::Integer { .. }) => false,
        }
    }
}

impl Eq for RequestId {}

impl core::hash::Hash for RequestId {
    fn hash<H: core::hash::Hasher>(&self, state: &mut H) {
        match self {
            Self::Integer { value, .. } => (0_u8, value).hash(state),
            Self::Text(text) => (1_u8, text).hash(state),
        }
    }
}

/// The id as JSON text, every character outside printable ASCII escaped.
impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer { token, .. } => f.write_str(token),
            Self::Text(text) => {
                f.write_str("\"")?;
                for unit in text.encode_utf16() {
                    match u8::try_from(unit) {
                        Ok(byte @ (b'"' | b'\\')) => write!(f, "\\{}", char::from(byte))?,
                        Ok(byte @ 0x20..=0x7E) => write!(f, "{}", char::from(byte))?,
                        Ok(_) | Err(_) => write!(f, "\\u{unit:04x}")?,
                    }
                }
                f.write_str("\"")
            }
        }
    }
}
