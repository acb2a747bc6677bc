//! The configuration that a command works on.
//!
//! Belongs here: finding and loading it, compiling its policy, showing their faults.
//! Does not belong here: what a command does with them.

use std::io::IsTerminal;
use std::path::Path;
use std::sync::Arc;

use framegate_gate::authorization::Principal;
use framegate_gateway::assemble;
use framegate_gateway::config::{Config, LoadError, Loaded, is_client_name, locate};
use framegate_gateway::executor::http::HttpExecutor;
use framegate_gateway::log::Masks;
use framegate_policy::{CedarPolicy, PolicyFault};

use crate::args::ConfigArgument;
use crate::failure::Failure;
use crate::out;

/// Loads the configuration of a command; its warnings go to stderr.
pub(crate) fn load(argument: &ConfigArgument) -> Result<Loaded, Failure> {
    let folder = |name| std::env::var_os(name);
    let path =
        locate(argument.config.as_deref(), folder("XDG_CONFIG_HOME").as_deref(), folder("HOME").as_deref())
            .map_err(|error| Failure::configuration(error.to_string()))?;
    let loaded =
        Config::load(&path).map_err(|error| Failure::configuration(explain(&path, &error, argument)))?;
    if !loaded.warnings.is_empty() {
        out::complain(&loaded.warnings.render(colour()));
    }
    Ok(loaded)
}

fn explain(path: &Path, error: &LoadError, argument: &ConfigArgument) -> String {
    match error {
        LoadError::Faults(faults) => faults.render(colour()),
        LoadError::File { .. } if argument.config.is_none() && !path.exists() => {
            format!("{error}\nhint: `framegate init` writes a starter configuration there")
        }
        LoadError::File { .. } | LoadError::Digest { .. } => error.to_string(),
    }
}

/// The policy principal: that of `--client`, or the one in the configuration.
pub(crate) fn principal(loaded: &Loaded, client: Option<&str>) -> Result<Arc<Principal>, Failure> {
    if client.is_some_and(|client| !is_client_name(client)) {
        return Err(Failure::usage("`--client` takes 1 to 64 letters, digits, `-`, `_` and `.`"));
    }
    Ok(assemble::principal(&loaded.config, client))
}

/// Compiles the policy of a configuration.
pub(crate) fn policy(loaded: &Loaded) -> Result<Arc<CedarPolicy>, Failure> {
    let policy = assemble::policy(loaded).map_err(|faults| {
        Failure::configuration(faults.iter().map(policy_fault).collect::<Vec<_>>().join("\n"))
    })?;
    for warning in policy.warnings() {
        out::complain(&format!("warning: {}", policy_fault(warning)));
    }
    Ok(Arc::new(policy))
}

fn policy_fault(fault: &PolicyFault) -> String {
    match &fault.hint {
        Some(hint) => format!("{fault}\n  hint: {hint}"),
        None => fault.to_string(),
    }
}

fn colour() -> bool {
    std::io::stderr().is_terminal()
}

/// The executor of real actions. Checks that every secret is there; reads none. What finds a secret once it is read goes to
/// `masks`.
pub(crate) fn http_executor(config: &Config, masks: &Masks) -> Result<HttpExecutor, Failure> {
    let environment =
        assemble::environment(config).map_err(|error| Failure::configuration(error.to_string()))?;
    let resolver = assemble::resolver(config)
        .map_err(|error| Failure::configuration(format!("[network] resolver: {error}")))?;
    HttpExecutor::new(config, resolver, Arc::new(environment), masks)
        .map_err(|error| Failure::configuration(error.to_string()))
}
