//! Rules generated from a tool's `allow`, as text that operators can read and copy.
//!
//! Belongs here: what `allow = "read"` and `allow = true` mean in Cedar.
//! Does not belong here: judging; generated rules go through the same door as written ones.

use framegate_gate::action::Method;
use framegate_gate::schema::{Catalog, Tool};

use crate::fault::{Place, PolicyFault, printable};
use crate::{names, schema};

/// Rules with this prefix are generated; written rules may not use it.
pub(crate) const PREFIX: &str = "allow:";

/// A tool's `allow`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allow {
    /// `allow = "read"`: every call with a safe method; only for tools that have no other.
    Read,
    /// `allow = true`: every call.
    Every,
}

/// The Cedar text of these `allow`s, in the order of the tools' names; empty when there are none.
///
/// # Errors
/// An `allow` of a tool that the catalog lacks, a second one of the same tool, or `"read"` for a tool
/// that can use an unsafe method (RFC 9110, 9.2.1).
pub fn generate(allows: &[(String, Allow)], catalog: &Catalog) -> Result<String, Vec<PolicyFault>> {
    let mut sorted: Vec<&(String, Allow)> = allows.iter().collect();
    sorted.sort_by(|(left, _), (right, _)| left.cmp(right));
    let mut text = String::new();
    let mut faults = Vec::new();
    let mut previous: Option<&str> = None;
    for (name, allow) in sorted {
        let repeated = previous.replace(name) == Some(name);
        match catalog.get(name) {
            None => faults.push(fault(name, "there is no such tool", None)),
            Some(_) if repeated => faults.push(fault(name, "a tool has one `allow`", None)),
            Some(tool) if *allow == Allow::Read && !tool.is_read_only() => faults.push(fault(
                name,
                "`allow = \"read\"` is for tools whose methods are all safe",
                Some("write `allow = true`, or a rule in a policy file"),
            )),
            Some(tool) => text.push_str(&rule(tool, *allow)),
        }
    }
    if faults.is_empty() { Ok(text) } else { Err(faults) }
}

fn rule(tool: &Tool, allow: Allow) -> String {
    let id = schema::quoted(&format!("{PREFIX}{}", tool.name()));
    let (action, target) = (names::action(tool.name()), names::target(tool.target()));
    let condition = match allow {
        Allow::Every => String::new(),
        Allow::Read => {
            let safe: Vec<String> = Method::ALL
                .into_iter()
                .filter(|method| method.is_safe())
                .map(|method| schema::quoted(method.name()))
                .collect();
            format!("\nwhen {{ [{}].contains(context.request.method) }}", safe.join(", "))
        }
    };
    format!(
        "@id({id})\npermit (\n  principal,\n  action == {action},\n  resource == {target}\n){condition};\n"
    )
}

fn fault(tool: &str, problem: &str, hint: Option<&str>) -> PolicyFault {
    PolicyFault {
        place: Place::Allow { tool: tool.to_owned() },
        problem: printable(problem),
        hint: hint.map(str::to_owned),
    }
}
