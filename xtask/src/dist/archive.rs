//! Packing: the same files give the same bytes, whoever packs them, when and where.
//!
//! Belongs here: order, owner, mode and time of entries; the checksum. Does not belong here: which files.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::Path;

use flate2::{Compression, GzBuilder};
use sha2::{Digest, Sha256};
use tar::{Builder, EntryType, Header};

/// Who may do what with an entry.
#[derive(Clone, Copy, Debug)]
pub enum Mode {
    Program,
    Text,
}

/// A file of an archive.
#[derive(Clone, Debug)]
pub struct Entry {
    name: String,
    mode: Mode,
    bytes: Vec<u8>,
}

impl Entry {
    /// `name` is relative to the archive's only top folder.
    pub fn new(name: impl Into<String>, mode: Mode, bytes: Vec<u8>) -> Self {
        Self { name: name.into(), mode, bytes }
    }
}

/// A gzipped tar archive of these files in one top folder, all of this time, in seconds since 1970.
pub fn pack(folder: &str, mut entries: Vec<Entry>, time: u64) -> io::Result<Vec<u8>> {
    entries.sort_by(|left, right| left.name.cmp(&right.name));
    // No time and no name in the header.
    let gzip = GzBuilder::new().write(Vec::new(), Compression::best());
    let mut archive = Builder::new(gzip);
    let mut folders = BTreeSet::new();
    for entry in &entries {
        let path = Path::new(folder).join(&entry.name);
        let mut above: Vec<_> = path.ancestors().skip(1).filter(|path| path != &Path::new("")).collect();
        above.reverse();
        for above in above {
            if folders.insert(above.to_owned()) {
                append(&mut archive, &above.join(""), EntryType::Directory, 0o755, time, &[])?;
            }
        }
        let mode = match entry.mode {
            Mode::Program => 0o755,
            Mode::Text => 0o644,
        };
        append(&mut archive, &path, EntryType::Regular, mode, time, &entry.bytes)?;
    }
    archive.into_inner()?.finish()
}

fn append(
    archive: &mut Builder<impl Write>,
    path: &Path,
    kind: EntryType,
    mode: u32,
    time: u64,
    bytes: &[u8],
) -> io::Result<()> {
    let mut header = Header::new_ustar();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_mtime(time);
    header.set_size(bytes.len() as u64);
    header.set_uid(0);
    header.set_gid(0);
    archive.append_data(&mut header, path, bytes)
}

/// SHA-256, as `sha256sum` writes it.
pub fn sum(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries() -> Vec<Entry> {
        vec![
            Entry::new("man/man1/a.1", Mode::Text, b"page".to_vec()),
            Entry::new("program", Mode::Program, b"bytes".to_vec()),
            Entry::new("README.md", Mode::Text, b"text".to_vec()),
        ]
    }

    #[test]
    fn the_order_in_which_files_are_found_does_not_matter() {
        let reversed = entries().into_iter().rev().collect();
        assert_eq!(pack("top", entries(), 7).unwrap(), pack("top", reversed, 7).unwrap());
        assert_ne!(pack("top", entries(), 7).unwrap(), pack("top", entries(), 8).unwrap());
    }

    #[test]
    fn entries_are_sorted_and_nobodys() {
        let packed = pack("top", entries(), 7).unwrap();
        let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(packed.as_slice()));
        let found: Vec<_> = archive
            .entries()
            .unwrap()
            .map(|entry| {
                let entry = entry.unwrap();
                let header = entry.header();
                assert_eq!(
                    (header.uid().unwrap(), header.gid().unwrap(), header.mtime().unwrap()),
                    (0, 0, 7)
                );
                (entry.path().unwrap().display().to_string(), header.mode().unwrap())
            })
            .collect();
        let expected = [
            ("top/", 0o755),
            ("top/README.md", 0o644),
            ("top/man/", 0o755),
            ("top/man/man1/", 0o755),
            ("top/man/man1/a.1", 0o644),
            ("top/program", 0o755),
        ];
        assert_eq!(found, expected.map(|(name, mode)| (name.to_owned(), mode)));
    }

    #[test]
    fn a_checksum_is_that_of_sha256sum() {
        assert_eq!(sum(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    }
}
