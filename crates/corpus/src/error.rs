//! What can be wrong with a corpus file.
//!
//! Belongs here: faults of a file's text, named so that whoever adds a case finds the place.
//! Does not belong here: what is wrong with a frame; that is the corpus.

/// A fault in a corpus file.
#[derive(Debug, thiserror::Error)]
pub enum CorpusError {
    /// The file is not the JSON that a corpus file is.
    #[error("`{file}` is no corpus file: {source}")]
    Json {
        /// The file's name without its extension.
        file: String,
        /// Where and what.
        source: serde_json::Error,
    },
}

/// A fault in a frame's template.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// `${` without its `}`.
    #[error("a `${{` has no `}}`")]
    Open,
    /// A placeholder that has no meaning.
    #[error("`${{{0}}}` is no placeholder")]
    Placeholder(String),
    /// A part that is none of the known forms.
    #[error(
        "a part is a string, or an object with `hex`, `utf16be`, `repeat` and `times`, or `fill` and `to`"
    )]
    Part,
    /// Hex digits that are none, or half a byte.
    #[error("`{0}` is not pairs of hex digits separated by blanks")]
    Hex(String),
    /// A filler that is not one ASCII character.
    #[error("`fill` is one ASCII character")]
    Fill,
    /// A part that would render to more than [`crate::MAX_FRAME`] bytes.
    #[error("a part renders to more than 128 MiB")]
    TooLong,
}

/// A fault in what a case expects.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExpectationError {
    /// A code that is none of the known forms.
    #[error("`code` is null, an integer, \"is_error\" or \"result\"")]
    Code,
    /// An id that is none of the known forms.
    #[error("`id` is \"echo\", \"unreadable\", \"none\" or {{\"json\": PARTS}}")]
    Id,
    /// Splits that are none of the known forms.
    #[error("`splits` is \"every\" or a list of offsets")]
    Splits,
}
