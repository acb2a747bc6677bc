//! One SSH connection: everybody is let in, everything is kept, nothing is done.
//!
//! Belongs here: what each request is answered. Does not belong here: bounds of what is kept (`kept`).

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use russh::keys::Certificate;
use russh::server::{Auth, ChannelOpenHandle, Handler, Msg, Response, Session, VerifiedPublicKey};
use russh::{Channel, ChannelId, ChannelMsg, ChannelOpenFailure, Error, Pty};

use super::kept::{Kept, Kind};

/// A command ends with its input, or when that has been silent for so long: many clients leave it open.
const SILENCE: Duration = Duration::from_millis(100);

/// Whoever is at the other end.
#[derive(Debug)]
pub(super) struct Peer {
    kept: Arc<Mutex<Kept>>,
}

impl Peer {
    pub(super) fn new(kept: Arc<Mutex<Kept>>) -> Self {
        Self { kept }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn let_in(&self, user: &str) -> Result<Auth, Error> {
        self.kept().of_connection(Kind::User, user.as_bytes());
        Ok(Auth::Accept)
    }

    /// Keeps what the connection asks for and is refused.
    fn refuse(&self, name: &'static str, target: &str) {
        let mut kept = self.kept();
        if kept.admits() {
            kept.of_connection(Kind::Request(name), target.as_bytes());
        }
    }

    fn keep(&self, channel: ChannelId, name: &'static str, bytes: &[u8]) {
        self.kept().of_channel(channel.into(), Kind::Request(name), bytes);
    }
}

/// What is kept is kept before it is answered: whoever has the answer finds it there.
impl Handler for Peer {
    type Error = Error;

    async fn auth_none(&mut self, user: &str) -> Result<Auth, Error> {
        self.let_in(user)
    }

    async fn auth_password(&mut self, user: &str, password: &str) -> Result<Auth, Error> {
        self.kept().of_connection(Kind::Password, password.as_bytes());
        self.let_in(user)
    }

    /// RSA keys do not come here: russh verifies them by the `rsa` crate only, which has RUSTSEC-2023-0071 and no mended
    /// version.
    async fn auth_publickey(&mut self, user: &str, _: VerifiedPublicKey<'_>) -> Result<Auth, Error> {
        self.let_in(user)
    }

    async fn auth_openssh_certificate(&mut self, user: &str, _: &Certificate) -> Result<Auth, Error> {
        self.let_in(user)
    }

    async fn auth_keyboard_interactive<'a>(
        &'a mut self,
        user: &str,
        _submethods: &str,
        _response: Option<Response<'a>>,
    ) -> Result<Auth, Error> {
        self.let_in(user)
    }

    async fn channel_open_session(
        &mut self,
        channel: Channel<Msg>,
        reply: ChannelOpenHandle,
        _session: &mut Session,
    ) -> Result<(), Error> {
        if self.kept().admits() {
            tokio::spawn(end(channel));
            reply.accept().await;
        } else {
            reply.reject(ChannelOpenFailure::ResourceShortage).await;
        }
        Ok(())
    }

    async fn channel_open_direct_tcpip(
        &mut self,
        _channel: Channel<Msg>,
        host: &str,
        port: u32,
        _originator_address: &str,
        _originator_port: u32,
        reply: ChannelOpenHandle,
        _session: &mut Session,
    ) -> Result<(), Error> {
        self.refuse("direct-tcpip", &format!("{host}:{port}"));
        reply.reject(ChannelOpenFailure::AdministrativelyProhibited).await;
        Ok(())
    }

    async fn channel_open_direct_streamlocal(
        &mut self,
        _channel: Channel<Msg>,
        path: &str,
        reply: ChannelOpenHandle,
        _session: &mut Session,
    ) -> Result<(), Error> {
        self.refuse("direct-streamlocal@openssh.com", path);
        reply.reject(ChannelOpenFailure::AdministrativelyProhibited).await;
        Ok(())
    }

    async fn tcpip_forward(
        &mut self,
        address: &str,
        port: &mut u32,
        _session: &mut Session,
    ) -> Result<bool, Error> {
        self.refuse("tcpip-forward", &format!("{address}:{port}"));
        Ok(false)
    }

    async fn streamlocal_forward(&mut self, path: &str, _session: &mut Session) -> Result<bool, Error> {
        self.refuse("streamlocal-forward@openssh.com", path);
        Ok(false)
    }

    async fn pty_request(
        &mut self,
        channel: ChannelId,
        term: &str,
        _columns: u32,
        _rows: u32,
        _width: u32,
        _height: u32,
        _modes: &[(Pty, u32)],
        session: &mut Session,
    ) -> Result<(), Error> {
        self.keep(channel, "pty-req", term.as_bytes());
        session.channel_success(channel)
    }

    async fn env_request(
        &mut self,
        channel: ChannelId,
        name: &str,
        value: &str,
        session: &mut Session,
    ) -> Result<(), Error> {
        self.keep(channel, "env", format!("{name}={value}").as_bytes());
        session.channel_success(channel)
    }

    async fn shell_request(&mut self, channel: ChannelId, session: &mut Session) -> Result<(), Error> {
        session.channel_success(channel)
    }

    async fn exec_request(
        &mut self,
        channel: ChannelId,
        command: &[u8],
        session: &mut Session,
    ) -> Result<(), Error> {
        self.keep(channel, "exec", command);
        session.channel_success(channel)
    }

    /// Refused: whoever starts one speaks its protocol next, and nobody here does.
    async fn subsystem_request(
        &mut self,
        channel: ChannelId,
        name: &str,
        session: &mut Session,
    ) -> Result<(), Error> {
        self.keep(channel, "subsystem", name.as_bytes());
        session.channel_failure(channel)
    }

    async fn data(&mut self, channel: ChannelId, data: &[u8], _session: &mut Session) -> Result<(), Error> {
        self.kept().of_channel(channel.into(), Kind::Input, data);
        Ok(())
    }
}

/// Ends a session as a command does that succeeds and says nothing: with its input, or when that is silent.
async fn end(mut channel: Channel<Msg>) {
    let mut is_command = false;
    loop {
        let message = match is_command {
            true => tokio::time::timeout(SILENCE, channel.wait()).await,
            false => Ok(channel.wait().await),
        };
        match message {
            Ok(Some(ChannelMsg::Exec { .. })) => is_command = true,
            Ok(Some(ChannelMsg::Eof)) | Err(_) => break,
            Ok(Some(ChannelMsg::Close) | None) => return,
            Ok(Some(_)) => {}
        }
    }
    // Where the peer is gone, there is nobody to tell.
    let _ = channel.exit_status(0).await;
    let _ = channel.eof().await;
    let _ = channel.close().await;
}
