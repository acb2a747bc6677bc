//! What a run is asked to do.
//!
//! Belongs here: the target's command, calls, profile, limits. Does not belong here: how a command line spells them.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use framegate_corpus::Revision;
use serde_json::Value;

use crate::client::Client;
use crate::environment::Environment;
use crate::observe::SYSTEM_CALLS;

/// How much is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// Plain sessions under several launches: bytes, ends, processes. Nothing hostile is sent.
    Stdout,
    /// That, and hostile frames around the calls that the texts forbid.
    Quick,
    /// That, and hostile frames about which the texts are silent; every frame also in pieces and byte by byte.
    Boundary,
    /// The plain sessions, and what each revision's texts ask for. Nothing hostile is sent.
    Conformance,
    /// Everything.
    Full,
}

impl Profile {
    /// Whether hostile frames are sent.
    pub(crate) const fn is_hostile(self) -> bool {
        matches!(self, Self::Quick | Self::Boundary | Self::Full)
    }

    /// Whether frames are sent in pieces too.
    pub(crate) const fn has_pieces(self) -> bool {
        matches!(self, Self::Boundary | Self::Full)
    }

    /// Whether the revisions' texts are checked.
    pub(crate) const fn is_conformance(self) -> bool {
        matches!(self, Self::Conformance | Self::Full)
    }

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Quick => "quick",
            Self::Boundary => "boundary",
            Self::Conformance => "conformance",
            Self::Full => "full",
        }
    }
}

/// A tool that may be called, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The tool's name.
    pub tool: String,
    /// Its arguments: a JSON object, with placeholders such as `{marker}` in its strings.
    pub arguments: String,
}

/// Why a text is no call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// There is no `=`.
    #[error("a call is written TOOL={{\"argument\": \"value\"}}")]
    Form,
    /// The arguments are not one JSON object.
    #[error("the arguments of a call are one JSON object")]
    Arguments,
    /// No argument holds a placeholder, so that no effect could be told from another.
    #[error(
        "no argument holds a placeholder; write {{marker}}, or {{effect.url}}, {{effect.file}}, where the effect will show it"
    )]
    Marker,
}

impl Call {
    /// Reads `TOOL={json}`.
    ///
    /// # Errors
    /// If it is not that, or carries no marker.
    pub fn read(text: &str) -> Result<Self, CallError> {
        let (tool, arguments) =
            text.split_once('=').filter(|(tool, _)| !tool.is_empty()).ok_or(CallError::Form)?;
        let value: Value = serde_json::from_str(arguments).map_err(|_| CallError::Arguments)?;
        if !value.is_object() {
            return Err(CallError::Arguments);
        }
        if !Self::carries_marker(arguments) {
            return Err(CallError::Marker);
        }
        Ok(Self { tool: tool.to_owned(), arguments: value.to_string() })
    }

    /// Whether arguments hold a placeholder by which one call is told from another.
    pub(crate) fn carries_marker(arguments: &str) -> bool {
        ["{marker}", "{effect.url}", "{effect.file}"].iter().any(|hole| arguments.contains(hole))
    }
}

/// Which tools may be called where no call was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unasked {
    /// Those that say that they only read (`readOnlyHint`); one of them is enough.
    Reading,
    /// All that are listed, whatever they do: their effects are real.
    All,
}

/// Calls whose bytes are changed at random.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MutationOptions {
    /// What is drawn depends on nothing else.
    pub seed: u64,
    /// How long new frames are drawn.
    pub time: Duration,
}

/// A file that a target needs, and that names where effects are seen: a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provided {
    /// Its name, without a folder.
    pub name: &'static str,
    /// What it holds; placeholders are filled in.
    pub text: String,
}

/// Where a target comes from: what names it in a replay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Its command was given.
    Command,
    /// `framegate check` finds its command and calls by itself when it is given none.
    BuiltIn,
    /// A client's configuration.
    Configuration {
        /// The file, as it was given.
        file: PathBuf,
        /// The server's name there.
        server: String,
    },
}

impl Origin {
    /// The server's name in a configuration, if it is from one.
    #[must_use]
    pub fn server(&self) -> Option<&str> {
        match self {
            Self::Configuration { server, .. } => Some(server),
            Self::Command | Self::BuiltIn => None,
        }
    }
}

/// By what system calls are observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observer {
    /// By ourselves: the kernel announces them (seccomp's user notification).
    Seccomp,
    /// By strace(1), from the PATH.
    Strace,
    /// Not at all.
    None,
}

impl Observer {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Seccomp => "seccomp",
            Self::Strace => "strace",
            Self::None => "none",
        }
    }
}

/// An observer that a run cannot do without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequiredProof {
    /// Observed system calls, by whichever observer.
    Syscalls,
    /// The HTTP recorder, the SSH recorder, the marker program, or the watched folder.
    Recorder,
}

impl RequiredProof {
    /// Whether one of these observers is what is required.
    pub(crate) fn is_given(self, observers: &[&str]) -> bool {
        match self {
            Self::Syscalls => observers.iter().any(|observer| SYSTEM_CALLS.contains(observer)),
            Self::Recorder => {
                ["http", "ssh", "program", "folder"].iter().any(|recorder| observers.contains(recorder))
            }
        }
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Syscalls => "system calls",
            Self::Recorder => "a recorder",
        }
    }
}

/// A run.
#[derive(Clone, Debug)]
pub struct Options {
    /// The target's program and arguments, exactly as production starts it; placeholders are filled in.
    pub command: Vec<OsString>,
    /// Where it comes from.
    pub origin: Origin,
    /// What is set for it in every launch, and is never shown.
    pub environment: Environment,
    /// Its working folder; ours if there is none.
    pub folder: Option<PathBuf>,
    /// The temporary folder that is its home, where it is isolated.
    pub home: Option<PathBuf>,
    /// Whose way of starting servers is taken.
    pub client: Client,
    /// Written into the watched folder of every process before it starts, for its owner only.
    pub provided: Vec<Provided>,
    /// What may be called. Empty: calls are made up from the tools' schemas.
    pub calls: Vec<Call>,
    /// Of which tools.
    pub unasked: Unasked,
    /// How much is run.
    pub profile: Profile,
    /// Launches of the operator's own: a name, and a POSIX shell script in which the target is `"$@"`.
    pub launches: Vec<(String, String)>,
    /// Variables that get no canary.
    pub without_canaries: Vec<String>,
    /// Only cases whose id is one of these; all if there are none.
    pub only: Vec<String>,
    /// Only these revisions of the protocol; all if there are none.
    pub revisions: Vec<Revision>,
    /// How many targets run at once.
    pub jobs: usize,
    /// How long an answer, or an end, may take.
    pub timeout: Duration,
    /// By what system calls are observed; by what works here if nothing is asked for.
    pub observer: Option<Observer>,
    /// What must have seen a well-formed call for the run to be clean.
    pub required_proof: Option<RequiredProof>,
    /// Whether calls are sent with bytes changed at random too, and how long.
    pub mutation: Option<MutationOptions>,
}

impl Options {
    /// How long an answer, or an end, may take where nothing else is said.
    pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(5);

    /// Whether the target is led to something of this name: by its command, a call, or a file that it is given.
    pub(crate) fn names(&self, name: &str) -> bool {
        let command = self.command.iter().any(|part| part.to_str().is_some_and(|part| part.contains(name)));
        let calls = self.calls.iter().any(|call| call.arguments.contains(name));
        command || calls || self.provided.iter().any(|provided| provided.text.contains(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_names_a_tool_and_carries_a_marker() {
        let call = Call::read("write=a{\"path\": \"{effect.file}\"}");
        assert_eq!(call, Err(CallError::Arguments));
        let call = Call::read("write={\"path\": \"{effect.file}\", \"n\": 1}").unwrap();
        assert_eq!((&*call.tool, &*call.arguments), ("write", "{\"path\":\"{effect.file}\",\"n\":1}"));
        for (text, fault) in [
            ("write", CallError::Form),
            ("={\"a\":\"{marker}\"}", CallError::Form),
            ("write=[]", CallError::Arguments),
            ("write={\"a\":1}", CallError::Marker),
        ] {
            assert_eq!(Call::read(text), Err(fault), "{text}");
        }
    }
}
