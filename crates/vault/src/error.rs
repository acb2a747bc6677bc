//! The one error of this crate. Belongs here: every way in which a secret cannot be used, in
//! words for an operator. Must not: hold a byte of any secret, or text from a library.

use std::path::Path;

/// Why a secret was not accepted. No variant holds a byte of a secret.
///
/// Variants about one declared secret name it; the name and the path come from the configuration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VaultError {
    /// The bytes cannot travel in an HTTP header value (RFC 9110 section 5.5).
    #[error("secret `{name}` holds a byte that a header cannot carry")]
    NotHeaderSafe {
        /// The secret's name in the configuration.
        name: String,
    },
    /// The declared environment variable is not set.
    #[error("secret `{name}`: environment variable `{variable}` is not set")]
    VariableMissing {
        /// The secret's name in the configuration.
        name: String,
        /// The declared variable.
        variable: String,
    },
    /// The variable was not among those that were read at start.
    #[error("secret `{name}`: environment variable `{variable}` was not declared at start")]
    VariableNotDeclared {
        /// The secret's name in the configuration.
        name: String,
        /// The variable asked for.
        variable: String,
    },
    /// The file cannot be used as a secret.
    #[error("secret `{name}`: file `{path}` {fault}", path = .path.escape_debug())]
    File {
        /// The secret's name in the configuration.
        name: String,
        /// The declared path, lossy where it is not UTF-8.
        path: String,
        /// What is wrong with it.
        fault: FileFault,
    },
    /// The source text is neither `env:NAME` nor `file:/absolute/path`. It is not repeated: it may
    /// be the secret itself, pasted in the wrong place.
    #[error("this is not a secret source: {hint}")]
    SourceSyntax {
        /// What would be right.
        hint: &'static str,
    },
    /// The secret would be found by guessing, or masking it would mask ordinary text.
    #[error("secret `{name}` is too weak to be masked safely: {fault}")]
    Weak {
        /// The secret's name in the configuration.
        name: String,
        /// Which rule it breaks.
        fault: Weakness,
    },
    /// The redactor could not be built from this many or this large secrets.
    #[error("the secrets are too large in sum to be searched for in output")]
    RedactorTooLarge,
}

/// What is wrong with a secret's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FileFault {
    /// Permission bits let the group read, and the configuration does not declare that.
    #[error("is readable by its group; use mode 0600, or declare `allow_group_read` for 0440")]
    GroupReadable,
    /// Permission bits let others than the owner read, write or execute.
    #[error("is open to others than its owner; use mode 0600")]
    OpenToOthers,
    /// A folder above it can be written by everyone and has no sticky bit.
    #[error("lies under a folder that everyone can write to")]
    FolderOpenToOthers,
    /// It is owned by neither this process's user nor root.
    #[error("belongs to another user")]
    ForeignOwner,
    /// It does not exist.
    #[error("does not exist")]
    Missing,
    /// It is a folder, a pipe, a device or a socket.
    #[error("is not a regular file")]
    NotRegular,
    /// It cannot be opened or read.
    #[error("cannot be read")]
    Unreadable,
    /// It holds nothing.
    #[error("is empty")]
    Empty,
    /// It holds more than [`crate::Source::MAX_BYTES`].
    #[error("is larger than 64 KiB")]
    TooLarge,
    /// It became longer or shorter while it was read.
    #[error("was changed while it was read; replace it by renaming a new file over it")]
    Changed,
}

/// Which rule for strength a secret breaks (see `strength.rs`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Weakness {
    /// White space and nothing else.
    #[error("it is only white space")]
    Blank,
    /// A word that is often chosen as a password, or stands in example files.
    #[error("it is a common word")]
    CommonWord,
    /// Shorter than 12 bytes.
    #[error("it is shorter than 12 bytes")]
    TooShort,
    /// Estimated under 60 bits.
    #[error("it is estimated at less than 60 bits")]
    Guessable,
    /// It equals its own name, which is shown in the clear.
    #[error("it equals its own name")]
    EqualsName,
    /// It contains the text of a placeholder.
    #[error("it contains the text of a redaction placeholder")]
    EqualsPlaceholder,
}

impl VaultError {
    pub(crate) fn file(name: &str, path: &Path, fault: FileFault) -> Self {
        Self::File { name: name.to_owned(), path: path.to_string_lossy().into_owned(), fault }
    }
}
