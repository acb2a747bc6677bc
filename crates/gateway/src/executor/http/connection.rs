//! A connection to a target, and whether it may carry another request.
//!
//! Belongs here: TCP with or without TLS as one stream, when it was opened, whether its peer kept quiet.
//! Does not belong here: dialling, HTTP, whose connection it is.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Instant;
use tokio_rustls::client::TlsStream;

/// An open connection.
pub(super) struct Connection {
    pub(super) stream: Stream,
    /// When it was dialled, and so when its address was looked up and checked.
    pub(super) opened: Instant,
}

/// The bytes of a connection.
pub(super) enum Stream {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl Stream {
    /// Whether the peer has neither sent a byte that nobody asked for nor closed its side, as far as it has
    /// arrived here. Only then is what comes after the next request the answer to it.
    pub(super) async fn is_quiet(&mut self) -> bool {
        let mut byte = [0];
        // The system is asked and not the runtime, which learns of bytes only between tasks.
        let waiting = recv(self.socket(), &mut byte, RecvFlags::PEEK | RecvFlags::DONTWAIT);
        if waiting.err() != Some(Errno::AGAIN) {
            return false;
        }
        // What TLS has decrypted already is no longer with the system.
        let held = |context: &mut Context<'_>| {
            let read = Pin::new(&mut *self).poll_read(context, &mut ReadBuf::new(&mut byte));
            Poll::Ready(read.is_ready())
        };
        !std::future::poll_fn(held).await
    }

    fn socket(&self) -> &TcpStream {
        match self {
            Self::Plain(stream) => stream,
            Self::Tls(stream) => stream.get_ref().0,
        }
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_read(context, buffer),
            Self::Tls(stream) => Pin::new(stream).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write(context, bytes),
            Self::Tls(stream) => Pin::new(stream).poll_write(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_flush(context),
            Self::Tls(stream) => Pin::new(stream).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_shutdown(context),
            Self::Tls(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }
}
