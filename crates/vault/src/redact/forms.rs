//! What is searched for. Belongs here: each form of a secret as bytes, and how much of it must be found.
//! Must not: search, or list escaped spellings: `normal.rs` undoes those in the text.
//!
//! A form is found when it is whole, or when the part found stands for twelve bytes of the secret that
//! are not public. Forms: the secret; composed and decomposed, in upper and in lower case; with `+` for spaces;
//! reversed; each of these as `normal.rs` would take it, and without white space; in UTF-16; in
//! hexadecimal, with and without colons; in base32; in base64, in both alphabets, at three alignments, after
//! `user:`, and twice.

use std::ops::Range;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use unicode_normalization::UnicodeNormalization;
use zeroize::Zeroizing;

use super::index::LEAST_FORM;
use super::normal::{Blanks, Contents, View};
use super::public::Public;
use super::spellings::{self, LOWER, Spelling, each, push_hex};

/// A secret of so many bytes is found in upper and lower case alike; so is every part of it.
const FOLDED_FROM: usize = 16;
/// A part of so many bytes that are not public is found.
const FRAGMENT: usize = 12;
/// With fewer different bytes a part is no trace of a secret: rulers, padding, zeros.
const LEAST_DIFFERENT: usize = 4;

/// One form of one secret.
pub(super) struct Form {
    pub(super) bytes: Spelling,
    /// The number of the secret.
    pub(super) owner: usize,
    fold: bool,
    /// Where it stands for what is not public.
    core: Range<usize>,
    /// How many bytes of `core` stand for [`FRAGMENT`] bytes of the secret.
    need: usize,
}

impl Form {
    /// Whether the text's byte stands for the form's.
    pub(super) fn takes(&self, text: u8, form: u8) -> bool {
        text == form || (self.fold && text.eq_ignore_ascii_case(&form))
    }

    /// Whether the part is enough: where it stands for what is not public, and whether it is the whole form.
    pub(super) fn accepts(&self, from: usize, to: usize) -> Option<((usize, usize), bool)> {
        let core = (from.max(self.core.start), to.min(self.core.end));
        let part = self.bytes.get(core.0..core.1)?;
        let whole = from == 0 && to == self.bytes.len();
        (whole || (part.len() >= self.need && differ(part))).then_some((core, whole))
    }
}

fn differ(part: &[u8]) -> bool {
    let mut different = [0_u8; LEAST_DIFFERENT];
    let mut count: usize = 0;
    for byte in part {
        if different.get(..count).is_some_and(|known| known.contains(byte)) {
            continue;
        }
        let Some(place) = different.get_mut(count) else { return true };
        *place = *byte;
        count = count.saturating_add(1);
    }
    count >= LEAST_DIFFERENT
}

/// Every form of `secret`, each once.
pub(super) fn of(secret: &[u8], user: Option<&str>, owner: usize) -> Vec<Form> {
    let public = Public::of(secret);
    let mut forms = Forms { found: Vec::new(), owner, fold: secret.len() >= FOLDED_FROM };
    forms.texts(secret, public);
    forms.words(secret, public);
    let core = public.start..secret.len().saturating_sub(public.end);
    forms.base64(secret, core.clone());
    if let Some(user) = user {
        let before = [user.as_bytes(), b":"].concat();
        let inner = Zeroizing::new([before.as_slice(), secret].concat());
        let core = core.start.saturating_add(before.len())..core.end.saturating_add(before.len());
        forms.base64_at(&inner, 0, core, BASE64_NEED);
    }
    forms.found
}

struct Forms {
    found: Vec<Form>,
    owner: usize,
    fold: bool,
}

/// Characters of base64 that twelve bytes fill, wherever they begin in a group of three.
const BASE64_NEED: usize = 15;
/// The same of base64 that is encoded again.
const BASE64_TWICE_NEED: usize = 19;

impl Forms {
    /// Forms that are shorter than what the search can find are left out: of a secret of at least twelve
    /// bytes, only the rest of one that is mostly white space.
    fn add(&mut self, bytes: Spelling, fold: bool, core: Range<usize>, need: usize) {
        let need = need.min(core.len());
        let known =
            |form: &Form| form.core == core && form.bytes.as_slice() == bytes.as_slice() && form.fold == fold;
        if bytes.len() >= LEAST_FORM && !self.found.iter().any(known) {
            self.found.push(Form { bytes, owner: self.owner, fold, core, need });
        }
    }

    fn text(&mut self, text: &[u8], public: Public) {
        let core = |bytes: &[u8]| public.start..bytes.len().saturating_sub(public.end);
        self.add(Zeroizing::new(text.to_vec()), self.fold, core(text), FRAGMENT);
        let contents = Contents::of(text);
        let mut escaped = Vec::new();
        if contents.escapes() {
            // They are the same text to a reader, but for where an escape is cut in two by another.
            escaped = spellings::escaped(text);
            for spelling in &escaped {
                let mut bytes = View::new(spelling, Blanks::Kept).bytes;
                // They join with what follows, as in `\\"`.
                while bytes.last() == Some(&b'\\') {
                    bytes.pop();
                }
                // Of a secret that is little more than escapes too little is left to search for.
                if bytes.len() < LEAST_FORM {
                    bytes = spelling.clone();
                }
                let core = core(&bytes);
                self.add(bytes, self.fold, core, FRAGMENT);
            }
        }
        if contents.escapes_or_blanks() {
            let shown = |part: Option<&[u8]>| View::new(part.unwrap_or_default(), Blanks::Dropped).bytes;
            let end = text.len().saturating_sub(public.end);
            let (start, end) = (shown(text.get(..public.start)).len(), shown(text.get(end..)).len());
            for spelling in std::iter::once(text).chain(escaped.iter().map(|spelling| spelling.as_slice())) {
                let bytes = shown(Some(spelling));
                let core = start..bytes.len().saturating_sub(end);
                self.add(bytes, self.fold, core, FRAGMENT);
            }
        }
    }

    /// Forms with the secret's own characters.
    fn texts(&mut self, secret: &[u8], public: Public) {
        self.text(secret, public);
        let turned = Public { start: public.end, end: public.start };
        let Ok(text) = std::str::from_utf8(secret) else {
            self.text(&gathered(secret.len(), secret.iter().rev().map(|byte| [*byte])), turned);
            return;
        };
        self.text(&characters(text, text.chars().rev()), turned);
        if !text.is_ascii() {
            self.text(&characters(text, text.nfc()), public);
            self.text(&characters(text, text.nfd()), public);
            if self.fold {
                self.text(&characters(text, text.chars().flat_map(char::to_lowercase)), public);
                self.text(&characters(text, text.chars().flat_map(char::to_uppercase)), public);
            }
        }
        if text.contains(' ') {
            let plus = each(secret, 1, |byte, output| output.push(if byte == b' ' { b'+' } else { byte }));
            self.text(&plus, public);
        }
    }

    /// Forms in which each byte or each few bytes have their own characters.
    fn words(&mut self, secret: &[u8], public: Public) {
        let end = secret.len().saturating_sub(public.end);
        let times = |count: usize| public.start.saturating_mul(count)..end.saturating_mul(count);
        if let Ok(text) = std::str::from_utf8(secret) {
            for order in [u16::to_le_bytes, u16::to_be_bytes] {
                let units =
                    |text: &str| gathered(text.len().saturating_mul(2), text.encode_utf16().map(order));
                let bytes = units(text);
                // What is public is ASCII.
                let core =
                    public.start.saturating_mul(2)..bytes.len().saturating_sub(public.end.saturating_mul(2));
                self.add(bytes, self.fold, core, FRAGMENT.saturating_mul(2));
            }
        }
        let hex = each(secret, 2, |byte, output| push_hex(b"", byte, LOWER, output));
        self.add(hex, true, times(2), FRAGMENT.saturating_mul(2));
        let mut colons = each(secret, 3, |byte, output| push_hex(b":", byte, LOWER, output));
        colons.drain(..1);
        self.add(colons, true, times(3), FRAGMENT.saturating_mul(3).saturating_sub(1));
        let core = public.start.saturating_mul(8) / 5..end.saturating_mul(8).div_ceil(5);
        // Of twelve bytes, 18 characters hold nothing else.
        self.add(base32(secret), true, core, 18);
    }

    /// `secret` alone and inside longer base64, once and twice.
    fn base64(&mut self, secret: &[u8], core: Range<usize>) {
        for shift in 0..3 {
            self.base64_at(secret, shift, core.clone(), BASE64_NEED);
        }
        for inner in alphabets(encode(secret)) {
            let core = base64_range(&core, 0);
            for shift in 0..3 {
                self.base64_at(&inner, shift, core.clone(), BASE64_TWICE_NEED);
            }
        }
    }

    /// `bytes` in base64, as they stand in it after `shift` other bytes. The characters at the start that
    /// also hold bits of those are left out.
    fn base64_at(&mut self, bytes: &[u8], shift: usize, core: Range<usize>, need: usize) {
        let shifted = Zeroizing::new([[0; 2].get(..shift).unwrap_or_default(), bytes].concat());
        let shared = shift.saturating_mul(8).div_ceil(6);
        let core = base64_range(&core, shift);
        for mut text in alphabets(encode(&shifted)) {
            let left_out = shared.min(text.len());
            text.drain(..left_out);
            let core = core.start.saturating_sub(shared)..core.end.saturating_sub(shared).min(text.len());
            self.add(text, false, core, need);
        }
    }
}

/// The characters of base64 that stand for the bytes in `range`, which follow `shift` others.
fn base64_range(range: &Range<usize>, shift: usize) -> Range<usize> {
    let bits = |place: usize| place.saturating_add(shift).saturating_mul(8);
    bits(range.start) / 6..bits(range.end).div_ceil(6)
}

fn encode(bytes: &[u8]) -> Spelling {
    let mut text = Zeroizing::new(vec![0; bytes.len().div_ceil(3).saturating_mul(4)]);
    // It fits: four characters for each group of three bytes.
    let _ = STANDARD.encode_slice(bytes, &mut text);
    text
}

/// Both alphabets, if they differ for this text (RFC 4648 sections 4 and 5).
fn alphabets(standard: Spelling) -> impl Iterator<Item = Spelling> {
    let differ = standard.iter().any(|byte| matches!(byte, b'+' | b'/'));
    let url = differ.then(|| {
        each(&standard, 1, |byte, output| {
            output.push(match byte {
                b'+' => b'-',
                b'/' => b'_',
                other => other,
            });
        })
    });
    std::iter::once(standard).chain(url)
}

/// RFC 4648 section 6, with padding.
fn base32(bytes: &[u8]) -> Spelling {
    const ALPHABET: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    let mut output = Zeroizing::new(Vec::with_capacity(bytes.len().div_ceil(5).saturating_mul(8)));
    for group in bytes.chunks(5) {
        let value =
            (0..5).fold(0_u64, |value, at| (value << 8) | u64::from(group.get(at).copied().unwrap_or(0)));
        let used = group.len().saturating_mul(8).div_ceil(5);
        for (at, shift) in (0..8_u32).rev().map(|place| place.saturating_mul(5)).enumerate() {
            let index = usize::try_from((value >> shift) & 31).unwrap_or(0);
            let letter = ALPHABET.get(index).copied().unwrap_or(b'A');
            output.push(if at < used { letter } else { b'=' });
        }
    }
    output
}

/// Text from characters of `source`; decomposed, or in the other case, it has at most three times its bytes.
fn characters(source: &str, characters: impl Iterator<Item = char>) -> Spelling {
    let mut output = Zeroizing::new(Vec::with_capacity(source.len().saturating_mul(3)));
    for character in characters {
        output.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    }
    output
}

fn gathered<const N: usize>(capacity: usize, pieces: impl Iterator<Item = [u8; N]>) -> Spelling {
    let mut output = Zeroizing::new(Vec::with_capacity(capacity));
    pieces.for_each(|piece| output.extend_from_slice(&piece));
    output
}
