//! One line of stdout as JSON, or what keeps it from being JSON.
//!
//! Belongs here: what stands in front, encodings, the kinds of text that are no JSON.
//! Does not belong here: JSON-RPC.

use framegate_wire::Reason;
use framegate_wire::json::{Document, Parser};

use super::Code;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
const ESCAPE: u8 = 0x1b;
/// How many lines one message may be spread over and still be recognised.
const MAX_LINES: usize = 10_000;

/// Whether what follows begins with LSP's header.
pub(super) fn is_content_length(bytes: &[u8]) -> bool {
    const NAME: &[u8] = b"content-length:";
    bytes.get(..NAME.len()).is_some_and(|start| start.eq_ignore_ascii_case(NAME))
}

/// The line as JSON, or what is wrong with it and where. JSON that our parser does not take, though the grammar
/// does (RFC 8259 sections 6, 8.2 and 9), is not looked into, and neither is a line of too many values.
pub(super) fn read<'p>(
    parser: &'p mut Parser,
    line: &'p [u8],
) -> Result<Option<Document<'p>>, (Code, usize)> {
    if line.is_empty() {
        return Err((Code::Blank, 0));
    }
    if line.starts_with(BYTE_ORDER_MARK) {
        return Err((Code::ByteOrderMark, 0));
    }
    if let Some(at) = line.iter().position(|byte| *byte == ESCAPE) {
        let is_command = line.get(at.saturating_add(1)) == Some(&b']');
        return Err((if is_command { Code::OperatingSystemCommand } else { Code::Ansi }, at));
    }
    let text = std::str::from_utf8(line).map_err(|fault| (Code::InvalidUtf8, fault.valid_up_to()))?;
    if text.trim_ascii().is_empty() {
        return Err((Code::Blank, 0));
    }
    let refusal = match parser.parse_text(text) {
        Ok(document) => return Ok(Some(document)),
        Err(refusal) => refusal,
    };
    let at = refusal.offset();
    match refusal.reason() {
        Reason::JsonDuplicateMember => Err((Code::DuplicateMember, at)),
        Reason::JsonDepth | Reason::JsonLoneSurrogate | Reason::JsonNodes | Reason::JsonNumberRange => {
            Ok(None)
        }
        _ if is_not_a_number(text, at) => Err((Code::NotANumber, at)),
        // What is no JSON from its start on is wrong from its first byte on.
        _ => Err((Code::NotJson, if text.starts_with(['{', '[']) { at } else { 0 })),
    }
}

fn is_not_a_number(text: &str, at: usize) -> bool {
    let begun = text.get(at..).unwrap_or_default();
    let begun = begun.strip_prefix('-').unwrap_or(begun);
    let before = text.get(..at).unwrap_or_default();
    // Whoever stops behind the sign stands one further.
    let signed = before.ends_with('-');
    text.starts_with('{')
        && (begun.starts_with("NaN") || begun.starts_with("Infinity") || (signed && begun.starts_with("Inf")))
}

/// Where a message ends that begins at `start` and is spread over several lines: behind its last LF.
pub(super) fn several(parser: &mut Parser, stdout: &[u8], start: usize) -> Option<usize> {
    let rest = stdout.get(start..)?;
    if !matches!(rest.first(), Some(b'{')) {
        return None;
    }
    // It ends where its brackets do, so that nothing is parsed again for every line.
    let mut depth: usize = 0;
    let mut in_string = false;
    let mut escaped = false;
    let mut lines: usize = 0;
    for (at, byte) in rest.iter().enumerate() {
        match byte {
            b'\n' => {
                lines = lines.saturating_add(1);
                if lines > MAX_LINES {
                    return None;
                }
                if depth == 0 {
                    let text = std::str::from_utf8(rest.get(..at)?).ok()?;
                    let is_message = lines > 1 && parser.parse_text(text).is_ok();
                    return is_message.then(|| start.saturating_add(at).saturating_add(1));
                }
                // A string does not go on behind a line end.
                if in_string {
                    return None;
                }
            }
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => depth = depth.saturating_add(1),
            b'}' | b']' if !in_string => depth = depth.checked_sub(1)?,
            _ => {}
        }
    }
    None
}
