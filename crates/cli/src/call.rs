//! `framegate call`: one call through every door, as an agent's would go.
//!
//! Belongs here: a frame made of the arguments, and the story of what each door said.
//! Does not belong here: the doors.

use std::sync::Arc;

use framegate_gate::Moment;
use framegate_gate::authorization::Permit;
use framegate_gate::outcome::Status;
use framegate_gate::session::{Input, Session, Step};
use framegate_gateway::config::Config;
use framegate_gateway::executor::Executor;
use framegate_gateway::log::Masks;
use framegate_gateway::{assemble, exit};
use framegate_journal::{Journal, Mode, Start, Stop};
use framegate_wire::frame::Reader;
use framegate_wire::message::Revision;
use serde_json::json;

use crate::args::ConfigArgument;
use crate::context;
use crate::failure::Failure;
use crate::out;

/// Takes the call through the doors; performs it unless `dry_run`.
pub(crate) fn run(
    argument: &ConfigArgument,
    client: Option<&str>,
    tool: &str,
    arguments: &str,
    dry_run: bool,
) -> Result<u8, Failure> {
    // A frame is a line.
    if arguments.contains(['\n', '\r']) {
        return Err(Failure::usage("a line break in the arguments\nhint: write the arguments on one line"));
    }
    let loaded = context::load(argument)?;
    let principal = context::principal(&loaded, client)?;
    let policy = context::policy(&loaded)?;
    let mut options = assemble::session_options(&loaded, Arc::clone(&principal), env!("CARGO_PKG_VERSION"));
    // The stateless revision needs no handshake; the doors are the same in all of them.
    options.revisions = vec![Revision::V2026_07_28];
    let digest = Arc::clone(&options.config);
    let mut reader = Reader::new(&options.limits);
    let mut session = Session::new(options, Arc::clone(&loaded.config.catalog), policy);
    reader.push(frame(tool, arguments).as_bytes());
    let mut step = match reader.next() {
        Some(Ok(frame)) => session.receive(Input::Frame(frame), Moment::default()),
        Some(Err(refusal)) => session.receive(Input::Refused(refusal), Moment::default()),
        None => return Err(Failure::usage("the arguments must be one JSON object on one line")),
    };
    let Some(permit) = step.permits.pop() else { return Ok(refused(&step)) };
    show(&permit, &loaded.config);
    if dry_run {
        out::line("dry run: nothing was sent");
        return Ok(exit::OK);
    }
    let executor = context::http_executor(&loaded.config, &Masks::default())?;
    let mut journal = Journal::open(&assemble::journal_options(&loaded.config)).map_err(journal_failure)?;
    journal
        .start(&Start {
            version: env!("CARGO_PKG_VERSION"),
            mode: Mode::Live,
            client: principal.client(),
            config: &digest,
            revisions: &loaded.config.session.revisions,
        })
        .map_err(journal_failure)?;
    let outcome = perform(&mut journal, &mut session, permit, &executor)?;
    let code = if outcome == Status::Done { exit::OK } else { exit::FINDINGS };
    journal.stop(&Stop { exit_code: code, reason: "call", frames: 1 }).map_err(journal_failure)?;
    Ok(code)
}

/// The frame that an agent would send. The arguments are taken over as text: the doors judge them.
fn frame(tool: &str, arguments: &str) -> String {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": Revision::V2026_07_28.name(),
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "framegate call", "version": env!("CARGO_PKG_VERSION")},
    });
    let tool = json!(tool);
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{{\"name\":{tool},\"arguments\":{arguments},\"_meta\":{meta}}}}}\n"
    )
}

fn show(permit: &Permit, config: &Config) {
    let granted = permit.granted();
    let call = granted.call();
    out::line("frame, json, message, protocol, schema, authorization: passed");
    out::line(&format!("client    {}", call.principal().client()));
    out::line(&format!("tool      {}", call.tool().name()));
    out::line(&format!("rule      {}", granted.rule()));
    out::line(&format!("action    {}", out::printable(&call.action().summary(call.hop()))));
    let request = format!("{:#}", json!(call.action()));
    out::line(&format!("request   {}", out::printable_lines(&request)));
    out::line(&format!(
        "(the credential of target `{}` is added when the request is sent)",
        call.action().target()
    ));
    let tool = config.tools.get(call.tool().name());
    if let Some(name) = tool.and_then(|tool| tool.idempotency_key.as_deref()) {
        out::line(&format!("(`{name}: INTENT-DIGEST` is added, with a value of its own for each intent)"));
    }
}

fn refused(step: &Step) -> u8 {
    explain(step);
    for reply in &step.replies {
        let mut line = Vec::new();
        reply.write(&mut line);
        out::line(&format!("reply     {}", out::printable(String::from_utf8_lossy(&line).trim_end())));
    }
    exit::FINDINGS
}

/// Which door refused, and by which rule.
fn explain(step: &Step) {
    for note in &step.refusals {
        let reason = note.refusal.reason();
        out::line(&format!("refused   at the {} door: {} ({reason})", reason.door(), reason.summary()));
        if let Some(rule) = &note.rule {
            out::line(&format!("rule      {rule}"));
        }
    }
}

/// Performs the call, and what its redirects lead to, as a session would.
fn perform(
    journal: &mut Journal,
    session: &mut Session,
    permit: Permit,
    executor: &dyn Executor,
) -> Result<Status, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(exit::UNAVAILABLE, error.to_string()))?;
    let mut status = Status::NotStarted;
    let mut permits = vec![permit];
    while !permits.is_empty() {
        let recorded = journal.commit(permits).map_err(|failure| Failure::io(failure.to_string()))?;
        permits = Vec::new();
        for (recorded, receipt) in recorded {
            let outcome = runtime.block_on(executor.perform(recorded));
            status = outcome.status();
            let (ticket, written) = journal.close(receipt, &outcome);
            written.map_err(journal_failure)?;
            // Without a redirect nothing waits for the ticket: the session ends here.
            let step = match outcome.redirect() {
                Some(_) => session.redirect(ticket, &outcome, Moment::default()),
                None => Step::default(),
            };
            if let Some(next) = step.permits.first() {
                let call = next.granted().call();
                out::line(&format!("redirect  {}", out::printable(&call.action().summary(call.hop()))));
            } else {
                explain(&step);
                out::line(&format!("outcome   {}", status.name()));
                // One line, line feeds escaped: no line of a target passes for one of ours.
                out::line(&out::printable(outcome.text()));
            }
            permits.extend(step.permits);
        }
    }
    Ok(status)
}

fn journal_failure(error: framegate_journal::JournalError) -> Failure {
    Failure::io(format!("journal: {error}"))
}
