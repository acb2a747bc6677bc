//! The reader: what comes out does not depend on how the bytes were split, keeps the promises of
//! `Frame`, and memory stays bounded.
//!
//! The first two bytes choose the frame limit and the length of the chunks; the rest is the input.

#![no_main]

use framegate_wire::frame::Reader;
use framegate_wire::{Limits, Refusal};
use libfuzzer_sys::fuzz_target;

type Seen = Vec<(u64, Vec<u8>, Result<String, Refusal>)>;

fn read<'a>(limit: usize, chunks: impl IntoIterator<Item = &'a [u8]>) -> Seen {
    let mut reader = Reader::new(&Limits { max_frame: limit, ..Limits::default() });
    let mut seen = Seen::new();
    let drain = |reader: &mut Reader, seen: &mut Seen| {
        while let Some(next) = reader.next() {
            let next = next.map(|frame| frame.text().to_owned());
            assert!(reader.line().len() <= limit + 1);
            seen.push((reader.lines(), reader.line().to_vec(), next));
        }
    };
    for chunk in chunks {
        reader.push(chunk);
        drain(&mut reader, &mut seen);
    }
    reader.end();
    drain(&mut reader, &mut seen);
    assert!(reader.next().is_none());
    seen
}

fuzz_target!(|data: &[u8]| {
    let [limit, length, input @ ..] = data else { return };
    let limit = usize::from(*limit).max(2);
    let whole = read(limit, [input]);
    assert_eq!(whole, read(limit, input.chunks(usize::from(*length).max(1))));
    assert_eq!(whole, read(limit, input.chunks(1)));
    for (index, (number, line, verdict)) in whole.iter().enumerate() {
        assert_eq!(*number, index as u64 + 1);
        if let Ok(text) = verdict {
            assert_eq!(text.as_bytes(), line);
            assert!(text.len() <= limit);
            assert!(!text.trim_matches([' ', '\t']).is_empty());
            assert!(!text.bytes().any(|byte| byte < 0x20 && byte != b'\t'));
        }
    }
    // Every complete line that is clean came out as a frame: nothing is swallowed.
    let lines = input.iter().filter(|byte| **byte == b'\n').count();
    assert!(whole.len() >= lines && whole.len() <= lines + 1);
});
