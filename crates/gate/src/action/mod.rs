//! What a permitted call means, as plain typed data.
//!
//! Belongs here: typed values and the actions built of them.
//! Does not belong here: policy, I/O, names resolved, secrets, client objects.

mod http;
mod value;

use serde::Serialize;

pub use http::{HttpAction, LocalFile, Method, Origin, Scheme};
pub use value::{Arguments, Decimal, TypedValue};

pub(crate) use http::{Body, HttpParts, percent_decode};

/// One action, fully rendered: what policy judges is what the executor performs. Serialized, it is what the
/// recorder writes and `call --dry-run` shows.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Action {
    /// An HTTP request on a pinned origin.
    Http(HttpAction),
}

impl Action {
    /// The name of the target that the action is bound to.
    #[must_use]
    pub fn target(&self) -> &str {
        match self {
            Self::Http(action) => action.target(),
        }
    }

    /// The kind of the action, as used in records.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Http(_) => "http",
        }
    }

    /// The action in one line for people: config words and rendered values, never a secret. `hop` says how many
    /// redirects led to it.
    #[must_use]
    pub fn summary(&self, hop: usize) -> String {
        match (self, hop) {
            (Self::Http(action), 0) => action.summary(),
            (Self::Http(action), hop) => action.summary_of_hop(hop),
        }
    }
}
