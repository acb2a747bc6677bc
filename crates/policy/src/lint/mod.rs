//! What a rule must satisfy beyond Cedar's own validation.
//!
//! Belongs here: names, scopes that reach nothing or too much, and the two ways in which a rule over text
//! looks like a control and is none.
//! Does not belong here: how a condition is read (`condition`), types.

mod condition;

use std::collections::{BTreeMap, BTreeSet};

use cedar_policy::{Effect, pst};
use framegate_gate::schema::{Shape, Tool};

use crate::fault::{PolicyFault, Source};
use crate::generate::PREFIX;
use crate::rule::Rule;
use crate::schema::quoted;
use crate::tokens;
use condition::Subject;

/// The longest `@id`, in bytes: it stands in replies, records and tables.
const MAX_ID_BYTES: usize = 64;

const LIKE_HINT: &str =
    "declare the parameter as a `path` and test its `first`, `segments` or `depth` with `==` and `contains`";
const DENIAL_HINT: &str =
    "permit the values that are meant instead, or declare the parameter as an enum or with a pattern";

/// A fault of the rule with this index.
pub(crate) type Finding = (usize, PolicyFault);

/// Every finding over these rules, of which `generated` is the index of the generated source.
pub(crate) fn check(rules: &[Rule], sources: &[Source], generated: usize) -> Vec<Finding> {
    let mut findings = ids(rules, sources, generated);
    for (index, rule) in rules.iter().enumerate() {
        let Some(source) = sources.get(rule.source) else {
            continue;
        };
        let report = |word: &str, problem: &str, hint: &str| {
            (index, source.fault(word_span(rule, source, word), problem, Some(hint)))
        };
        let effect = rule.policy.effect().to_string();
        if rule.tools.is_empty() {
            findings.push(report(
                &effect,
                "no tool is in the scope of this rule: it can never match",
                "name a declared tool together with the target that it is bound to",
            ));
        }
        if rule.policy.effect() == Effect::Permit
            && !rule.names_action()
            && rule.annotation("covers_new_tools") != Some("true")
        {
            findings.push(report(
                &effect,
                "this permit names no action, so it also covers every tool that is declared later",
                "name its tools as `action in [Framegate::Action::\"…\"]`, or write `@covers_new_tools(\"true\")` above it",
            ));
        }
        findings.extend(likes(rule).into_iter().map(|problem| report("like", &problem, LIKE_HINT)));
        findings.extend(
            denials_by_value(rule, rules)
                .into_iter()
                .map(|(word, problem)| report(&word, &problem, DENIAL_HINT)),
        );
    }
    findings
}

/// Every rule has a name, and no two have the same one.
fn ids(rules: &[Rule], sources: &[Source], generated: usize) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut seen: BTreeMap<&str, &Rule> = BTreeMap::new();
    for (index, rule) in rules.iter().enumerate() {
        let Some(source) = sources.get(rule.source) else {
            continue;
        };
        let mut report = |word: &str, problem: String, hint: &str| {
            findings.push((index, source.fault(word_span(rule, source, word), &problem, Some(hint))));
        };
        let effect = rule.policy.effect().to_string();
        let Some(id) = rule.id() else {
            report(
                &effect,
                "this rule has no name: verdicts and records name their rule".to_owned(),
                "write `@id(\"…\")` above it",
            );
            continue;
        };
        let plain =
            |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b':' | b'-' | b'/');
        if id.is_empty() || id.len() > MAX_ID_BYTES || !id.bytes().all(plain) {
            report(
                "id",
                format!("`{id}` is not a name for a rule"),
                "use 1 to 64 of the characters A-Z a-z 0-9 . _ : - /",
            );
        } else if id.starts_with(PREFIX) && rule.source != generated {
            report(
                "id",
                format!("`{id}`: names that start with `{PREFIX}` are those of generated rules"),
                "choose another name",
            );
        } else if let Some(first) = seen.insert(id, rule) {
            let file = sources.get(first.source).map_or("", |source| source.name.as_str());
            report("id", format!("`{id}` is already the name of a rule in `{file}`"), "choose another name");
        }
    }
    findings
}

/// `like` over a path: its wildcard also matches `..` and further segments.
fn likes(rule: &Rule) -> Vec<String> {
    let is_path = |name: &str| {
        rule.tools.iter().any(|tool| matches!(text_shape(tool, name), Some(Shape::Path | Shape::Url)))
    };
    let problem = |(subjects, pattern): (BTreeSet<Subject>, String)| {
        let path = subjects.iter().find_map(|subject| match subject {
            Subject::Argument(name) if is_path(name) => Some(name.as_str()),
            Subject::Argument(_) | Subject::AnyArgument | Subject::ClaimedClient => None,
        });
        match path {
            Some(name) => Some(format!(
                "`like` over `{name}`: a wildcard over a path or URL also matches what leads out of it"
            )),
            None if pattern.contains(['/', '\\']) => Some(format!(
                "`like {}` is a pattern of paths: `reports/*` also matches `reports/../admin`",
                quoted(&pattern)
            )),
            None => None,
        }
    };
    condition::likes(&rule.tree).into_iter().filter_map(problem).collect()
}

/// Values of an open text that the rule denies while some permit lets the rest through.
fn denials_by_value(rule: &Rule, rules: &[Rule]) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for subject in condition::denied_by_value(&rule.tree) {
        let broad = rule.tools.iter().filter_map(|tool| Some((open_text(tool, &subject)?, tool))).find_map(
            |(name, tool)| {
                let permit = match rule.tree.effect {
                    pst::Effect::Permit => {
                        Some(rule).filter(|permit| !condition::narrows(&permit.tree, &subject))
                    }
                    pst::Effect::Forbid => rules.iter().find(|other| {
                        other.tree.effect == pst::Effect::Permit
                            && other.reaches(tool)
                            && !condition::narrows(&other.tree, &subject)
                    }),
                }?;
                Some((name, tool, permit))
            },
        );
        if let Some((name, tool, permit)) = broad {
            let allowing = match rule.tree.effect {
                pst::Effect::Permit => "this permit".to_owned(),
                pst::Effect::Forbid => {
                    format!("`{}`", permit.id().unwrap_or("a permit without a name"))
                }
            };
            let problem = format!(
                "`{name}` of tool `{}` is open text: {allowing} allows every spelling that is not denied here (`prod` denied, `Prod` allowed)",
                tool.name(),
            );
            found.push((name, problem));
        }
    }
    found
}

/// The name of an open text that the subject means in this tool.
fn open_text(tool: &Tool, subject: &Subject) -> Option<String> {
    let is_open =
        |name: &str| matches!(text_shape(tool, name), Some(Shape::FreeText | Shape::Name | Shape::Url));
    match subject {
        Subject::Argument(name) => is_open(name).then(|| name.clone()),
        Subject::AnyArgument => tool
            .parameters()
            .iter()
            .map(|parameter| parameter.name())
            .find(|name| is_open(name))
            .map(str::to_owned),
        Subject::ClaimedClient => Some("claimed_client".to_owned()),
    }
}

/// The shape of a parameter's text: of its items when it is a list.
fn text_shape(tool: &Tool, name: &str) -> Option<Shape> {
    let parameter = tool.parameters().iter().find(|parameter| parameter.name() == name)?;
    Some(parameter.item_shape().unwrap_or_else(|| parameter.shape()))
}

/// The bytes of the word in the rule's source, or of the whole rule when it does not stand there.
fn word_span(rule: &Rule, source: &Source, word: &str) -> core::ops::Range<usize> {
    let text = source.text.get(rule.span.clone()).unwrap_or_default();
    tokens::find_word(text, word).map_or_else(
        || rule.span.clone(),
        |found| rule.span.start.saturating_add(found.start)..rule.span.start.saturating_add(found.end),
    )
}
