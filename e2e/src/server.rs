//! Real HTTP servers on loopback, for as long as a test holds them: nginx, and Node's own.
//!
//! Belongs here: finding, starting, stopping them; certificates for nginx; what nginx logged.
//! Does not belong here: what a test makes them answer, the scripted target (`target`).
//!
//! nginx comes from the PATH or from `e2e/servers/setup.sh`. Where a server is missing, whoever asks for it
//! is told so loudly and skips its test; with FRAMEGATE_SHARED set, as in CI, it fails instead.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::binary;
use crate::process::DEADLINE;
use crate::stage::write_private;

/// A running server. It is stopped when it is dropped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    folder: TempDir,
    child: Child,
}

impl Server {
    /// nginx with these lines in its one `server` block, and these in the `http` block around it. It logs each
    /// request as `log` says, a line each; with `tls`, it speaks TLS with the certificate of [`certificate`].
    ///
    /// # Panics
    /// If it is there but does not start.
    #[must_use]
    pub fn nginx(setup: &Nginx<'_>) -> Option<Self> {
        let program = nginx_program()?;
        // A free port may be taken by somebody else before nginx has it.
        (0..5).find_map(|_| Self::try_nginx(&program, setup)).or_else(|| panic!("nginx does not start"))
    }

    fn try_nginx(program: &Path, setup: &Nginx<'_>) -> Option<Self> {
        let folder = tempfile::Builder::new().prefix("framegate-nginx-").tempdir().expect("a folder");
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .and_then(|listener| listener.local_addr())
            .expect("a loopback port");
        if let Some((certificate, key)) = setup.tls {
            write_private(&folder.path().join("certificate.pem"), certificate);
            write_private(&folder.path().join("key.pem"), key);
        }
        write_private(&folder.path().join("nginx.conf"), &setup.text(port));
        let mut child = Command::new(program)
            .args(["-e", "error.log", "-c", "nginx.conf", "-p"])
            .arg(folder.path())
            .env_clear()
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("nginx can be started");
        let deadline = Instant::now() + DEADLINE;
        loop {
            if TcpStream::connect(port).is_ok() {
                return Some(Self { address: port, folder, child });
            }
            if child.try_wait().expect("own child").is_some() {
                let mut said = String::new();
                let _ = child.stderr.take().expect("piped").read_to_string(&mut said);
                assert!(said.contains("Address already in use"), "nginx: {said}");
                return None;
            }
            assert!(Instant::now() < deadline, "nginx does not listen");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Node with this script, which prints its port once it listens.
    ///
    /// # Panics
    /// If Node is there but the script does not start.
    #[must_use]
    pub fn node(script: &str) -> Option<Self> {
        let folder = tempfile::Builder::new().prefix("framegate-node-").tempdir().expect("a folder");
        let Some(program) = on_path("node") else {
            missing("node");
            return None;
        };
        let mut child = Command::new(program)
            .arg(binary::workspace().join("e2e/servers").join(script))
            .env_clear()
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("node can be started");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("piped");
        BufReader::new(stdout).read_line(&mut line).expect("text");
        let port = line.trim().parse().unwrap_or_else(|_| panic!("{script} does not say its port: {line}"));
        Some(Self { address: (Ipv4Addr::LOCALHOST, port).into(), folder, child })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The lines of nginx's log of requests so far.
    ///
    /// # Panics
    /// If there is no log: the server is not nginx.
    #[must_use]
    pub fn log(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.folder.path().join("access.log")).expect("nginx logs");
        text.lines().map(str::to_owned).collect()
    }

    /// Waits until nginx has logged this many requests: it does so after it has answered.
    ///
    /// # Panics
    /// If it does not, or has logged more.
    #[must_use]
    pub fn wait_log(&self, count: usize) -> Vec<String> {
        let deadline = Instant::now() + DEADLINE;
        loop {
            let lines = self.log();
            if lines.len() >= count {
                assert_eq!(lines.len(), count, "{lines:#?}");
                return lines;
            }
            assert!(Instant::now() < deadline, "nginx logged {} of {count} requests", lines.len());
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Asked to end, so that it may clear up; it has no child of its own.
        if let Some(id) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process(id, Signal::TERM);
        }
        let deadline = Instant::now() + Duration::from_secs(5);
        while matches!(self.child.try_wait(), Ok(None)) {
            if Instant::now() >= deadline {
                let _ = self.child.kill();
                let _ = self.child.wait();
                return;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

/// How nginx is set up.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nginx<'a> {
    /// More lines of the `http` block.
    pub http: &'a str,
    /// The lines of the `server` block.
    pub server: &'a str,
    /// What a line of the log says, in nginx's variables.
    pub log: &'a str,
    /// Certificate chain and key, as PEM.
    pub tls: Option<(&'a str, &'a str)>,
}

impl Nginx<'_> {
    /// One process, in the foreground, that touches nothing outside its folder.
    fn text(&self, address: SocketAddr) -> String {
        let mut text = String::from("daemon off;\nmaster_process off;\npid nginx.pid;\n");
        text.push_str("events { worker_connections 256; }\nhttp {\n");
        for store in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"] {
            let _ = writeln!(text, "{store}_temp_path temporary-{store};");
        }
        let _ = writeln!(text, "log_format seen escape=json '{}';\naccess_log access.log seen;", self.log);
        let tls = if self.tls.is_some() { " ssl" } else { "" };
        let _ = writeln!(text, "{}\nserver {{\nlisten {address}{tls};", self.http);
        if self.tls.is_some() {
            text.push_str("ssl_certificate certificate.pem;\nssl_certificate_key key.pem;\n");
        }
        let _ = writeln!(text, "{}\n}}\n}}", self.server);
        text
    }
}

/// A certificate authority of this test's own, and what it signed.
#[derive(Debug)]
pub struct Certificate {
    /// The authority, as PEM: what a `ca = FILE` must hold.
    pub authority: String,
    /// The server's certificate, as PEM.
    pub certificate: String,
    /// The server's key, as PEM.
    pub key: String,
}

/// A new authority with a name of its own and a server certificate for this name, changed by `change` before it
/// is signed.
///
/// # Panics
/// If no key can be made.
#[must_use]
pub fn certificate(name: &str, change: impl FnOnce(&mut CertificateParams)) -> Certificate {
    let mut params = CertificateParams::new(Vec::<String>::new()).expect("no names");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    params.distinguished_name.push(DnType::CommonName, format!("authority {number}"));
    let authority =
        CertifiedIssuer::self_signed(params, KeyPair::generate().expect("a key")).expect("an authority");
    let key = KeyPair::generate().expect("a key");
    let mut params = CertificateParams::new(vec![name.to_owned()]).expect("a name");
    change(&mut params);
    let certificate = params.signed_by(&key, &authority).expect("a certificate");
    Certificate { authority: authority.pem(), certificate: certificate.pem(), key: key.serialize_pem() }
}

fn nginx_program() -> Option<PathBuf> {
    let fetched = binary::workspace().join(".test-env/nginx/usr/sbin/nginx");
    let found = on_path("nginx").or_else(|| fetched.exists().then_some(fetched));
    if found.is_none() {
        missing("nginx");
    }
    found
}

fn on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file())
}

fn missing(program: &str) {
    eprintln!("SKIPPED: there is no `{program}`: run e2e/servers/setup.sh");
}
