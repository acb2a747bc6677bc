//! Every plain session: how the target is started, what is said, how it ends.
//!
//! Belongs here: rows. Does not belong here: running them.

use super::{End, Launching, Play, Row};
use crate::case::Level::{Must, Policy};

/// What a plain session exercises.
const SESSION: &[&str] = &["S-01", "S-03", "S-04", "S-07", "S-08", "S-09", "S-11", "X-01", "X-06"];
const START: &[&str] = &["S-01", "S-05"];

/// As production starts it, and the start and the end are looked at.
const PLAIN_SESSION: Row = Row {
    id: "plain/session",
    gist: "a session as production starts it: handshake, list, calls, pings, end of input",
    requirements: SESSION,
    level: Must,
    launching: Launching::Production,
    play: Play::Session,
    end: End::Input,
};

/// The same, with a launch of its own; how it ends is not looked at again.
const LAUNCH: Row = Row { requirements: START, end: End::Left, ..PLAIN_SESSION };

/// A launch that an operator describes; its name stands behind the id.
pub(super) const OPERATORS: Row =
    Row { id: "launch", gist: "the same, as `--launch` describes it", ..LAUNCH };

/// Every one, the plainest first.
pub(super) const ROWS: &[Row] = &[
    PLAIN_SESSION,
    Row {
        id: "plain/sigterm",
        gist: "the same, ended by SIGTERM",
        requirements: &["S-06", "X-02"],
        end: End::Terminated,
        ..PLAIN_SESSION
    },
    Row {
        id: "plain/sigint",
        gist: "the same, ended by SIGINT",
        requirements: &["S-06", "X-02"],
        level: Policy,
        end: End::Interrupted,
        ..PLAIN_SESSION
    },
    Row {
        id: "plain/end-at-once",
        gist: "its input ends, and nothing was said",
        requirements: &["S-05", "X-01"],
        play: Play::Nothing,
        ..PLAIN_SESSION
    },
    Row {
        id: "plain/end-before-initialized",
        gist: "its input ends behind the answer to `initialize`",
        requirements: &["S-06", "X-01"],
        play: Play::Handshake,
        ..PLAIN_SESSION
    },
    Row {
        id: "plain/end-in-flight",
        gist: "its input ends right behind requests that are not answered yet",
        requirements: &["X-01", "X-03"],
        play: Play::InFlight,
        ..PLAIN_SESSION
    },
    Row {
        id: "plain/idle",
        gist: "it is left alone before the first byte",
        requirements: START,
        play: Play::Idle,
        ..PLAIN_SESSION
    },
    Row {
        id: "plain/reader-gone",
        gist: "nobody reads its stdout any more",
        requirements: &["X-05"],
        level: Policy,
        play: Play::Unheard,
        ..PLAIN_SESSION
    },
    Row {
        id: "plain/slow-reader",
        gist: "the same, its stdout a small pipe that is read slowly",
        requirements: SESSION,
        launching: Launching::SlowReader,
        end: End::Left,
        ..PLAIN_SESSION
    },
    Row {
        id: "launch/closed-stderr",
        gist: "the same, with a stderr that nobody reads",
        launching: Launching::ClosedStderr,
        end: End::Input,
        ..LAUNCH
    },
    Row {
        id: "launch/undrained-stderr",
        gist: "the same, with a stderr that is open, and never read",
        level: Policy,
        launching: Launching::UndrainedStderr,
        ..LAUNCH
    },
    // Merged streams are the launcher's doing: no rule of the protocol forbids stderr to be used.
    Row {
        id: "launch/merged-stderr",
        gist: "the same, with stderr on stdout's pipe (`2>&1`)",
        level: Policy,
        launching: Launching::MergedStderr,
        ..LAUNCH
    },
    Row { id: "launch/no-home", gist: "the same, without HOME", launching: Launching::NoHome, ..LAUNCH },
    Row {
        id: "launch/no-config-folder",
        gist: "the same, with folders for configuration, state and cache that cannot be used (XDG_*=/dev/null)",
        launching: Launching::NoConfigFolder,
        ..LAUNCH
    },
    Row {
        id: "launch/read-only-folder",
        gist: "the same, in a working folder that nobody can write (/proc)",
        launching: Launching::ReadOnlyFolder,
        ..LAUNCH
    },
    Row {
        id: "launch/client-environment",
        gist: "the same, with only the variables that clients pass on",
        launching: Launching::ClientEnvironment,
        ..LAUNCH
    },
    Row {
        id: "launch/c-locale",
        gist: "the same, with the C locale",
        launching: Launching::CLocale,
        ..LAUNCH
    },
    Row {
        id: "launch/verbose",
        gist: "the same, with variables that make runtimes and libraries talk",
        requirements: &["S-01"],
        launching: Launching::Verbose,
        ..LAUNCH
    },
    Row {
        id: "leak/canary",
        gist: "the same, with secrets in its environment that must not come out",
        requirements: &["S-27"],
        launching: Launching::Canaries,
        ..LAUNCH
    },
];
