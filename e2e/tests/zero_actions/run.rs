//! One case, once: the state, the frame, what follows, what must have come of it.

use std::time::Duration;

use framegate_e2e::canary::position;
use framegate_e2e::target::Answer;
use framegate_wire::message::Revision;
use framegate_wire::reason::Closing;
use framegate_wire::{Limits, Reason};

use super::expect::{self, Expected};
use super::{Case, Executor, OnInvalidFrame, Phase, Session, Stage, Traces, Values};

/// How the frame's bytes are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// In one write of its own.
    Whole,
    /// In one write with the good call behind it.
    Coalesced,
    /// One byte a read (the middle of very long frames excepted).
    Bytewise,
}

/// One case, to be run once.
#[derive(Clone, Copy, Debug)]
pub struct Job<'c> {
    pub case: &'c Case,
    pub executor: Executor,
    pub profile: OnInvalidFrame,
    pub delivery: Delivery,
}

/// How many calls run at once in the fixture.
const CONCURRENT: usize = 2;

/// Frames longer than this are sent byte by byte only at their ends.
const LONG: usize = 4096;

impl Job<'_> {
    /// Whether the case can happen like this at all.
    pub fn is_possible(&self) -> bool {
        let held = self.case.before.iter().any(|before| before.hold);
        let impossible = [
            // The recorder holds nothing open.
            held && self.executor == Executor::Recorder,
            // Under `close` the first refused frame ends the session, so none are counted.
            self.profile == OnInvalidFrame::Close && self.reason() == Some(Reason::RefusalLimit),
            // Nothing follows in the same write where the input ends, or more must be said first.
            self.delivery == Delivery::Coalesced
                && (self.case.ends_input || held || self.case.phase != self.case.twin_phase),
        ];
        !impossible.contains(&true)
    }

    fn reason(&self) -> Option<Reason> {
        let code = self.case.reason.as_deref()?;
        Some(Reason::from_code(code).unwrap_or_else(|| panic!("{}: no such reason: {code}", self.case.id)))
    }

    pub fn revision(&self) -> Revision {
        Revision::from_name(self.case.revision.name()).expect("a revision that is spoken here")
    }

    /// Whether the frame ends the session.
    pub fn closes(&self) -> bool {
        match self.reason().map(Reason::closing) {
            Some(Closing::Always) => true,
            Some(Closing::ByProfile) => self.profile == OnInvalidFrame::Close && !self.case.stays,
            Some(Closing::Never) | None => false,
        }
    }

    fn name(&self) -> String {
        format!("zero-{}-{:?}-{:?}-{:?}", self.case.id, self.executor, self.profile, self.delivery)
    }

    pub fn run(&self, stage: &Stage) {
        let (case, name) = (self.case, self.name());
        let values = Values::new(marker(&case.id), 910_001);
        let expires = self.reason() == Some(Reason::PermitExpired);
        let own;
        let stage = if expires {
            own = super::stage(self.executor, self.profile);
            own.configure("limits", "permit_seconds = 1");
            &own
        } else {
            stage
        };
        stage.forget();
        let mut session = Session::named(stage, &name, stage.launch());
        self.reach_phase(&mut session);
        let expected = Expected::new(self, &values);
        let held = self.say_before(&mut session, &values);
        let before = stage.traces();
        let first = session.lines().len();

        let frame = case.frame(&values);
        let good = case.then(&values).unwrap_or_else(|| good_call(case, &values));
        let coalesced = self.delivery == Delivery::Coalesced || case.then(&values).is_some();
        if coalesced && !case.ends_input {
            session.write(&[frame.clone(), good.clone()].concat());
        } else if self.delivery == Delivery::Bytewise {
            session.process().write_split(&frame, &every_byte(&frame));
        } else {
            session.write(&frame);
        }

        let ended = if self.closes() || case.ends_input {
            if case.ends_input {
                session.process().close_stdin();
            } else if !coalesced {
                session.write(&good);
            }
            if held > 0 {
                stage.target().release();
            }
            session.wait_end()
        } else {
            if expires {
                // The calls that are held outlast the permission of the one that waits.
                std::thread::sleep(Duration::from_millis(1500));
                stage.target().release();
            }
            if held > 0 && case.executes > 0 {
                stage.target().release();
            }
            expected.wait_for_replies(&mut session, first);
            if !coalesced && expected.answers() && case.executes == 0 {
                assert_eq!(stage.traces(), before, "{name}: traces of the frame alone");
            }
            if held > 0 {
                stage.target().release();
                expected.wait_for_held(&mut session);
            }
            self.reach_ready(&mut session);
            if !coalesced {
                session.write(&good);
            }
            session.reply(&good_id(case, &values).into());
            session.end()
        };

        let ran = !self.closes() && !case.ends_input;
        let code = if self.closes() { 65 } else { 0 };
        assert_eq!(ended.code(), Some(code), "{name}: exit code; stderr: {}", ended.stderr);
        expected.check_replies(&name, &ended.replies);
        expected.check_refusals(&name, &ended.journal.refused());
        let own = usize::try_from(case.executes).expect("small");
        if own == 0 || position(&frame, values.marker.as_bytes()).is_some() {
            assert_eq!(stage.executed(&values.marker), own, "{name}: actions of the frame itself");
        }
        assert_eq!(stage.executed(&values.good()), usize::from(ran), "{name}: actions of the good call");
        self.check_traces(&name, stage, before, own + usize::from(ran) + held.saturating_sub(CONCURRENT));
        let earlier = self.executed_before() + held;
        assert_eq!(ended.journal.count("intent"), own + usize::from(ran) + earlier, "{name}: intents");
        assert_eq!(ended.journal.exit_code(), u64::try_from(code).ok(), "{name}: the `stop` record");
    }

    /// The state in which the frame is sent.
    pub fn reach_phase(&self, session: &mut Session<'_>) {
        match self.case.phase {
            Phase::New => {}
            Phase::Initializing => {
                session.initialize(self.revision().name());
            }
            Phase::Ready | Phase::Modern => session.ready(self.revision()),
        }
    }

    /// From the state of the frame to where calls are served.
    fn reach_ready(&self, session: &mut Session<'_>) {
        let stateless = self.revision().is_modern();
        match self.case.phase {
            Phase::New if self.initialized_by_frame() => session.notify("notifications/initialized", None),
            Phase::New if !stateless => session.ready(self.revision()),
            Phase::Initializing => session.notify("notifications/initialized", None),
            Phase::New | Phase::Ready | Phase::Modern => {}
        }
    }

    /// Whether the frame itself is a handshake that was accepted.
    fn initialized_by_frame(&self) -> bool {
        self.case.reason.is_none() && self.case.id.starts_with("initialize")
    }

    /// Says what comes before the frame; returns how many calls are held open.
    fn say_before(&self, session: &mut Session<'_>, values: &Values) -> usize {
        let mut held = 0;
        if self.case.before.iter().any(|before| before.hold) {
            session.stage().target().script([Answer::Hold(Box::new(Answer::ok()))]);
        }
        for before in &self.case.before {
            for n in 0..before.times {
                let frame = before.frame(values, n);
                session.write(&frame);
                if before.hold {
                    held += 1;
                    // Under way, or waiting behind those that are, before anything more is said.
                    session.stage().target().wait_requests(held.min(CONCURRENT));
                } else if before.executes > 0 {
                    session.reply(&expect::id_of(&frame).expect("a call has an id"));
                }
            }
        }
        held
    }

    fn executed_before(&self) -> usize {
        self.case
            .before
            .iter()
            .filter(|before| !before.hold)
            .map(|before| usize::try_from(before.executes * before.times).expect("small"))
            .sum()
    }

    fn check_traces(&self, name: &str, stage: &Stage, before: Traces, actions: usize) {
        let now = stage.traces();
        let records = now.records - before.records;
        let connections = now.connections - before.connections;
        let lookups = now.lookups - before.lookups;
        match self.executor {
            Executor::Recorder => {
                assert_eq!(
                    (records, connections, now.questions - before.questions),
                    (actions, 0, 0),
                    "{name}: records, connections, questions"
                );
                assert_eq!(now.secret_reads, before.secret_reads, "{name}: reads of the secret");
            }
            Executor::Live => {
                assert_eq!(
                    (records, connections, lookups),
                    (0, actions, actions),
                    "{name}: records, connections, look-ups"
                );
                if actions == 0 {
                    assert_eq!(now.questions, before.questions, "{name}: questions to the name server");
                    assert_eq!(now.secret_reads, before.secret_reads, "{name}: reads of the secret");
                } else {
                    assert!(now.secret_reads > before.secret_reads, "{name}: the secret was not read");
                }
            }
        }
    }
}

/// A marker made of the case's name, short enough for every parameter.
pub fn marker(id: &str) -> String {
    format!("mk-{:.40}", id.replace('_', "-"))
}

/// The good call behind a frame, where the case does not bring its own.
pub fn good_call(case: &Case, values: &Values) -> Vec<u8> {
    case.plain_call(&Values::new(values.good(), good_id(case, values)))
}

/// The id of the good call: the next one, unless the frame itself uses that.
pub fn good_id(case: &Case, values: &Values) -> i64 {
    let next = values.next();
    let used =
        case.then(values).is_none() && position(&case.frame(values), next.to_string().as_bytes()).is_some();
    if used { next + 1000 } else { next }
}

/// The offsets that cut a frame into single bytes; of a long one, its ends.
fn every_byte(frame: &[u8]) -> Vec<usize> {
    let end = frame.len();
    if end <= LONG {
        return (1..end).collect();
    }
    let limit = Limits::default().max_frame;
    let mut offsets: Vec<usize> = (1..256).chain(end - 256..end).collect();
    offsets.extend((limit.saturating_sub(4)..limit + 4).filter(|offset| *offset < end));
    offsets.extend((64 * 1024..end).step_by(64 * 1024));
    offsets.sort_unstable();
    offsets.dedup();
    offsets
}
