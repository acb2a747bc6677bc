//! The files of the corpus, embedded.
//!
//! Belongs here: one line a file; a test checks that every file of the folder is named.
//! Does not belong here: reading them.

macro_rules! frames {
    ($($name:literal)+) => {
        &[$(($name, include_str!(concat!("../frames/", $name, ".json")))),+]
    };
}

/// The name of the file of frames that must pass.
pub const VALID: &str = "valid";

/// Every corpus file: its name without extension, which is the reason of its cases, and its text.
pub const FILES: &[(&str, &str)] = frames![
    "frame-too-long"
    "frame-unterminated"
    "frame-not-utf8"
    "frame-byte-order-mark"
    "frame-blank"
    "frame-control-byte"
    "frame-carriage-return"
    "framing-content-length"
    "framing-http"
    "framing-tls"
    "framing-newline-in-string"
    "json-noise"
    "json-syntax"
    "json-truncated"
    "json-trailing-data"
    "json-escape"
    "json-lone-surrogate"
    "json-number-syntax"
    "json-number-range"
    "json-duplicate-member"
    "json-depth"
    "json-members"
    "json-nodes"
    "message-not-object"
    "message-batch"
    "message-unknown-member"
    "message-version"
    "message-id"
    "message-id-too-long"
    "message-method"
    "message-mixed"
    "message-kind"
    "message-response"
    "message-params"
    "call-without-id"
    "call-params"
    "call-name"
    "call-arguments"
    "method-unknown"
    "notification-with-id"
    "era-both"
    "era-conflict"
    "version-unsupported"
    "meta-missing"
    "not-initialized"
    "not-ready"
    "initialized-already"
    "params-malformed"
    "cursor-unknown"
    "call-unknown-member"
    "call-not-asked"
    "id-in-flight"
    "id-used"
    "ids-exhausted"
    "batch-method"
    "batch-empty"
    "batch-too-long"
    "batch-ids"
    "refusal-limit"
    "tool-unknown"
    "argument-unknown"
    "argument-missing"
    "argument-type"
    "argument-bounds"
    "argument-pattern"
    "argument-enum"
    "argument-character"
    "render-shape"
    "policy-no-rule"
    "policy-forbid"
    "policy-error"
    "busy"
    "permit-expired"
    "journal-unavailable"
    "valid"
];

/// The configuration that the cases are written for, with `${...}` where a run fills in its own values.
pub const FIXTURE_CONFIG: &str = include_str!("../fixture/framegate.toml");

/// The policy of that configuration.
pub const FIXTURE_POLICY: &str = include_str!("../fixture/policy.cedar");
