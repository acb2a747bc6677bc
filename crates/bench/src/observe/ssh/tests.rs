//! What clients ask of the SSH recorder is seen, by its marker, and answered so that they go on.
//!
//! Belongs here: russh's client and OpenSSH's. Does not belong here: targets.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;

use russh::client::{self, AuthResult, Handle, KeyboardInteractiveAuthResponse};
use russh::keys::{PrivateKeyWithHashAlg, PublicKey, PublicKeyOrCertificate};
use russh::{Channel, ChannelMsg, Disconnect};

use super::{Builder, Duration, Ed25519Keypair, HashAlg, PathBuf, PrivateKey, SshRecorder, fs, io};

/// Longer than any machine needs.
const PATIENCE: Duration = Duration::from_secs(60);

/// A client that takes any host key.
struct Trusting;

impl client::Handler for Trusting {
    type Error = russh::Error;

    async fn check_server_key(&mut self, _: &PublicKeyOrCertificate) -> Result<bool, Self::Error> {
        Ok(true)
    }
}

fn seen(recorder: &SshRecorder, marker: &str) -> Vec<String> {
    let sights = recorder.sights(marker);
    assert!(sights.iter().all(|sight| sight.observer == "ssh"), "{sights:?}");
    sights.into_iter().map(|sight| sight.what).collect()
}

/// Runs a client; one that is left without an answer fails.
fn block_on(client: impl Future<Output = ()>) {
    let runtime = Builder::new_current_thread().enable_io().enable_time().build().unwrap();
    runtime.block_on(async { tokio::time::timeout(PATIENCE, client).await }).expect("every answer came");
}

async fn connected(recorder: &SshRecorder) -> Handle<Trusting> {
    client::connect(Arc::default(), recorder.address, Trusting).await.unwrap()
}

/// A session that nothing needed to be proved for.
async fn let_in(recorder: &SshRecorder) -> Handle<Trusting> {
    let mut session = connected(recorder).await;
    assert!(session.authenticate_none("somebody").await.unwrap().success());
    session
}

/// What comes until the channel is closed: the exit status, and whether there was any output.
async fn ended(channel: &mut Channel<client::Msg>) -> (Option<u32>, bool) {
    let (mut status, mut has_output) = (None, false);
    while let Some(message) = channel.wait().await {
        match message {
            ChannelMsg::ExitStatus { exit_status } => status = Some(exit_status),
            ChannelMsg::Data { .. } | ChannelMsg::ExtendedData { .. } => has_output = true,
            ChannelMsg::Close => break,
            _ => {}
        }
    }
    (status, has_output)
}

#[test]
fn everybody_is_let_in_by_any_method() {
    let recorder = SshRecorder::start().unwrap();
    block_on(async {
        let session = || connected(&recorder);
        let is_in = |result: Result<AuthResult, russh::Error>| result.unwrap().success();
        assert!(is_in(session().await.authenticate_none("fgm-1").await));
        assert!(is_in(session().await.authenticate_password("fgm-2", "secret of fgm-3").await));
        let key = Arc::new(PrivateKey::from(Ed25519Keypair::from_seed(&[7; 32])));
        let key = PrivateKeyWithHashAlg::new(key, None);
        assert!(is_in(session().await.authenticate_publickey("fgm-4", key).await));
        let answer = session().await.authenticate_keyboard_interactive_start("fgm-5", None).await;
        assert!(matches!(answer, Ok(KeyboardInteractiveAuthResponse::Success)), "{answer:?}");
    });
    for marker in ["fgm-1", "fgm-2", "fgm-4", "fgm-5"] {
        assert_eq!(seen(&recorder, marker), [format!("user {marker}")]);
    }
    assert_eq!(seen(&recorder, "fgm-3"), ["a password, which is not shown"]);
    assert_eq!(seen(&recorder, "fgm-6"), [""; 0]);
}

#[test]
fn a_command_is_seen_and_succeeds_without_output() {
    let recorder = SshRecorder::start().unwrap();
    block_on(async {
        let session = let_in(&recorder).await;
        // Its input is ended by nobody.
        let mut channel = session.channel_open_session().await.unwrap();
        channel.set_env(true, "NAME", "fgm-1").await.unwrap();
        channel.exec(true, "first\nrm fgm-2 \x1b").await.unwrap();
        assert_eq!(ended(&mut channel).await, (Some(0), false));
        // A second one on the same connection, whose input says what is to be done.
        let mut channel = session.channel_open_session().await.unwrap();
        channel.exec(true, "sh -s").await.unwrap();
        channel.data_bytes("rm fg").await.unwrap();
        channel.data_bytes("m-3\n").await.unwrap();
        channel.eof().await.unwrap();
        assert_eq!(ended(&mut channel).await, (Some(0), false));
    });
    assert_eq!(seen(&recorder, "fgm-1"), ["env NAME=fgm-1"]);
    assert_eq!(seen(&recorder, "fgm-2"), ["exec rm fgm-2 \\x1b"]);
    assert_eq!(seen(&recorder, "fgm-3"), ["input rm fgm-3"]);
}

#[test]
fn a_shell_takes_its_input_until_that_ends() {
    let recorder = SshRecorder::start().unwrap();
    block_on(async {
        let session = let_in(&recorder).await;
        let mut channel = session.channel_open_session().await.unwrap();
        channel.request_pty(true, "fgm-1", 80, 24, 0, 0, &[]).await.unwrap();
        channel.request_shell(true).await.unwrap();
        channel.data_bytes("touch fgm-2\n").await.unwrap();
        channel.eof().await.unwrap();
        assert_eq!(ended(&mut channel).await, (Some(0), false));
    });
    assert_eq!(seen(&recorder, "fgm-1"), ["pty-req fgm-1"]);
    assert_eq!(seen(&recorder, "fgm-2"), ["input touch fgm-2"]);
}

#[test]
fn what_is_refused_is_seen_too() {
    let recorder = SshRecorder::start().unwrap();
    block_on(async {
        let session = let_in(&recorder).await;
        assert!(session.channel_open_direct_tcpip("fgm-1.test", 80, "::1", 1).await.is_err());
        assert!(session.channel_open_direct_streamlocal("/run/fgm-2").await.is_err());
        assert!(session.tcpip_forward("fgm-3.test", 8080).await.is_err());
        assert!(session.streamlocal_forward("/run/fgm-4").await.is_err());
        let mut channel = session.channel_open_session().await.unwrap();
        channel.request_subsystem(true, "fgm-5").await.unwrap();
        assert!(matches!(channel.wait().await, Some(ChannelMsg::Failure)));
        // The connection goes on.
        session.disconnect(Disconnect::ByApplication, "", "").await.unwrap();
    });
    assert_eq!(seen(&recorder, "fgm-1"), ["direct-tcpip fgm-1.test:80"]);
    assert_eq!(seen(&recorder, "fgm-2"), ["direct-streamlocal@openssh.com /run/fgm-2"]);
    assert_eq!(seen(&recorder, "fgm-3"), ["tcpip-forward fgm-3.test:8080"]);
    assert_eq!(seen(&recorder, "fgm-4"), ["streamlocal-forward@openssh.com /run/fgm-4"]);
    assert_eq!(seen(&recorder, "fgm-5"), ["subsystem fgm-5"]);
}

/// OpenSSH's client with the user's own configuration left out; `None`, said loudly, where there is none.
fn openssh(recorder: &SshRecorder, known_hosts: &Path, arguments: &[&str]) -> Option<Output> {
    let mut command = Command::new("ssh");
    command
        .args(["-F", "none", "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=yes", "-o"])
        .arg(format!("UserKnownHostsFile={}", known_hosts.display()))
        .args(["-o", "GlobalKnownHostsFile=none", "-p", &recorder.fill("{effect.ssh-port}")])
        .args(arguments)
        .stdin(Stdio::null());
    match command.output() {
        Err(fault) if fault.kind() == io::ErrorKind::NotFound => {
            eprintln!("SKIPPED: there is no OpenSSH client (`ssh`)");
            None
        }
        output => Some(output.unwrap()),
    }
}

#[test]
fn openssh_trusts_the_known_hosts_file_and_its_command_succeeds() {
    let recorder = SshRecorder::start().unwrap();
    let known_hosts = PathBuf::from(recorder.fill("{effect.ssh-known-hosts}"));
    let to = "fgm-1@127.0.0.1";
    let Some(output) = openssh(&recorder, &known_hosts, &["-tt", to, "touch", "fgm-2"]) else { return };
    assert!(output.status.success(), "{output:?}");
    assert_eq!(output.stdout, b"");
    assert_eq!(seen(&recorder, "fgm-1"), ["user fgm-1"]);
    assert_eq!(seen(&recorder, "fgm-2"), ["exec touch fgm-2"]);
    let forwarding = ["-W", "fgm-3.test:80", to];
    assert!(!openssh(&recorder, &known_hosts, &forwarding).unwrap().status.success());
    assert_eq!(seen(&recorder, "fgm-3"), ["direct-tcpip fgm-3.test:80"]);
    // The twin: a host that is not in the file is not trusted, so that the file is what was trusted.
    let other = SshRecorder::start().unwrap();
    assert!(!openssh(&other, &known_hosts, &[to, "touch", "fgm-4"]).unwrap().status.success());
    assert_eq!(seen(&other, "fgm-4"), [""; 0]);
}

#[test]
fn the_fingerprint_is_that_of_the_key_in_the_known_hosts_file() {
    let recorder = SshRecorder::start().unwrap();
    let line = fs::read_to_string(recorder.fill("{effect.ssh-known-hosts}")).unwrap();
    let (host, key) = line.split_once(' ').unwrap();
    assert_eq!(host, format!("[127.0.0.1]:{}", recorder.address.port()));
    assert_eq!(recorder.fill("{effect.ssh}"), recorder.address.to_string());
    let fingerprint = PublicKey::from_openssh(key).unwrap().fingerprint(HashAlg::Sha256).to_string();
    assert!(fingerprint.starts_with("SHA256:"));
    assert_eq!(recorder.fill("{effect.ssh-fingerprint}"), fingerprint);
}
