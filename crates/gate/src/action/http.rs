//! An HTTP request as data: pinned origin, decoded path segments, query, headers, body.
//!
//! Belongs here: the request that was rendered, and its one canonical spelling (RFC 3986, RFC 9110).
//! Does not belong here: how it was rendered, credentials, connections.

use core::fmt;
use std::collections::BTreeMap;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use serde::ser::{SerializeStruct as _, Serializer};
use serde_json::Value;
use url::form_urlencoded;

/// A request method. Only these: no method that opens a tunnel or echoes the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// RFC 9110, 9.3.1
    Get,
    /// RFC 9110, 9.3.2
    Head,
    /// RFC 9110, 9.3.3
    Post,
    /// RFC 9110, 9.3.4
    Put,
    /// RFC 5789
    Patch,
    /// RFC 9110, 9.3.5
    Delete,
    /// RFC 9110, 9.3.7
    Options,
}

impl Method {
    /// Every method.
    pub const ALL: [Self; 7] =
        [Self::Get, Self::Head, Self::Post, Self::Put, Self::Patch, Self::Delete, Self::Options];

    /// The token on the request line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Head => "HEAD",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
            Self::Options => "OPTIONS",
        }
    }

    /// The method with exactly this token.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.name() == name)
    }

    /// Whether the method is defined to change nothing (RFC 9110, 9.2.1).
    #[must_use]
    pub const fn is_safe(self) -> bool {
        matches!(self, Self::Get | Self::Head | Self::Options)
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The scheme of an origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// Plain HTTP: only to a literal loopback address, by the target's own opt-in.
    Http,
    /// HTTP over TLS.
    Https,
}

impl Scheme {
    /// The scheme's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }

    /// The port used when an origin names none.
    #[must_use]
    pub const fn default_port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }
}

/// A pinned origin (RFC 6454): scheme, host and port from the configuration, never from an agent.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Origin {
    scheme: Scheme,
    host: Arc<str>,
    port: u16,
}

impl Origin {
    /// An origin whose host is already canonical: a lower-case DNS name, an IPv4 address, or an IPv6
    /// address without brackets.
    #[must_use]
    pub const fn new(scheme: Scheme, host: Arc<str>, port: u16) -> Self {
        Self { scheme, host, port }
    }

    /// The scheme.
    #[must_use]
    pub const fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// The host, without brackets.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// `host` or `host:port`, with brackets around an IPv6 address, as the Host field carries it
    /// (RFC 9110, 7.2).
    #[must_use]
    pub fn authority(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.to_string() };
        if self.port == self.scheme.default_port() { host } else { format!("{host}:{}", self.port) }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme.name(), self.authority())
    }
}

/// A body and its one spelling.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Body {
    content: Content,
    /// The media type (RFC 9110, 8.3.1), as declared.
    content_type: Arc<str>,
    bytes: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq)]
enum Content {
    Json(Value),
    Form(Vec<(String, String)>),
    /// The bytes are UTF-8.
    Text,
    Binary,
    /// There are no bytes until the request is sent.
    File(LocalFile),
}

/// A file beneath a declared root.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LocalFile {
    root: Arc<str>,
    path: String,
}

impl LocalFile {
    pub(crate) const fn new(root: Arc<str>, path: String) -> Self {
        Self { root, path }
    }

    /// The root, an absolute path from the configuration.
    #[must_use]
    pub fn root(&self) -> &str {
        &self.root
    }

    /// The path beneath it: plain segments.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }
}

impl Body {
    /// JSON in its compact spelling.
    pub(crate) fn json(content_type: Arc<str>, tree: Value) -> Self {
        let bytes = tree.to_string().into_bytes();
        Self { content: Content::Json(tree), content_type, bytes }
    }

    /// `application/x-www-form-urlencoded`, as the WHATWG URL Standard writes it.
    pub(crate) fn form(pairs: Vec<(String, String)>) -> Self {
        let bytes =
            form_urlencoded::Serializer::new(String::new()).extend_pairs(&pairs).finish().into_bytes();
        Self {
            content: Content::Form(pairs),
            content_type: "application/x-www-form-urlencoded".into(),
            bytes,
        }
    }

    /// Text of a declared media type.
    pub(crate) fn text(content_type: Arc<str>, text: String) -> Self {
        Self { content: Content::Text, content_type, bytes: text.into_bytes() }
    }

    /// Bytes of a declared media type.
    pub(crate) fn binary(content_type: Arc<str>, bytes: Vec<u8>) -> Self {
        Self { content: Content::Binary, content_type, bytes }
    }

    /// A file of a declared media type, whose content nobody has seen yet.
    pub(crate) fn file(content_type: Arc<str>, root: Arc<str>, path: String) -> Self {
        Self { content: Content::File(LocalFile::new(root, path)), content_type, bytes: Vec::new() }
    }
}

/// As people and recorders read it: JSON as it is, everything else under the name of its form.
impl Serialize for Body {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.content {
            Content::Json(tree) => tree.serialize(serializer),
            Content::Form(pairs) => BTreeMap::from([("form", pairs)]).serialize(serializer),
            Content::Text => {
                let text = String::from_utf8_lossy(&self.bytes);
                BTreeMap::from([("text", text)]).serialize(serializer)
            }
            Content::Binary => {
                BTreeMap::from([("base64", STANDARD.encode(&self.bytes))]).serialize(serializer)
            }
            Content::File(file) => BTreeMap::from([("file", file)]).serialize(serializer),
        }
    }
}

/// The parts of a request, for the one place that renders them.
pub(crate) struct HttpParts {
    pub(crate) target: Arc<str>,
    pub(crate) origin: Origin,
    pub(crate) method: Method,
    pub(crate) segments: Vec<String>,
    pub(crate) query: Vec<(String, String)>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Option<Body>,
    pub(crate) save: Option<LocalFile>,
    pub(crate) cursor: Option<String>,
}

/// One rendered HTTP request.
#[derive(Clone, Debug, PartialEq)]
pub struct HttpAction {
    target: Arc<str>,
    origin: Origin,
    method: Method,
    segments: Vec<String>,
    query: Vec<(String, String)>,
    headers: Vec<(String, String)>,
    body: Option<Body>,
    save: Option<LocalFile>,
    cursor: Option<String>,
}

impl HttpAction {
    pub(crate) fn new(parts: HttpParts) -> Self {
        let HttpParts { target, origin, method, segments, query, headers, body, save, cursor } = parts;
        Self { target, origin, method, segments, query, headers, body, save, cursor }
    }

    /// The declared name of the target.
    #[must_use]
    pub fn target(&self) -> &str {
        &self.target
    }

    /// The pinned origin.
    #[must_use]
    pub const fn origin(&self) -> &Origin {
        &self.origin
    }

    /// The method.
    #[must_use]
    pub const fn method(&self) -> Method {
        self.method
    }

    /// The path's segments, decoded. The path `/` has one empty segment.
    #[must_use]
    pub fn segments(&self) -> &[String] {
        &self.segments
    }

    /// Query names and values, decoded, in order.
    #[must_use]
    pub fn query(&self) -> &[(String, String)] {
        &self.query
    }

    /// Header names (lower case) and values, in order. Credentials are not among them.
    #[must_use]
    pub fn headers(&self) -> &[(String, String)] {
        &self.headers
    }

    /// The body as a tree, if it is JSON.
    #[must_use]
    pub fn json_body(&self) -> Option<&Value> {
        match &self.body.as_ref()?.content {
            Content::Json(tree) => Some(tree),
            Content::Form(_) | Content::Text | Content::Binary | Content::File(_) => None,
        }
    }

    /// The body's media type.
    #[must_use]
    pub fn content_type(&self) -> Option<&str> {
        self.body.as_ref().map(|body| &*body.content_type)
    }

    /// Whether there is a body.
    #[must_use]
    pub const fn has_body(&self) -> bool {
        self.body.is_some()
    }

    /// The body's exact bytes, unless it is a file.
    #[must_use]
    pub fn body_bytes(&self) -> Option<&[u8]> {
        let body = self.body.as_ref()?;
        match body.content {
            Content::Json(_) | Content::Form(_) | Content::Text | Content::Binary => Some(&body.bytes),
            Content::File(_) => None,
        }
    }

    /// The file that is the body, if it is one.
    #[must_use]
    pub fn body_file(&self) -> Option<&LocalFile> {
        match &self.body.as_ref()?.content {
            Content::File(file) => Some(file),
            Content::Json(_) | Content::Form(_) | Content::Text | Content::Binary => None,
        }
    }

    /// The file that the body of a successful answer becomes, if it is one.
    #[must_use]
    pub const fn save_as(&self) -> Option<&LocalFile> {
        self.save.as_ref()
    }

    /// Where to go on in the stored answer to this request. With it, nothing is sent.
    #[must_use]
    pub fn cursor(&self) -> Option<&str> {
        self.cursor.as_deref()
    }

    /// Whether both are the same request, whatever part of its answer each asks for.
    #[must_use]
    pub fn asks_the_same(&self, other: &Self) -> bool {
        let Self { target, origin, method, segments, query, headers, body, save, cursor: _ } = self;
        *target == other.target
            && *origin == other.origin
            && *method == other.method
            && *segments == other.segments
            && *query == other.query
            && *headers == other.headers
            && *body == other.body
            && *save == other.save
    }

    /// The path in its one spelling: every byte of a segment outside RFC 3986 `unreserved` is
    /// percent-encoded.
    #[must_use]
    pub fn path(&self) -> String {
        let mut path = String::new();
        for segment in &self.segments {
            path.push('/');
            percent_encode(segment, &mut path);
        }
        path
    }

    /// The request target in origin form (RFC 9112, 3.2.1).
    #[must_use]
    pub fn path_and_query(&self) -> String {
        let mut text = self.path();
        for (index, (name, value)) in self.query.iter().enumerate() {
            text.push(if index == 0 { '?' } else { '&' });
            percent_encode(name, &mut text);
            text.push('=');
            percent_encode(value, &mut text);
        }
        text
    }

    /// Without the path, which a target chose and not an operator.
    pub(crate) fn summary_of_hop(&self, hop: usize) -> String {
        format!("{} {} (redirect {hop})", self.method, self.origin)
    }

    pub(crate) fn summary(&self) -> String {
        let query = if self.query.is_empty() { "" } else { "?…" };
        let stored = if self.cursor.is_some() { " (the rest of a stored answer)" } else { "" };
        format!("{} {}{}{}{stored}", self.method, self.origin, self.path(), query)
    }
}

impl Serialize for HttpAction {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut members = serializer.serialize_struct("HttpAction", 10)?;
        members.serialize_field("target", &*self.target)?;
        members.serialize_field("method", self.method.name())?;
        members.serialize_field("origin", &self.origin.to_string())?;
        members.serialize_field("path", &self.path())?;
        members.serialize_field("query", &self.query)?;
        members.serialize_field("headers", &self.headers)?;
        members.serialize_field("content_type", &self.content_type())?;
        members.serialize_field("body", &self.body)?;
        match &self.save {
            Some(file) => members.serialize_field("save", file)?,
            None => members.skip_field("save")?,
        }
        match &self.cursor {
            Some(cursor) => members.serialize_field("cursor", cursor)?,
            None => members.skip_field("cursor")?,
        }
        members.end()
    }
}

/// Percent-encodes everything outside RFC 3986 `unreserved`, in upper-case hexadecimal.
fn percent_encode(text: &str, out: &mut String) {
    const HEX: [char; 16] = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'A', 'B', 'C', 'D', 'E', 'F'];
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            out.push(char::from(byte));
        } else {
            let digit = |value: u8| HEX.get(usize::from(value)).copied().unwrap_or('0');
            out.extend(['%', digit(byte >> 4), digit(byte & 0x0F)]);
        }
    }
}

/// The text behind percent-encoding, if it is UTF-8. A plus sign is one.
pub(crate) fn percent_decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
            let value = digit(rest.next())?.checked_mul(16)?.checked_add(digit(rest.next())?)?;
            bytes.push(u8::try_from(value).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}
