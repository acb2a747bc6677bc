//! Whose way of starting servers is taken.
//!
//! Belongs here: what is known of clients' launches, with its source. Does not belong here: guesses: a client stands
//! here if its own source shows what it does.

/// A client, or the library that clients start servers with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Client {
    /// None: the target inherits everything from the shell that `framegate check` runs in.
    #[default]
    Production,
    /// `StdioClientTransport` of `@modelcontextprotocol/sdk` 1.32.2 (`client/stdio.js`): six variables are inherited.
    TypescriptSdk,
    /// `stdio_client` of `mcp` 2.3.0 (`client/stdio.py`): the same six; `client/session.py`: its default `clientInfo`.
    PythonSdk,
    /// `TokioChildProcess` of `rmcp` 3.11.0: everything is inherited; `model.rs`: its default `clientInfo`.
    RustSdk,
}

/// `DEFAULT_INHERITED_ENV_VARS` of both SDKs, where it is not Windows.
pub(crate) const INHERITED: &[&str] = &["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"];

impl Client {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Production => "production",
            Self::TypescriptSdk => "typescript-sdk",
            Self::PythonSdk => "python-sdk",
            Self::RustSdk => "rust-sdk",
        }
    }

    /// The variables that a server inherits; `None` if it inherits all.
    pub(crate) const fn inherits(self) -> Option<&'static [&'static str]> {
        match self {
            Self::Production | Self::RustSdk => None,
            Self::TypescriptSdk | Self::PythonSdk => Some(INHERITED),
        }
    }

    /// Name and version of `clientInfo` in `initialize`. The TypeScript SDK has no default: its applications say who
    /// they are.
    pub(crate) const fn info(self) -> (&'static str, &'static str) {
        match self {
            Self::Production | Self::TypescriptSdk => ("framegate-check", env!("CARGO_PKG_VERSION")),
            Self::PythonSdk => ("mcp", "0.1.0"),
            Self::RustSdk => ("rmcp", "3.11.0"),
        }
    }
}
