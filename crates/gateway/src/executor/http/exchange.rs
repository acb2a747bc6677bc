//! One request, one answer, on a connection of its own.
//!
//! Belongs here: HTTP/1.1 within bounds on head, body and count of fields.
//! Does not belong here: addresses, TLS, what an answer means.

use std::pin::pin;

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};

use super::sent::{Sent, Watched};

/// The most fields in an answer's head.
const MAX_FIELDS: usize = 100;
/// The longest head of an answer, in bytes.
const MAX_HEAD: usize = 64 * 1024;

/// Why there is no answer. No text of it comes from the peer or a library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ExchangeError {
    #[error("the connection ended before the answer was complete")]
    Closed,
    #[error("the target's answer is not valid HTTP/1.1, or its head is too large")]
    Malformed,
}

/// An answer, its body possibly cut.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    /// Whether the body is longer than what was kept.
    pub(super) cut: bool,
}

/// Sends the request and reads at most `limit` bytes of the answer's body, and a little more, so that a
/// secret across the limit is still found before the rest is cut.
pub(super) async fn exchange<S>(
    stream: S,
    request: Request<Full<Bytes>>,
    limit: usize,
    sent: &Sent,
) -> Result<Answer, ExchangeError>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let io = TokioIo::new(Watched::new(stream, sent.clone()));
    let mut builder = http1::Builder::new();
    builder.max_headers(MAX_FIELDS).max_buf_size(MAX_HEAD);
    let (mut sender, connection) = builder.handshake(io).await.map_err(|_| ExchangeError::Closed)?;
    let mut connection = pin!(connection);
    let mut answer = pin!(async {
        let response = sender.send_request(request).await.map_err(|error| classify(&error))?;
        let (head, body) = response.into_parts();
        let (body, cut) = read(body, limit.saturating_add(MARGIN)).await?;
        Ok(Answer { status: head.status, headers: head.headers, body, cut })
    });
    // The connection is driven here and not in a task of its own: when this future is dropped, the
    // connection is closed.
    tokio::select! {
        biased;
        answer = &mut answer => answer,
        _ = &mut connection => answer.await,
    }
}

/// How much is read beyond the limit, in bytes: the longest spelling of a common secret.
const MARGIN: usize = 16 * 1024;

async fn read(mut body: hyper::body::Incoming, limit: usize) -> Result<(Bytes, bool), ExchangeError> {
    let mut kept = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| classify(&error))?;
        let Ok(data) = frame.into_data() else { continue };
        let room = limit.saturating_sub(kept.len());
        kept.extend_from_slice(data.get(..room).unwrap_or(&data));
        if data.len() > room {
            return Ok((kept.freeze(), true));
        }
    }
    Ok((kept.freeze(), false))
}

fn classify(error: &hyper::Error) -> ExchangeError {
    if error.is_parse() { ExchangeError::Malformed } else { ExchangeError::Closed }
}
