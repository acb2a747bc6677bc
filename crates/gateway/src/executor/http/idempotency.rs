//! The idempotency key of a request.
//!
//! Belongs here: a value that is the same for one intent and no other.
//! Does not belong here: which tools send it, under which name.

use framegate_gate::action::HttpAction;
use http::header::HeaderValue;
use sha2::{Digest, Sha256};

/// Keeps this digest apart from every other one over the same bytes.
const DOMAIN: &[u8] = b"framegate/1/idempotency-key\0";
/// How much of the digest is sent, in bytes.
const SENT_BYTES: usize = 16;

/// The intent's id, by which an operator finds the request on both sides, and a digest of intent and action:
/// were two gateways with journals of their own ever to make the same id (it has 48 random bits), different
/// actions would still have different keys. `None` if the action cannot be written down, which cannot happen.
pub(super) fn key(intent: &str, action: &HttpAction) -> Option<HeaderValue> {
    let action = serde_json::to_vec(action).ok()?;
    let length = u64::try_from(intent.len()).ok()?;
    let digest = Sha256::new()
        .chain_update(DOMAIN)
        .chain_update(length.to_be_bytes())
        .chain_update(intent)
        .chain_update(action)
        .finalize();
    let digest: String = digest.iter().take(SENT_BYTES).map(|byte| format!("{byte:02x}")).collect();
    HeaderValue::from_str(&format!("{intent}-{digest}")).ok()
}
