//! Finds bytes many at a time, in safe code that the compiler turns into vector instructions.
//!
//! Belongs here: searching byte slices.
//! Does not belong here: what is searched for, and why.

/// Large enough to pay for the vector set-up, small enough that short lines gain too.
const STRIDE: usize = 64;

/// The index of the first byte that `wanted` holds for.
#[inline(always)]
pub(crate) fn position(bytes: &[u8], wanted: impl Fn(u8) -> bool + Copy) -> Option<usize> {
    let start = without(bytes, wanted);
    let rest = bytes.get(start..).unwrap_or_default();
    let found = rest.iter().position(|&byte| wanted(byte))?;
    Some(start.saturating_add(found))
}

/// How many bytes at the beginning are known to hold none that `wanted` holds for: a multiple of
/// [`STRIDE`]; the next stride holds one, or is not whole.
#[inline(always)]
pub(crate) fn without(bytes: &[u8], wanted: impl Fn(u8) -> bool + Copy) -> usize {
    let mut rest = bytes;
    while let Some((stride, behind)) = rest.split_first_chunk::<STRIDE>() {
        // Without an early exit: that is what lets it become vector comparisons.
        let mut found = 0_u8;
        for &byte in stride {
            found |= u8::from(wanted(byte));
        }
        if found != 0 {
            break;
        }
        rest = behind;
    }
    bytes.len().saturating_sub(rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_first_at_every_place() {
        for length in 0..200 {
            let mut bytes = vec![b'a'; length];
            assert_eq!(position(&bytes, |byte| byte == b'\n'), None);
            for at in (0..length).rev() {
                bytes[at] = b'\n';
                assert_eq!(position(&bytes, |byte| byte == b'\n'), Some(at));
            }
        }
    }
}
