//! Which cases say something about servers other than our own.
//!
//! Belongs here: that rule. Does not belong here: the cases, what a server's own tool is.

use crate::case::Case;
use crate::template::Values;

/// Arguments that no frame of the corpus brings itself, and their member.
const ARGUMENTS: &str = "{\"framegate\":\"m\"}";
const MEMBER: &str = "framegate\":\"m";
/// The argument of the fixture's own tool.
const OWN_ARGUMENT: &str = "marker";
/// Beginnings of reasons that depend on the fixture's tools, policy or limits.
const OWN: [&str; 6] =
    ["argument-", "policy-", "batch-too-long", "frame-too-long", "tool-unknown", "json-members"];

impl Case {
    /// Whether the case fits any server and any of its tools: its frame is a whole call, needs no surroundings, and is
    /// wrong whatever the tool's own arguments are.
    #[must_use]
    pub fn is_general(&self) -> bool {
        let reason = self.reason.as_deref().unwrap_or_default();
        self.complete_call
            && self.needs.is_none()
            && self.before.is_empty()
            && !OWN.iter().any(|start| reason.starts_with(start))
            && self.calls_any_tool()
    }

    /// Some frames and twins are about the fixture's own tool and its arguments: another tool would refuse them for
    /// arguments that it does not have, and the fault would go unjudged.
    fn calls_any_tool(&self) -> bool {
        let values = Values::new("m", 1).with_call("t", ARGUMENTS);
        let frame = String::from_utf8_lossy(&self.frame(&values)).to_ascii_lowercase();
        let twin = self.twin(&values);
        let brings_its_own = frame.contains(OWN_ARGUMENT) && !frame.replace('\\', "").contains(MEMBER);
        !frame.contains("probe_")
            && !brings_its_own
            && twin.windows(ARGUMENTS.len()).any(|part| part == ARGUMENTS.as_bytes())
    }
}
