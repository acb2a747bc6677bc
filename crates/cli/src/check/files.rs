//! Where reports and evidence go.
//!
//! Belongs here: forms and their files, a file for each server, who may read them.
//! Does not belong here: what a report says.
//!
//! A file holds one target's report, in every form. Where several servers are checked, its name says whose.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use framegate_bench::{Evidence, Report, html, json as json_report, junit, markdown, sarif, tap};
use serde_json::{Value, json};

use crate::args::CheckArguments;
use crate::failure::Failure;
use crate::out;

/// What stands for a server's name in the name of a file.
const SERVER: &str = "{server}";

type Form = fn(&Report) -> String;

/// The files that were asked for.
pub(super) struct Files<'a> {
    /// Whether what is printed is for a run of GitHub Actions.
    pub(super) for_github: bool,
    reports: Vec<(Form, &'a str)>,
    evidence: Option<&'a Path>,
}

impl<'a> Files<'a> {
    /// Faults of the command line are told before anything runs.
    pub(super) fn asked_for(arguments: &'a CheckArguments, targets: usize) -> Result<Self, Failure> {
        let (github, files): (Vec<_>, Vec<_>) = arguments.reports.iter().partition(|text| *text == "github");
        let reports: Vec<_> = files.into_iter().map(|text| form(text)).collect::<Result<_, _>>()?;
        if let Some((_, file)) = reports.iter().find(|(_, file)| targets > 1 && !file.contains(SERVER)) {
            return Err(Failure::usage(format!(
                "--report: {targets} servers are checked, each with a report of its own; write {SERVER} into `{}`",
                out::printable(file)
            )));
        }
        let evidence = arguments.evidence.as_deref();
        if let Some(folder) = evidence {
            fs::create_dir(folder)
                .map_err(|error| Failure::usage(format!("--evidence {}: {error}", folder.display())))?;
        }
        Ok(Self { for_github: !github.is_empty(), reports, evidence })
    }

    /// Writes everything of one target.
    pub(super) fn write(&self, report: &Report) -> Result<(), Failure> {
        let server = report.server.as_deref().map(file_name);
        for (form, file) in &self.reports {
            let file = server.as_ref().map_or_else(|| (*file).to_owned(), |name| file.replace(SERVER, name));
            write(Path::new(&file), form(report).as_bytes())?;
        }
        match (self.evidence, server) {
            (None, _) => Ok(()),
            (Some(folder), None) => keep(folder, report),
            (Some(folder), Some(name)) => keep(&made(folder.join(name))?, report),
        }
    }
}

fn form(text: &str) -> Result<(Form, &str), Failure> {
    match text.split_once('=') {
        Some(("html", file)) => Ok((html, file)),
        Some(("json", file)) => Ok((json_report, file)),
        Some(("junit", file)) => Ok((junit, file)),
        Some(("md", file)) => Ok((markdown, file)),
        Some(("sarif", file)) => Ok((sarif, file)),
        Some(("tap", file)) => Ok((tap, file)),
        _ => Err(Failure::usage(format!(
            "--report {}: a report is written FORM=FILE, with the forms html, json, junit, md, sarif and tap, or `github` without a file",
            out::printable(text)
        ))),
    }
}

/// A server's name as a part of a file's name, another for every name: what is no letter, digit, `-`, `_` or `.`, and a
/// `.` at the start, is written `%` and its byte in hexadecimal.
fn file_name(server: &str) -> String {
    let mut name = String::new();
    for byte in server.bytes() {
        let plain =
            byte.is_ascii_alphanumeric() || b"-_".contains(&byte) || (byte == b'.' && !name.is_empty());
        if plain {
            name.push(char::from(byte));
        } else {
            name.push_str(&format!("%{byte:02x}"));
        }
    }
    name
}

fn keep(folder: &Path, report: &Report) -> Result<(), Failure> {
    write(&folder.join("report.json"), json_report(report).as_bytes())?;
    for case in &report.cases {
        let Some(evidence) = &case.evidence else { continue };
        let Evidence { stdin_bytes, stdout_bytes, stderr_bytes, launch, passages, effects, .. } = evidence;
        let place = made(folder.join(case.id.replace('/', ".")))?;
        write(&place.join("stdin.bin"), stdin_bytes)?;
        write(&place.join("stdout.bin"), stdout_bytes)?;
        write(&place.join("stderr.txt"), stderr_bytes)?;
        write(&place.join("launch.json"), &as_json(&json!(launch)))?;
        write(&place.join("ledger.json"), &as_json(&json!(passages)))?;
        write(&place.join("effects.json"), &as_json(&json!(effects)))?;
    }
    Ok(())
}

fn as_json(value: &Value) -> Vec<u8> {
    format!("{value:#}\n").into_bytes()
}

fn made(folder: PathBuf) -> Result<PathBuf, Failure> {
    fs::create_dir(&folder).map_err(|error| Failure::io(format!("{}: {error}", folder.display())))?;
    Ok(folder)
}

/// Readable by the owner only: a target's bytes may hold its secrets.
fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)
        .and_then(|mut file| file.write_all(bytes))
        .map_err(|error| Failure::io(format!("{}: {error}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_servers_name_is_one_part_of_a_path_and_another_for_every_name() {
        let names = ["a", "a/b", "a%2fb", "..", ".", "a..b", "x@/srv/app", "\u{1b}[31m", "é", "A"];
        let files: Vec<_> = names.iter().map(|name| file_name(name)).collect();
        assert_eq!(files[1..6], ["a%2fb", "a%252fb", "%2e.", "%2e", "a..b"]);
        for (index, file) in files.iter().enumerate() {
            assert!(!file.contains('/') && !file.starts_with('.') && file.is_ascii(), "{file}");
            assert!(!files[..index].contains(file), "{file}");
        }
    }
}
