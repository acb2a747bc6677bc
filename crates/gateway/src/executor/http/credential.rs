//! The target's credential, opened at the moment of use and closed right after.
//!
//! Belongs here: which header carries it, and in which form; what an agent may be told when it is unusable.
//! Does not belong here: where secrets come from, what else a request holds.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use framegate_vault::{Environment, FileFault, Redactor, Secret, Source, VaultError, Watched};
use http::header::{HeaderName, HeaderValue};
use zeroize::Zeroizing;

use crate::config::Auth;

/// Why a credential cannot be used: never a byte of it, nor where it is kept or how weak it is. An agent reads
/// this; an operator sees in `framegate why` that the action failed, and tries it with `framegate call`.
#[derive(Debug, thiserror::Error)]
pub(super) enum CredentialError {
    #[error("secret `{0}`: its file {1}")]
    File(String, FileFault),
    #[error("secret `{0}`: its environment variable is not set")]
    Missing(String),
    #[error("secret `{0}` is not declared")]
    NotDeclared(String),
    #[error("secret `{0}` holds a byte that a header cannot carry")]
    NotHeaderSafe(String),
    #[error("secret `{0}` cannot be masked in what comes back")]
    NotMaskable(String),
}

impl CredentialError {
    fn of(name: &str, cause: VaultError) -> Self {
        let name = name.to_owned();
        match cause {
            VaultError::File { fault, .. } => Self::File(name, fault),
            VaultError::NotHeaderSafe { .. } => Self::NotHeaderSafe(name),
            VaultError::RedactorTooLarge | VaultError::Weak { .. } => Self::NotMaskable(name),
            VaultError::SourceSyntax { .. } | VaultError::VariableNotDeclared { .. } => {
                Self::NotDeclared(name)
            }
            VaultError::VariableMissing { .. } => Self::Missing(name),
        }
    }
}

/// An opened credential. No `Debug`.
pub(super) struct Credential<'a> {
    auth: &'a Auth,
    secret: Secret,
}

impl<'a> Credential<'a> {
    pub(super) fn load(
        auth: &'a Auth,
        secrets: &BTreeMap<String, Source>,
        environment: &Environment,
    ) -> Result<Self, CredentialError> {
        let name = auth.secret();
        let source = secrets.get(name).ok_or_else(|| CredentialError::NotDeclared(name.to_owned()))?;
        let secret = source.load(name, environment).map_err(|cause| CredentialError::of(name, cause))?;
        Ok(Self { auth, secret })
    }

    /// The header that carries it, marked as sensitive.
    pub(super) fn header(&self) -> Result<(HeaderName, HeaderValue), CredentialError> {
        let unsafe_bytes = || CredentialError::NotHeaderSafe(self.auth.secret().to_owned());
        let name = HeaderName::from_bytes(self.auth.header().as_bytes()).map_err(|_| unsafe_bytes())?;
        let bytes = self.secret.expose_header_bytes(self.auth.secret()).map_err(|_| unsafe_bytes())?;
        let value = match self.auth {
            Auth::Bearer { .. } => Zeroizing::new([b"Bearer ".as_slice(), bytes].concat()),
            Auth::Header { .. } => Zeroizing::new(bytes.to_vec()),
            Auth::Basic { user, .. } => {
                let pair = Zeroizing::new([user.as_bytes(), b":", bytes].concat());
                let encoded = Zeroizing::new(STANDARD.encode(&*pair));
                Zeroizing::new([b"Basic ".as_slice(), encoded.as_bytes()].concat())
            }
        };
        let mut value = HeaderValue::from_bytes(&value).map_err(|_| unsafe_bytes())?;
        value.set_sensitive(true);
        Ok((name, value))
    }
}

/// What finds the credential in the answer; nothing, if there is none.
///
/// Made for each call and dropped with it: it holds every form of the secret in the clear
/// (`docs/decisions/0009-a-redactor-a-call.md`).
pub(super) fn redactor(credential: Option<&Credential<'_>>) -> Result<Redactor, CredentialError> {
    let watched = credential.map(|credential| Watched {
        name: credential.auth.secret(),
        secret: &credential.secret,
        user: match credential.auth {
            Auth::Basic { user, .. } => Some(user.as_str()),
            Auth::Bearer { .. } | Auth::Header { .. } => None,
        },
    });
    let name = credential.map_or("", |credential| credential.auth.secret());
    Redactor::new(watched).map_err(|cause| CredentialError::of(name, cause))
}
