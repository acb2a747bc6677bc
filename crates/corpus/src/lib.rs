//! Hostile frames as data, each with its twin, the door and the reason that must stop it.
//!
//! Belongs here: the files under `frames/` and `fixture/`, embedded, and how to read and render them.
//! Does not belong here: anything that runs a program or judges one.
//!
//! ```
//! use framegate_corpus::{Values, cases};
//!
//! let values = Values::new("m-0001", 41);
//! for case in cases().iter().filter(|case| case.reason.as_deref() == Some("json-noise")) {
//!     let bytes = case.frame(&values);
//!     assert!(bytes.ends_with(b"\n"));
//!     assert_ne!(bytes, case.twin(&values));
//! }
//! ```

#![deny(missing_docs)]

mod arguments;
mod boundaries;
mod case;
mod error;
mod files;
mod general;
mod hostile;
mod template;

pub use boundaries::boundaries;
pub use case::{Also, Before, Case, Outcome, Phase, Reply, ReplyId, Revision, UnreadableId, read};
pub use error::{CorpusError, ExpectationError, TemplateError};
pub use files::{FILES, FIXTURE_CONFIG, FIXTURE_POLICY, VALID};
pub use hostile::HOSTILE;
pub use template::{MAX_FRAME, Template, Values};

/// Every frame that must be refused, in the order of the doors and reasons.
#[must_use]
pub fn cases() -> Vec<Case> {
    embedded(|file| file != VALID)
}

/// Every frame that must pass: controls, without which a refusal proves nothing.
#[must_use]
pub fn valid() -> Vec<Case> {
    embedded(|file| file == VALID)
}

#[expect(clippy::expect_used, reason = "the files are part of this crate, and a test reads each")]
fn embedded(wanted: impl Fn(&str) -> bool) -> Vec<Case> {
    FILES
        .iter()
        .filter(|(file, _)| wanted(file))
        .flat_map(|(file, text)| read(file, text).expect("an embedded corpus file is sound"))
        .collect()
}
