//! Answers whose end can be read in two ways, or not at all.
//!
//! Belongs here: lengths, codings, chunks, bodies where there are none, trailers (RFC 9112, 6 and 7).
//! Does not belong here: status lines and fields (`fields`).

use super::row::{Row, run};

/// 200 with these fields, a blank line and what else is in `rest`.
fn ok(rest: &str) -> String {
    format!("HTTP/1.1 200 OK\r\n{rest}")
}

fn chunked(rest: &str) -> String {
    ok(&format!("transfer-encoding: chunked\r\n\r\n{rest}"))
}

#[tokio::test(start_paused = true)]
async fn a_length_has_one_reading_or_none() {
    let mut rows = vec![
        Row::unsound("two equal fields", ok("content-length: 2\r\ncontent-length: 2\r\n\r\n{}")),
        Row::unsound("two different fields", ok("content-length: 2\r\ncontent-length: 3\r\n\r\n{} ")),
        Row::unsound(
            "with a transfer coding",
            ok("content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"),
        ),
        Row::unsound(
            "after a transfer coding",
            ok("transfer-encoding: chunked\r\ncontent-length: 2\r\n\r\n2\r\n{}\r\n0\r\n\r\n"),
        ),
        Row::unsound(
            "with a coding of another name",
            ok("content-length: 2\r\ntransfer-encoding: peer\r\n\r\n{}"),
        ),
        Row::ended("longer than the body", ok("content-length: 3\r\n\r\n{}")),
        Row::done("leading zeros", ok("content-length: 0002\r\n\r\n{}"), "\"body\":\"{}\""),
        Row::done(
            "shorter than what comes",
            ok("content-length: 2\r\n\r\n{}HTTP/1.1 500 peer\r\n\r\n"),
            "\"body\":\"{}\"",
        ),
    ];
    for (name, value) in [
        ("equal members of a list", "2, 2"),
        ("different members of a list", "5,5"),
        ("a plus sign", "+2"),
        ("a minus sign", "-2"),
        ("hexadecimal", "0x2"),
        ("2 to the power of 64", "18446744073709551616"),
        ("a word", "peer"),
        ("nothing", ""),
        ("a space inside", "1 2"),
        ("a fraction", "2.0"),
        ("quotation marks", "\"2\""),
        ("a digit of another script", "\u{662}"),
    ] {
        rows.push(Row::unsound(name, ok(&format!("content-length: {value}\r\n\r\n{{}}"))));
    }
    run(rows).await;
}

#[tokio::test(start_paused = true)]
async fn a_transfer_coding_is_chunked_once_or_refused() {
    let mut rows = vec![
        Row::unsound(
            "two fields",
            ok("transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"),
        ),
        Row::unsound(
            "two fields, the last another",
            ok("transfer-encoding: chunked\r\ntransfer-encoding: identity\r\n\r\n2\r\n{}\r\n0\r\n\r\n"),
        ),
        Row::unsound(
            "in HTTP/1.0",
            "HTTP/1.0 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
        ),
        Row::done(
            "upper case",
            ok("Transfer-Encoding: CHUNKED\r\n\r\n2\r\n{}\r\n0\r\n\r\n"),
            "\"body\":\"{}\"",
        ),
    ];
    for (name, value) in [
        ("chunked is not the last", "chunked, identity"),
        ("chunked is not the only one", "gzip, chunked"),
        ("chunked twice", "chunked, chunked"),
        ("a longer name", "xchunked"),
        ("a parameter", "chunked;q=1"),
        ("quotation marks", "\"chunked\""),
        ("identity", "identity"),
        ("an empty member", "chunked,"),
        ("a vertical tab in front", "\u{b}chunked"),
        ("an unknown one", "peer"),
        ("nothing", ""),
    ] {
        let answer = ok(&format!("transfer-encoding: {value}\r\n\r\n2\r\n{{}}\r\n0\r\n\r\n"));
        rows.push(Row::unsound(name, answer));
    }
    run(rows).await;
}

#[tokio::test(start_paused = true)]
async fn a_chunk_has_one_length() {
    let zeros = "0".repeat(4000);
    run(vec![
        Row::unsound("a word", chunked("peer\r\n{}\r\n0\r\n\r\n")),
        Row::unsound("a minus sign", chunked("-2\r\n{}\r\n0\r\n\r\n")),
        Row::unsound("a plus sign", chunked("+2\r\n{}\r\n0\r\n\r\n")),
        Row::unsound("a prefix", chunked("0x2\r\n{}\r\n0\r\n\r\n")),
        Row::unsound("none", chunked("\r\n{}\r\n0\r\n\r\n")),
        Row::unsound("an extension and no size", chunked(";peer=1\r\n{}\r\n0\r\n\r\n")),
        Row::unsound("2 to the power of 64", chunked("10000000000000000\r\n{}\r\n0\r\n\r\n")),
        Row::unsound("2 to the power of 64 and 2", chunked("10000000000000002\r\n{}\r\n0\r\n\r\n")),
        Row::unsound("a line that ends in a bare line feed", chunked("2\n{}\r\n0\r\n\r\n")),
        Row::unsound("a line that ends in a bare carriage return", chunked("2\r{}\r\n0\r\n\r\n")),
        Row::unsound("a line feed in an extension", chunked("2;a\nb\r\n{}\r\n0\r\n\r\n")),
        Row::unsound("data beyond its length", chunked("2\r\n{}peer\r\n0\r\n\r\n")),
        Row::unsound("data that ends in a bare line feed", chunked("2\r\n{}\n0\r\n\r\n")),
        Row::unsound("a long extension", chunked(&format!("2;{}\r\n{{}}\r\n0\r\n\r\n", "peer".repeat(5000)))),
        Row::ended("no last chunk", chunked("2\r\n{}\r\n")),
        Row::ended("no end of the trailers", chunked("2\r\n{}\r\n0\r\n")),
        // A reader that adds digits up has one number for it; there is nothing to overflow.
        Row::done(
            "many leading zeros",
            chunked(&format!("{zeros}2\r\n{{}}\r\n0\r\n\r\n")),
            "\"body\":\"{}\"",
        ),
        Row::done("an extension", chunked("2;peer=\"a;b\"\r\n{}\r\n0\r\n\r\n"), "\"body\":\"{}\""),
    ])
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_trailer_changes_nothing() {
    let mut rows = Vec::new();
    for (name, trailer) in [
        ("a length", "content-length: 0"),
        ("a coding", "transfer-encoding: peer"),
        ("a content coding", "content-encoding: gzip"),
        ("a type", "content-type: application/json"),
        ("a place to go", "location: http://127.0.0.1:1/peer"),
        ("a shown field", "etag: \"peer\""),
        ("a credential", "authorization: peer"),
        ("a cookie", "set-cookie: peer"),
    ] {
        let answer = chunked(&format!("2\r\n{{}}\r\n0\r\n{trailer}\r\n\r\n"));
        let words = "{\"status\":200,\"headers\":{},\"truncated\":false,\"body\":\"{}\"}";
        rows.push(Row::done(name, answer, words));
    }
    rows.push(Row::unsound("no field", chunked("2\r\n{}\r\n0\r\npeer\r\n\r\n")));
    rows.push(Row::unsound("a line feed inside", chunked("2\r\n{}\r\n0\r\na: b\nc: d\r\n\r\n")));
    run(rows).await;
}

const HEAD: &str = "method = \"HEAD\"\npath = \"/item\"";

#[tokio::test(start_paused = true)]
async fn there_is_no_body_where_there_can_be_none() {
    let none = "{\"status\":204,\"headers\":{},\"truncated\":false}";
    let unchanged = "{\"status\":304,\"headers\":{},\"truncated\":false}";
    let head = "{\"status\":200,\"headers\":{},\"truncated\":false}";
    let to_head = |name, answer: &str| Row { tool: HEAD, ..Row::done(name, answer, head) };
    run(vec![
        Row::done("204 with a length", "HTTP/1.1 204 No\r\ncontent-length: 4\r\n\r\npeer", none),
        Row::done(
            "204 in chunks",
            "HTTP/1.1 204 No\r\ntransfer-encoding: chunked\r\n\r\n4\r\npeer\r\n0\r\n\r\n",
            none,
        ),
        Row::done("204 up to the end", "HTTP/1.1 204 No\r\n\r\npeer", none),
        Row::failed("304 with a length", "HTTP/1.1 304 No\r\ncontent-length: 4\r\n\r\npeer", unchanged),
        Row::failed("304 up to the end", "HTTP/1.1 304 No\r\n\r\npeer", unchanged),
        to_head("HEAD with a body", "HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\npeer"),
        to_head(
            "HEAD with a body in chunks",
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\npeer\r\n0\r\n\r\n",
        ),
        to_head(
            "HEAD with the length of what GET would give",
            "HTTP/1.1 200 OK\r\ncontent-length: 400\r\n\r\n",
        ),
        Row {
            tool: HEAD,
            ..Row::unsound(
                "HEAD with two lengths",
                "HTTP/1.1 200 OK\r\ncontent-length: 4\r\ncontent-length: 5\r\n\r\n",
            )
        },
    ])
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_compressed_body_is_never_opened() {
    let refused = "\"body_refused\":\"it has a content-encoding that was not asked for\"";
    // 1 GiB of zeros as gzip (RFC 1952), as far as its first 64 KiB.
    let zeros = [
        b"\x1f\x8b\x08\0\0\0\0\0\x02\x03\xec\xc1\x01\x01\0\0\0\x80\x90\xfe\xaf\xee\x08\x0a".as_slice(),
        &[0; 65_512],
    ];
    let bomb = zeros.concat();
    let mut rows = Vec::new();
    for (name, coding) in [
        ("gzip", "gzip"),
        ("an alias of gzip", "x-gzip"),
        ("brotli", "br"),
        ("deflate", "deflate"),
        ("zstd", "zstd"),
        ("stacked", "gzip, gzip, gzip, gzip, br"),
        ("identity among others", "identity, gzip"),
        ("unknown", "peer"),
    ] {
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-encoding: {coding}\r\ncontent-length: {}\r\n\r\n",
            bomb.len()
        );
        rows.push(Row::done(name, [head.as_bytes(), &bomb].concat(), refused));
    }
    let two = "HTTP/1.1 200 OK\r\ncontent-encoding: identity\r\ncontent-encoding: gzip\r\ncontent-length: 4\r\n\r\npeer";
    rows.push(Row::done("two fields", two, refused));
    run(rows).await;
}
