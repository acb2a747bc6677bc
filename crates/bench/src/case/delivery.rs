//! How a frame reaches a target: whole, or in pieces.
//!
//! Belongs here: where a frame is cut. Does not belong here: writing it.

use framegate_corpus::boundaries;

/// How many pieces a frame is cut into at most.
const MAX_CUTS: usize = 12;
/// The longest frame that is sent byte by byte.
const MAX_BYTES: usize = 2_000;

/// A way of delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Delivery {
    /// One write.
    Whole,
    /// Cut where readers of pieces go wrong.
    Cut,
    /// Every byte alone.
    Bytes,
}

impl Delivery {
    /// What an id ends with.
    pub(super) const fn suffix(self) -> &'static str {
        match self {
            Self::Whole => "",
            Self::Cut => "~cut",
            Self::Bytes => "~bytes",
        }
    }

    /// Where to cut, ascending, each within the frame.
    pub(super) fn cuts(self, frame: &[u8]) -> Vec<usize> {
        match self {
            Self::Whole => Vec::new(),
            Self::Bytes if frame.len() <= MAX_BYTES => (1..frame.len()).collect(),
            Self::Bytes | Self::Cut => {
                let all = boundaries(frame);
                let step = all.len().div_ceil(MAX_CUTS.saturating_sub(1)).max(1);
                let mut cuts: Vec<_> = all.into_iter().step_by(step).collect();
                cuts.extend(first_value_end(frame).filter(|end| *end < frame.len()));
                cuts.sort_unstable();
                cuts.dedup();
                cuts
            }
        }
    }
}

/// Where the first object or array ends: whoever acts as soon as it has one acts here.
fn first_value_end(frame: &[u8]) -> Option<usize> {
    let begin = frame.iter().position(|byte| matches!(byte, b'{' | b'['))?;
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for (at, byte) in frame.iter().enumerate().skip(begin) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => depth = depth.saturating_add(1),
            b'}' | b']' if !in_string => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return at.checked_add(1);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_are_few_and_hold_the_end_of_the_first_value() {
        let frame = b"{\"a\":\"}\\\"\",\"b\":[1]} trailing {\"c\":2}\n";
        let end = frame.windows(10).position(|window| window == b" trailing ").unwrap();
        let cuts = Delivery::Cut.cuts(frame);
        assert!(cuts.contains(&end), "{cuts:?} without {end}");
        assert!(
            cuts.len() <= MAX_CUTS
                && cuts.is_sorted()
                && cuts.iter().all(|cut| (1..frame.len()).contains(cut))
        );
        assert!(Delivery::Whole.cuts(frame).is_empty());
        assert_eq!(Delivery::Bytes.cuts(frame).len(), frame.len() - 1);
        assert!(Delivery::Bytes.cuts(&[b'x'; 5_000]).len() <= MAX_CUTS);
        assert_eq!(Delivery::Cut.cuts(b"{}"), [1]);
    }
}
