//! The plan of a run: which cases, in which revisions, with which calls inside.
//!
//! Belongs here: what a profile and `--only` choose. Does not belong here: running it.

use framegate_corpus::Revision;
use regex::Regex;

use crate::bench::{Bench, Speech};
use crate::case::{
    ConformanceCase, Controls, Delivery, HostileCase, Plain, Tried, WRITTEN_FOR, named_mutation,
    plan_conformance, plan_hostile, plan_mutation, plan_plain, plan_violations, unasked_calls,
};
use crate::options::{Call, Options, Profile, Unasked};
use crate::pattern::pattern;
use crate::run::RunError;

/// What is run.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) plain: Vec<Plain>,
    pub(crate) conformance: Vec<ConformanceCase>,
    pub(crate) hostile: Vec<HostileCase>,
    /// The calls inside hostile frames: those that were given, or that were made up.
    pub(crate) calls: Vec<Call>,
    /// Calls that were made up in vain, and why nothing can be said.
    pub(crate) unseen: Vec<(Call, String)>,
}

impl Plan {
    /// What the options choose. A case that is named is run whatever the profile, unless that sends nothing hostile.
    pub(crate) fn make(bench: &Bench<'_>) -> Result<Self, RunError> {
        let options = bench.options;
        let patterns: Vec<_> = options.only.iter().map(|text| (text, pattern(text))).collect();
        let wanted =
            |id: &str| patterns.is_empty() || patterns.iter().any(|(_, pattern)| is_match(pattern, id));
        let profile = match (options.profile, options.only.is_empty()) {
            (Profile::Stdout, _) => Profile::Stdout,
            (_, false) => Profile::Full,
            (profile, true) => profile,
        };
        let plain = plan_plain(&options.launches).into_iter().filter(|plain| wanted(&plain.id())).collect();
        let revisions = revisions(options);
        let conformance = if profile.is_conformance() { plan_conformance(&revisions) } else { Vec::new() };
        let Tried { seen: calls, unseen } = match (profile.is_hostile(), options.calls.is_empty()) {
            (false, _) => Tried::default(),
            (true, false) => Tried { seen: options.calls.clone(), unseen: Vec::new() },
            (true, true) => {
                let enough = if options.unasked == Unasked::All { usize::MAX } else { 1 };
                Controls::try_calls(bench, unasked_calls(bench.tools(), options.unasked), enough)
            }
        };
        let deliveries = match profile.has_pieces() {
            true => &[Delivery::Whole, Delivery::Cut, Delivery::Bytes][..],
            false => &[Delivery::Whole],
        };
        let mut hostile = plan_hostile(&calls, deliveries);
        if let Some(revision) = carrier(bench, &revisions).filter(|_| !calls.is_empty()) {
            hostile.iter_mut().for_each(|case| case.carry_to(revision));
        }
        hostile.extend(plan_violations(bench, &calls, &revisions));
        hostile.extend(options.only.iter().filter_map(|id| {
            let (seed, number, revision) = named_mutation(id)?;
            plan_mutation(bench, &calls, revision, seed, number)
        }));
        if profile == Profile::Quick {
            hostile.retain(|case| !case.is_policy());
        }
        hostile.retain(|case| revisions.contains(&case.revision()) && wanted(&case.id));
        let conformance = conformance.into_iter().filter_map(|case| case.only(wanted)).collect();
        let plan = Self { plain, conformance, hostile, calls, unseen };
        let ids = plan.ids();
        match patterns.iter().find(|(_, pattern)| !ids.iter().any(|id| is_match(pattern, id))) {
            Some((text, _)) => Err(RunError::NoSuchCase((*text).clone())),
            None => Ok(plan),
        }
    }

    /// Every case's id.
    pub(crate) fn ids(&self) -> Vec<String> {
        let plain = self.plain.iter().map(|plain| plain.id());
        let conformance = self.conformance.iter().flat_map(ConformanceCase::ids);
        plain.chain(conformance).chain(self.hostile.iter().map(|case| case.id.clone())).collect()
    }
}

fn revisions(options: &Options) -> Vec<Revision> {
    let is_wanted =
        |revision: &Revision| options.revisions.is_empty() || options.revisions.contains(revision);
    Revision::ALL.into_iter().filter(is_wanted).collect()
}

/// The revision that frames are sent in, where the one they are written for is not asked for or not spoken: the newest
/// with a handshake that is.
fn carrier(bench: &Bench<'_>, wanted: &[Revision]) -> Option<Revision> {
    if wanted.contains(&WRITTEN_FOR) && bench.speech(WRITTEN_FOR) != Speech::Refused {
        return None;
    }
    let mut newest_first = wanted.iter().rev().copied();
    newest_first.find(|revision| !revision.is_modern() && bench.speaks(*revision))
}

fn is_match(pattern: &Option<Regex>, id: &str) -> bool {
    pattern.as_ref().is_some_and(|pattern| pattern.is_match(id))
}
