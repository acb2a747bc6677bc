//! Header names and values that a configuration may set.
//!
//! Belongs here: the never-list, the spelling of names (RFC 9110, 5.1) and literal values (5.5).
//! Does not belong here: response headers, how a header is sent.
//!
//! A valid header is not an allowed header: routing, framing and overrides belong to the gateway.

use super::credential;
use super::document::{Entry, Table};
use super::fault::{Report, quoted};

/// The longest header name, in bytes.
const MAX_NAME: usize = 128;
/// The most headers of one table.
const MAX_COUNT: usize = 64;
/// The longest header value, in bytes.
const MAX_VALUE: usize = 8192;

/// Headers that no configuration sets: names and, ending in `-`, families of names.
const NEVER: [(&str, &str); 39] = [
    ("accept-encoding", "responses are read as they are, uncompressed"),
    ("base-url", "it overrides the path that was judged"),
    ("connection", "it belongs to the connection"),
    ("content-encoding", "the gateway writes the body"),
    ("content-length", "the gateway frames the body"),
    ("cookie", "no cookies are kept or sent"),
    ("cookie2", "no cookies are kept or sent"),
    ("date", "the gateway owns it"),
    ("expect", "it would stall the request"),
    ("forwarded", "targets trust it for access"),
    ("front-end-https", "targets trust it for access"),
    ("host", "it is the origin's own"),
    ("http2-settings", "it switches the protocol"),
    ("keep-alive", "it belongs to the connection"),
    ("max-forwards", "it belongs to proxies"),
    ("metadata", "it opens a cloud's metadata service"),
    ("metadata-flavor", "it opens a cloud's metadata service"),
    ("proxy-", "it belongs to proxies"),
    ("set-cookie", "it is a response header"),
    ("te", "it belongs to the connection"),
    ("trailer", "the gateway frames the body"),
    ("transfer-encoding", "the gateway frames the body"),
    ("true-client-ip", "targets trust it for access"),
    ("upgrade", "it switches the protocol"),
    ("via", "it belongs to proxies"),
    ("www-authenticate", "it is a response header"),
    ("x-aws-ec2-metadata-token", "it opens a cloud's metadata service"),
    ("x-aws-ec2-metadata-token-", "it opens a cloud's metadata service"),
    ("x-client-ip", "targets trust it for access"),
    ("x-cluster-client-ip", "targets trust it for access"),
    ("x-forwarded", "targets trust it for access"),
    ("x-forwarded-", "targets trust it for access"),
    ("x-host", "it overrides the origin's host"),
    ("x-http-method", "it overrides the method that was judged"),
    ("x-http-method-override", "it overrides the method that was judged"),
    ("x-method-override", "it overrides the method that was judged"),
    ("x-original-", "it overrides the path that was judged"),
    ("x-real-ip", "targets trust it for access"),
    ("x-rewrite-url", "it overrides the path that was judged"),
];

/// Headers that carry a credential, whoever defined them. Only a target's `auth` may name one.
const CREDENTIALS: [&str; 13] = [
    "api-key",
    "apikey",
    "authorization",
    "private-token",
    "x-access-token",
    "x-amz-security-token",
    "x-api-key",
    "x-apikey",
    "x-auth-key",
    "x-auth-token",
    "x-gitlab-token",
    "x-goog-api-key",
    "x-vault-token",
];

/// Who sets a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Setter {
    /// A target's `auth`: the one place for a credential.
    Auth,
    /// A target's `headers`: literal, sent with every request.
    Target,
    /// A tool's `headers`: a template.
    Tool,
}

/// Reports what is wrong with a header's name, if anything is.
pub(super) fn check_name(name: &str, span: &core::ops::Range<usize>, setter: Setter, report: &mut Report) {
    if let Some((problem, hint)) = spelling(name) {
        report.error(span, problem, hint);
        return;
    }
    let folded = name.replace('_', "-");
    let never = NEVER
        .iter()
        .find(|(listed, _)| *listed == folded || (listed.ends_with('-') && folded.starts_with(listed)));
    if let Some((_, reason)) = never {
        let problem = format!("the header {} is never set by a configuration", quoted(name));
        report.error(span, problem, format!("remove it: {reason}"));
    } else if setter == Setter::Auth {
        if matches!(folded.as_str(), "accept" | "content-type" | "user-agent") {
            report.bare_error(span, format!("the header {} carries no credential", quoted(name)));
        }
    } else if CREDENTIALS.contains(&folded.as_str()) {
        let problem = format!("the header {} carries a credential", quoted(name));
        report.error(span, problem, "only the target's `auth` sets it");
    } else if setter == Setter::Tool && folded == "user-agent" {
        let problem = "the header `user-agent` is the target's";
        report.error(span, problem, "set it in the target's `headers`");
    } else if setter == Setter::Target && folded == "content-type" {
        let problem = "the header `content-type` depends on the tool";
        report.error(span, problem, "set it in a tool's `headers`; a body sets its own");
    }
}

/// The headers of a table: literal for a target, templates for a tool; checked one by one and for
/// twins.
pub(super) fn read(table: &Table<'_>, setter: Setter, report: &mut Report) -> Vec<(String, String)> {
    let mut headers: Vec<(String, String)> = Vec::new();
    if let Some(extra) = table.entries().nth(MAX_COUNT) {
        report.bare_error(&extra.key_span, format!("there are more than {MAX_COUNT} headers"));
    }
    for entry in table.entries().take(MAX_COUNT) {
        check_name(entry.key, &entry.key_span, setter, report);
        let twin = headers.iter().find(|(name, _)| are_twins(name, entry.key));
        if let Some((twin, _)) = twin {
            let problem = format!("{} and `{twin}` are one header to some servers", quoted(entry.key));
            report.error(&entry.key_span, problem, "remove one of them");
        }
        if let Some(value) = read_value(&entry, report) {
            headers.push((entry.key.to_owned(), value));
        }
    }
    headers
}

/// Whether servers that turn `-` into `_` (CGI, RFC 3875 4.1.18) take both names for one.
pub(super) fn are_twins(one: &str, other: &str) -> bool {
    let fold = |name: &str| name.to_ascii_lowercase().replace('_', "-");
    fold(one) == fold(other)
}

fn read_value(entry: &Entry<'_>, report: &mut Report) -> Option<String> {
    let value = entry.string(report)?;
    let text = value.text;
    if !text.bytes().all(|byte| matches!(byte, 0x20..=0x7E)) {
        let problem = format!("the value of {} holds more than visible ASCII and spaces", quoted(entry.key));
        report.error(&value.span, problem, "write printable ASCII in one line");
    } else if text.trim_matches(' ') != text {
        let problem = format!("the value of {} has a space at an end", quoted(entry.key));
        report.error(&value.span, problem, "remove it: peers do");
    } else if text.len() > MAX_VALUE {
        report.bare_error(
            &value.span,
            format!("the value of {} is longer than {MAX_VALUE} bytes", quoted(entry.key)),
        );
    } else if credential::is_secret_name(entry.key) && !text.contains('{') {
        report.mask(&value.span);
    }
    Some(text.to_owned())
}

pub(super) fn spelling(name: &str) -> Option<(String, String)> {
    let is_token = |byte: u8| {
        byte.is_ascii_alphanumeric()
            || matches!(
                byte,
                b'!' | b'#'
                    | b'$'
                    | b'%'
                    | b'&'
                    | b'\''
                    | b'*'
                    | b'+'
                    | b'-'
                    | b'.'
                    | b'^'
                    | b'_'
                    | b'`'
                    | b'|'
                    | b'~'
            )
    };
    if name.is_empty() || !name.bytes().all(is_token) {
        let problem = format!("{} is no header name", quoted(name));
        return Some((problem, "a name has letters, digits and `-`".to_owned()));
    }
    if name.len() > MAX_NAME {
        let problem = format!("the header {} is longer than {MAX_NAME} bytes", quoted(name));
        return Some((problem, "write a shorter name".to_owned()));
    }
    let lower = name.to_ascii_lowercase();
    if lower != name {
        let problem = format!("the header {} is not in lower case", quoted(name));
        return Some((problem, format!("write {}", quoted(&lower))));
    }
    None
}
