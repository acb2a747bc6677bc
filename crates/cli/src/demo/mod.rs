//! `framegate demo`: a real gateway, an embedded target, and an agent that sends hostile frames.
//!
//! Belongs here: the order of the story, and the checks that decide its exit code.
//! Does not belong here: how the target counts, what the frames are.
//!
//! Nothing here knows what the gateway thinks it did: calls are counted by the target.

mod agent;
mod frames;
mod stage;
mod target;

use std::time::SystemTime;

use framegate_gateway::exit;
use framegate_journal::{Record, View, read_folder, text};

use crate::failure::Failure;
use crate::out;
use agent::Agent;
use frames::{GOOD_CALL, HOSTILE, Hostile, UNTRUSTED, Untrusted};
use stage::Stage;
use target::Target;

/// How many calls the whole story performs: the good one, and those with untrusted answers.
const PERFORMED: usize = 1 + UNTRUSTED.len();

/// What went otherwise than it must.
#[derive(Debug, Default)]
struct Findings(Vec<String>);

impl Findings {
    fn expect(&mut self, holds: bool, what: impl FnOnce() -> String) {
        if !holds {
            let what = what();
            out::line(&format!("  WRONG: {what}"));
            self.0.push(what);
        }
    }
}

/// Plays the session; 0 only if every check held.
pub(crate) fn run() -> Result<u8, Failure> {
    let target = Target::start().map_err(|error| unavailable(&error))?;
    let stage = Stage::build(target.address()).map_err(|error| unavailable(&error))?;
    let mut findings = Findings::default();
    out::line(
        "An agent, a gateway, a target. The agent may create notes; it never holds the target's token.",
    );
    out::line(&format!("The target listens on {} and counts what reaches it.\n", target.address()));

    let mut agent = Agent::start(&stage).map_err(|error| unavailable(&error))?;
    agent.handshake().map_err(|error| unavailable(&error))?;
    good_call(&mut agent, &target, &stage, &mut findings).map_err(|error| unavailable(&error))?;
    out::line("\nNow frames that a careless server would run. Each is shown as bytes.");
    for hostile in HOSTILE {
        hostile_frame(&mut agent, &target, hostile, &mut findings).map_err(|error| unavailable(&error))?;
    }
    out::line("\nThe target is not trusted either. These calls are allowed and performed, once each.");
    for (number, untrusted) in UNTRUSTED.iter().enumerate() {
        let performed = number.saturating_add(2);
        untrusted_answer(&mut agent, (&target, performed), &stage, untrusted, &mut findings)
            .map_err(|error| unavailable(&error))?;
    }
    let stdout = agent.finish().map_err(|error| unavailable(&error))?;
    findings.expect(stdout.exit_code == Some(0), || format!("the gateway ended with {:?}", stdout.exit_code));
    findings
        .expect(!stage.leaks_into(&stdout.bytes), || "the token is in what the agent received".to_owned());

    last_frame(&stage, &target, &mut findings).map_err(|error| unavailable(&error))?;
    read_back(&stage, &mut findings)?;
    conclude(&target, &findings)
}

fn good_call(
    agent: &mut Agent,
    target: &Target,
    stage: &Stage,
    findings: &mut Findings,
) -> std::io::Result<()> {
    out::line("1. A good call");
    out::line(&format!("  agent   > {}", frames::show(GOOD_CALL.as_bytes())));
    agent.send(GOOD_CALL.as_bytes())?;
    let reply = agent.reply()?;
    out::line(&format!("  agent   < {}", frames::shorten(&reply)));
    let received = target.last_request();
    out::line(&format!("  target  < {}", received.line));
    out::line(&format!(
        "  target  < authorization: Bearer … ({} bytes that the agent never saw)",
        received.credential_length()
    ));
    findings.expect(reply.contains("\"isError\":false"), || "the good call did not succeed".to_owned());
    findings.expect(received.credential_length() == stage.token_length(), || {
        "the target did not receive the token".to_owned()
    });
    findings.expect(target.calls() == 1, || format!("the target counted {} calls, not 1", target.calls()));
    out::line(&format!("  calls at the target: {}", target.calls()));
    Ok(())
}

fn hostile_frame(
    agent: &mut Agent,
    target: &Target,
    hostile: &Hostile,
    findings: &mut Findings,
) -> std::io::Result<()> {
    out::line(&format!("\n- {}", hostile.gist));
    out::line(&format!("  agent   > {}", frames::show(hostile.bytes)));
    agent.send(hostile.bytes)?;
    let reply = if hostile.answered { Some(agent.reply()?) } else { None };
    // The answer to a ping shows that everything before it has been dealt with.
    agent.ping()?;
    let verdict = reply.as_deref().map_or(Some((hostile.door, hostile.reason)), frames::verdict);
    let told = reply
        .as_ref()
        .map_or("nothing, as its kind is never answered".to_owned(), |reply| frames::shorten(reply));
    out::line(&format!("  agent   < {told}"));
    out::line(&format!(
        "  stopped at the {} door ({}); calls at the target: {}",
        hostile.door,
        hostile.reason,
        target.calls()
    ));
    findings.expect(verdict == Some((hostile.door, hostile.reason)), || {
        format!("expected {} at the {} door, got {verdict:?}", hostile.reason, hostile.door)
    });
    findings.expect(target.calls() == 1, || format!("the target counted {} calls, not 1", target.calls()));
    Ok(())
}

/// The target counts the call, and the agent sees of the answer what it may.
fn untrusted_answer(
    agent: &mut Agent,
    (target, performed): (&Target, usize),
    stage: &Stage,
    untrusted: &Untrusted,
    findings: &mut Findings,
) -> std::io::Result<()> {
    out::line(&format!("\n- {}", untrusted.gist));
    out::line(&format!("  agent   > {}", frames::show(untrusted.call.as_bytes())));
    agent.send(untrusted.call.as_bytes())?;
    let reply = agent.reply()?;
    out::line(&format!("  target  < {}", target.last_request().line));
    out::line(&format!("  agent   < {}", frames::shorten(&reply)));
    out::line(&format!("  calls at the target: {}", target.calls()));
    findings.expect(target.calls() == performed, || {
        format!("the target counted {} calls, not {performed}", target.calls())
    });
    findings.expect(target.last_request().line == untrusted.request, || {
        "the target did not get what the call says".to_owned()
    });
    // The structured copy holds the text without a further layer of escapes.
    findings
        .expect(reply.contains(untrusted.shown), || format!("the agent was not shown `{}`", untrusted.shown));
    findings.expect(!untrusted.hidden.is_some_and(|hidden| reply.contains(hidden)), || {
        "the agent was shown what it must not see".to_owned()
    });
    findings.expect(!stage.leaks_into(reply.as_bytes()), || "the agent was shown the token".to_owned());
    Ok(())
}

/// The default profile: after a line that is no message the session closes, and nothing behind it runs.
fn last_frame(stage: &Stage, target: &Target, findings: &mut Findings) -> std::io::Result<()> {
    out::line("\nA second session under the default profile: a line of noise, then a good call.");
    let mut agent = Agent::start_closing(stage)?;
    agent.handshake()?;
    let mut bytes = b"INFO: connected to database\n".to_vec();
    bytes.extend_from_slice(GOOD_CALL.as_bytes());
    out::line(&format!("  agent   > {}", frames::show(&bytes)));
    agent.send(&bytes)?;
    let reply = agent.reply()?;
    out::line(&format!("  agent   < {}", frames::shorten(&reply)));
    let end = agent.finish()?;
    out::line(&format!(
        "  the gateway closed the session with exit code {:?}; calls at the target: {}",
        end.exit_code.unwrap_or(-1),
        target.calls()
    ));
    findings.expect(end.exit_code == Some(i32::from(exit::DATA)), || {
        "the session did not close with exit code 65".to_owned()
    });
    findings.expect(target.calls() == PERFORMED, || {
        format!("the target counted {} calls, not {PERFORMED}", target.calls())
    });
    findings.expect(!stage.leaks_into(&end.bytes), || "the token is in what the agent received".to_owned());
    Ok(())
}

fn read_back(stage: &Stage, findings: &mut Findings) -> Result<(), Failure> {
    out::line("\nThe journal, read back:");
    let view = read_folder(&stage.journal()).map_err(|error| Failure::io(format!("journal: {error}")))?;
    out::text(&text(&view, SystemTime::now()));
    let (intents, done, refusals) = count(&view);
    findings.expect(intents == PERFORMED, || format!("the journal holds {intents} intents, not {PERFORMED}"));
    // A redirect that is not followed is no success.
    let successes = PERFORMED.saturating_sub(1);
    findings
        .expect(done == successes, || format!("the journal holds {done} outcomes `done`, not {successes}"));
    let expected = HOSTILE.len().saturating_add(1);
    findings
        .expect(refusals == expected, || format!("the journal holds {refusals} refusals, not {expected}"));
    let leaked = stage.journal_leaks().map_err(|error| unavailable(&error))?;
    findings.expect(!leaked, || "the token is in the journal".to_owned());
    Ok(())
}

fn count(view: &View) -> (usize, usize, usize) {
    let number = |of: fn(&Record) -> bool| view.entries().iter().filter(|entry| of(entry.record())).count();
    (
        number(|record| matches!(record, Record::Intent(_))),
        number(|record| matches!(record, Record::Outcome(outcome) if outcome.status == "done")),
        number(|record| matches!(record, Record::Refusal(_))),
    )
}

fn conclude(target: &Target, findings: &Findings) -> Result<u8, Failure> {
    let calls = target.calls();
    if calls != PERFORMED {
        let text = format!("the target counted {calls} calls, not {PERFORMED}");
        return Err(Failure::new(exit::FINDINGS, text));
    }
    let refused = HOSTILE.len().saturating_add(1);
    out::line(&format!(
        "\n{refused} hostile frames refused, {calls} calls performed, as counted by the target."
    ));
    if findings.0.is_empty() {
        out::line("Everything held.");
        Ok(exit::OK)
    } else {
        Err(Failure::new(
            exit::FINDINGS,
            format!("{} of the checks failed; see WRONG above", findings.0.len()),
        ))
    }
}

fn unavailable(error: &std::io::Error) -> Failure {
    Failure::new(exit::FINDINGS, format!("the demonstration broke off: {error}"))
}
