//! How binding the rule is that a hostile frame breaks.
//!
//! Belongs here: one row for each reason of the corpus. Does not belong here: what happens by it.

use serde::Serialize;

/// How binding a rule is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// A MUST of MCP, JSON-RPC, RFC 8259 or RFC 3629: what breaks it is no valid call at all.
    Must,
    /// A SHOULD.
    Should,
    /// The texts are silent, or leave it open; hardened servers refuse.
    Policy,
}

impl Level {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Must => "must",
            Self::Should => "should",
            Self::Policy => "policy",
        }
    }

    /// The level of the corpus's case with this reason and id.
    #[must_use]
    pub fn of(reason: &str, case: &str) -> Self {
        match reason {
            // Integers by JSON's grammar and JSON Schema's, beyond what many hold exactly (RFC 8259 section 6).
            "message-id"
                if ["id-2-6", "id-integral-fraction", "id-negative-fraction", "id-exponent"]
                    .iter()
                    .any(|id| case.starts_with(id)) =>
            {
                Self::Policy
            }
            // No JSON text (RFC 8259), no UTF-8 (RFC 3629), no JSON-RPC 2.0 request (section 4), or no request of
            // `tools/call` as the schema has it.
            "call-arguments"
            | "call-name"
            | "call-params"
            | "call-without-id"
            | "frame-control-byte"
            | "frame-not-utf8"
            | "framing-newline-in-string"
            | "json-escape"
            | "json-noise"
            | "json-number-syntax"
            | "json-syntax"
            | "json-trailing-data"
            | "json-truncated"
            | "message-id"
            | "message-method"
            | "message-mixed"
            | "message-not-object"
            | "message-version"
            | "meta-missing"
            | "method-unknown"
            | "params-malformed"
            | "tool-unknown"
            | "version-unsupported" => Self::Must,
            // Names within an object SHOULD be unique (RFC 8259 section 4); a surrogate alone is not interoperable
            // (section 8.2); a byte order mark MUST NOT be added, and MAY be ignored (section 8.1).
            "frame-byte-order-mark" | "json-duplicate-member" | "json-lone-surrogate" => Self::Should,
            _ => Self::Policy,
        }
    }
}
