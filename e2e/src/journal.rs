//! The journal as a stranger reads it: lines of JSON in files of a folder.
//!
//! Belongs here: counting by kind, independent of the crate that writes them.
//! Does not belong here: checksums and order, which that crate proves.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// Every record found below a folder.
#[derive(Clone, Debug, Default)]
pub struct Journal {
    records: Vec<Value>,
    /// Every byte of every file, for searches.
    pub raw: Vec<u8>,
    /// The files that hold records of actions.
    pub actions: Vec<PathBuf>,
    /// The files that hold refusals.
    pub refusals: Vec<PathBuf>,
}

impl Journal {
    /// Reads what there is, in the order of file names and lines. No folder: no records.
    ///
    /// # Panics
    /// If a whole line is not JSON.
    #[must_use]
    pub fn read(folder: &Path) -> Self {
        let mut journal = Self::default();
        let mut files = files_below(folder);
        files.sort();
        for file in files {
            let bytes = std::fs::read(&file).expect("a journal file can be read");
            journal.raw.extend_from_slice(&bytes);
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if !name.ends_with(".jsonl") {
                continue;
            }
            if name.contains("refusals") {
                journal.refusals.push(file.clone());
            } else {
                journal.actions.push(file.clone());
            }
            for line in bytes.split_inclusive(|byte| *byte == b'\n') {
                // A last line may be cut, and room set aside beyond the end reads as NUL.
                if let Some(line) = line.strip_suffix(b"\n") {
                    journal.records.push(serde_json::from_slice(line).unwrap_or_else(|error| {
                        panic!("{}: {error} in {:?}", file.display(), String::from_utf8_lossy(line))
                    }));
                }
            }
        }
        journal
    }

    /// All records of one kind.
    pub fn kind<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Value> {
        self.records.iter().filter(move |record| record["kind"] == kind)
    }

    /// How many records of one kind there are.
    #[must_use]
    pub fn count(&self, kind: &str) -> usize {
        self.kind(kind).count()
    }

    /// Door and reason of every refusal, in order.
    #[must_use]
    pub fn refused(&self) -> Vec<(String, String)> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        self.kind("refusal").map(|record| (text(&record["door"]), text(&record["reason"]))).collect()
    }

    /// How many outcomes there are, by status.
    #[must_use]
    pub fn outcomes(&self) -> BTreeMap<String, usize> {
        let mut outcomes = BTreeMap::new();
        for record in self.kind("outcome") {
            *outcomes.entry(record["status"].as_str().unwrap_or_default().to_owned()).or_insert(0) += 1;
        }
        outcomes
    }

    /// The revisions that sessions negotiated, in order.
    #[must_use]
    pub fn negotiated(&self) -> Vec<String> {
        self.kind("negotiated")
            .map(|record| record["revision"].as_str().unwrap_or_default().to_owned())
            .collect()
    }

    /// The exit code of the last `stop` record.
    #[must_use]
    pub fn exit_code(&self) -> Option<u64> {
        self.kind("stop").last()?["exit_code"].as_u64()
    }
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files.extend(files_below(&path));
        } else {
            files.push(path);
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_counted_by_kind() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("recorder")).unwrap();
        std::fs::write(
            folder.path().join("a.actions.jsonl"),
            "{\"kind\":\"negotiated\",\"revision\":\"2025-06-18\"}\n{\"kind\":\"outcome\",\"status\":\"done\"}\n{\"kind\":\"stop\",\"exit_code\":65}\n\0\0",
        )
        .unwrap();
        std::fs::write(
            folder.path().join("recorder/b.refusals.jsonl"),
            "{\"kind\":\"refusal\",\"door\":\"json\",\"reason\":\"json-noise\"}\n{\"kind\":\"refu",
        )
        .unwrap();
        let journal = Journal::read(folder.path());
        assert_eq!(journal.refused(), [("json".to_owned(), "json-noise".to_owned())]);
        assert_eq!(journal.negotiated(), ["2025-06-18"]);
        assert_eq!(
            (journal.count("intent"), journal.outcomes()["done"], journal.exit_code()),
            (0, 1, Some(65))
        );
        assert_eq!((journal.actions.len(), journal.refusals.len()), (1, 1));
    }
}
