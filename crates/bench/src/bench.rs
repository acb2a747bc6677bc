//! What all cases of a run share: recorders, markers, how the target is started, what it speaks.
//!
//! Belongs here: state of a run. Does not belong here: the plan, verdicts.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use framegate_corpus::Revision;
use serde_json::{Value, json};

use crate::attribution::{self, Sdk};
use crate::case::{Talk, initialize_as, version};
use crate::isolation::XDG;
use crate::observe::{Folder, MARKER_PREFIX, Recorders, Tracer};
use crate::options::{Options, Provided};
use crate::target::{Interrupt, Launch, Stderr, Stdout};

/// The most pages of a list that are asked for.
const MAX_PAGES: usize = 20;
/// Stands for the marker in what a target is started with: no case's effect carries it.
const STARTED: &str = "start";

/// What a session showed in which nothing was judged.
#[derive(Debug, Default)]
struct Survey {
    tools: Vec<Value>,
    sdk: Option<Sdk>,
}

/// Whether a target speaks a revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Speech {
    Spoken,
    /// It answered otherwise.
    Refused,
    /// It did not answer: nothing is known.
    Silent,
}

/// What the cases of a run share.
#[derive(Debug)]
pub(crate) struct Bench<'a> {
    pub(crate) options: &'a Options,
    pub(crate) recorders: Recorders,
    interrupt: &'a Interrupt,
    /// By what system calls are observed, or why they are not.
    pub(crate) tracer: Result<Tracer, String>,
    /// Tells this run's markers from others'.
    number: u32,
    markers: AtomicU64,
    speech: [OnceLock<Speech>; 5],
    survey: OnceLock<Survey>,
}

impl<'a> Bench<'a> {
    pub(crate) fn new(options: &'a Options, interrupt: &'a Interrupt) -> io::Result<Self> {
        let mut random = [0; 4];
        getrandom::fill(&mut random).map_err(|error| io::Error::other(error.to_string()))?;
        Ok(Self {
            options,
            recorders: Recorders::start(|name| options.names(name))?,
            interrupt,
            tracer: Tracer::choose(options.observer),
            number: u32::from_be_bytes(random),
            markers: AtomicU64::new(0),
            speech: [const { OnceLock::new() }; 5],
            survey: OnceLock::new(),
        })
    }

    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupt.is_interrupted()
    }

    /// A marker that was never used; none is the beginning of another.
    pub(crate) fn marker(&self) -> String {
        let number = self.markers.fetch_add(1, Ordering::Relaxed);
        format!("{MARKER_PREFIX}{:08x}-{number:06}", self.number)
    }

    pub(crate) fn fill(&self, text: &str, folder: &Folder, marker: &str) -> String {
        self.recorders.fill(text, folder.path(), marker)
    }

    /// Starts the target with a folder of its own, its system calls observed where that is possible.
    pub(crate) fn start(&self) -> io::Result<(Talk, Folder)> {
        self.start_as(|launch| launch.tracer = self.tracer.as_ref().ok().cloned())
    }

    pub(crate) fn start_as(&self, change: impl FnOnce(&mut Launch)) -> io::Result<(Talk, Folder)> {
        let folder = Folder::make()?;
        for Provided { name, text } in &self.options.provided {
            folder.provide(name, &self.fill(text, &folder, STARTED))?;
        }
        let mut environment: Vec<_> = self.options.environment.variables().collect();
        if let Some(home) = &self.options.home {
            environment.push(("HOME".into(), Some(home.clone().into())));
            environment.extend(XDG.iter().map(|name| (OsString::from(name), None)));
        }
        let mut launch = Launch {
            command: self.options.command.iter().map(|part| self.fill_part(part, &folder)).collect(),
            inherits: self.options.client.inherits(),
            environment,
            folder: self.options.folder.clone(),
            stdout: Stdout::Prompt,
            stderr: Stderr::Kept,
            tracer: None,
            patience: self.options.timeout,
        };
        change(&mut launch);
        if let Some(folder) = self.recorders.program_folder() {
            launch.put_first_on_path(folder)?;
        }
        let running = launch.start(self.interrupt)?;
        Ok((Talk::new(running, self.options.client, self.options.timeout), folder))
    }

    /// Whether the target speaks the revision: it was asked once, in a process of its own.
    pub(crate) fn speech(&self, revision: Revision) -> Speech {
        let known = Revision::ALL.into_iter().zip(&self.speech).find(|(known, _)| *known == revision);
        known.map_or(Speech::Refused, |(_, speech)| *speech.get_or_init(|| self.hear(revision)))
    }

    pub(crate) fn speaks(&self, revision: Revision) -> bool {
        self.speech(revision) == Speech::Spoken
    }

    fn hear(&self, revision: Revision) -> Speech {
        let Ok((mut talk, _folder)) = self.start_as(|_| {}) else { return Speech::Silent };
        if revision.is_modern() {
            // Who knows only the handshake may leave what comes before it unanswered, or end by it.
            return if talk.is_modern() { Speech::Spoken } else { Speech::Refused };
        }
        match talk.ask("initialize", Some(&initialize_as(self.options.client, revision.name()))) {
            None => Speech::Silent,
            Some(answer) if version(&answer) == Some(revision.name()) => Speech::Spoken,
            Some(_) => Speech::Refused,
        }
    }

    /// The tools that the target lists.
    pub(crate) fn tools(&self) -> &[Value] {
        &self.survey().tools
    }

    /// The kit that the target is built on.
    pub(crate) fn sdk(&self) -> Option<Sdk> {
        self.survey().sdk.clone()
    }

    fn survey(&self) -> &Survey {
        self.survey.get_or_init(|| {
            let Ok((mut talk, _folder)) = self.start_as(|_| {}) else { return Survey::default() };
            let tools = Self::list(&mut talk).unwrap_or_default();
            let members = talk.running().members();
            Survey { tools, sdk: attribution::sdk(members.into_iter().map(|member| member.process)) }
        })
    }

    fn list(talk: &mut Talk) -> Option<Vec<Value>> {
        talk.negotiate()?;
        let mut tools = Vec::new();
        let mut params = None;
        for _ in 0..MAX_PAGES {
            let page = talk.ask("tools/list", params.as_ref())?;
            tools.extend(page.pointer("/result/tools")?.as_array()?.iter().cloned());
            match page.pointer("/result/nextCursor").filter(|next| next.is_string()) {
                Some(cursor) => params = Some(json!({ "cursor": cursor })),
                None => break,
            }
        }
        Some(tools)
    }

    /// A part of the command; one that is no text has no placeholders.
    fn fill_part(&self, part: &OsString, folder: &Folder) -> OsString {
        match part.to_str() {
            Some(text) => self.options.environment.filled(&self.fill(text, folder, STARTED)).into(),
            None => OsString::from_vec(part.as_bytes().to_vec()),
        }
    }
}
