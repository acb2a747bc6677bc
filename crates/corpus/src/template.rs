//! Frames as templates: text with placeholders, raw bytes, repetition.
//!
//! Belongs here: the parts of a frame and how they become bytes.
//! Does not belong here: what a frame is expected to do.

use serde::Deserialize;
use serde_json::Value;

use crate::arguments;
use crate::error::TemplateError;

/// The most bytes that one part may render to.
pub const MAX_FRAME: usize = 128 * 1024 * 1024;

/// `_meta` of a valid request of 2026-07-28 without client info.
const META: &str = concat!(
    r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
    r#""io.modelcontextprotocol/clientCapabilities":{}}"#
);

/// The plain call of the handshake era: the twin of every case that does not bring its own.
const CALL: &str = concat!(
    r#"{"jsonrpc":"2.0","id":${id},"method":"tools/call","#,
    r#""params":{"name":"${tool}","arguments":${arguments}}}"#
);

/// The plain call of the stateless era.
const MODERN_CALL: &str = concat!(
    r#"{"jsonrpc":"2.0","id":${id},"method":"tools/call","#,
    r#""params":{"name":"${tool}","arguments":${arguments},"_meta":${meta}}}"#
);

/// A plain call without its line end, its holes left open.
pub(crate) fn open_call(modern: bool) -> String {
    if modern { MODERN_CALL } else { CALL }.replace("${meta}", META)
}

/// What the placeholders of one sent case stand for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Values {
    /// `${marker}`: names this case at the executor. Must be a JSON string's plain content and a path
    /// segment: ASCII letters, digits and `-`. `${held}` and `${good}` are made from it.
    pub marker: String,
    /// `${id}`: the request id, unused in its session. `${next}` is the one above it.
    pub id: i64,
    /// `${tool}`: the tool that is called, as the content of a JSON string; `probe_write` of the fixture unless it
    /// is set.
    pub tool: String,
    /// `${arguments}`: a JSON object that is valid for the tool, in which `${marker}` stands for the marker.
    pub arguments: String,
}

impl Values {
    /// Values from a marker and an id.
    #[must_use]
    pub fn new(marker: impl Into<String>, id: i64) -> Self {
        Self {
            marker: marker.into(),
            id,
            tool: "probe_write".to_owned(),
            arguments: r#"{"marker":"${marker}"}"#.to_owned(),
        }
    }

    /// The same for another tool than the fixture's, called with these arguments: a JSON object in which
    /// `${marker}` stands for the marker.
    #[must_use]
    pub fn with_call(self, tool: impl Into<String>, arguments: impl Into<String>) -> Self {
        Self { tool: tool.into(), arguments: arguments.into(), ..self }
    }

    /// `${held}`: the marker of calls that were sent before the frame and are expected to run.
    #[must_use]
    pub fn held(&self) -> String {
        format!("{}-held", self.marker)
    }

    /// `${good}`: the marker of a valid call behind the frame.
    #[must_use]
    pub fn good(&self) -> String {
        format!("{}-good", self.marker)
    }

    /// `${next}`: the id of a valid call behind the frame.
    #[must_use]
    pub const fn next(&self) -> i64 {
        self.id.saturating_add(1)
    }

    /// `${call}`, or `${modern_call}`: a plain call of `probe_write` without its line end.
    #[must_use]
    pub fn call(&self, modern: bool) -> String {
        open_call(modern)
            .replace("${tool}", &self.tool)
            .replace("${arguments}", &self.arguments)
            .replace("${marker}", &self.marker)
            .replace("${id}", &self.id.to_string())
    }

    /// What stands for the marker in arguments that are given beside the case's own: a recorder that looks for the
    /// marker finds it too.
    #[must_use]
    pub fn other(&self) -> String {
        format!("{}-other", self.marker)
    }

    /// The arguments of a call with this marker.
    fn arguments_with(&self, marker: &str) -> String {
        self.arguments.replace("${marker}", marker)
    }

    /// The values of `${good_call}`: a call behind the frame, with its own marker and id.
    #[must_use]
    pub fn behind(&self) -> Self {
        Self { marker: self.good(), id: self.next(), ..self.clone() }
    }
}

/// A frame, or several, as parts.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Template {
    parts: Vec<Part>,
}

impl Template {
    /// The bytes.
    #[must_use]
    pub fn render(&self, values: &Values) -> Vec<u8> {
        self.render_nth(values, 0)
    }

    /// The bytes of the `n`th repetition, counted from 0: what `${n}` stands for.
    #[must_use]
    pub fn render_nth(&self, values: &Values, n: u32) -> Vec<u8> {
        self.bytes(|piece| piece.fill_in(values, n))
    }

    /// The bytes with the holes left open of which a call's name, arguments, marker and id are all that is needed, for
    /// whoever fills them in elsewhere: nothing else in the bytes reads so. `None` if more than these holes depends on the
    /// values (a part that fills up to a length, a call behind the frame, a repetition's number), or if a hole would
    /// not be these bytes (UTF-16).
    #[must_use]
    pub fn open(&self) -> Option<Vec<u8>> {
        let is_open = self.parts.iter().all(|part| match part {
            Part::Text(pieces) | Part::Repeat { pieces, .. } => {
                pieces.iter().all(|piece| piece.hole().is_some())
            }
            Part::Bytes(_) => true,
            Part::Utf16(_) | Part::Fill { .. } => false,
        });
        is_open.then(|| self.bytes(|piece| piece.hole().unwrap_or_default()))
    }

    fn bytes(&self, text: impl Fn(&Piece) -> String) -> Vec<u8> {
        let text = |pieces: &[Piece]| pieces.iter().map(&text).collect::<String>();
        let mut bytes = Vec::new();
        for part in &self.parts {
            match part {
                Part::Text(pieces) => bytes.extend_from_slice(text(pieces).as_bytes()),
                Part::Utf16(pieces) => bytes.extend(text(pieces).encode_utf16().flat_map(u16::to_be_bytes)),
                Part::Bytes(raw) => bytes.extend_from_slice(raw),
                Part::Repeat { pieces, times } => bytes.extend(text(pieces).repeat(*times).into_bytes()),
                Part::Fill { with, to } => bytes.resize(bytes.len().max(*to), *with),
            }
        }
        bytes
    }
}

/// One part of a frame.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Value")]
enum Part {
    /// UTF-8 text.
    Text(Vec<Piece>),
    /// The same in UTF-16BE, as some shells pipe it.
    Utf16(Vec<Piece>),
    /// Bytes that no text holds.
    Bytes(Vec<u8>),
    /// Text, many times.
    Repeat { pieces: Vec<Piece>, times: usize },
    /// As many of one byte as make the frame `to` bytes long so far.
    Fill { with: u8, to: usize },
}

/// A piece of text.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Literal(String),
    Marker,
    Id,
    Next,
    Held,
    Good,
    Meta,
    Number,
    Tool,
    Arguments,
    /// The arguments' members, without braces.
    Members,
    /// The same of a call with another marker.
    OtherMembers,
    /// That, the members' names written in escapes.
    EscapedMembers,
    /// The arguments as the content of a JSON string.
    ArgumentsText,
    Call {
        modern: bool,
        behind: bool,
    },
}

impl Piece {
    fn fill_in(&self, values: &Values, n: u32) -> String {
        match self {
            Self::Literal(text) => text.clone(),
            Self::Marker => values.marker.clone(),
            Self::Id => values.id.to_string(),
            Self::Next => values.next().to_string(),
            Self::Held => values.held(),
            Self::Good => values.good(),
            Self::Meta => META.to_owned(),
            Self::Number => n.to_string(),
            Self::Tool => values.tool.clone(),
            Self::Arguments => values.arguments_with(&values.marker),
            Self::Members => arguments::members(&values.arguments_with(&values.marker)).to_owned(),
            Self::OtherMembers => arguments::members(&values.arguments_with(&values.other())).to_owned(),
            Self::EscapedMembers => arguments::escaped_members(&values.arguments_with(&values.other())),
            Self::ArgumentsText => arguments::as_text(&values.arguments_with(&values.marker)),
            Self::Call { modern, behind: false } => values.call(*modern),
            Self::Call { modern, behind: true } => values.behind().call(*modern),
        }
    }

    /// The piece with its holes left open.
    fn hole(&self) -> Option<String> {
        Some(match self {
            Self::Literal(text) => text.clone(),
            Self::Marker => "${marker}".to_owned(),
            Self::Id => "${id}".to_owned(),
            Self::Next => "${next}".to_owned(),
            Self::Meta => META.to_owned(),
            Self::Tool => "${tool}".to_owned(),
            Self::Arguments => "${arguments}".to_owned(),
            Self::Members => "${members}".to_owned(),
            Self::OtherMembers => "${other_members}".to_owned(),
            Self::EscapedMembers => "${escaped_members}".to_owned(),
            Self::ArgumentsText => "${arguments_text}".to_owned(),
            Self::Call { modern, behind: false } => open_call(*modern),
            Self::Held | Self::Good | Self::Number | Self::Call { behind: true, .. } => return None,
        })
    }
}

impl TryFrom<Value> for Part {
    type Error = TemplateError;

    fn try_from(value: Value) -> Result<Self, TemplateError> {
        if let Value::String(text) = &value {
            return Ok(Self::Text(pieces(text)?));
        }
        let object = value.as_object().ok_or(TemplateError::Part)?;
        let text = |name: &str| object.get(name).and_then(Value::as_str).ok_or(TemplateError::Part);
        let count = |name: &str| {
            let number = object.get(name).and_then(Value::as_u64).ok_or(TemplateError::Part)?;
            usize::try_from(number).map_err(|_| TemplateError::TooLong)
        };
        let mut names: Vec<&str> = object.keys().map(String::as_str).collect();
        names.sort_unstable();
        match names.as_slice() {
            ["hex"] => Ok(Self::Bytes(unhex(text("hex")?)?)),
            ["utf16be"] => Ok(Self::Utf16(pieces(text("utf16be")?)?)),
            ["repeat", "times"] => {
                let (repeated, times) = (text("repeat")?, count("times")?);
                if repeated.len().saturating_mul(times) > MAX_FRAME {
                    return Err(TemplateError::TooLong);
                }
                Ok(Self::Repeat { pieces: pieces(repeated)?, times })
            }
            ["fill", "to"] => {
                let to = count("to")?;
                match text("fill")?.as_bytes() {
                    [with] if with.is_ascii() && to <= MAX_FRAME => Ok(Self::Fill { with: *with, to }),
                    [with] if with.is_ascii() => Err(TemplateError::TooLong),
                    _ => Err(TemplateError::Fill),
                }
            }
            _ => Err(TemplateError::Part),
        }
    }
}

fn pieces(text: &str) -> Result<Vec<Piece>, TemplateError> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((literal, behind)) = rest.split_once("${") {
        let (name, behind) = behind.split_once('}').ok_or(TemplateError::Open)?;
        if !literal.is_empty() {
            pieces.push(Piece::Literal(literal.to_owned()));
        }
        pieces.push(match name {
            "marker" => Piece::Marker,
            "id" => Piece::Id,
            "next" => Piece::Next,
            "held" => Piece::Held,
            "good" => Piece::Good,
            "meta" => Piece::Meta,
            "n" => Piece::Number,
            "tool" => Piece::Tool,
            "arguments" => Piece::Arguments,
            "members" => Piece::Members,
            "other_members" => Piece::OtherMembers,
            "escaped_members" => Piece::EscapedMembers,
            "arguments_text" => Piece::ArgumentsText,
            "call" => Piece::Call { modern: false, behind: false },
            "modern_call" => Piece::Call { modern: true, behind: false },
            "good_call" => Piece::Call { modern: false, behind: true },
            "modern_good_call" => Piece::Call { modern: true, behind: true },
            _ => return Err(TemplateError::Placeholder(name.to_owned())),
        });
        rest = behind;
    }
    if !rest.is_empty() {
        pieces.push(Piece::Literal(rest.to_owned()));
    }
    Ok(pieces)
}

fn unhex(text: &str) -> Result<Vec<u8>, TemplateError> {
    let wrong = || TemplateError::Hex(text.to_owned());
    text.split_ascii_whitespace()
        .map(|pair| match pair.len() {
            2 => u8::from_str_radix(pair, 16).map_err(|_| wrong()),
            _ => Err(wrong()),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_servers_tool_is_called_in_the_same_frames() {
        let values = Values::new("m", 7).with_call("write_file", r#"{"path":"/tmp/${marker}","content":""}"#);
        let template: Template = serde_json::from_str(r#"["${tool} ${arguments} ${good_call}"]"#).unwrap();
        let text = String::from_utf8(template.render(&values)).unwrap();
        assert!(text.starts_with(r#"write_file {"path":"/tmp/m","content":""} {"jsonrpc""#), "{text}");
        assert!(
            text.ends_with(r#""write_file","arguments":{"path":"/tmp/m-good","content":""}}}"#),
            "{text}"
        );
    }

    #[test]
    fn holes_are_left_open() {
        let open = |json: &str| serde_json::from_str::<Template>(json).unwrap().open();
        assert_eq!(
            open(
                r#"["${marker}${id}${next} ${tool} ${arguments}", {"hex": "ff"}, {"repeat": "${id}", "times": 2}]"#
            ),
            Some(b"${marker}${id}${next} ${tool} ${arguments}\xff${id}${id}".to_vec())
        );
        let parts = "${members} ${other_members} ${escaped_members} ${arguments_text}";
        assert_eq!(open(&format!("[\"{parts}\"]")), Some(parts.into()));
        let call = open(r#"["${modern_call}"]"#).unwrap();
        assert!(call.ends_with(br#","params":{"name":"${tool}","arguments":${arguments},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#));
        for json in [
            r#"["${held}"]"#,
            r#"["${good}"]"#,
            r#"["${n}"]"#,
            r#"["${good_call}"]"#,
            r#"[{"utf16be": "a"}]"#,
            r#"["a", {"fill": " ", "to": 9}]"#,
        ] {
            assert_eq!(open(json), None, "{json}");
        }
    }

    fn render(json: &str) -> Result<Vec<u8>, String> {
        let template: Template = serde_json::from_str(json).map_err(|error| error.to_string())?;
        Ok(template.render_nth(&Values::new("m", 7), 3))
    }

    #[test]
    fn parts_become_bytes() {
        for (json, expected) in [
            (r#"["a${marker}b${id}", "${next}\n"]"#, b"amb78\n".to_vec()),
            (r#"["${held} ${good} ${n}"]"#, b"m-held m-good 3".to_vec()),
            (r#"[{"hex": "ff 0A"}, {"repeat": "x${n}", "times": 2}]"#, b"\xff\x0ax3x3".to_vec()),
            (r#"[{"utf16be": "a${marker}"}]"#, b"\0a\0m".to_vec()),
            (r#"["ab", {"fill": ".", "to": 4}, {"fill": "!", "to": 1}]"#, b"ab..".to_vec()),
            (r#"["$ { $x"]"#, b"$ { $x".to_vec()),
            (
                r#"["{${other_members},${members}}"]"#,
                br#"{"marker":"m-other","marker":"m"}"#.to_vec(),
            ),
            (
                r#"["${escaped_members} ${arguments_text}"]"#,
                br#""\u006d\u0061\u0072\u006b\u0065\u0072":"m-other" {\"marker\":\"m\"}"#.to_vec(),
            ),
            (
                r#"["${good_call}"]"#,
                br#"{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"probe_write","arguments":{"marker":"m-good"}}}"#
                    .to_vec(),
            ),
        ] {
            assert_eq!(render(json), Ok(expected), "{json}");
        }
    }

    #[test]
    fn faults_are_named() {
        for (json, expected) in [
            (r#"["${markr}"]"#, "`${markr}` is no placeholder"),
            (r#"["${marker"]"#, "a `${` has no `}`"),
            (r#"[7]"#, "a part is"),
            (r#"[{"hex": "f"}]"#, "`f` is not pairs"),
            (r#"[{"hex": "zz"}]"#, "`zz` is not pairs"),
            (r#"[{"repeat": "x"}]"#, "a part is"),
            (r#"[{"repeat": "x", "times": 1, "hex": ""}]"#, "a part is"),
            (r#"[{"repeat": "xx", "times": 100000000}]"#, "more than 128 MiB"),
            (r#"[{"fill": "xy", "to": 1}]"#, "`fill` is one"),
            (r#"[{"fill": "x", "to": 999999999}]"#, "more than 128 MiB"),
        ] {
            let error = render(json).expect_err(json);
            assert!(error.contains(expected), "{json}: {error}");
        }
    }
}
