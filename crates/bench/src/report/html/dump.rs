//! Bytes as rows of hexadecimal digits and text.
//!
//! Belongs here: which rows are shown, how the wrong byte is marked. Does not belong here: which byte is wrong.

use maud::{Markup, html};

/// Bytes in a row.
const ROW: usize = 16;
/// Rows before the one with the wrong byte.
const BEFORE: usize = 2;
/// The most rows of one dump.
const ROWS: usize = 8;

/// The rows around the wrong byte, which is marked; a row of carets stands below it.
pub(super) fn around(bytes: &[u8], wrong: usize) -> Markup {
    let row = wrong.checked_div(ROW).unwrap_or_default();
    rows(bytes, row.saturating_sub(BEFORE), Some(wrong))
}

/// The last rows.
pub(super) fn end(bytes: &[u8]) -> Markup {
    rows(bytes, bytes.len().div_ceil(ROW).saturating_sub(ROWS), None)
}

fn rows(bytes: &[u8], first: usize, wrong: Option<usize>) -> Markup {
    let start = first.saturating_mul(ROW);
    // What is wrong may be that the bytes end: then its row may have none.
    let end = bytes.len().max(wrong.map_or(0, |wrong| wrong.saturating_add(1)));
    html! {
        pre .dump {
            @for start in (start..end).step_by(ROW).take(ROWS) {
                (row(bytes, start, wrong.and_then(|wrong| wrong.checked_sub(start)).filter(|at| *at < ROW)))
            }
        }
    }
}

/// One row, and one of carets if `wrong` is one of its bytes.
fn row(bytes: &[u8], start: usize, wrong: Option<usize>) -> Markup {
    let at = |column: usize| bytes.get(start.saturating_add(column)).copied();
    html! {
        span .offset { (format!("{start:08x}")) }
        " "
        @for column in 0..ROW {
            @let hex = at(column).map_or_else(|| "  ".to_owned(), |byte| format!("{byte:02x}"));
            " " (marked(&hex, wrong == Some(column)))
        }
        "  "
        @for (column, byte) in (0..ROW).filter_map(|column| Some((column, at(column)?))) {
            @let text = if matches!(byte, b' '..=b'~') { char::from(byte) } else { '.' };
            (marked(&text.to_string(), wrong == Some(column)))
        }
        "\n"
        @if let Some(wrong) = wrong {
            (format!("{:8} ", ""))
            @for column in 0..ROW { @if column == wrong { " ^^" } @else { "   " } }
            (format!("  {:wrong$}^\n", ""))
        }
    }
}

fn marked(text: &str, is_wrong: bool) -> Markup {
    html! { @if is_wrong { mark { (text) } } @else { (text) } }
}
