//! What the reader gives out for which bytes, however they are pushed.

use proptest::prelude::*;

use super::*;

const LIMIT: usize = 32;

fn reader() -> Reader {
    Reader::new(&Limits { max_frame: LIMIT, ..Limits::default() })
}

/// One line as it came out: its number, what was kept of it, and the verdict.
type Seen = (u64, Vec<u8>, Result<String, Refusal>);

fn drain(reader: &mut Reader, seen: &mut Vec<Seen>) {
    while let Some(verdict) =
        reader.next().map(|next| next.map(|frame| (frame.number(), frame.text().to_owned())))
    {
        if let Ok((number, text)) = &verdict {
            assert_eq!((*number, text.as_bytes()), (reader.lines(), reader.line()));
        }
        seen.push((reader.lines(), reader.line().to_vec(), verdict.map(|(_, text)| text)));
    }
}

/// Pushes the chunks one after the other, then the end.
fn read<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<Seen> {
    let mut reader = reader();
    let mut seen = Vec::new();
    for chunk in chunks {
        reader.push(chunk);
        drain(&mut reader, &mut seen);
    }
    reader.end();
    drain(&mut reader, &mut seen);
    seen
}

fn verdicts(bytes: &[u8]) -> Vec<Result<String, Refusal>> {
    read([bytes]).into_iter().map(|(_, _, verdict)| verdict).collect()
}

fn refused(bytes: &[u8]) -> (Reason, usize) {
    match verdicts(bytes).as_slice() {
        [Err(refusal)] => (refusal.reason(), refusal.offset()),
        other => panic!("{other:?} for {:?}", bytes.escape_ascii().to_string()),
    }
}

#[test]
fn lines_end_at_a_line_feed_and_lose_one_carriage_return() {
    assert_eq!(
        verdicts(b"{}\n[1]\r\n \t\"\xC3\xA9\"\x7F\t\n"),
        [Ok("{}".into()), Ok("[1]".into()), Ok(" \t\"é\"\x7F\t".into())]
    );
    assert_eq!(verdicts(b""), []);
}

#[test]
fn each_reason_is_given_at_its_place() {
    let long = [b'x'; LIMIT + 1];
    let cases: [(&[u8], Reason, usize); 27] = [
        (b"\n", Reason::FrameBlank, 0),
        (b"\r\n", Reason::FrameBlank, 0),
        (b" \t \n", Reason::FrameBlank, 0),
        (b"\r\r\n", Reason::FrameCarriageReturn, 0),
        (b"{\r}\n", Reason::FrameCarriageReturn, 1),
        (b"\x00{\r}\n", Reason::FrameCarriageReturn, 2),
        (b"{\x00}\n", Reason::FrameControlByte, 1),
        (b"{}\x1f\n", Reason::FrameControlByte, 2),
        (b"{}\x0b\n", Reason::FrameControlByte, 2),
        (b"{\xff\x00}\n", Reason::FrameNotUtf8, 1),
        (b"\"\xed\xa0\x80\"\n", Reason::FrameNotUtf8, 1),
        (b"\"\xc0\xaf\"\n", Reason::FrameNotUtf8, 1),
        (b"\"\xe2\x82\n", Reason::FrameNotUtf8, 1),
        (b"\xef\xbb\xbf{}\n", Reason::FrameByteOrderMark, 0),
        (b"\xef\xbb\xbf\xff\n", Reason::FrameByteOrderMark, 0),
        (b"\xff\xfe{}\n", Reason::FrameNotUtf8, 0),
        (b"{\0}\0\n", Reason::FrameControlByte, 1),
        (&long, Reason::FrameTooLong, LIMIT),
        (b"{}", Reason::FrameUnterminated, 2),
        (b"{}\r", Reason::FrameUnterminated, 3),
        (b"Content-Length: 2\r\n", Reason::FramingContentLength, 0),
        (b"content-length :2\n", Reason::FramingContentLength, 0),
        (b"CONTENT-TYPE: x/y\n", Reason::FramingContentLength, 0),
        (b"POST /mcp HTTP/1.1\r\n", Reason::FramingHttp, 0),
        (b"M-SEARCH * HTTP/1.1\r\n", Reason::FramingHttp, 0),
        (b"PRI * HTTP/2.0\r\n", Reason::FramingHttp, 0),
        (b"\x16\x03\x01\x02\x00", Reason::FramingTls, 0),
    ];
    for (bytes, reason, offset) in cases {
        assert_eq!(refused(bytes), (reason, offset), "{:?}", bytes.escape_ascii().to_string());
    }
}

#[test]
fn what_only_looks_like_another_framing_goes_on_to_the_parser() {
    for line in [
        "GET / HTTP",
        "get / HTTP/1.1",
        "GET HTTP/1.1",
        "Content-Length 2",
        "\"Content-Length: 2\"",
        "Hello: x",
    ] {
        assert_eq!(verdicts(format!("{line}\n").as_bytes()), [Ok(line.to_owned())]);
    }
}

#[test]
fn a_tls_hello_is_refused_before_any_line_feed_and_its_line_dropped() {
    let mut reader = reader();
    reader.push(b"\x16");
    assert!(reader.next().is_none());
    reader.push(b"\x03");
    assert_eq!(reader.next().map(Result::err), Some(Some(Refusal::new(Reason::FramingTls, 0))));
    reader.push(b"\x01 more\n{}\n");
    assert_eq!(reader.next().map(|next| next.map(Frame::text)), Some(Ok("{}")));
}

#[test]
fn the_limit_counts_the_line_without_its_end() {
    let longest = "x".repeat(LIMIT);
    assert_eq!(
        verdicts(format!("{longest}\n{longest}\r\n").as_bytes()),
        [Ok(longest.clone()), Ok(longest.clone())]
    );
    assert_eq!(refused(format!("{longest}x\n").as_bytes()), (Reason::FrameTooLong, LIMIT));
    assert_eq!(refused(format!("{longest}\r").as_bytes()), (Reason::FrameUnterminated, LIMIT + 1));
    assert_eq!(refused(format!("{longest}\rx").as_bytes()), (Reason::FrameTooLong, LIMIT));
}

#[test]
fn a_line_too_long_is_refused_as_soon_as_passed_and_the_next_is_read() {
    let mut reader = reader();
    reader.push(&[b'x'; LIMIT]);
    assert!(reader.next().is_none());
    reader.push(b"x");
    assert_eq!(reader.next().map(Result::err), Some(Some(Refusal::new(Reason::FrameTooLong, LIMIT))));
    assert_eq!(reader.line(), [b'x'; LIMIT]);
    reader.push(&[b'x'; 1000]);
    assert!(reader.next().is_none());
    assert!(reader.buffer.is_empty(), "dropped bytes are kept");
    reader.push(b"x\n{}\n");
    assert_eq!(reader.next().map(|next| next.map(Frame::text)), Some(Ok("{}")));
    assert_eq!(reader.lines(), 2);
    reader.end();
    assert!(reader.next().is_none());
}

#[test]
fn a_long_header_is_still_lost_framing() {
    let line = format!("Content-Length: {}\n", "9".repeat(LIMIT));
    assert_eq!(refused(line.as_bytes()), (Reason::FramingContentLength, 0));
}

#[test]
fn the_end_refuses_an_unterminated_rest_once() {
    let mut reader = reader();
    reader.push(b"{}\n{\"a\"");
    assert!(reader.next().is_some_and(|next| next.is_ok()));
    assert!(reader.next().is_none());
    reader.end();
    assert_eq!(reader.next().map(Result::err), Some(Some(Refusal::new(Reason::FrameUnterminated, 4))));
    assert_eq!(reader.line(), b"{\"a\"");
    assert!(reader.next().is_none());
}

#[test]
fn memory_is_bounded_while_an_endless_line_is_read_and_given_back_after_it() {
    const CHUNK: usize = 64 * 1024;
    const MAX_FRAME: usize = 4 * 1024 * 1024;
    let mut reader = Reader::new(&Limits { max_frame: MAX_FRAME, ..Limits::default() });
    let chunk = [b'x'; CHUNK];
    let mut refusals = 0;
    for _ in 0..(4 * MAX_FRAME / CHUNK) {
        reader.push(&chunk);
        while let Some(next) = reader.next() {
            assert_eq!(next.err().map(Refusal::reason), Some(Reason::FrameTooLong));
            refusals += 1;
        }
        assert!(reader.buffer.capacity() <= MAX_FRAME + CHUNK + 1, "{}", reader.buffer.capacity());
    }
    assert_eq!(refusals, 1);
    reader.push(b"\n{}\n");
    assert!(reader.next().is_some_and(|next| next.is_ok()));
    assert!(reader.buffer.capacity() <= RETAINED, "{}", reader.buffer.capacity());
}

#[test]
fn growing_never_copies_a_large_buffer() {
    const MAX_FRAME: usize = 8 * 1024 * 1024;
    let mut reader = Reader::new(&Limits { max_frame: MAX_FRAME, ..Limits::default() });
    let mut capacities = vec![0];
    for _ in 0..MAX_FRAME / 4096 {
        reader.push(&[b'x'; 4096]);
        assert!(reader.next().is_none());
        if capacities.last() != Some(&reader.buffer.capacity()) {
            capacities.push(reader.buffer.capacity());
        }
    }
    let copied = capacities.iter().rev().skip(1).max();
    assert!(copied.is_some_and(|largest| *largest <= RETAINED), "{capacities:?}");
}

#[test]
fn limits_beyond_the_ceiling_are_lowered_to_it() {
    assert_eq!(
        Reader::new(&Limits { max_frame: usize::MAX, ..Limits::default() }).max_frame,
        Limits::MAX_FRAME_CEILING
    );
}

#[test]
fn debug_shows_no_content() {
    let mut reader = reader();
    reader.push(b"\"s3cret\"\n");
    let shown = format!("{:?}", reader.next());
    assert!(!shown.contains("s3cret") && !format!("{reader:?}").contains("115, 51"), "{shown}");
}

/// Bytes that meet every rule often.
fn input() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        6 => Just(b"\n".to_vec()),
        2 => Just(b"\r\n".to_vec()),
        1 => Just(b"\r".to_vec()),
        1 => Just(b"\x16\x03".to_vec()),
        1 => Just(b"\x16".to_vec()),
        1 => Just(b"\xEF\xBB\xBF".to_vec()),
        2 => Just("é{}".as_bytes().to_vec()),
        1 => Just(b"Content-Length: 1".to_vec()),
        1 => Just(b"GET / HTTP/1.1".to_vec()),
        1 => Just(b" \t".to_vec()),
        2 => proptest::collection::vec(any::<u8>(), 0..4),
        3 => (0..LIMIT + 3).prop_map(|length| vec![b'x'; length]),
    ];
    proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_split_gives_the_same_lines(bytes in input(), mut cuts in proptest::collection::vec(0..1000_usize, 0..12)) {
        cuts.iter_mut().for_each(|cut| *cut = (*cut).min(bytes.len()));
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let whole = read([bytes.as_slice()]);
        prop_assert_eq!(&read(cuts.windows(2).map(|cut| &bytes[cut[0]..cut[1]])), &whole);
        prop_assert_eq!(&read(bytes.chunks(1)), &whole);
    }

    #[test]
    fn frames_keep_the_promises_of_their_type(bytes in input()) {
        for (expected, (number, kept, verdict)) in (1..).zip(read([bytes.as_slice()])) {
            prop_assert_eq!(number, expected);
            prop_assert!(kept.len() <= LIMIT + 1);
            if let Ok(text) = verdict {
                prop_assert!(text.len() <= LIMIT);
                prop_assert!(!text.trim_matches([' ', '\t']).is_empty());
                prop_assert!(!text.bytes().any(|byte| byte < 0x20 && byte != b'\t'));
                prop_assert!(!text.as_bytes().starts_with(&BYTE_ORDER_MARK));
            }
        }
    }
}
