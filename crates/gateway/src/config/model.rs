//! A configuration as the rest of the gateway uses it: checked, plain data.
//!
//! Belongs here: what each table says once it was read.
//! Does not belong here: reading, defaults that depend on files, secrets.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use framegate_gate::action::Origin;
use framegate_gate::schema::Catalog;
use framegate_vault::Source;
use framegate_wire::Limits;
use framegate_wire::message::Revision;

use crate::net::address::AddressPolicy;
use crate::net::host::Host;
use crate::net::proxy::Proxy;

/// A whole configuration.
#[derive(Clone, Debug)]
pub struct Config {
    /// `[session]`
    pub session: Session,
    /// `[limits]`
    pub limits: LimitSettings,
    /// `[journal]`
    pub journal: Journal,
    /// `[log]`
    pub log: Log,
    /// `[network]`
    pub network: Network,
    /// `[policy] files`, absolute, in the order of the file.
    pub policy_files: Vec<PathBuf>,
    /// `[secret.NAME]`
    pub secrets: BTreeMap<String, Source>,
    /// `[target.NAME]`
    pub targets: BTreeMap<String, Target>,
    /// `[tool.NAME]`: what is not part of the declared action.
    pub tools: BTreeMap<String, Tool>,
    /// The declared actions of all tools, compiled.
    pub catalog: Arc<Catalog>,
}

/// `[session]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// The policy principal; `--client` overrides it. `default` if the file names none.
    pub client: String,
    /// What a refused frame does to the session.
    pub on_invalid_frame: OnInvalidFrame,
    /// The revisions that may be negotiated, oldest first; never empty.
    pub revisions: Vec<Revision>,
    /// Whether `--record FILE` may be used.
    pub allow_record: bool,
    /// Text for the agent.
    pub instructions: Option<String>,
}

/// What a refused frame does to the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnInvalidFrame {
    /// The session ends.
    Close,
    /// The session goes on, until `max_refusals` frames were refused.
    Continue,
}

/// `[limits]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LimitSettings {
    /// Bounds on frames and documents.
    pub wire: Limits,
    /// Refused frames a session, under [`OnInvalidFrame::Continue`].
    pub max_refusals: u32,
    /// Actions at the same time.
    pub max_concurrent: usize,
    /// Calls that wait for their turn.
    pub max_queued: usize,
    /// How long started actions may go on when the session ends.
    pub grace: Duration,
    /// How long a permit is good while its call waits.
    pub permit_lifetime: Duration,
}

/// `[journal]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Journal {
    /// The folder, absolute.
    pub dir: PathBuf,
    /// Whether an intent is synced to disk before its act.
    pub sync: bool,
    /// Bound on the refusals file of one process, in bytes.
    pub max_refusal_bytes: u64,
}

/// `[log]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Log {
    /// The least severe level that is written.
    pub level: LogLevel,
    /// How a line is written.
    pub format: LogFormat,
    /// Where to, instead of standard error.
    pub file: Option<LogFile>,
}

/// A level of the log, most severe first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// What stops something.
    Error,
    /// What is hardly meant.
    Warn,
    /// What was done.
    Info,
    /// How.
    Debug,
}

/// The form of a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object.
    Json,
}

/// A log file with rotation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogFile {
    /// The file, absolute.
    pub path: PathBuf,
    /// The size at which the file is rotated, in bytes.
    pub max_bytes: u64,
    /// How many rotated files are kept.
    pub keep: u32,
}

/// `[network]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Network {
    /// Whom to ask for addresses.
    pub resolver: ResolverChoice,
    /// Through what targets are reached; a target may go without it.
    pub proxy: Option<Proxy>,
}

/// Whom to ask for addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResolverChoice {
    /// The system's name servers.
    System,
    /// These servers, in this order; never empty.
    Servers(Vec<SocketAddr>),
}

/// `[target.NAME]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The pinned origin.
    pub origin: Origin,
    /// The origin's host, as the network room takes it.
    pub host: Host,
    /// Whom the target's certificate must chain to. Always given for `https`.
    pub ca: Option<Authorities>,
    /// Where the target may live.
    pub addresses: AddressPolicy,
    /// The proxy of `[network]`, unless the target goes without it. Never given for `http`.
    pub proxy: Option<Proxy>,
    /// The credential and how it is sent.
    pub auth: Option<Auth>,
    /// Literal headers sent with every request; lower-case names.
    pub headers: Vec<(String, String)>,
    /// The whole time for one request. A tool may set its own.
    pub deadline: Duration,
    /// The time to connect; never above the deadline.
    pub connect: Duration,
    /// How long the target may send nothing; never above the deadline.
    pub idle: Duration,
    /// Whether a connection may carry more than one request.
    pub keep_alive: bool,
    /// The longest response body.
    pub max_response_bytes: usize,
    /// Which redirects of this target are followed.
    pub redirects: Redirects,
}

/// Which redirects are followed, at most three a call; each is judged by the policy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Redirects {
    /// None: they are shown as data.
    #[default]
    None,
    /// Those to the target's own origin.
    SameOrigin,
    /// Those to these other targets, which have no credential; never back.
    Declared(Vec<String>),
}

/// Whom a target's certificate must chain to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Authorities {
    /// Those of the system's trust store.
    System,
    /// Those in a file of PEM certificates, absolute.
    File(PathBuf),
}

/// How a target's credential is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Auth {
    /// `Authorization: Basic` (RFC 7617).
    Basic {
        /// The user, without `:`.
        user: String,
        /// The password's name in [`Config::secrets`].
        secret: String,
    },
    /// `Authorization: Bearer` (RFC 6750).
    Bearer {
        /// The token's name in [`Config::secrets`].
        secret: String,
    },
    /// A header that holds the secret and nothing else.
    Header {
        /// The header's name, in lower case.
        name: String,
        /// The secret's name in [`Config::secrets`].
        secret: String,
    },
}

impl Auth {
    /// The credential's name in [`Config::secrets`].
    #[must_use]
    pub fn secret(&self) -> &str {
        match self {
            Self::Basic { secret, .. } | Self::Bearer { secret } | Self::Header { secret, .. } => secret,
        }
    }

    /// The header that carries the credential, in lower case.
    #[must_use]
    pub fn header(&self) -> &str {
        match self {
            Self::Basic { .. } | Self::Bearer { .. } => "authorization",
            Self::Header { name, .. } => name,
        }
    }
}

/// `[tool.NAME]`: what is not part of the declared action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tool {
    /// The target's name in [`Config::targets`].
    pub target: String,
    /// The policy that the tool brings with it; without one, a policy file must allow it.
    pub allow: Option<Allow>,
    /// The tool's own deadline, instead of its target's.
    pub deadline: Option<Duration>,
    /// The header that carries a key of its own for each action; a lower-case name.
    pub idempotency_key: Option<String>,
    /// What an agent sees of an answer.
    pub result: ResultSettings,
}

/// `[tool.NAME.result]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultSettings {
    /// The header fields that are shown, in lower case.
    pub headers: Vec<String>,
    /// The parts of a JSON body that are shown, by name, each with its pointer (RFC 6901); `None` shows the body.
    pub select: Option<Vec<(String, String)>>,
    /// The longest body that is shown at once, in bytes.
    pub max_bytes: usize,
    /// The argument that asks for the rest; `None` stores no rest.
    pub cursor: Option<String>,
    /// Where the body of a successful answer is saved, instead of being shown.
    pub save: Option<Save>,
}

/// `[tool.NAME.result] save`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Save {
    /// The root of the files, an absolute path.
    pub root: String,
    /// The template of the file's path: a path parameter.
    pub file: String,
    /// The longest file, in bytes.
    pub max_bytes: u64,
}

impl ResultSettings {
    /// How much of a body is read, where at most `longest` is: no more than what is shown, unless parts of it are, or
    /// the rest can be asked for.
    #[must_use]
    pub fn read_limit(&self, longest: usize) -> usize {
        if self.select.is_some() || self.cursor.is_some() { longest } else { longest.min(self.max_bytes) }
    }
}

/// A policy in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allow {
    /// `true`: whatever the tool does.
    All,
    /// `"read"`: only methods that change nothing. Given only to tools that have no others.
    Read,
}
