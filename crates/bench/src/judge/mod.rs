//! What a target put on stdout, judged as bytes.
//!
//! Belongs here: from raw bytes and what was asked to findings with their offsets; no process, no clock.
//! Does not belong here: whether a finding fails a case.

mod envelope;
mod line;

#[cfg(test)]
mod tests;

use framegate_wire::Limits;
use framegate_wire::json::Parser;

use envelope::{Answers, Message};

/// The most findings: whoever writes more has long failed, and each takes more memory than a byte.
const MAX_FINDINGS: usize = 1_000;
/// The most values in one line; one of more is not looked into.
const MAX_VALUES: usize = 1_000_000;

/// What is wrong with a piece of stdout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Code {
    /// A control sequence of a terminal (ECMA-48).
    Ansi,
    /// A line without any byte.
    Blank,
    /// A byte order mark (RFC 8259 section 8.1).
    ByteOrderMark,
    /// LSP's framing by header.
    ContentLength,
    /// Lines that end in CR LF: told, and no failure.
    CarriageReturn,
    /// A member name twice in one object (RFC 8259 section 4).
    DuplicateMember,
    /// A second answer to one request.
    DuplicateResponse,
    /// An answer whose id has another type, or another spelling, than the request's.
    IdType,
    /// Bytes that are no UTF-8.
    InvalidUtf8,
    /// One message over several lines.
    Multiline,
    /// `NaN` or an infinity.
    NotANumber,
    /// A line that is no JSON.
    NotJson,
    /// JSON that is no JSON-RPC message.
    NotJsonRpc,
    /// An operating system command of a terminal (`ESC ]`).
    OperatingSystemCommand,
    /// Bytes behind the last LF when the target ended.
    Partial,
    /// An answer to what was never asked.
    UnknownId,
}

impl Code {
    /// Every code.
    pub const ALL: &[Self] = &[
        Self::Ansi,
        Self::Blank,
        Self::ByteOrderMark,
        Self::ContentLength,
        Self::CarriageReturn,
        Self::DuplicateMember,
        Self::DuplicateResponse,
        Self::IdType,
        Self::InvalidUtf8,
        Self::Multiline,
        Self::NotANumber,
        Self::NotJson,
        Self::NotJsonRpc,
        Self::OperatingSystemCommand,
        Self::Partial,
        Self::UnknownId,
    ];

    /// The code's name, as reports write it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ansi => "stdout-ansi",
            Self::Blank => "stdout-blank-line",
            Self::ByteOrderMark => "stdout-byte-order-mark",
            Self::CarriageReturn => "stdout-carriage-return",
            Self::ContentLength => "stdout-content-length",
            Self::DuplicateMember => "stdout-duplicate-member",
            Self::DuplicateResponse => "reply-duplicate",
            Self::IdType => "reply-id-type",
            Self::InvalidUtf8 => "stdout-invalid-utf8",
            Self::Multiline => "stdout-multiline",
            Self::NotANumber => "stdout-not-a-number",
            Self::NotJson => "stdout-not-json",
            Self::NotJsonRpc => "stdout-not-jsonrpc",
            Self::OperatingSystemCommand => "stdout-osc",
            Self::Partial => "stdout-partial",
            Self::UnknownId => "reply-unknown-id",
        }
    }

    /// What it means, in one line.
    #[must_use]
    pub const fn summary(self) -> &'static str {
        match self {
            Self::Ansi => "a terminal's control sequence stands on stdout",
            Self::Blank => "an empty line stands on stdout, and is no message",
            Self::ByteOrderMark => "a byte order mark stands before the message",
            Self::CarriageReturn => "lines end in CR LF instead of LF",
            Self::ContentLength => "messages are framed by `Content-Length` headers, not by lines",
            Self::DuplicateMember => "a member name occurs twice in one object, so readers differ",
            Self::DuplicateResponse => "one request was answered twice",
            Self::IdType => "the answer's id is not the request's, but another type or spelling of it",
            Self::InvalidUtf8 => "the bytes are not valid UTF-8",
            Self::Multiline => "one message is spread over several lines",
            Self::NotANumber => "`NaN` or an infinity stands where JSON has no such number",
            Self::NotJson => "the line is not JSON",
            Self::NotJsonRpc => "the line is JSON, and no JSON-RPC 2.0 message",
            Self::OperatingSystemCommand => "a terminal's operating system command stands on stdout",
            Self::Partial => "bytes stand behind the last line end",
            Self::UnknownId => "an answer came to a request that was never sent",
        }
    }

    /// The requirements that it breaks: ids of the checklist.
    #[must_use]
    pub const fn requirement(self) -> &'static str {
        match self {
            Self::Ansi | Self::ContentLength | Self::NotJson | Self::NotJsonRpc => "S-01",
            Self::OperatingSystemCommand | Self::DuplicateMember | Self::NotANumber => "S-01",
            Self::Blank => "S-07",
            Self::ByteOrderMark | Self::InvalidUtf8 => "S-04",
            Self::CarriageReturn | Self::Multiline => "S-02",
            Self::DuplicateResponse => "S-09",
            Self::IdType => "S-11",
            Self::Partial => "S-03",
            Self::UnknownId => "S-08",
        }
    }

    /// Whether it is told without failing a case.
    #[must_use]
    pub const fn is_warning(self) -> bool {
        matches!(self, Self::CarriageReturn)
    }
}

/// Something wrong on stdout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What.
    pub code: Code,
    /// The first wrong byte, counted from the start of stdout.
    pub offset: usize,
    /// Where the line begins that it stands in.
    pub line_start: usize,
    /// Where that line ends, its LF left out.
    pub line_end: usize,
}

/// A request that was sent: its id as JSON text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    /// `1`, `"a"`.
    pub id: String,
}

/// What is wrong with these bytes, in order; at most 1,000 findings. `ended` says that no more can come.
#[must_use]
pub fn judge(stdout: &[u8], sent: &[Sent], ended: bool) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut answers = Answers::new(sent);
    let limits = Limits { max_frame: Limits::MAX_FRAME_CEILING, max_nodes: MAX_VALUES, ..Limits::default() };
    let mut parser = Parser::new(&Limits { max_members: usize::MAX, max_depth: 1_000, ..limits });
    let mut start: usize = 0;
    let mut said_carriage_return = false;
    while let Some(rest) =
        stdout.get(start..).filter(|rest| !rest.is_empty() && findings.len() < MAX_FINDINGS)
    {
        let length = memchr::memchr(b'\n', rest);
        let end = start.saturating_add(length.unwrap_or(rest.len()));
        let finding = |code, at: usize| Finding { code, offset: at, line_start: start, line_end: end };
        if line::is_content_length(rest) {
            // Everything behind it is framed in another way; lines say nothing any more.
            findings.push(finding(Code::ContentLength, start));
            break;
        }
        if length.is_none() {
            if ended {
                findings.push(finding(Code::Partial, start));
            }
            break;
        }
        let line = stdout.get(start..end).unwrap_or_default();
        let (line, carriage_return) = match line.strip_suffix(b"\r") {
            Some(line) => (line, true),
            None => (line, false),
        };
        let mut next = end.saturating_add(1);
        match line::read(&mut parser, line) {
            Err((code, at)) => {
                let several =
                    (code == Code::NotJson).then(|| line::several(&mut parser, stdout, start)).flatten();
                if let Some(behind) = several {
                    findings.push(Finding {
                        line_end: behind.saturating_sub(1),
                        ..finding(Code::Multiline, end)
                    });
                    next = behind;
                } else {
                    findings.push(finding(code, start.saturating_add(at)));
                }
            }
            Ok(document) => {
                if carriage_return && !said_carriage_return {
                    said_carriage_return = true;
                    findings.push(finding(Code::CarriageReturn, end.saturating_sub(1)));
                }
                let Some(document) = document else {
                    start = next;
                    continue;
                };
                match Message::of(document.root()) {
                    None => findings.push(finding(Code::NotJsonRpc, start)),
                    Some(Message::Response { id, at }) => {
                        if let Some(code) = answers.take(&id) {
                            findings.push(finding(code, start.saturating_add(at)));
                        }
                    }
                    Some(Message::Other) => {}
                }
            }
        }
        start = next;
    }
    findings
}
