//! Failures that are allowed for.
//!
//! Belongs here: the files of `--expect` and `--write-expect`. Does not belong here: what an expectation is
//! (`framegate_bench`).

use std::fs;
use std::path::Path;

use framegate_bench::{Expectations, Report, expectations};

use crate::args::CheckArguments;
use crate::failure::Failure;
use crate::out;

/// What is done about failures of a run.
pub(super) struct Expected<'a> {
    known: Option<Expectations>,
    written: Option<&'a Path>,
}

impl<'a> Expected<'a> {
    /// Faults of the file are told before anything runs.
    pub(super) fn asked_for(arguments: &'a CheckArguments, targets: usize) -> Result<Self, Failure> {
        let written = arguments.write_expect.as_deref();
        if targets > 1 && (arguments.expect.is_some() || written.is_some()) {
            return Err(Failure::usage("expectations are one server's: pick it with --server"));
        }
        Ok(Self { known: arguments.expect.as_deref().map(read).transpose()?, written })
    }

    /// Marks what is expected, or writes it down.
    pub(super) fn settle(&self, report: &mut Report) -> Result<(), Failure> {
        if let Some(known) = &self.known {
            known.apply(report);
        }
        let Some(path) = self.written else { return Ok(()) };
        fs::write(path, expectations(report))
            .map_err(|error| Failure::io(format!("{}: {error}", path.display())))?;
        out::complain(&format!(
            "{}: expects the failures of this run; read each reason, and give the file with --expect",
            out::printable(&path.to_string_lossy())
        ));
        Ok(())
    }
}

fn read(path: &Path) -> Result<Expectations, Failure> {
    let about = |fault: String| {
        let path = out::printable(&path.to_string_lossy());
        Failure::usage(format!("--expect {path}: {}", fault.trim_end()))
    };
    let text = fs::read_to_string(path).map_err(|error| about(error.to_string()))?;
    text.parse().map_err(|fault: framegate_bench::ExpectError| about(fault.to_string()))
}
