//! The frames of the demonstration, and how bytes are shown.
//!
//! Belongs here: what is sent, what must stop it.
//! Does not belong here: sending.

use serde_json::Value;

/// A call that is what the tool declares, and allowed.
pub(super) const GOOD_CALL: &str = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"create_note\",\"arguments\":{\"book\":\"home\",\"title\":\"milk\"}}}\n";

/// A frame that must perform nothing.
#[derive(Debug)]
pub(super) struct Hostile {
    pub(super) gist: &'static str,
    pub(super) bytes: &'static [u8],
    pub(super) door: &'static str,
    pub(super) reason: &'static str,
    /// Whether its kind is answered.
    pub(super) answered: bool,
}

const fn hostile(
    gist: &'static str,
    bytes: &'static [u8],
    door: &'static str,
    reason: &'static str,
) -> Hostile {
    Hostile { gist, bytes, door, reason, answered: true }
}

/// A good call but for one fault each.
pub(super) const HOSTILE: &[Hostile] = &[
    hostile(
        "a banner on the same line as a call",
        b"server ready {\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"create_note\",\"arguments\":{\"book\":\"home\",\"title\":\"x\"}}}\n",
        "json",
        "json-noise",
    ),
    hostile(
        "two messages on one line",
        b"{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"ping\"}{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"tools/call\",\"params\":{\"name\":\"create_note\",\"arguments\":{\"book\":\"home\",\"title\":\"x\"}}}\n",
        "json",
        "json-trailing-data",
    ),
    hostile(
        "the method twice: which one counts?",
        b"{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"tools/list\",\"method\":\"tools/call\",\"params\":{\"name\":\"create_note\",\"arguments\":{\"book\":\"home\",\"title\":\"x\"}}}\n",
        "json",
        "json-duplicate-member",
    ),
    hostile(
        "the same, hidden by an escape inside the arguments",
        b"{\"jsonrpc\":\"2.0\",\"id\":6,\"method\":\"tools/call\",\"params\":{\"name\":\"create_note\",\"arguments\":{\"book\":\"home\",\"b\\u006fok\":\"work\",\"title\":\"x\"}}}\n",
        "json",
        "json-duplicate-member",
    ),
    hostile(
        "a byte that is no UTF-8",
        b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"create_note\",\"arguments\":{\"book\":\"home\",\"title\":\"x\xFF\"}}}\n",
        "frame",
        "frame-not-utf8",
    ),
    hostile(
        "a byte order mark before the call",
        b"\xEF\xBB\xBF{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"tools/call\",\"params\":{\"name\":\"create_note\",\"arguments\":{\"book\":\"home\",\"title\":\"x\"}}}\n",
        "frame",
        "frame-byte-order-mark",
    ),
    Hostile {
        gist: "a call without an id: run it, and nobody would ever know",
        bytes: b"{\"jsonrpc\":\"2.0\",\"method\":\"tools/call\",\"params\":{\"name\":\"create_note\",\"arguments\":{\"book\":\"home\",\"title\":\"x\"}}}\n",
        door: "message",
        reason: "call-without-id",
        answered: false,
    },
    hostile(
        "an id that some languages read as a number",
        b"{\"jsonrpc\":\"2.0\",\"id\":true,\"method\":\"tools/call\",\"params\":{\"name\":\"create_note\",\"arguments\":{\"book\":\"home\",\"title\":\"x\"}}}\n",
        "message",
        "message-id",
    ),
    hostile(
        "an array of calls where the revision has none",
        b"[{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"tools/call\",\"params\":{\"name\":\"create_note\",\"arguments\":{\"book\":\"home\",\"title\":\"x\"}}}]\n",
        "message",
        "message-batch",
    ),
    hostile(
        "parameters by position",
        b"{\"jsonrpc\":\"2.0\",\"id\":10,\"method\":\"tools/call\",\"params\":[\"create_note\",{\"book\":\"home\",\"title\":\"x\"}]}\n",
        "message",
        "call-params",
    ),
    hostile(
        "an argument that a permissive merge would forward",
        b"{\"jsonrpc\":\"2.0\",\"id\":11,\"method\":\"tools/call\",\"params\":{\"name\":\"create_note\",\"arguments\":{\"book\":\"home\",\"title\":\"x\",\"admin\":true}}}\n",
        "schema",
        "argument-unknown",
    ),
    hostile(
        "a path that climbs out",
        b"{\"jsonrpc\":\"2.0\",\"id\":12,\"method\":\"tools/call\",\"params\":{\"name\":\"create_note\",\"arguments\":{\"book\":\"../admin\",\"title\":\"x\"}}}\n",
        "schema",
        "argument-character",
    ),
    hostile(
        "an open tool, and a path outside of its reach",
        b"{\"jsonrpc\":\"2.0\",\"id\":14,\"method\":\"tools/call\",\"params\":{\"name\":\"read\",\"arguments\":{\"method\":\"GET\",\"path\":\"/admin/users\"}}}\n",
        "schema",
        "argument-pattern",
    ),
    hostile(
        "the same tool, and another host in place of a path",
        b"{\"jsonrpc\":\"2.0\",\"id\":15,\"method\":\"tools/call\",\"params\":{\"name\":\"read\",\"arguments\":{\"method\":\"GET\",\"path\":\"//169.254.169.254/latest/meta-data\"}}}\n",
        "schema",
        "argument-character",
    ),
    hostile(
        "a well-formed call of a tool that no rule allows",
        b"{\"jsonrpc\":\"2.0\",\"id\":13,\"method\":\"tools/call\",\"params\":{\"name\":\"delete_book\",\"arguments\":{\"book\":\"home\"}}}\n",
        "authorization",
        "policy-no-rule",
    ),
];

/// A call that is allowed, and an answer that an agent must not be handed as it is.
#[derive(Debug)]
pub(super) struct Untrusted {
    pub(super) gist: &'static str,
    pub(super) call: &'static str,
    /// What the target gets.
    pub(super) request: &'static str,
    /// What the agent is shown.
    pub(super) shown: &'static str,
    /// What of the answer it is not; never the token, which is looked for after every call.
    pub(super) hidden: Option<&'static str>,
}

/// Allowed calls whose answers are kept within what the operator declared.
pub(super) const UNTRUSTED: &[Untrusted] = &[
    Untrusted {
        gist: "a form, and an answer of which two parts are declared",
        call: "{\"jsonrpc\":\"2.0\",\"id\":20,\"method\":\"tools/call\",\"params\":{\"name\":\"list_notes\",\"arguments\":{\"book\":\"home\"}}}\n",
        request: "POST /books/home/search HTTP/1.1  order=newest",
        shown: "{\"count\":3,\"newest\":\"milk\"}",
        hidden: Some("internal"),
    },
    Untrusted {
        gist: "an open tool, and a target that repeats the token",
        call: "{\"jsonrpc\":\"2.0\",\"id\":21,\"method\":\"tools/call\",\"params\":{\"name\":\"read\",\"arguments\":{\"method\":\"GET\",\"path\":\"/books/home/debug\"}}}\n",
        request: "GET /books/home/debug HTTP/1.1  ",
        shown: "authorization: Bearer [redacted:notes]",
        hidden: None,
    },
    Untrusted {
        gist: "a target that sends the agent elsewhere, with a password in the address",
        call: "{\"jsonrpc\":\"2.0\",\"id\":22,\"method\":\"tools/call\",\"params\":{\"name\":\"read\",\"arguments\":{\"method\":\"GET\",\"path\":\"/books/home/moved\"}}}\n",
        request: "GET /books/home/moved HTTP/1.1  ",
        shown: "redirect_not_followed",
        hidden: Some("hunter2"),
    },
];

/// Bytes as text: printable ASCII as it is, everything else escaped.
pub(super) fn show(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes {
        match byte {
            b'\n' => text.push_str("\\n"),
            b' '..=b'~' => text.push(char::from(*byte)),
            _ => text.push_str(&format!("\\x{byte:02x}")),
        }
    }
    text
}

/// A line of at most 300 characters.
pub(super) fn shorten(line: &str) -> String {
    const LONGEST: usize = 300;
    let shown = show(line.as_bytes());
    match shown.char_indices().nth(LONGEST) {
        None => shown,
        Some((end, _)) => format!("{}…", shown.get(..end).unwrap_or_default()),
    }
}

/// The door and reason that a reply names, as the codes of `framegate_wire`.
pub(super) fn verdict(reply: &str) -> Option<(&'static str, &'static str)> {
    let reply: Value = serde_json::from_str(reply).ok()?;
    let code = reply
        .pointer("/error/data/reason")
        .or_else(|| reply.pointer("/result/_meta/framegate~1reason"))?
        .as_str()?;
    let reason = framegate_wire::Reason::from_code(code)?;
    Some((reason.door().name(), reason.code()))
}
