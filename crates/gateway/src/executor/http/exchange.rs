//! One request, one answer, on a connection of its own.
//!
//! Belongs here: HTTP/1.1 within bounds on head and count of fields, and what makes an answer ambiguous.
//! Does not belong here: addresses, TLS, what an answer means.

use std::pin::pin;

use bytes::Bytes;
use framegate_vault::Redactor;
use http::header::{CONTENT_LENGTH, TRANSFER_ENCODING};
use http::{HeaderMap, Request, StatusCode};
use http_body_util::Full;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};

use super::body::{self, Kept};
use super::sent::{Sent, Watched};

/// The most fields in an answer's head.
const MAX_FIELDS: usize = 100;
/// The most bytes in the names and values of an answer's fields.
const MAX_FIELD_BYTES: usize = 32 * 1024;
/// What is read of a head that does not end, in bytes. How much more hyper accepts of one that does end depends
/// on how it arrives; the bound above does not.
const MAX_BUFFER: usize = 64 * 1024;

/// Why there is no answer. No text of it comes from the peer or a library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ExchangeError {
    #[error("the connection ended before the answer was complete")]
    Closed,
    #[error("the target's answer is not sound HTTP/1.1, or its head is too large")]
    Malformed,
}

/// An answer. No `Debug`: a peer wrote it, and its head is not masked yet.
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Kept,
}

/// Sends the request and reads the answer, at most `limit` bytes of its body, masked.
pub(super) async fn exchange<S>(
    stream: S,
    request: Request<Full<Bytes>>,
    redactor: &Redactor,
    limit: usize,
    sent: &Sent,
) -> Result<Answer, ExchangeError>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let io = TokioIo::new(Watched::new(stream, sent.clone()));
    let mut builder = http1::Builder::new();
    builder.max_headers(MAX_FIELDS).max_buf_size(MAX_BUFFER);
    let (mut sender, connection) = builder.handshake(io).await.map_err(|_| ExchangeError::Closed)?;
    let mut connection = pin!(connection);
    let mut answer = pin!(async {
        let response = sender.send_request(request).await.map_err(|error| classify(&error))?;
        let (head, body) = response.into_parts();
        if !is_sound(head.status, &head.headers) {
            return Err(ExchangeError::Malformed);
        }
        let body = body::read(body, redactor, limit).await.map_err(|error| classify(&error))?;
        Ok(Answer { status: head.status, headers: head.headers, body })
    });
    // The connection is driven here and not in a task of its own: when this future is dropped, the
    // connection is closed.
    tokio::select! {
        biased;
        answer = &mut answer => answer,
        _ = &mut connection => answer.await,
    }
}

/// Whether the answer has one reading. Refused beyond what hyper refuses: two statements of the body's length
/// (RFC 9112 section 6.3), a transfer coding that was not asked for, too long fields, and a change of protocol.
fn is_sound(status: StatusCode, headers: &HeaderMap) -> bool {
    let mut lengths = headers.get_all(CONTENT_LENGTH).iter();
    let one_length = match (lengths.next(), lengths.next()) {
        (None, _) => true,
        (Some(length), None) => length.as_bytes().iter().all(u8::is_ascii_digit),
        (Some(_), Some(_)) => false,
    };
    let mut codings = headers.get_all(TRANSFER_ENCODING).iter();
    let length_is_clear = match (codings.next(), codings.next()) {
        (None, _) => one_length,
        (Some(coding), None) => {
            !headers.contains_key(CONTENT_LENGTH) && coding.as_bytes().eq_ignore_ascii_case(b"chunked")
        }
        (Some(_), Some(_)) => false,
    };
    let field_bytes = headers.iter().map(|(name, value)| name.as_str().len().saturating_add(value.len()));
    length_is_clear
        && field_bytes.fold(0, usize::saturating_add) <= MAX_FIELD_BYTES
        && !status.is_informational()
}

fn classify(error: &hyper::Error) -> ExchangeError {
    if error.is_parse() { ExchangeError::Malformed } else { ExchangeError::Closed }
}
