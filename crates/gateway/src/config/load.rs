//! A configuration from its file, with its policy files and its digest.
//!
//! Belongs here: which files are read, in which order, and the errors about them.
//! Does not belong here: what the files say.

use std::path::{Path, PathBuf};

use super::digest::Digest;
use super::fault::{Faults, Report, printable};
use super::file::{self, FileFault};
use super::model::Config;
use super::{document, read};

/// A policy file holds at most 1 MiB.
const MAX_POLICY_BYTES: usize = 1024 * 1024;

/// A configuration with all that belongs to it.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The configuration.
    pub config: Config,
    /// The digest over the configuration file and the policy files.
    pub digest: Digest,
    /// The file, absolute.
    pub path: PathBuf,
    /// The policy files, in the order in which the configuration names them.
    pub policies: Vec<PolicyText>,
    /// What is hardly meant.
    pub warnings: Faults,
}

/// A policy file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyText {
    /// Its path, absolute.
    pub path: PathBuf,
    /// Its text, not yet parsed.
    pub text: String,
}

/// Why there is no configuration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// The configuration is another one than the operator named.
    #[error("the configuration has the digest {found}, but {expected} is expected")]
    Digest {
        /// What was asked for.
        expected: Digest,
        /// What was found.
        found: Digest,
    },
    /// Its content has faults.
    #[error("{0}")]
    Faults(Faults),
    /// Its file cannot be used.
    #[error("configuration `{path}` {fault}", path = printable(&.path.to_string_lossy()))]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        fault: FileFault,
    },
}

impl Config {
    /// Reads a configuration from text. `name` is shown in faults; relative paths in the text are
    /// relative to `base`, an absolute path. No file is opened.
    ///
    /// # Errors
    /// Every fault that was found.
    pub fn from_text(name: &str, text: &str, base: &Path) -> Result<Self, Faults> {
        read::text(name, text, base).map(|read| read.config)
    }

    /// Loads a configuration file and the policy files that it names.
    ///
    /// # Errors
    /// [`LoadError`], with every fault that was found.
    pub fn load(path: &Path) -> Result<Loaded, LoadError> {
        let file_error = |fault| LoadError::File { path: path.to_owned(), fault };
        let absolute = std::path::absolute(path).map_err(|_| file_error(FileFault::Unreadable))?;
        let bytes = file::read(&absolute, document::MAX_BYTES).map_err(file_error)?;
        // The folder of the path as given: a link to a file elsewhere does not move what is beside it.
        let folder = absolute.parent().and_then(|folder| folder.canonicalize().ok());
        let base = folder.ok_or_else(|| file_error(FileFault::Changed))?;

        let name = path.to_string_lossy();
        let mut report = Report::default();
        let text = document::decode(&bytes, &mut report)
            .map_err(|shown| LoadError::Faults(report.finish(&name, &shown)))?;
        let read::Read { config, policy_places, mut report } =
            read::text(&name, &text, &base).map_err(LoadError::Faults)?;

        let mut policies = Vec::new();
        for (path, place) in config.policy_files.iter().zip(&policy_places) {
            match policy(path) {
                Ok(text) => policies.push(PolicyText { path: path.clone(), text }),
                Err(problem) => report.bare_error(place, problem),
            }
        }
        if report.errors() > 0 {
            return Err(LoadError::Faults(report.finish(&name, &text)));
        }
        let texts = policies.iter().map(|policy| policy.text.as_bytes());
        Ok(Loaded {
            digest: Digest::of(&bytes, texts),
            config,
            path: absolute,
            policies,
            warnings: report.finish(&name, &text),
        })
    }
}

impl Loaded {
    /// Refuses any other configuration than the one with this digest.
    ///
    /// # Errors
    /// [`LoadError::Digest`].
    pub fn expect(&self, expected: Digest) -> Result<(), LoadError> {
        if self.digest == expected {
            return Ok(());
        }
        Err(LoadError::Digest { expected, found: self.digest })
    }
}

fn policy(path: &Path) -> Result<String, String> {
    let bytes = file::read(path, MAX_POLICY_BYTES).map_err(|fault| format!("the policy file {fault}"))?;
    String::from_utf8(bytes).map_err(|_| "the policy file is not UTF-8".to_owned())
}
