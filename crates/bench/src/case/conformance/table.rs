//! Every check: its id, its level, the revisions that have it.
//!
//! Belongs here: rows. Does not belong here: how a check is made.

use framegate_corpus::Revision;

use super::{Check, How, ids, lifecycle, messages, modern, results, tools};
use crate::case::Level::{self, Must, Policy, Should};

const FIRST: Revision = Revision::V2024_11_05;
const SECOND: Revision = Revision::V2025_03_26;
const THIRD: Revision = Revision::V2025_06_18;
const FOURTH: Revision = Revision::V2025_11_25;
const FIFTH: Revision = Revision::V2026_07_28;

const ALL: &[Revision] = &[FIRST, SECOND, THIRD, FOURTH, FIFTH];
const LEGACY: &[Revision] = &[FIRST, SECOND, THIRD, FOURTH];
const BATCHED: &[Revision] = &[SECOND];
const UNBATCHED: &[Revision] = &[FIRST, THIRD, FOURTH, FIFTH];
const STRUCTURED: &[Revision] = &[THIRD, FOURTH, FIFTH];
const NAMED: &[Revision] = &[FOURTH, FIFTH];
const TASKS: &[Revision] = &[FOURTH];
const MODERN: &[Revision] = &[FIFTH];

const fn session(
    id: &'static str,
    level: Level,
    revisions: &'static [Revision],
    look: fn(&super::Transcript) -> super::Found,
    gist: &'static str,
) -> Check {
    Check { id, gist, level, revisions, how: How::Session(look) }
}

const fn probe(
    id: &'static str,
    level: Level,
    revisions: &'static [Revision],
    probe: fn(&mut super::Probe<'_>) -> super::Found,
    gist: &'static str,
) -> Check {
    Check { id, gist, level, revisions, how: How::Probe(probe) }
}

/// Every check.
pub(super) const CHECKS: &[Check] = &[
    probe("S-10", Must, ALL, ids::no_reply_to_notifications, "notifications are not answered"),
    probe("S-11", Must, ALL, ids::echoed, "an id comes back with its type and exact value"),
    probe("S-11-wide", Policy, ALL, ids::wide_echoed, "ids beyond 2^53, and an empty one, come back exactly"),
    session("S-12", Must, ALL, messages::result_or_error, "a response has a result or an error, not both"),
    session("S-13", Must, ALL, messages::error_members, "an error has an integer code and a text"),
    probe(
        "S-14",
        Policy,
        ALL,
        ids::unreadable,
        "an error whose request's id cannot be read is formed as the schema says",
    ),
    probe("S-15", Must, NAMED, ids::readable, "an error carries the request's id where that can be read"),
    session("S-17", Must, MODERN, messages::no_requests, "the server sends no requests"),
    session("S-18", Must, UNBATCHED, messages::no_arrays, "no line is an array"),
    session(
        "S-19",
        Must,
        LEGACY,
        messages::undeclared_requests,
        "no requests for what the client did not declare",
    ),
    session("S-20", Must, LEGACY, messages::request_ids, "the server's requests have ids of their own"),
    probe(
        "S-21",
        Should,
        LEGACY,
        lifecycle::held_back,
        "nothing but pings and logs before `notifications/initialized`",
    ),
    session(
        "S-22",
        Must,
        ALL,
        messages::known_notifications,
        "notifications are the revision's, and declared",
    ),
    session("S-23", Must, MODERN, messages::no_unasked_logs, "no log messages that were not asked for"),
    session("S-24", Must, MODERN, messages::no_unasked_changes, "no changes are told that nobody listens to"),
    session("S-25", Must, ALL, messages::progress, "progress has a known token, grows, and stops"),
    session("S-26", Must, ALL, messages::own_cancels, "the server cancels only its own requests"),
    session("L-01", Must, LEGACY, results::initialize, "`initialize` is answered as its schema says"),
    probe("L-02", Must, LEGACY, lifecycle::offered_is_served, "a version that is offered is served"),
    probe(
        "L-03",
        Must,
        LEGACY,
        lifecycle::unsupported,
        "an unsupported version is answered with a supported one",
    ),
    probe("L-04", Should, LEGACY, lifecycle::offers_latest, "the latest version is offered"),
    probe("L-05", Must, LEGACY, lifecycle::ping, "`ping` has an empty result, before `initialize` too"),
    session("L-06", Must, ALL, results::others, "results are formed as the revision's schema says"),
    probe(
        "L-07",
        Should,
        LEGACY,
        lifecycle::incomplete,
        "`initialize` without its members is an error, and no end",
    ),
    probe("L-10", Policy, LEGACY, lifecycle::again, "a second `initialize` does no harm"),
    probe("L-11", Must, LEGACY, lifecycle::discovered_first, "a `server/discover` is survived"),
    probe(
        "L-12",
        Policy,
        ALL,
        lifecycle::odd_first_line,
        "a notification or response as the first line is survived",
    ),
    probe("L-13", Must, BATCHED, lifecycle::batches, "batches are answered"),
    probe("L-14", Must, BATCHED, lifecycle::batched_initialize, "`initialize` inside a batch opens nothing"),
    session("M-02", Must, MODERN, results::discover, "`server/discover` is answered as its schema says"),
    probe("M-03", Must, MODERN, modern::listed_versions, "`server/discover` lists what is served"),
    probe("M-04", Must, MODERN, modern::meta_members, "missing or ill-typed `_meta` members are -32602"),
    probe("M-05", Must, MODERN, modern::nameless_client, "`clientInfo` may be absent"),
    probe("M-06", Must, MODERN, modern::unsupported, "an unsupported version is -32022, with data"),
    session("M-07", Must, MODERN, results::result_type, "every result has a `resultType`"),
    probe("M-08", Must, MODERN, modern::no_memory, "nothing is remembered of an earlier `_meta`"),
    probe("M-09", Must, MODERN, modern::same_tools, "`tools/list` is the same in every process"),
    probe("M-10", Should, MODERN, modern::same_order, "`tools/list` keeps its order"),
    session(
        "M-12",
        Must,
        MODERN,
        messages::known_codes,
        "no reserved error codes but those that are defined",
    ),
    probe("M-16", Must, MODERN, modern::listen, "listening is acknowledged first, or refused"),
    probe("M-17", Must, MODERN, modern::removed_methods, "removed methods are -32601"),
    probe("M-18", Should, MODERN, modern::late_initialize, "an error to `initialize` names the versions"),
    session("M-19", Should, MODERN, results::server_info, "results name the server in `_meta`"),
    probe("M-20", Should, MODERN, modern::bad_log_level, "a log level that does not exist is -32602"),
    session("M-21", Must, MODERN, results::cache_hints, "what may be kept says how long, and for whom"),
    probe("M-22", Should, MODERN, modern::both_eras, "`initialize` works behind `server/discover`"),
    session("T-01", Must, ALL, tools::declared, "who has tools declares it"),
    session(
        "T-02",
        Must,
        ALL,
        results::tools,
        "the list of tools is as its schema says, and so are schemas in it",
    ),
    session("T-03", Should, NAMED, tools::names, "tools have short, plain, unique names"),
    session("T-04", Should, ALL, tools::unknown, "a tool that does not exist is an error of the protocol"),
    probe("T-05", Must, ALL, tools::malformed, "a malformed call has no success"),
    session("T-08", Must, ALL, results::call, "a call's result is as its schema says"),
    session("T-09", Must, STRUCTURED, tools::structured, "structured content is what the tool published"),
    session("T-10", Should, STRUCTURED, tools::text_copy, "structured content is there as text too"),
    session("T-11", Should, ALL, tools::cursors, "an unknown cursor is -32602, and lists end"),
    probe("T-12", Must, TASKS, tools::undeclared_task, "`task` is ignored where tasks are not declared"),
    probe("C-01", Should, ALL, lifecycle::stray_cancels, "a cancel of what is not there is ignored"),
    probe("C-03", Policy, LEGACY, lifecycle::cancelled_initialize, "a cancelled `initialize` is survived"),
];
