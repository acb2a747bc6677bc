//! The JSON Schema of `framegate.toml`, for editors.
//!
//! Belongs here: the published schema.
//! Does not belong here: reading a configuration. Whatever the schema refuses is refused at load, and
//! load refuses more.

/// The JSON Schema (2020-12) of a configuration, as text.
#[must_use]
pub const fn schema() -> &'static str {
    include_str!("schema.json")
}
