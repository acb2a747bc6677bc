//! One request, one answer, and whether the connection may carry another.
//!
//! Belongs here: HTTP/1.1 within bounds on head, count of fields and silence; what makes an answer ambiguous;
//! after which answers a connection is still in step.
//! Does not belong here: addresses, TLS, what an answer means, where connections wait.
//!
//! hyper sees one exchange of a connection and is then taken apart. What keeps two exchanges apart is here and
//! in [`Stream::is_quiet`]; nothing of it depends on what hyper remembers.

use std::error::Error as _;
use std::future::poll_fn;
use std::io;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use framegate_vault::Redactor;
use http::header::{CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, TRANSFER_ENCODING};
use http::{HeaderMap, Request, StatusCode, Version};
use http_body_util::Full;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::time::Instant;

use super::body::{self, Kept};
use super::connection::Stream;
use super::download::{NotSaved, Place, Saved};
use super::sent::{Activity, Sent, Watched};

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
    #[error("no byte came from the target for {0} s")]
    Silent(u64),
}

/// What bounds an exchange.
pub(super) struct Bounds<'a> {
    /// Where the body of a successful answer goes, if it is to be a file.
    pub(super) place: Option<&'a Place>,
    /// The most bytes of a body.
    pub(super) body: usize,
    /// How long the target may be silent.
    pub(super) idle: Duration,
    /// When the caller gives up: a silence that would end later is not waited for.
    pub(super) deadline: Instant,
}

/// An answer. No `Debug`: a peer wrote it, and its head is not masked yet.
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Kept,
    /// What became of the file that the body was to be.
    pub(super) saved: Option<Result<Saved, NotSaved>>,
}

impl Answer {
    /// Whether its body was to be a file, and is none because it repeats a credential.
    pub(super) fn repeats_secret(&self) -> bool {
        matches!(self.saved, Some(Err(NotSaved::RepeatsSecret)))
    }
}

/// Sends the request and reads the answer, masked. The stream comes back if it is in step: the request was
/// written to its end, the answer read to its own, and both sides keep the connection open.
pub(super) async fn exchange(
    stream: Stream,
    request: Request<Full<Bytes>>,
    redactor: &Redactor,
    bounds: &Bounds<'_>,
    sent: &Sent,
) -> Result<(Answer, Option<Stream>), ExchangeError> {
    let activity = Activity::new();
    let io = TokioIo::new(Watched::new(stream, sent.clone(), activity.clone()));
    let mut builder = http1::Builder::new();
    builder.max_headers(MAX_FIELDS).max_buf_size(MAX_BUFFER);
    let (mut sender, mut connection) = builder.handshake(io).await.map_err(|_| ExchangeError::Closed)?;
    let mut ended = false;
    // The connection is driven here and not in a task of its own: when this future is dropped, the
    // connection is closed.
    let (answer, stays_open) = {
        let mut receiving = pin!(receive(&mut sender, request, redactor, bounds));
        tokio::select! {
            biased;
            answer = &mut receiving => answer,
            _ = poll_fn(|context| connection.poll_without_shutdown(context)) => {
                ended = true;
                receiving.await
            }
            () = activity.silence(bounds.idle, bounds.deadline) => {
                Err(ExchangeError::Silent(bounds.idle.as_secs()))
            }
        }?
    };
    // Once and not until: an answer that came before its request was written out does not wait for the rest.
    let in_step = poll_fn(|context| {
        let open = !ended && connection.poll_without_shutdown(context).is_pending();
        Poll::Ready(open && matches!(sender.poll_ready(context), Poll::Ready(Ok(()))))
    });
    if !stays_open || !in_step.await {
        return Ok((answer, None));
    }
    let parts = connection.into_parts();
    let stream = parts.io.into_inner().into_flushed().filter(|_| parts.read_buf.is_empty());
    Ok((answer, stream))
}

/// The answer, and whether it leaves the connection open.
async fn receive(
    sender: &mut SendRequest<Full<Bytes>>,
    request: Request<Full<Bytes>>,
    redactor: &Redactor,
    bounds: &Bounds<'_>,
) -> Result<(Answer, bool), ExchangeError> {
    let response = sender.send_request(request).await.map_err(|error| classify(&error))?;
    let (head, body) = response.into_parts();
    if !is_sound(head.status, &head.headers) {
        return Err(ExchangeError::Malformed);
    }
    let is_whole = head.status.is_success() && !head.headers.contains_key(CONTENT_ENCODING);
    let (body, saved) = match bounds.place.filter(|_| is_whole) {
        Some(place) => {
            let saved = place.fill(body, redactor).await.map_err(|error| classify(&error))?;
            (Kept::nothing(), Some(saved))
        }
        None => {
            let kept = body::read(body, redactor, bounds.body).await.map_err(|error| classify(&error))?;
            (kept, None)
        }
    };
    let is_read = !body.cut && saved.as_ref().is_none_or(Result::is_ok);
    let stays_open = is_read && keeps_open(head.version, &head.headers);
    Ok((Answer { status: head.status, headers: head.headers, body, saved }, stays_open))
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

/// Whether the target lets the connection live on (RFC 9112 section 9.3): HTTP/1.1, and no `connection` option
/// but `keep-alive`. hyper takes the last of several such fields for the only one.
fn keeps_open(version: Version, headers: &HeaderMap) -> bool {
    let mut options = headers.get_all(CONNECTION).iter().flat_map(|value| value.as_bytes().split(is_comma));
    version == Version::HTTP_11
        && options.all(|option| option.trim_ascii().eq_ignore_ascii_case(b"keep-alive"))
}

const fn is_comma(byte: &u8) -> bool {
    *byte == b','
}

/// hyper tells a broken chunk or trailer by the kind of an I/O error, and not as a fault of parsing.
fn classify(error: &hyper::Error) -> ExchangeError {
    let cause = error.source().and_then(|cause| cause.downcast_ref::<io::Error>()).map(io::Error::kind);
    let is_broken = matches!(cause, Some(io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput));
    if error.is_parse() || is_broken { ExchangeError::Malformed } else { ExchangeError::Closed }
}
