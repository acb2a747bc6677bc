//! Looking at a parsed document.
//!
//! Belongs here: the public face of the tape.
//! Does not belong here: parsing, changing.

use core::fmt;
use core::iter::FusedIterator;
use core::ops::Range;

use super::number::Number;
use super::tape::{Tag, Tape};

/// A text that is strict JSON, parsed. Only a [`super::Parser`] makes one.
#[must_use = "a document must be judged"]
pub struct Document<'a> {
    text: &'a str,
    tape: &'a Tape,
}

/// One value of a document.
#[derive(Clone, Copy)]
pub struct Value<'a> {
    text: &'a str,
    tape: &'a Tape,
    index: usize,
}

/// The kinds of JSON values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// A number.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

impl Kind {
    /// The name that JSON Schema gives the kind.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool => "boolean",
            Self::Number => "number",
            Self::String => "string",
            Self::Array => "array",
            Self::Object => "object",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl<'a> Document<'a> {
    pub(super) fn new(text: &'a str, tape: &'a Tape) -> Self {
        Self { text, tape }
    }

    /// The one value that the text holds.
    #[must_use]
    pub fn root(&self) -> Value<'a> {
        Value { text: self.text, tape: self.tape, index: 0 }
    }

    /// The text that was parsed.
    #[must_use]
    pub fn text(&self) -> &'a str {
        self.text
    }
}

impl fmt::Debug for Document<'_> {
    /// Length only: documents hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Document").field("length", &self.text.len()).finish_non_exhaustive()
    }
}

impl<'a> Value<'a> {
    /// What kind of value it is.
    #[must_use]
    pub fn kind(self) -> Kind {
        match self.tag() {
            Tag::Null => Kind::Null,
            Tag::True | Tag::False => Kind::Bool,
            Tag::Integer | Tag::Real => Kind::Number,
            Tag::Plain | Tag::Decoded => Kind::String,
            Tag::Array => Kind::Array,
            Tag::Object => Kind::Object,
        }
    }

    /// Where it stands in the text, in bytes, quotes and brackets included.
    #[must_use]
    pub fn span(self) -> Range<usize> {
        self.tape.node(self.index).span()
    }

    /// Whether it is `null`.
    #[must_use]
    pub fn is_null(self) -> bool {
        self.tag() == Tag::Null
    }

    /// Its value, if it is `true` or `false`.
    #[must_use]
    pub fn as_bool(self) -> Option<bool> {
        match self.tag() {
            Tag::True => Some(true),
            Tag::False => Some(false),
            _ => None,
        }
    }

    /// Its decoded text, if it is a string.
    #[must_use]
    pub fn as_str(self) -> Option<&'a str> {
        let node = self.tape.node(self.index);
        matches!(node.tag(), Tag::Plain | Tag::Decoded).then(|| self.tape.string(self.text, node))
    }

    /// The number, if it is one.
    #[must_use]
    pub fn as_number(self) -> Option<Number<'a>> {
        let node = self.tape.node(self.index);
        let integer = match node.tag() {
            Tag::Integer => true,
            Tag::Real => false,
            _ => return None,
        };
        Some(Number::new(self.text.get(node.span()).unwrap_or_default(), integer))
    }

    /// The object, if it is one.
    #[must_use]
    pub fn as_object(self) -> Option<Object<'a>> {
        (self.tag() == Tag::Object).then_some(Object(self))
    }

    /// The array, if it is one.
    #[must_use]
    pub fn as_array(self) -> Option<Array<'a>> {
        (self.tag() == Tag::Array).then_some(Array(self))
    }

    /// An owned copy. Integers are exact; a real becomes the double nearest to it.
    #[must_use]
    pub fn to_owned_json(self) -> serde_json::Value {
        match self.tag() {
            Tag::Null => serde_json::Value::Null,
            Tag::True => true.into(),
            Tag::False => false.into(),
            Tag::Plain | Tag::Decoded => self.as_str().into(),
            Tag::Integer | Tag::Real => self.as_number().map_or(serde_json::Value::Null, to_owned_number),
            Tag::Array => Array(self).iter().map(Value::to_owned_json).collect(),
            Tag::Object => {
                let members = Object(self).iter();
                let owned = members.map(|member| (member.name.to_owned(), member.value.to_owned_json()));
                serde_json::Value::Object(owned.collect())
            }
        }
    }

    fn tag(self) -> Tag {
        self.tape.node(self.index).tag()
    }
}

impl fmt::Debug for Value<'_> {
    /// Kind and place only: values may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Value").field("kind", &self.kind()).field("span", &self.span()).finish()
    }
}

fn to_owned_number(number: Number<'_>) -> serde_json::Value {
    match (number.as_i64(), number.as_u64()) {
        (Some(integer), _) => integer.into(),
        (None, Some(integer)) => integer.into(),
        (None, None) => number.as_f64().into(),
    }
}

/// An object: its members are in the order of the text, their names all different.
#[derive(Clone, Copy, Debug)]
pub struct Object<'a>(Value<'a>);

/// One member of an object.
#[derive(Clone, Debug)]
pub struct Member<'a> {
    /// Its name, decoded.
    pub name: &'a str,
    /// Where the name stands in the text, in bytes, quotes included.
    pub span: Range<usize>,
    /// Its value.
    pub value: Value<'a>,
}

impl<'a> Object<'a> {
    /// How many members it has.
    #[must_use]
    pub fn len(self) -> usize {
        self.0.tape.node(self.0.index).count()
    }

    /// Whether it has none.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The value of the member with exactly this name.
    #[must_use]
    pub fn get(self, name: &str) -> Option<Value<'a>> {
        self.iter().find(|member| member.name == name).map(|member| member.value)
    }

    /// Its members.
    pub fn iter(self) -> impl ExactSizeIterator<Item = Member<'a>> + FusedIterator + 'a {
        Items::of(self.0, 1).map(|name| {
            let node = name.tape.node(name.index);
            Member {
                name: name.tape.string(name.text, node),
                span: node.span(),
                value: Value { index: name.index.saturating_add(1), ..name },
            }
        })
    }
}

/// An array.
#[derive(Clone, Copy, Debug)]
pub struct Array<'a>(Value<'a>);

impl<'a> Array<'a> {
    /// How many values it has.
    #[must_use]
    pub fn len(self) -> usize {
        self.0.tape.node(self.0.index).count()
    }

    /// Whether it has none.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Its values.
    pub fn iter(self) -> impl ExactSizeIterator<Item = Value<'a>> + FusedIterator + 'a {
        Items::of(self.0, 0)
    }
}

/// The values of a container, or the names of an object.
struct Items<'a> {
    next: Value<'a>,
    left: usize,
    /// How many nodes stand between an item and the value behind which the next item is.
    names: usize,
}

impl<'a> Items<'a> {
    fn of(container: Value<'a>, names: usize) -> Self {
        let left = container.tape.node(container.index).count();
        Self { next: Value { index: container.index.saturating_add(1), ..container }, left, names }
    }
}

impl<'a> Iterator for Items<'a> {
    type Item = Value<'a>;

    fn next(&mut self) -> Option<Value<'a>> {
        self.left = self.left.checked_sub(1)?;
        let item = self.next;
        self.next.index = item.tape.behind(item.index.saturating_add(self.names));
        Some(item)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Items<'_> {}
impl FusedIterator for Items<'_> {}
