//! TOML text to a tree whose every key and value knows its place, and typed reads from it.
//!
//! Belongs here: decoding, syntax faults, duplicate and unknown keys, types, integer bounds.
//! Does not belong here: what a table means.

use core::ops::{Range, RangeInclusive};

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use super::fault::{Report, quoted};
use super::{credential, suggest};

/// A configuration file holds at most 1 MiB.
pub(super) const MAX_BYTES: usize = 1024 * 1024;

/// The bytes as text, or as much of them as can be quoted with the fault that was reported.
pub(super) fn decode(bytes: &[u8], report: &mut Report) -> Result<String, String> {
    let utf16 = bytes.starts_with(&[0xFF, 0xFE])
        || bytes.starts_with(&[0xFE, 0xFF])
        || matches!(bytes, [0, _, ..] | [_, 0, ..]);
    if utf16 {
        report.error(&(0..0), "the file is UTF-16, not UTF-8", "save it as UTF-8");
        return Err(String::new());
    }
    match core::str::from_utf8(bytes) {
        Ok(text) => Ok(text.to_owned()),
        Err(fault) => {
            let at = fault.valid_up_to();
            report.error(&(at..at.saturating_add(1)), "a byte here is not UTF-8", "save the file as UTF-8");
            // Each wrong byte becomes one character of one byte: places stay.
            let mut text = String::with_capacity(bytes.len());
            for chunk in bytes.utf8_chunks() {
                text.push_str(chunk.valid());
                text.extend(chunk.invalid().iter().map(|_| '?'));
            }
            credential::sweep_lines(&text, report);
            Err(text)
        }
    }
}

/// The tree of a document, or `None` when the syntax is so wrong that nothing else can be judged.
pub(super) fn parse<'t>(text: &'t str, report: &mut Report) -> Option<DeTable<'t>> {
    if text.starts_with('\u{FEFF}') {
        report.error(
            &(0..'\u{FEFF}'.len_utf8()),
            "the file starts with a byte order mark",
            "save it as UTF-8 without one",
        );
        credential::sweep_lines(text, report);
        return None;
    }
    let (tree, faults) = DeTable::parse_recoverable(text);
    let mut sound = true;
    for fault in &faults {
        let span = fault.span().unwrap_or(0..0);
        match fault.message() {
            "duplicate key" => {
                report.error(&span, format!("{} is given twice", name_at(text, &span)), "remove one of them")
            }
            message if message.contains("recur") => {
                sound = false;
                report.bare_error(&span, "arrays or tables are nested too deeply");
                break;
            }
            message => {
                sound = false;
                let message = message.split(", expected nothing").next().unwrap_or(message);
                report.bare_error(&span, message);
            }
        }
    }
    if sound {
        let tree = tree.into_inner();
        credential::sweep(&tree, report);
        Some(tree)
    } else {
        credential::sweep_lines(text, report);
        None
    }
}

fn name_at(text: &str, span: &Range<usize>) -> String {
    quoted(text.get(span.clone()).unwrap_or("a key").trim_matches(['"', '\'']))
}

/// A key with its value.
#[derive(Clone, Debug)]
pub(super) struct Entry<'d> {
    /// The key.
    pub(super) key: &'d str,
    /// Where the key stands.
    pub(super) key_span: Range<usize>,
    /// The value.
    pub(super) value: &'d DeValue<'d>,
    /// Where the value stands; for a table with a header, the header.
    pub(super) span: Range<usize>,
}

/// A string with its place.
#[derive(Clone, Debug)]
pub(super) struct Text<'d> {
    /// The decoded text.
    pub(super) text: &'d str,
    /// Where it stands, quotes included.
    pub(super) span: Range<usize>,
}

/// Where a value and its key stand.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// The key; for an item of an array, the item.
    pub(super) key: Range<usize>,
    /// The value.
    pub(super) value: Range<usize>,
}

/// A table with its place and its name for messages.
#[derive(Clone, Debug)]
pub(super) struct Table<'d> {
    entries: &'d DeTable<'d>,
    /// The header, or the braces.
    pub(super) span: Range<usize>,
    title: String,
}

impl<'d> Table<'d> {
    /// The whole document.
    pub(super) fn root(tree: &'d DeTable<'d>) -> Self {
        Self { entries: tree, span: 0..0, title: "the file".to_owned() }
    }

    /// All entries in the order of the file.
    pub(super) fn entries(&self) -> impl Iterator<Item = Entry<'d>> + use<'d> {
        self.entries.iter().map(|(key, value)| entry(key, value))
    }

    /// The entry of this key.
    pub(super) fn get(&self, key: &str) -> Option<Entry<'d>> {
        self.entries.get_key_value(key).map(|(key, value)| entry(key, value))
    }

    /// The entry of this key, which must be there.
    pub(super) fn required(&self, key: &str, example: &str, report: &mut Report) -> Option<Entry<'d>> {
        let entry = self.get(key);
        if entry.is_none() {
            report.error(
                &self.span,
                format!("`{key}` is missing in {}", self.title),
                format!("write `{example}`"),
            );
        }
        entry
    }

    /// Refuses every key that is not one of `keys`.
    pub(super) fn only(&self, keys: &[&str], report: &mut Report) {
        for entry in self.entries() {
            if keys.contains(&entry.key) {
                continue;
            }
            let problem = format!("unknown key {} in {}", quoted(entry.key), self.title);
            // Far fewer are shown, and a suggestion costs more than all the rest.
            if report.errors() > 1000 {
                report.bare_error(&entry.key_span, problem);
                continue;
            }
            let near = suggest::nearest(entry.key, keys.iter().copied());
            if near.is_none() && credential::may_hold_secret(entry.key) {
                report.mask(&entry.span);
                report.error(&entry.key_span, problem, credential::HINT);
                continue;
            }
            match suggest::hint(entry.key, keys.iter().copied()) {
                Some(hint) => report.error(&entry.key_span, problem, hint),
                None => report.bare_error(&entry.key_span, problem),
            }
        }
    }

    /// A table that may be left out.
    pub(super) fn table(&self, key: &str, report: &mut Report) -> Option<Table<'d>> {
        self.get(key)?.table(&format!("[{key}]"), report)
    }

    /// A string that may be left out.
    pub(super) fn string(&self, key: &str, report: &mut Report) -> Option<Text<'d>> {
        self.get(key)?.string(report)
    }

    /// A truth value that may be left out.
    pub(super) fn boolean(&self, key: &str, report: &mut Report) -> Option<bool> {
        self.get(key)?.boolean(report)
    }

    /// An integer within bounds that may be left out.
    pub(super) fn integer<T: TryFrom<i64>>(
        &self,
        key: &str,
        bounds: RangeInclusive<i64>,
        report: &mut Report,
    ) -> Option<T> {
        self.get(key)?.integer(bounds, report)
    }

    /// The place that `keys` lead to: the last of them that is there.
    pub(super) fn place(&self, keys: &[String]) -> Place {
        let start = Place { key: self.span.clone(), value: self.span.clone() };
        let Some((first, rest)) = keys.split_first() else {
            return start;
        };
        match self.get(first) {
            Some(entry) => {
                let place = Place { key: entry.key_span, value: entry.span };
                deepest(entry.value, place, rest)
            }
            None => start,
        }
    }
}

impl<'d> Entry<'d> {
    /// The value as a table, called `title` in messages.
    pub(super) fn table(&self, title: &str, report: &mut Report) -> Option<Table<'d>> {
        match self.value {
            DeValue::Table(entries) => {
                Some(Table { entries, span: self.span.clone(), title: title.to_owned() })
            }
            _ => self.wrong_type("a table", report),
        }
    }

    /// The value as a string.
    pub(super) fn string(&self, report: &mut Report) -> Option<Text<'d>> {
        match self.value {
            DeValue::String(text) => Some(Text { text, span: self.span.clone() }),
            _ => self.wrong_type("a string", report),
        }
    }

    /// The value, if it is an array.
    pub(super) fn array_or_none(&self) -> Option<&'d DeArray<'d>> {
        match self.value {
            DeValue::Array(array) => Some(array),
            _ => None,
        }
    }

    /// The value as a truth value.
    pub(super) fn boolean(&self, report: &mut Report) -> Option<bool> {
        match self.value {
            DeValue::Boolean(value) => Some(*value),
            _ => self.wrong_type("`true` or `false`", report),
        }
    }

    /// The value as an integer within bounds.
    pub(super) fn integer<T: TryFrom<i64>>(
        &self,
        bounds: RangeInclusive<i64>,
        report: &mut Report,
    ) -> Option<T> {
        let DeValue::Integer(integer) = self.value else {
            return self.wrong_type("an integer", report);
        };
        let value = i64::from_str_radix(integer.as_str(), integer.radix()).ok();
        let value = value.filter(|value| bounds.contains(value)).and_then(|value| T::try_from(value).ok());
        if value.is_none() {
            let (least, greatest) = bounds.into_inner();
            let bounds = match (least, greatest) {
                (i64::MIN, i64::MAX) => "fit in 64 bits".to_owned(),
                (least, i64::MAX) => format!("be at least {least}"),
                (least, greatest) => format!("be from {least} to {greatest}"),
            };
            report.bare_error(&self.span, format!("{} must {bounds}", quoted(self.key)));
        }
        value
    }

    /// The value as an array.
    pub(super) fn array(&self, report: &mut Report) -> Option<&'d DeArray<'d>> {
        match self.value {
            DeValue::Array(items) => Some(items),
            _ => self.wrong_type("an array", report),
        }
    }

    /// The items of an array, each under this entry's key.
    pub(super) fn items(&self, report: &mut Report) -> Option<Vec<Entry<'d>>> {
        let items = self.array(report)?;
        let item = |item: &'d Spanned<DeValue<'d>>| Entry {
            key: self.key,
            key_span: self.key_span.clone(),
            value: item.get_ref(),
            span: item.span(),
        };
        Some(items.iter().map(item).collect())
    }

    /// The strings of an array of strings. An item of another type is reported and left out.
    pub(super) fn strings(&self, report: &mut Report) -> Option<Vec<Text<'d>>> {
        let mut texts = Vec::new();
        for item in self.items(report)? {
            if let DeValue::String(text) = item.value {
                texts.push(Text { text, span: item.span });
            } else {
                let problem = format!("an item of {} must be a string", quoted(self.key));
                report.bare_error(&item.span, problem);
            }
        }
        Some(texts)
    }

    /// Reports that the value has another type than `wanted`.
    pub(super) fn wrong_type<T>(&self, wanted: &str, report: &mut Report) -> Option<T> {
        let found = match self.value {
            DeValue::String(_) => "a string",
            DeValue::Integer(_) => "an integer",
            DeValue::Float(_) => "a float",
            DeValue::Boolean(_) => "a truth value",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "an array",
            DeValue::Table(_) => "a table",
        };
        report.bare_error(&self.span, format!("{} must be {wanted}, not {found}", quoted(self.key)));
        None
    }
}

fn entry<'d>(key: &'d Spanned<std::borrow::Cow<'d, str>>, value: &'d Spanned<DeValue<'d>>) -> Entry<'d> {
    Entry { key: key.get_ref(), key_span: key.span(), value: value.get_ref(), span: value.span() }
}

fn deepest(value: &DeValue<'_>, place: Place, keys: &[String]) -> Place {
    let Some((first, rest)) = keys.split_first() else {
        return place;
    };
    let next = match value {
        DeValue::Table(table) => table.get_key_value(first.as_str()).map(|(key, value)| (value, key.span())),
        DeValue::Array(items) => {
            let item = first.parse::<usize>().ok().and_then(|index| items.get(index));
            item.map(|item| (item, item.span()))
        }
        _ => None,
    };
    match next {
        Some((next, key)) => {
            let place = Place { key, value: next.span() };
            deepest(next.get_ref(), place, rest)
        }
        None => place,
    }
}
