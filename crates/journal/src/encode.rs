//! A record as one line, and a line as a record's parts.
//!
//! Belongs here: the header, the escaping, the checksum, the longest line.
//! Does not belong here: what the kinds of records hold, where lines are written.

use std::io;

use serde::Serialize;
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use crate::error::RecordFault;
use crate::escape::AsciiFormatter;

/// The format version of the records that this version writes, and the only one that it reads.
pub(crate) const VERSION: u64 = 1;

/// Bytes of the longest line that is read back. Every text in a record is bounded far below it.
pub(crate) const MAX_LINE: usize = 65_536;

/// `,"sum":"` + 32 digits + `"}`
const CHECKSUM_PREFIX: &[u8] = br#","sum":""#;
const CHECKSUM_DIGITS: usize = 32;
const CHECKSUM_BYTES: usize = CHECKSUM_PREFIX.len() + CHECKSUM_DIGITS + 2;

/// A record's kind and its members, not yet numbered.
#[derive(Debug)]
pub(crate) struct Body {
    kind: &'static str,
    json: Vec<u8>,
}

impl Body {
    pub(crate) fn new<T: Serialize>(kind: &'static str, members: &T) -> io::Result<Self> {
        let mut json = Vec::with_capacity(1024);
        members.serialize(&mut serde_json::Serializer::with_formatter(&mut json, AsciiFormatter))?;
        Ok(Self { kind, json })
    }
}

/// Appends one line. The checksum covers every byte of the line before it: it shows accidents, and
/// is no defence against somebody who writes to the file on purpose.
pub(crate) fn write_line(out: &mut Vec<u8>, sequence: u64, at: &str, body: &Body) {
    let start = out.len();
    write_members(out, &format!(r#""v":{VERSION}"#), sequence, at, body);
    let sum = checksum(out.get(start..).unwrap_or_default());
    out.extend_from_slice(CHECKSUM_PREFIX);
    out.extend_from_slice(sum.as_bytes());
    out.extend_from_slice(b"\"}\n");
}

/// Appends one line for another program: with the name of the run, and no checksum.
pub(crate) fn write_export(out: &mut Vec<u8>, run: &str, sequence: u64, at: &str, body: &Body) {
    let run = Value::from(run);
    write_members(out, &format!(r#""v":{VERSION},"run":{run}"#), sequence, at, body);
    out.extend_from_slice(b"}\n");
}

/// Writes the object without its end.
fn write_members(out: &mut Vec<u8>, first: &str, sequence: u64, at: &str, body: &Body) {
    let kind = body.kind;
    out.extend_from_slice(format!(r#"{{{first},"seq":{sequence},"at":"{at}","kind":"{kind}""#).as_bytes());
    let members = body.json.strip_prefix(b"{").and_then(|json| json.strip_suffix(b"}"));
    if let Some(members) = members.filter(|members| !members.is_empty()) {
        out.push(b',');
        out.extend_from_slice(members);
    }
}

/// The header and the members of one line.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) sequence: u64,
    pub(crate) at: String,
    pub(crate) kind: String,
    pub(crate) members: Map<String, Value>,
}

/// Reads a line without its line feed.
pub(crate) fn read_line(line: &[u8]) -> Result<Parts, RecordFault> {
    let (content, ending) =
        line.split_at_checked(line.len().saturating_sub(CHECKSUM_BYTES)).ok_or(RecordFault::Checksum)?;
    let found = ending
        .strip_prefix(CHECKSUM_PREFIX)
        .and_then(|rest| rest.strip_suffix(b"\"}"))
        .ok_or(RecordFault::Checksum)?;
    if found != checksum(content).as_bytes() {
        return Err(RecordFault::Checksum);
    }
    let Ok(Value::Object(mut members)) = serde_json::from_slice(line) else {
        return Err(RecordFault::Malformed);
    };
    match members.remove("v").as_ref().and_then(Value::as_u64) {
        Some(VERSION) => {}
        Some(other) => return Err(RecordFault::Version(other)),
        None => return Err(RecordFault::Malformed),
    }
    members.remove("sum");
    let sequence = members.remove("seq").as_ref().and_then(Value::as_u64);
    let (Some(sequence), Some(Value::String(at)), Some(Value::String(kind))) =
        (sequence, members.remove("at"), members.remove("kind"))
    else {
        return Err(RecordFault::Malformed);
    };
    Ok(Parts { sequence, at, kind, members })
}

/// The first 128 bits of SHA-256.
fn checksum(content: &[u8]) -> String {
    let digest = Sha256::digest(content);
    hexadecimal(digest.get(..16).unwrap_or(&digest))
}

/// Lower-case hexadecimal.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    const DIGITS: [char; 16] =
        ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'];
    let digit = |value: u8| DIGITS.get(usize::from(value)).copied().unwrap_or('0');
    let mut text = String::with_capacity(bytes.len().saturating_mul(2));
    for byte in bytes {
        text.push(digit(byte >> 4));
        text.push(digit(byte & 0x0F));
    }
    text
}
