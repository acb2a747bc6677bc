//! The files of a demonstration: a folder of its own, a token, a configuration with its policy.
//!
//! Belongs here: making them, and searching them for the token afterwards.
//! Does not belong here: running anything.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// How many random bytes the token is made of.
const TOKEN_BYTES: usize = 24;

/// The rules of the demonstration: three tools are allowed, `delete_book` is not.
const POLICY: &str = r#"@id("notes-may-be-created")
permit (
    principal == Framegate::Client::"demo-agent",
    action == Framegate::Action::"create_note",
    resource == Framegate::Target::"notes"
);

@id("notes-may-be-listed-and-read")
permit (
    principal == Framegate::Client::"demo-agent",
    action in [Framegate::Action::"list_notes", Framegate::Action::"read"],
    resource == Framegate::Target::"notes"
);
"#;

/// The stage; removed when it is dropped.
#[derive(Debug)]
pub(super) struct Stage {
    folder: TempDir,
    token: String,
}

impl Stage {
    pub(super) fn build(target: SocketAddr) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("framegate-demo-").tempdir()?;
        let stage = Self { folder, token: token()? };
        write(&stage.path("token"), &stage.token)?;
        write(&stage.path("policy.cedar"), POLICY)?;
        for (name, profile) in [("continue.toml", "continue"), ("close.toml", "close")] {
            write(&stage.path(name), &stage.configuration(target, profile))?;
        }
        Ok(stage)
    }

    /// The configuration for a profile of `on_invalid_frame`.
    pub(super) fn config(&self, profile: &str) -> PathBuf {
        self.path(&format!("{profile}.toml"))
    }

    pub(super) fn journal(&self) -> PathBuf {
        self.path("journal")
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(super) fn token_length(&self) -> usize {
        self.token.len()
    }

    /// Whether the token is in these bytes.
    pub(super) fn leaks_into(&self, bytes: &[u8]) -> bool {
        bytes.windows(self.token.len()).any(|window| window == self.token.as_bytes())
    }

    /// Whether the token is in any file of the journal.
    pub(super) fn journal_leaks(&self) -> io::Result<bool> {
        for entry in fs::read_dir(self.journal())? {
            if self.leaks_into(&fs::read(entry?.path())?) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn configuration(&self, target: SocketAddr, profile: &str) -> String {
        let token = self.path("token");
        format!(
            r#"version = 1

[session]
client = "demo-agent"
on_invalid_frame = "{profile}"

[policy]
files = ["policy.cedar"]

[secret.notes]
source = "file:{}"

[target.notes]
origin = "http://{target}"
allow_plain_loopback = true
auth = {{ scheme = "bearer", secret = "notes" }}

[tool.create_note]
description = "Create a note"
target = "notes"
method = "POST"
path = "/books/{{book}}/notes"
body = {{ title = "{{title}}" }}

[tool.create_note.params.book]
type = "word"

[tool.create_note.params.title]
type = "string"
max_length = 80

[tool.delete_book]
description = "Delete a whole book of notes"
target = "notes"
method = "DELETE"
path = "/books/{{book}}"

[tool.delete_book.params.book]
type = "word"

[tool.list_notes]
description = "List the notes of a book: how many there are, and the title of the first"
target = "notes"
method = "POST"
path = "/books/{{book}}/search"
form = {{ order = "newest" }}

[tool.list_notes.params.book]
type = "word"

[tool.list_notes.result]
select = {{ count = "/total", newest = "/items/0/title" }}

[tool.read]
kind = "http-request"
description = "Read anything of a book"
target = "notes"
methods = ["GET"]
paths = ["/books/{{book}}/**"]
"#,
            token.display()
        )
    }
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())
}

fn token() -> io::Result<String> {
    let mut bytes = [0; TOKEN_BYTES];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
