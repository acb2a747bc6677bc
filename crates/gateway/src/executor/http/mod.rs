//! HTTP actions: from a recorded action to one request on a checked address.
//!
//! Belongs here: the credential at the moment of use, the request, the answer within bounds.
//! Does not belong here: why the action was allowed, what the agent wrote.
//!
//! A request is sent once: no retry, no proxy but the configured one, no cookie, no automatic answer to a challenge;
//! where a redirect leads is another action. A connection may carry several requests, one after the other, of one
//! target with one credential (`pool.rs`).

mod body;
mod connection;
mod credential;
mod download;
mod exchange;
mod idempotency;
mod masking;
mod pages;
mod pool;
mod request;
mod response;
mod sent;
#[cfg(test)]
mod tests;
mod trust;
mod upload;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use framegate_gate::action::{Action, Origin, Scheme};
use framegate_gate::outcome::Outcome;
use framegate_journal::Recorded;
use framegate_vault::{Environment, Source};
use tokio::time::{Instant, timeout_at};

use super::{Executor, Performing};
use crate::config::{self, Config, FileFault, Target};
use crate::log::Masks;
use crate::net::resolve::Resolver;
use crate::net::tls::{CaFault, TlsError, TlsSettings};
use crate::net::{self, NetError};
use connection::{Connection, Stream};
use credential::{Credential, CredentialError};
use download::{Place, SaveError};
use exchange::{Answer, Bounds, ExchangeError};
use masking::{Masking, Recogniser};
use pages::Pages;
use pool::{Key, Pool};
use request::{Additions, BuildError};
use response::{Asked, Net};
use sent::Sent;
use trust::Trust;
pub use trust::{SYSTEM_STORES, SystemStore};
use upload::UploadError;

/// What an agent is told whose cursor leads nowhere.
const UNKNOWN_CURSOR: &str = "no answer to this call is kept under this cursor; nothing was sent; call again without it \
                              if the request may be sent once more";

/// What an agent is told who reads on in an answer of a target whose answers are withheld.
const WITHHELD_PAGE: &str =
    "answers of this target are withheld for the rest of the session; nothing was sent";

/// The answer of a target that repeats its credential, counted in a session, at which its answers are withheld. Whoever
/// makes a target repeat what is sent learns from each masked place what the credential is, or is not.
const MAX_REPEATING_ANSWERS: u64 = 3;

/// Performs HTTP actions.
pub struct HttpExecutor {
    resolver: Resolver,
    targets: BTreeMap<String, ReadyTarget>,
    tools: BTreeMap<String, config::Tool>,
    pool: Pool,
    secrets: BTreeMap<String, Source>,
    environment: Arc<Environment>,
    pages: Pages,
    system_store: Option<SystemStore>,
}

/// A target with what was made of its files at start, and what is kept of its credential.
struct ReadyTarget {
    target: Target,
    tls: Option<TlsSettings>,
    masking: Masking,
    /// How many of its answers repeated its credential.
    repeating_answers: AtomicU64,
}

impl core::fmt::Debug for HttpExecutor {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("HttpExecutor").field("targets", &self.targets.keys()).finish_non_exhaustive()
    }
}

impl ReadyTarget {
    /// Counts an answer if it repeats the credential; whether this target's answers are withheld from here on.
    fn withholds(&self, repeats: bool) -> bool {
        let before = self.repeating_answers.fetch_add(u64::from(repeats), Ordering::SeqCst);
        before.saturating_add(u64::from(repeats)) >= MAX_REPEATING_ANSWERS
    }
}

/// A target cannot be used as configured. The path is escaped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HttpSetupError {
    /// What its file of certificate authorities holds.
    #[error("target `{target}`: the `ca` file `{path}` is not usable: {fault}")]
    Authorities {
        /// The target's name.
        target: String,
        /// The file.
        path: String,
        /// What is wrong with its content.
        fault: CaFault,
    },
    /// Its file of certificate authorities cannot be trusted or read.
    #[error("target `{target}`: the `ca` file `{path}` {fault}")]
    File {
        /// The target's name.
        target: String,
        /// The file.
        path: String,
        /// What is wrong with the file.
        fault: FileFault,
    },
    /// The system's authorities are asked for, and there are none where systems keep them.
    #[error("target `{target}`: `ca = \"system\"` finds no trust store; name a file of authorities instead")]
    NoSystemStore {
        /// The target's name.
        target: String,
    },
    /// The operating system gave no randomness.
    #[error("the operating system gives no randomness")]
    Randomness,
}

/// Why there is no answer. An agent reads it: no text of it comes from a peer or a library.
#[derive(Debug, thiserror::Error)]
enum Trouble {
    #[error("the credential cannot be used: {0}")]
    Credential(#[from] CredentialError),
    #[error(transparent)]
    Exchange(#[from] ExchangeError),
    #[error("the target has no `ca`")]
    NoAuthorities,
    #[error(transparent)]
    Request(#[from] BuildError),
    #[error("the file cannot be sent: {0}")]
    Upload(#[from] UploadError),
    #[error("the answer could not be saved: {0}")]
    Save(#[from] SaveError),
    #[error("the target could not be reached: {0}")]
    Unreachable(#[from] NetError),
}

impl HttpExecutor {
    /// Prepares the targets: certificate authorities are read now, secrets are not.
    ///
    /// # Errors
    /// [`HttpSetupError`], of the first target by name.
    pub fn new(
        config: &Config,
        resolver: Resolver,
        environment: Arc<Environment>,
        masks: &Masks,
    ) -> Result<Self, HttpSetupError> {
        let recogniser = Recogniser::new().map_err(|_| HttpSetupError::Randomness)?;
        let mut targets = BTreeMap::new();
        let mut trust = Trust::new(&SYSTEM_STORES);
        for (name, target) in &config.targets {
            let tls = target.ca.as_ref().map(|ca| trust.settings(name, ca)).transpose()?;
            let masking = Masking::new(name, recogniser.clone(), masks.clone());
            targets.insert(
                name.clone(),
                ReadyTarget { target: target.clone(), tls, masking, repeating_answers: AtomicU64::new(0) },
            );
        }
        let (tools, secrets) = (config.tools.clone(), config.secrets.clone());
        let (pool, pages) = (Pool::default(), Pages::default());
        let system_store = trust.into_system_store();
        Ok(Self { resolver, targets, tools, pool, secrets, environment, pages, system_store })
    }

    /// The system's trust store, if a target relies on it.
    #[must_use]
    pub fn system_store(&self) -> Option<&SystemStore> {
        self.system_store.as_ref()
    }

    async fn run(&self, recorded: &Recorded) -> Outcome {
        let call = recorded.granted().call();
        let Action::Http(action) = call.action();
        let ready = self.targets.get(action.target());
        let Some((ready, tool)) = ready.zip(self.tools.get(call.tool().name())) else {
            return Outcome::not_started("the target is not configured; nothing was performed".to_owned());
        };
        let follows = call.tool().redirect_targets().next().is_some();
        let asked = Asked { tool: call.tool().name(), action, settings: &tool.result, follows };
        if let Some(cursor) = action.cursor() {
            if ready.withholds(false) {
                return Outcome::not_started(WITHHELD_PAGE.to_owned());
            }
            let page = self.pages.read(asked.tool, action, cursor, response::show_page);
            return page.unwrap_or_else(|| Outcome::not_started(UNKNOWN_CURSOR.to_owned()));
        }
        let limit = tool.deadline.unwrap_or(ready.target.deadline);
        let deadline = after(limit);
        let key = tool.idempotency_key.as_deref().map(|name| (name, recorded.intent()));
        let sent = Sent::default();
        let why = match timeout_at(deadline, self.request(&asked, key, ready, deadline, &sent)).await {
            Ok(Ok(outcome)) => return outcome,
            Ok(Err(trouble)) => trouble.to_string(),
            Err(_) => format!("there was no complete answer within {} s", limit.as_secs()),
        };
        // The one place that decides between the two: whatever went wrong, only the first byte counts.
        if sent.any() {
            Outcome::unknown(format!("{why}; the request was sent and may have been carried out"))
        } else {
            Outcome::failed(format!("{why}; nothing was sent"))
        }
    }

    /// One request, with the idempotency key of an intent under a name if one is given. The credential is opened
    /// first: one that cannot be used costs no look-up.
    async fn request(
        &self,
        asked: &Asked<'_>,
        idempotency: Option<(&str, &str)>,
        ready: &ReadyTarget,
        deadline: Instant,
        sent: &Sent,
    ) -> Result<Outcome, Trouble> {
        let (target, action) = (&ready.target, asked.action);
        let upload = action.body_file().map(upload::read).transpose()?;
        let place = match (action.save_as(), &asked.settings.save) {
            (Some(file), Some(save)) => Some(Place::find(file, save.max_bytes)?),
            _ => None,
        };
        let credential = match &target.auth {
            None => None,
            Some(auth) => Some(Credential::load(auth, &self.secrets, &self.environment)?),
        };
        let (redactor, generation) = ready.masking.redactor(credential.as_ref())?;
        let idempotency = match idempotency {
            None => None,
            Some((name, intent)) => Some((name, idempotency::key(intent, action).ok_or(BuildError::Parts)?)),
        };
        let file = upload.as_ref().map(|upload| upload.bytes.clone());
        let additions =
            Additions { literal: &target.headers, idempotency, keep_alive: target.keep_alive, file };
        let request = request::build(action, additions, credential.as_ref())?;
        drop(credential);
        let kept = if asked.settings.cursor.is_some() { pages::LONGEST } else { usize::MAX };
        let limit = asked.settings.read_limit(target.max_response_bytes.min(kept));
        let bounds = Bounds { place: place.as_ref(), body: limit, idle: target.idle, deadline };
        let key = Key {
            target: action.target().to_owned(),
            credential: target.auth.as_ref().map(|auth| (auth.secret().to_owned(), generation)),
            origin: action.origin().clone(),
        };
        let converse = async |connection: Connection, request| {
            let Connection { stream, opened } = connection;
            let (answer, stream) = exchange::exchange(stream, request, &redactor, &bounds, sent).await?;
            let in_step = stream.map(|stream| Connection { stream, opened });
            Ok::<(Answer, Option<Connection>), ExchangeError>((answer, in_step))
        };
        let answer = match self.pool.take(&key).await {
            None => None,
            Some(connection) => match converse(connection, request.clone()).await {
                // It ended between two looks at it, and not a byte of the request was handed to it.
                Err(_) if !sent.any() => None,
                answer => Some(answer?),
            },
        };
        let (answer, in_step) = match answer {
            Some(answer) => answer,
            None => {
                // In a place of its own: what a dial needs is large, and most calls need none.
                let connection = Box::pin(self.open(action.origin(), ready, deadline)).await?;
                converse(connection, request).await?
            }
        };
        if let Some(connection) = in_step.filter(|_| target.keep_alive) {
            self.pool.put(key, connection);
        }
        let status = answer.status;
        let in_body = answer.body.hits().saturating_add(u64::from(answer.repeats_secret()));
        let net = Net::new(&redactor);
        let outcome = response::outcome(answer, asked, upload.as_ref(), &net, &self.pages);
        let hits = in_body.saturating_add(net.hits());
        let withheld = ready.withholds(hits > 0);
        let outcome = if withheld { response::withheld(status) } else { outcome };
        Ok(outcome.with_secret_hits(hits, withheld))
    }

    /// A new connection, to an address that is looked up and checked now.
    async fn open(
        &self,
        origin: &Origin,
        ready: &ReadyTarget,
        deadline: Instant,
    ) -> Result<Connection, Trouble> {
        let ReadyTarget { target, tls, .. } = ready;
        let opened = Instant::now();
        let deadline = after(target.connect).min(deadline);
        let (resolver, addresses, host, port) =
            (&self.resolver, &target.addresses, &target.host, origin.port());
        let (stream, _) = match &target.proxy {
            None => net::connect(resolver, addresses, host, port, deadline).await?,
            Some(proxy) => net::connect_through(proxy, resolver, addresses, host, port, deadline).await?,
        };
        let stream = match (origin.scheme(), tls) {
            (Scheme::Http, _) => Stream::Plain(stream),
            (Scheme::Https, Some(tls)) => {
                Stream::Tls(Box::new(net::tls::connect(tls, &target.host, stream, deadline).await?))
            }
            (Scheme::Https, None) => return Err(Trouble::NoAuthorities),
        };
        Ok(Connection { stream, opened })
    }
}

impl Executor for HttpExecutor {
    fn perform(&self, recorded: Recorded) -> Performing<'_> {
        Box::pin(async move { self.run(&recorded).await })
    }
}

impl From<TlsError> for Trouble {
    fn from(fault: TlsError) -> Self {
        Self::Unreachable(NetError::Tls(fault))
    }
}

fn after(limit: Duration) -> Instant {
    let now = Instant::now();
    now.checked_add(limit).unwrap_or(now)
}
