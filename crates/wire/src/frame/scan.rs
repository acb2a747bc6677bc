//! Finds bytes many at a time, in safe code that the compiler turns into vector instructions.
//!
//! Belongs here: searching byte slices.
//! Does not belong here: what is searched for, and why.

/// Large enough to pay for the vector set-up, small enough that short lines gain too.
const STRIDE: usize = 32;

/// The index of the first byte that `wanted` holds for.
pub(crate) fn position(bytes: &[u8], wanted: impl Fn(u8) -> bool + Copy) -> Option<usize> {
    let mut behind = 0_usize;
    let (strides, _) = bytes.as_chunks::<STRIDE>();
    for stride in strides {
        // Without an early exit: that is what lets it become a vector comparison.
        if stride
            .iter()
            .fold(false, |found, &byte| found | wanted(byte))
        {
            break;
        }
        behind = behind.saturating_add(STRIDE);
    }
    let rest = bytes.get(behind..).unwrap_or_default();
    let found = rest.iter().position(|&byte| wanted(byte))?;
    Some(behind.saturating_add(found))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_first_at_every_place() {
        for length in 0..100 {
            let mut bytes = vec![b'a'; length];
            assert_eq!(position(&bytes, |byte| byte == b'\n'), None);
            for at in (0..length).rev() {
                bytes[at] = b'\n';
                assert_eq!(position(&bytes, |byte| byte == b'\n'), Some(at));
            }
        }
    }
}
