//! The search. Belongs here: finding the forms of secrets, whole or in part, in any bytes. Must not:
//! know what a form is, or undo escapes.
//!
//! As in a search for similar genes: every eight bytes of every form are in a table; of the text, eight
//! bytes at every fourth place are looked up; where they are known, text and form are compared in both
//! directions as far as they agree. A run of eleven bytes holds such a place wherever it begins. An
//! automaton would need a pattern for each part of twelve bytes of each form.

use zeroize::Zeroizing;

use super::forms::Form;
use crate::VaultError;

/// Bytes that are looked up at once.
const GRAM: usize = 8;
/// A look-up at each of these.
const STRIDE: usize = 4;
/// A shorter form may be missed.
pub(super) const LEAST_FORM: usize = GRAM + STRIDE - 1;

/// Every form of every secret, ready to be searched for.
pub(super) struct Index {
    forms: Vec<Form>,
    /// One bit for each hash: whether any gram has it.
    filter: Zeroizing<Vec<u64>>,
    filter_bits: u32,
    /// For each shorter hash, where in `places` its grams begin; one more at the end.
    starts: Zeroizing<Vec<u32>>,
    bucket_bits: u32,
    /// The number of the form in the upper half, the place in it in the lower.
    places: Zeroizing<Vec<u64>>,
}

/// Part of a text that is a form, or enough of one.
#[derive(Clone, Copy)]
pub(super) struct Hit {
    pub(super) start: usize,
    pub(super) end: usize,
    /// What of it is not public.
    pub(super) core: (usize, usize),
    pub(super) owner: usize,
    pub(super) whole: bool,
}

/// How much comparing a text is worth. Only a text made to be slow, and a secret that repeats itself,
/// come near the end of it.
pub(super) struct Effort {
    left: usize,
}

impl Effort {
    const PER_BYTE: usize = 256;

    pub(super) fn for_bytes(count: usize) -> Self {
        Self { left: count.saturating_add(1024).saturating_mul(Self::PER_BYTE) }
    }

    /// Whether the search was given up: what was found is not all there is.
    pub(super) fn is_exhausted(&self) -> bool {
        self.left == 0
    }

    fn spend(&mut self, steps: usize) {
        self.left = self.left.saturating_sub(steps);
    }
}

impl Index {
    pub(super) fn new(forms: Vec<Form>) -> Result<Self, VaultError> {
        let count: usize =
            forms.iter().map(|form| form.bytes.len().saturating_sub(GRAM.saturating_sub(1))).sum();
        let bits = usize::BITS.saturating_sub(count.leading_zeros());
        let (bucket_bits, filter_bits) = (bits.clamp(8, 20), bits.saturating_add(5).clamp(13, 24));
        let mut index = Self {
            forms,
            filter: Zeroizing::new(vec![0; 1_usize << filter_bits.saturating_sub(6)]),
            filter_bits,
            starts: Zeroizing::new(vec![0; (1_usize << bucket_bits).saturating_add(1)]),
            bucket_bits,
            places: Zeroizing::new(vec![0; count]),
        };
        index.fill().ok_or(VaultError::RedactorTooLarge)?;
        Ok(index)
    }

    /// Sorts the grams by hash: counts them, adds up, puts each in its place.
    fn fill(&mut self) -> Option<()> {
        for form in &self.forms {
            for gram in form.bytes.windows(GRAM) {
                let hash = hash(gram)?;
                let (word, bit) = filter_place(hash, self.filter_bits);
                *self.filter.get_mut(word)? |= bit;
                let bucket = shorten(hash, self.bucket_bits);
                let count = self.starts.get_mut(bucket)?;
                *count = count.checked_add(1)?;
            }
        }
        let mut total: u32 = 0;
        for start in self.starts.iter_mut() {
            total = total.checked_add(*start)?;
            *start = total;
        }
        // Each bucket is filled from its end, so that its start is left in `starts`.
        for (number, form) in self.forms.iter().enumerate() {
            let number = u64::from(u32::try_from(number).ok()?) << 32;
            for (at, gram) in form.bytes.windows(GRAM).enumerate() {
                let start = self.starts.get_mut(shorten(hash(gram)?, self.bucket_bits))?;
                *start = start.checked_sub(1)?;
                let place = self.places.get_mut(usize::try_from(*start).ok()?)?;
                *place = number | u64::from(u32::try_from(at).ok()?);
            }
        }
        Some(())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.forms.is_empty()
    }

    /// Every part of `text` that is a form or enough of one, in no order, overlapping ones too.
    pub(super) fn find(&self, text: &[u8], effort: &mut Effort) -> Vec<Hit> {
        let mut search = Search { index: self, text, live: Vec::new(), hits: Vec::new() };
        for (at, gram) in text.windows(GRAM).enumerate().step_by(STRIDE) {
            let Some(hash) = hash(gram) else { continue };
            let (word, bit) = filter_place(hash, self.filter_bits);
            if self.filter.get(word).is_some_and(|filter| filter & bit != 0) {
                if effort.is_exhausted() {
                    break;
                }
                search.look_closer(at, shorten(hash, self.bucket_bits), effort);
            }
        }
        search.hits
    }

    fn bucket(&self, number: usize) -> &[u64] {
        let bound = |at: usize| self.starts.get(at).and_then(|start| usize::try_from(*start).ok());
        bound(number)
            .zip(bound(number.saturating_add(1)))
            .and_then(|(start, end)| self.places.get(start..end))
            .unwrap_or_default()
    }
}

/// Without the difference between upper and lower case.
fn hash(gram: &[u8]) -> Option<u64> {
    let folded = u64::from_le_bytes(*gram.first_chunk::<GRAM>()?) | 0x2020_2020_2020_2020;
    Some(folded.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// The first `bits` of `hash`, of at most 24.
fn shorten(hash: u64, bits: u32) -> usize {
    usize::try_from(hash >> 64_u32.saturating_sub(bits)).unwrap_or(0)
}

/// The word of the filter, and the bit in it.
fn filter_place(hash: u64, bits: u32) -> (usize, u64) {
    let place = shorten(hash, bits);
    (place >> 6, 1_u64 << (place & 63))
}

struct Search<'a> {
    index: &'a Index,
    text: &'a [u8],
    /// Where text and forms agree at the moment, so that no comparison is made twice.
    live: Vec<Agreement>,
    hits: Vec<Hit>,
}

struct Agreement {
    form: usize,
    /// Place in the text less place in the form.
    shift: usize,
    end: usize,
}

impl Search<'_> {
    fn look_closer(&mut self, at: usize, bucket: usize, effort: &mut Effort) {
        self.live.retain(|agreement| agreement.end > at);
        for place in self.index.bucket(bucket) {
            effort.spend(self.live.len().saturating_add(1));
            if effort.is_exhausted() {
                return;
            }
            let halves = (usize::try_from(place >> 32), usize::try_from(place & 0xffff_ffff));
            let (Ok(form), Ok(inside)) = halves else { continue };
            self.compare(at, form, inside, effort);
        }
    }

    fn compare(&mut self, at: usize, number: usize, inside: usize, effort: &mut Effort) {
        let shift = at.wrapping_sub(inside);
        if self.live.iter().any(|known| known.form == number && known.shift == shift) {
            return;
        }
        let Some(form) = self.index.forms.get(number) else { return };
        let same = |(left, right): &(&u8, &u8)| form.takes(**left, **right);
        let (Some(before), Some(after)) = (self.text.get(..at), self.text.get(at..)) else { return };
        let (Some(form_before), Some(form_after)) = (form.bytes.get(..inside), form.bytes.get(inside..))
        else {
            return;
        };
        let right = after.iter().zip(form_after).take_while(same).count();
        if right < GRAM {
            effort.spend(right);
            return;
        }
        let left = before.iter().rev().zip(form_before.iter().rev()).take_while(same).count();
        effort.spend(right.saturating_add(left));
        let (start, end) = (at.saturating_sub(left), at.saturating_add(right));
        self.live.push(Agreement { form: number, shift, end });
        let (from, to) = (inside.saturating_sub(left), inside.saturating_add(right));
        let Some((core, whole)) = form.accepts(from, to) else { return };
        let in_text = |place: usize| place.wrapping_add(shift);
        self.hits.push(Hit {
            start,
            end,
            core: (in_text(core.0), in_text(core.1)),
            owner: form.owner,
            whole,
        });
    }
}
