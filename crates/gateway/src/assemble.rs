//! From a loaded configuration to the parts of a session.
//!
//! Belongs here: which setting goes where.
//! Does not belong here: reading settings, running a session.

use std::sync::Arc;

use framegate_gate::authorization::Principal;
use framegate_gate::session::{self, SessionOptions};
use framegate_journal::JournalOptions;
use framegate_policy::{Allow, CedarPolicy, PolicyFault, Sources};
use framegate_vault::{Environment, VaultError};

use crate::config::{self, Config, Loaded, OnInvalidFrame, ResolverChoice};
use crate::net::resolve::{NameServerFault, Resolver};

/// How many used request ids a session remembers: about 16 MiB at most, and one entry for ids that count up.
const MAX_USED_IDS: usize = 1_000_000;

/// Who is served: `--client` before the configuration, and the user of this process.
#[must_use]
pub fn principal(config: &Config, client: Option<&str>) -> Arc<Principal> {
    let client = client.unwrap_or(&config.session.client).to_owned();
    Arc::new(Principal::new(client, rustix::process::getuid().as_raw()))
}

/// The session's options.
#[must_use]
pub fn session_options(loaded: &Loaded, principal: Arc<Principal>, version: &'static str) -> SessionOptions {
    let Config { session, limits, .. } = &loaded.config;
    SessionOptions {
        limits: limits.wire.clone(),
        on_invalid_frame: match session.on_invalid_frame {
            OnInvalidFrame::Close => session::OnInvalidFrame::Close,
            OnInvalidFrame::Continue => session::OnInvalidFrame::Continue,
        },
        max_refusals: limits.max_refusals,
        revisions: session.revisions.clone(),
        max_used_ids: MAX_USED_IDS,
        permit_lifetime: limits.permit_lifetime,
        config: loaded.digest.to_string().into(),
        principal,
        server_version: version,
        instructions: session.instructions.clone(),
    }
}

/// What the policy is made of: the files, and the `allow` of each tool.
#[must_use]
pub fn policy_sources(loaded: &Loaded) -> Sources {
    let files = loaded.policies.iter().map(|policy| (policy.path.display().to_string(), policy.text.clone()));
    Sources { files: files.collect(), allows: allows(&loaded.config) }
}

/// The tools that bring their own policy.
#[must_use]
pub fn allows(config: &Config) -> Vec<(String, Allow)> {
    let allow = |tool: &config::Tool| {
        Some(match tool.allow? {
            config::Allow::All => Allow::Every,
            config::Allow::Read => Allow::Read,
        })
    };
    config.tools.iter().filter_map(|(name, tool)| Some((name.clone(), allow(tool)?))).collect()
}

/// The compiled policy.
///
/// # Errors
/// Every fault found.
pub fn policy(loaded: &Loaded) -> Result<CedarPolicy, Vec<PolicyFault>> {
    CedarPolicy::compile(policy_sources(loaded), &loaded.config.catalog)
}

/// The journal's options.
#[must_use]
pub fn journal_options(config: &Config) -> JournalOptions {
    JournalOptions {
        dir: config.journal.dir.clone(),
        sync: config.journal.sync,
        max_refusal_bytes: config.journal.max_refusal_bytes,
    }
}

/// The resolver.
///
/// # Errors
/// When no name server is configured or found.
pub fn resolver(config: &Config) -> Result<Resolver, NameServerFault> {
    match &config.network.resolver {
        ResolverChoice::System => Resolver::system(),
        ResolverChoice::Servers(servers) => Resolver::new(servers.iter().copied()),
    }
}

/// The declared environment variables, read once; and a check that every declared secret is there, which
/// reads none of them.
///
/// # Errors
/// The first secret that is missing or unsafe.
pub fn environment(config: &Config) -> Result<Environment, VaultError> {
    let environment = Environment::snapshot(config.secrets.values().filter_map(|source| source.variable()));
    for (name, source) in &config.secrets {
        source.exists(name, &environment)?;
    }
    Ok(environment)
}
