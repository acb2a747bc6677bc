//! HTTP actions: from a recorded action to one request on a checked address.
//!
//! Belongs here: the credential at the moment of use, the request, the answer within bounds.
//! Does not belong here: why the action was allowed, what the agent wrote.
//!
//! A request is sent once: no retry, no redirect, no reused connection, no proxy, no cookie, no automatic
//! answer to a challenge.

mod credential;
mod exchange;
mod request;
mod response;
mod sent;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use framegate_gate::action::{Action, HttpAction, Scheme};
use framegate_gate::outcome::Outcome;
use framegate_journal::Recorded;
use framegate_vault::{Environment, Redactor, Source, Watched};
use tokio::time::{Instant, timeout_at};

use super::{Executor, Performing};
use crate::config::{Config, Target};
use crate::net::resolve::Resolver;
use crate::net::tls::TlsSettings;
use crate::net::{self, NetError};
use credential::Credential;
use exchange::ExchangeError;
use sent::Sent;

/// Performs HTTP actions.
pub struct HttpExecutor {
    resolver: Resolver,
    targets: BTreeMap<String, ReadyTarget>,
    tool_deadlines: BTreeMap<String, Duration>,
    secrets: BTreeMap<String, Source>,
    environment: Arc<Environment>,
}

/// A target with what was made of its files at start.
struct ReadyTarget {
    target: Target,
    tls: Option<TlsSettings>,
}

impl core::fmt::Debug for HttpExecutor {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("HttpExecutor").field("targets", &self.targets.keys()).finish_non_exhaustive()
    }
}

/// A target cannot be used as configured.
#[derive(Debug, thiserror::Error)]
pub enum HttpSetupError {
    /// Its certificate authorities.
    #[error("target `{target}`: the `ca` file {problem}")]
    Ca {
        /// The target's name.
        target: String,
        /// What is wrong.
        problem: String,
    },
}

/// Why an action was not performed, or what is known of it.
enum Trouble {
    /// No byte of the request left: the target cannot have acted.
    NotSent(String),
    /// The request was at least begun: the target may have acted.
    Unknown(String),
}

impl HttpExecutor {
    /// Prepares the targets: certificate authorities are read now, secrets are not.
    ///
    /// # Errors
    /// [`HttpSetupError`].
    pub fn new(
        config: &Config,
        resolver: Resolver,
        environment: Arc<Environment>,
    ) -> Result<Self, HttpSetupError> {
        let mut targets = BTreeMap::new();
        for (name, target) in &config.targets {
            let fault = |problem: String| HttpSetupError::Ca { target: name.clone(), problem };
            let tls = match &target.ca {
                None => None,
                Some(path) => {
                    let pem = std::fs::read(path).map_err(|_| fault("cannot be read".to_owned()))?;
                    Some(
                        TlsSettings::from_ca_pem(&pem)
                            .map_err(|cause| fault(format!("is not usable: {cause}")))?,
                    )
                }
            };
            targets.insert(name.clone(), ReadyTarget { target: target.clone(), tls });
        }
        let tool_deadlines =
            config.tools.iter().filter_map(|(name, tool)| Some((name.clone(), tool.deadline?))).collect();
        Ok(Self { resolver, targets, tool_deadlines, secrets: config.secrets.clone(), environment })
    }

    async fn run(&self, recorded: &Recorded) -> Outcome {
        let call = recorded.granted().call();
        let Action::Http(action) = call.action();
        let Some(ready) = self.targets.get(action.target()) else {
            return Outcome::not_started("the target is not configured; nothing was performed".to_owned());
        };
        let limit = self.tool_deadlines.get(call.tool().name()).copied().unwrap_or(ready.target.deadline);
        let deadline = after(limit);
        let sent = Sent::default();
        let performed = timeout_at(deadline, self.request(action, ready, deadline, &sent)).await;
        match performed {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(Trouble::NotSent(why))) => Outcome::failed(format!("{why}; nothing was sent")),
            Ok(Err(Trouble::Unknown(why))) => {
                Outcome::unknown(format!("{why}; the request was sent and may have been carried out"))
            }
            Err(_) if sent.any() => Outcome::unknown(format!(
                "no complete answer within {} s; the request was sent and may have been carried out",
                limit.as_secs()
            )),
            Err(_) => {
                Outcome::failed(format!("no connection within {} s; nothing was sent", limit.as_secs()))
            }
        }
    }

    async fn request(
        &self,
        action: &HttpAction,
        ready: &ReadyTarget,
        deadline: Instant,
        sent: &Sent,
    ) -> Result<Outcome, Trouble> {
        let target = &ready.target;
        let credential = match &target.auth {
            None => None,
            Some(auth) => Some(
                Credential::load(auth, &self.secrets, &self.environment)
                    .map_err(|cause| Trouble::NotSent(format!("the credential cannot be used: {cause}")))?,
            ),
        };
        let redactor = Redactor::new(credential.iter().map(|credential| Watched {
            name: credential.name(),
            secret: credential.secret(),
            user: credential.user(),
        }))
        .map_err(|cause| Trouble::NotSent(cause.to_string()))?;
        let request = request::build(action, &target.headers, credential.as_ref())
            .map_err(|cause| Trouble::NotSent(cause.to_string()))?;
        drop(credential);
        let connect_deadline = after(target.connect).min(deadline);
        let origin = action.origin();
        let connecting =
            net::connect(&self.resolver, &target.addresses, &target.host, origin.port(), connect_deadline);
        let (stream, _) = connecting.await.map_err(not_sent)?;
        let answer = match (origin.scheme(), &ready.tls) {
            (Scheme::Http, _) => exchange::exchange(stream, request, target.max_response_bytes, sent).await,
            (Scheme::Https, Some(tls)) => {
                let stream = net::tls::connect(tls, &target.host, stream, connect_deadline)
                    .await
                    .map_err(|cause| not_sent(NetError::Tls(cause)))?;
                exchange::exchange(stream, request, target.max_response_bytes, sent).await
            }
            (Scheme::Https, None) => return Err(Trouble::NotSent("the target has no `ca`".to_owned())),
        };
        match answer {
            Ok(answer) => Ok(response::outcome(&answer, &redactor, target.max_response_bytes)),
            Err(error) => Err(trouble(&error, sent)),
        }
    }
}

impl Executor for HttpExecutor {
    fn perform(&self, recorded: Recorded) -> Performing<'_> {
        Box::pin(async move { self.run(&recorded).await })
    }
}

fn after(limit: Duration) -> Instant {
    let now = Instant::now();
    now.checked_add(limit).unwrap_or(now)
}

fn not_sent(cause: NetError) -> Trouble {
    Trouble::NotSent(format!("the target could not be reached: {cause}"))
}

fn trouble(error: &ExchangeError, sent: &Sent) -> Trouble {
    if sent.any() { Trouble::Unknown(error.to_string()) } else { Trouble::NotSent(error.to_string()) }
}
