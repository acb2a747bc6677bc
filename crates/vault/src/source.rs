//! Where a secret comes from. Belongs here: the text form of a source, the check at start that
//! reads nothing, and the load at the moment of use. Must not: keep a loaded secret.

use std::path::{Path, PathBuf};

use crate::error::VaultError;
use crate::{Environment, Secret, file, strength};

/// A declared source of one secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// `env:NAME`: a variable of the environment at start.
    Environment {
        /// `[A-Za-z_][A-Za-z0-9_]*`, at most 128 characters.
        variable: String,
    },
    /// `file:/absolute/path`.
    File {
        /// Absolute, without `.` or `..`.
        path: PathBuf,
        /// Whether the file may be readable by its group (a mounted secret with mode 0440).
        allow_group_read: bool,
    },
}

impl Source {
    /// A secret holds at most 64 KiB.
    pub const MAX_BYTES: usize = 64 * 1024;

    /// Reads `env:NAME` or `file:/absolute/path`. `allow_group_read` applies to files.
    ///
    /// # Errors
    /// [`VaultError::SourceSyntax`].
    pub fn parse(text: &str, allow_group_read: bool) -> Result<Self, VaultError> {
        let fault = |hint| VaultError::SourceSyntax { hint };
        if let Some(variable) = text.strip_prefix("env:") {
            if !is_variable_name(variable) {
                return Err(fault("a variable name has letters, digits and `_`, and starts with no digit"));
            }
            return Ok(Self::Environment { variable: variable.to_owned() });
        }
        if let Some(path) = text.strip_prefix("file:") {
            if !is_plain_absolute(path) {
                return Err(fault(
                    "a file is named by its absolute path, without `.`, `..`, `//` or control characters",
                ));
            }
            return Ok(Self::File { path: PathBuf::from(path), allow_group_read });
        }
        Err(fault("write `env:NAME` or `file:/absolute/path`"))
    }

    /// The environment variable this source needs, for [`Environment::snapshot`].
    pub fn variable(&self) -> Option<&str> {
        match self {
            Self::Environment { variable } => Some(variable),
            Self::File { .. } => None,
        }
    }

    /// Whether the secret is there, for the check at start. No byte of it is read: a variable must
    /// be set, a file must exist with an owner, a mode and a size that [`Source::load`] accepts.
    ///
    /// # Errors
    /// As [`Source::load`], without those about content.
    pub fn exists(&self, name: &str, environment: &Environment) -> Result<(), VaultError> {
        match self {
            Self::Environment { variable } => self.held(name, variable, environment).map(|_| ()),
            Self::File { path, allow_group_read } => file::check(name, path, *allow_group_read),
        }
    }

    /// The secret, at the moment of use: at most [`Source::MAX_BYTES`], one line feed at the end
    /// removed, strong enough to be masked. `name` is the secret's name in the configuration.
    ///
    /// # Errors
    /// Missing, unsafe, unreadable, empty, too large or weak; never a byte of the secret.
    pub fn load(&self, name: &str, environment: &Environment) -> Result<Secret, VaultError> {
        let secret = match self {
            Self::Environment { variable } => self.held(name, variable, environment)?.duplicate(),
            Self::File { path, allow_group_read } => file::read(name, path, *allow_group_read)?,
        };
        strength::check(name, &secret)?;
        Ok(secret)
    }

    fn held<'a>(
        &self,
        name: &str,
        variable: &str,
        environment: &'a Environment,
    ) -> Result<&'a Secret, VaultError> {
        match environment.value(variable) {
            None => {
                Err(VaultError::VariableNotDeclared { name: name.to_owned(), variable: variable.to_owned() })
            }
            Some(None) => {
                Err(VaultError::VariableMissing { name: name.to_owned(), variable: variable.to_owned() })
            }
            Some(Some(secret)) => Ok(secret),
        }
    }
}

fn is_variable_name(text: &str) -> bool {
    let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    text.len() <= 128
        && text.bytes().all(word)
        && text.bytes().next().is_some_and(|first| !first.is_ascii_digit())
}

/// Absolute, and already in its shortest lexical form: what the operator reads is what is opened.
fn is_plain_absolute(text: &str) -> bool {
    let rebuilt: PathBuf = Path::new(text).components().collect();
    text.starts_with('/')
        && text.len() > 1
        && rebuilt.as_os_str() == text
        && !text.split('/').any(|part| part == "." || part == "..")
        && !text.chars().any(char::is_control)
}
