//! The target's credential, opened at the moment of use and closed right after.
//!
//! Belongs here: which header carries it, and in which form.
//! Does not belong here: where secrets come from, what else a request holds.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use framegate_vault::{Environment, Secret, Source, VaultError};
use http::header::{HeaderName, HeaderValue};
use zeroize::Zeroizing;

use crate::config::Auth;

/// Why a credential cannot be used; never a byte of it.
#[derive(Debug, thiserror::Error)]
pub(super) enum CredentialError {
    #[error("secret `{0}` is not declared")]
    NotDeclared(String),
    #[error(transparent)]
    Vault(#[from] VaultError),
    #[error("it does not make a header")]
    Header,
}

/// An opened credential.
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
        Ok(Self { auth, secret: source.load(name, environment)? })
    }

    /// The secret's name.
    pub(super) fn name(&self) -> &str {
        self.auth.secret()
    }

    /// The secret, for the redactor.
    pub(super) const fn secret(&self) -> &Secret {
        &self.secret
    }

    /// The user that the secret is sent with.
    pub(super) fn user(&self) -> Option<&str> {
        match self.auth {
            Auth::Basic { user, .. } => Some(user),
            Auth::Bearer { .. } | Auth::Header { .. } => None,
        }
    }

    /// The header that carries it, marked as sensitive.
    pub(super) fn header(&self) -> Result<(HeaderName, HeaderValue), CredentialError> {
        let name =
            HeaderName::from_bytes(self.auth.header().as_bytes()).map_err(|_| CredentialError::Header)?;
        let bytes = self.secret.expose_header_bytes(self.auth.secret())?;
        let value = match self.auth {
            Auth::Bearer { .. } => Zeroizing::new([b"Bearer ".as_slice(), bytes].concat()),
            Auth::Header { .. } => Zeroizing::new(bytes.to_vec()),
            Auth::Basic { user, .. } => {
                let pair = Zeroizing::new([user.as_bytes(), b":", bytes].concat());
                let encoded = Zeroizing::new(STANDARD.encode(&*pair));
                Zeroizing::new([b"Basic ".as_slice(), encoded.as_bytes()].concat())
            }
        };
        let mut value = HeaderValue::from_bytes(&value).map_err(|_| CredentialError::Header)?;
        value.set_sensitive(true);
        Ok((name, value))
    }
}
