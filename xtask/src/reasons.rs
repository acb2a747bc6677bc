//! Every refusal reason has a page that tells the truth, and at least one frame in the corpus.
//!
//! Belongs here: the head of each page against `framegate_wire::Reason`, orphans in both folders, the index.
//! Does not belong here: whether the corpus behaves as it says; its own tests show that.

use std::collections::BTreeSet;

use framegate_wire::Reason;
use framegate_wire::reason::Closing;

use crate::Findings;
use crate::tree::Tree;

const PAGES: &str = "docs/reasons";
const FRAMES: &str = "crates/corpus/frames";
/// The frames that are no refusals: what must still pass.
const CONTROLS: &str = "crates/corpus/frames/valid.json";
const INDEX: &str = "docs/reasons/README.md";

/// Checks the pages and the corpus files.
pub fn check(tree: &Tree) -> Findings {
    let mut faults = Vec::new();
    let codes: BTreeSet<&str> = Reason::ALL.iter().map(|reason| reason.code()).collect();
    let index = tree.read(INDEX)?;
    for reason in Reason::ALL {
        let page = format!("{PAGES}/{reason}.md");
        match tree.read(&page) {
            Ok(text) => {
                faults.extend(page_faults(*reason, &text).map(|fault| format!("{page}: {fault}")));
            }
            Err(error) => faults.push(format!("no page for `{reason}`: {error}")),
        }
        if !index.contains(&format!("[{reason}]({reason}.md)")) {
            faults.push(format!("{INDEX}: does not list `{reason}`"));
        }
        if !tree.join(format!("{FRAMES}/{reason}.json")).is_file() {
            faults.push(format!("no corpus file for `{reason}`: {FRAMES}/{reason}.json"));
        }
    }
    for (folder, extension) in [(PAGES, "md"), (FRAMES, "json")] {
        for file in tree.files(&[folder], extension)? {
            let code = file.rsplit('/').next().and_then(|name| name.strip_suffix(&format!(".{extension}")));
            if file != INDEX && file != CONTROLS && !code.is_some_and(|code| codes.contains(code)) {
                faults.push(format!("{file}: no reason has this code"));
            }
        }
    }
    Ok(faults)
}

/// The line of facts that opens a page.
fn facts(reason: Reason) -> String {
    let (close, go_on) = match reason.closing() {
        Closing::Always => ("ends", "ends"),
        Closing::ByProfile => ("ends", "goes on"),
        Closing::Never => ("goes on", "goes on"),
    };
    format!("| {} | {} | {close} | {go_on} | {} |", reason.door(), reason.rpc_code(), reason.requirement())
}

fn page_faults(reason: Reason, text: &str) -> impl Iterator<Item = String> {
    let wanted = [
        (text.starts_with(&format!("# {reason}\n")), "does not open with its code as title".to_owned()),
        (text.contains(&facts(reason)), format!("does not hold its facts: {}", facts(reason))),
        (text.contains("\n    "), "shows no example".to_owned()),
        (text.contains("**Fix.**"), "does not say what a client author should fix".to_owned()),
    ];
    wanted.into_iter().filter(|(holds, _)| !holds).map(|(_, fault)| fault)
}

#[cfg(test)]
mod tests {
    use framegate_wire::Reason;

    use super::{facts, page_faults};

    #[test]
    fn a_page_that_contradicts_the_table_is_found() {
        let reason = Reason::JsonDuplicateMember;
        assert_eq!(facts(reason), "| json | -32700 | ends | goes on | H-18 |");
        let sound = format!("# {reason}\n\n{}\n\n    {{}}\n\n**Fix.** x\n", facts(reason));
        assert_eq!(page_faults(reason, &sound).count(), 0);
        assert_eq!(page_faults(reason, &sound.replace("-32700", "-32600")).count(), 1);
        assert_eq!(page_faults(reason, "").count(), 4);
    }
}
