//! The reasons of the corpus are the reasons of the wire: every case of the frame, JSON and message
//! doors is refused there, for the reason that its file is named after; every valid frame passes.

use std::collections::BTreeSet;

use framegate_corpus::{Case, FILES, Phase, Revision, VALID, Values, cases, valid};
use framegate_wire::frame::Reader;
use framegate_wire::json::Parser;
use framegate_wire::message::{self, CallParams, Incoming, MessageRefusal};
use framegate_wire::{Door, Limits, Reason};

fn values() -> Values {
    Values::new("mk-7f3a", 900_101)
}

#[test]
fn every_reason_has_a_file_and_every_file_a_reason() {
    let files: BTreeSet<&str> = FILES.iter().map(|(file, _)| *file).filter(|file| *file != VALID).collect();
    let reasons: BTreeSet<&str> = Reason::ALL.iter().map(|reason| reason.code()).collect();
    assert_eq!(files, reasons);
    for reason in Reason::ALL {
        assert!(
            cases().iter().any(|case| case.reason.as_deref() == Some(reason.code())),
            "{reason} has no case"
        );
    }
}

#[test]
fn files_stand_in_the_order_of_the_doors() {
    let files: Vec<&str> = FILES.iter().map(|(file, _)| *file).filter(|file| *file != VALID).collect();
    let reasons: Vec<&str> = Reason::ALL.iter().map(|reason| reason.code()).collect();
    assert_eq!(files, reasons);
}

#[test]
fn requirements_of_reasons_are_covered() {
    for reason in Reason::ALL {
        let covered = cases().iter().any(|case| {
            case.reason.as_deref() == Some(reason.code())
                && case.covers.iter().any(|item| item == reason.requirement())
        });
        assert!(covered, "no case of {reason} covers {}", reason.requirement());
    }
}

#[test]
fn error_codes_are_those_of_the_reasons() {
    use framegate_corpus::Outcome;
    for case in cases() {
        let reason = Reason::from_code(case.reason.as_deref().unwrap_or_default()).expect(&case.id);
        // The reply to the frame that reaches the limit is that of the frame's own reason.
        if let (Outcome::Error(code), true) = (case.reply.outcome, reason != Reason::RefusalLimit) {
            assert_eq!(code, i64::from(reason.rpc_code()), "{}", case.id);
        }
    }
}

/// What the wire makes of each line: a reason or, for what passes, the kind of message.
fn judge(case: &Case, chunks: &[&[u8]]) -> Vec<Result<&'static str, Reason>> {
    let limits = Limits::default();
    let mut reader = Reader::new(&limits);
    let mut parser = Parser::new(&limits);
    let mut judged = Vec::new();
    let mut drain = |reader: &mut Reader| {
        while let Some(frame) = reader.next() {
            judged.push(frame.map_err(|refusal| refusal.reason()).and_then(|frame| {
                let document = parser.parse(frame).map_err(|refusal| refusal.reason())?;
                let batches = case.revision == Revision::V2025_03_26 && case.phase != Phase::New;
                let incoming = message::read(&document, batches, &limits)
                    .map_err(|refused| refused.refusal().reason())?;
                inspect(case, incoming, &limits)
            }));
        }
    };
    for chunk in chunks {
        reader.push(chunk);
        drain(&mut reader);
    }
    reader.end();
    drain(&mut reader);
    judged
}

fn inspect(case: &Case, incoming: Incoming<'_>, limits: &Limits) -> Result<&'static str, Reason> {
    match incoming {
        Incoming::Request(request) if request.method() == "tools/call" => {
            let revision = message::Revision::from_name(case.revision.name()).expect("a revision");
            let call = CallParams::read(&request, revision).map_err(|refusal| refusal.reason())?;
            call.progress_token().map_err(|refusal| refusal.reason())?;
            Ok("call")
        }
        Incoming::Request(request) => {
            request.params().object().map(|_| "request").map_err(|refusal| refusal.reason())
        }
        Incoming::Notification(_) => Ok("notification"),
        Incoming::Response(_) => Ok("response"),
        Incoming::Batch(batch) => {
            let refused = batch.read(limits).find_map(Result::err);
            refused.map_or(Ok("batch"), |refused: MessageRefusal| Err(refused.refusal().reason()))
        }
    }
}

/// Whether the wire alone can give this case's reason.
fn is_wire_reason(reason: Reason) -> bool {
    reason.door() <= Door::Message || matches!(reason, Reason::CallUnknownMember | Reason::CallNotAsked)
}

#[test]
fn every_refusal_of_the_wire_is_given_for_its_reason() {
    let mut wrong = Vec::new();
    for case in cases() {
        let reason = Reason::from_code(case.reason.as_deref().unwrap_or_default()).expect(&case.id);
        let frame = case.frame(&values());
        let judged = judge(&case, &[&frame]);
        if !is_wire_reason(reason) {
            // It must come as far as the doors behind.
            if judged.iter().any(|line| line.is_err_and(|reason| reason.door() <= Door::Message))
                && reason != Reason::RefusalLimit
                && reason.door() != Door::Protocol
            {
                wrong.push(format!("{}: stopped early: {judged:?}", case.id));
            }
            continue;
        }
        let expected = Err(reason);
        if judged.first() != Some(&expected) {
            wrong.push(format!("{}: expected {reason}, got {judged:?}", case.id));
        }
        let also: Vec<Result<&str, Reason>> = case
            .also_reasons
            .iter()
            .map(|also| Err(Reason::from_code(&also.reason).expect(&case.id)))
            .collect();
        let closes = reason.closing() == framegate_wire::reason::Closing::Always;
        if !closes && judged.get(1..) != Some(also.as_slice()) {
            wrong.push(format!("{}: also expected {also:?}, got {judged:?}", case.id));
        }
    }
    assert!(wrong.is_empty(), "{} disagree:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_valid_frame_and_twin_passes_the_wire() {
    for case in valid() {
        let judged = judge(&case, &[&case.frame(&values())]);
        assert!(judged.iter().all(Result::is_ok) && judged.len() == 1, "{}: {judged:?}", case.id);
        assert_eq!(judged == [Ok("call")], case.executes > 0, "{}", case.id);
    }
    for case in cases() {
        assert_eq!(judge(&case, &[&case.twin(&values())]), [Ok("call")], "{}", case.id);
        if let Some(then) = case.then(&values()) {
            assert_eq!(judge(&case, &[&then]), [Ok("call")], "{}", case.id);
        }
    }
}

#[test]
fn pieces_are_judged_like_the_whole() {
    for case in cases().into_iter().chain(valid()) {
        let frame = case.frame(&values());
        if frame.len() > 100_000 {
            continue;
        }
        let whole = judge(&case, &[&frame]);
        let mut at = 0;
        let mut pieces = Vec::new();
        for cut in case.cuts(&frame).into_iter().chain([frame.len()]) {
            pieces.push(&frame[at..cut]);
            at = cut;
        }
        assert_eq!(judge(&case, &pieces), whole, "{} at its cuts", case.id);
        if frame.len() <= 4_096 {
            let bytes: Vec<&[u8]> = frame.chunks(1).collect();
            assert_eq!(judge(&case, &bytes), whole, "{} byte by byte", case.id);
        }
    }
}
