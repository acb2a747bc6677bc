//! Sources of secrets: the text form, the layouts of files that are refused, and what is read when.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};

use framegate_vault::{Environment, Source, VaultError};
use tempfile::TempDir;

const STRONG: &str = "k7-Rw2!xPq9_LmZ4";

fn nothing() -> Environment {
    Environment::snapshot([])
}

fn file_source(path: &Path, allow_group_read: bool) -> Source {
    Source::parse(&format!("file:{}", path.display()), allow_group_read).unwrap()
}

/// A file in a private folder.
fn secret_file(content: &[u8], mode: u32) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("token");
    fs::write(&path, content).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
    (folder, path)
}

/// The error of `load`, after checking that `exists` says the same and that no text shows the
/// secret.
fn refusal(path: &Path, allow_group_read: bool) -> String {
    let source = file_source(path, allow_group_read);
    let at_start = source.exists("api", &nothing()).unwrap_err();
    let at_use = source.load("api", &nothing()).err().unwrap();
    assert_eq!(at_start, at_use);
    checked_text(&at_use)
}

fn checked_text(error: &VaultError) -> String {
    let text = error.to_string();
    assert!(!text.contains(STRONG) && !format!("{error:?}").contains(STRONG));
    assert!(!text.contains('\n'), "{text:?}");
    text
}

#[test]
fn source_texts() {
    for good in ["env:API_TOKEN", "env:_x9", "file:/run/secrets/api", "file:/a b/c"] {
        Source::parse(good, false).unwrap_or_else(|error| panic!("{good}: {error}"));
    }
    for bad in [
        "",
        "API_TOKEN",
        "env:",
        "env:9X",
        "env:A-B",
        "env:A=B",
        "env:A\0",
        "env: A",
        "ENV:A",
        "file:",
        "file:/",
        "file:token",
        "file:~/token",
        "file:./token",
        "file:/a/../b",
        "file:/a/./b",
        "file:/a//b",
        "file:/a/",
        "file:/a\nb",
        "file://host/a",
        "exec:/bin/cat",
        "vault:x",
    ] {
        let error = Source::parse(bad, false).unwrap_err();
        assert!(matches!(error, VaultError::SourceSyntax { .. }), "{bad}: {error}");
        checked_text(&error);
    }
    assert!(Source::parse(&format!("env:{}", "A".repeat(129)), false).is_err());
}

/// A secret pasted where its source belongs must not reach a log.
#[test]
fn a_wrong_source_is_not_repeated() {
    for pasted in [STRONG.to_owned(), format!("env:{STRONG}"), format!("file:{STRONG}")] {
        checked_text(&Source::parse(&pasted, false).unwrap_err());
    }
}

#[test]
fn variables_are_read_once_and_only_as_declared() {
    // Cargo sets this one for every test process.
    let environment = Environment::snapshot(["CARGO_MANIFEST_DIR", "FRAMEGATE_NOT_SET"]);
    let load =
        |variable: &str| Source::parse(&format!("env:{variable}"), false).unwrap().load("api", &environment);
    let secret = load("CARGO_MANIFEST_DIR").ok().unwrap();
    assert_eq!(secret.expose_bytes(), env!("CARGO_MANIFEST_DIR").as_bytes());
    let missing = load("FRAMEGATE_NOT_SET").err().unwrap();
    assert!(matches!(missing, VaultError::VariableMissing { .. }));
    let undeclared = load("PATH").err().unwrap();
    assert!(matches!(undeclared, VaultError::VariableNotDeclared { .. }));
    let shown = format!("{environment:?}");
    assert_eq!(shown, r#"{"CARGO_MANIFEST_DIR", "FRAMEGATE_NOT_SET"}"#);
}

#[test]
fn a_private_file_is_read_without_its_last_line_feed() {
    for (content, expected) in [
        (STRONG.to_owned(), STRONG.to_owned()),
        (format!("{STRONG}\n"), STRONG.to_owned()),
        (format!("{STRONG}\n\n"), format!("{STRONG}\n")),
        (format!("{STRONG}\r\n"), format!("{STRONG}\r")),
    ] {
        let (_folder, path) = secret_file(content.as_bytes(), 0o600);
        let source = file_source(&path, false);
        source.exists("api", &nothing()).unwrap();
        let secret = source.load("api", &nothing()).ok().unwrap();
        assert_eq!(secret.expose_bytes(), expected.as_bytes());
    }
}

#[test]
fn modes() {
    for (mode, plain, group) in [
        (0o400, true, true),
        (0o600, true, true),
        (0o700, true, true),
        (0o440, false, true),
        (0o640, false, true),
        (0o460, false, false),
        (0o450, false, false),
        (0o604, false, false),
        (0o644, false, false),
        (0o602, false, false),
        (0o601, false, false),
        (0o666, false, false),
    ] {
        let (_folder, path) = secret_file(STRONG.as_bytes(), mode);
        for (allow_group_read, accepted) in [(false, plain), (true, group)] {
            if accepted {
                file_source(&path, allow_group_read).load("api", &nothing()).ok().unwrap();
            } else {
                let text = refusal(&path, allow_group_read);
                assert!(text.contains("0600"), "{mode:o}: {text}");
            }
        }
    }
}

#[test]
fn what_is_not_a_regular_file_is_refused_without_waiting() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo").args(["-m", "600"]).arg(&pipe).status();
    assert!(made.unwrap().success());
    for path in [folder.path(), pipe.as_path(), Path::new("/dev/null")] {
        assert!(refusal(path, false).contains("not a regular file"), "{}", path.display());
    }
    let socket = folder.path().join("socket");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    assert!(refusal(&socket, false).contains("not a regular file"));
}

#[test]
fn missing_empty_and_oversized_files() {
    let (folder, path) = secret_file(b"", 0o600);
    assert!(refusal(&path, false).contains("is empty"));
    assert!(refusal(&folder.path().join("no"), false).contains("does not exist"));
    assert!(refusal(&path.join("below-a-file"), false).contains("does not exist"));
    fs::write(&path, STRONG.repeat(4096)).unwrap();
    file_source(&path, false).load("api", &nothing()).ok().unwrap();
    fs::write(&path, format!("{}x", STRONG.repeat(4096))).unwrap();
    assert!(refusal(&path, false).contains("larger than 64 KiB"));
    // Only a line feed: there is a file, but no secret in it.
    fs::write(&path, "\n").unwrap();
    let source = file_source(&path, false);
    source.exists("api", &nothing()).unwrap();
    let error = source.load("api", &nothing()).err().unwrap();
    assert!(error.to_string().contains("is empty"));
}

#[test]
fn folders_that_everyone_can_write_to_are_refused_unless_sticky() {
    let folder = tempfile::tempdir().unwrap();
    let open = folder.path().join("open");
    fs::create_dir_all(open.join("inner")).unwrap();
    let path = open.join("inner/token");
    fs::write(&path, STRONG).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
    let alias = folder.path().join("alias");
    symlink(&path, &alias).unwrap();
    for (mode, accepted) in [(0o755, true), (0o777, false), (0o757, false), (0o1777, true)] {
        fs::set_permissions(&open, Permissions::from_mode(mode)).unwrap();
        for path in [&path, &alias] {
            if accepted {
                file_source(path, false).load("api", &nothing()).ok().unwrap();
            } else {
                assert!(refusal(path, false).contains("everyone can write"), "{mode:o}");
            }
        }
    }
}

/// Nothing is remembered between two loads: not the file, nor its mode, nor the folders on the way.
#[test]
fn what_has_changed_is_seen_at_the_next_load() {
    let top = tempfile::tempdir().unwrap();
    let place = |name: &str| top.path().join(name);
    let mode = |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    let folder = |name: &str, content: &str| {
        fs::create_dir_all(place(name)).unwrap();
        fs::write(place(name).join("token"), content).unwrap();
        mode(&place(name).join("token"), 0o600);
    };
    let (other, third) = (STRONG.replace('7', "8"), STRONG.replace('7', "9"));
    folder("keys", STRONG);
    folder("later", &other);
    folder("open/keys", &third);
    let path = place("keys/token");
    let source = file_source(&path, false);
    let load = || source.load("api", &nothing()).ok().map(|secret| secret.expose_bytes().to_vec());
    assert_eq!(load().unwrap(), STRONG.as_bytes());

    mode(&path, 0o644);
    assert!(refusal(&path, false).contains("0600"));
    mode(&path, 0o600);
    for folder in [place("keys"), top.path().to_owned()] {
        mode(&folder, 0o777);
        assert!(refusal(&path, false).contains("everyone can write"));
        mode(&folder, 0o700);
        assert_eq!(load().unwrap(), STRONG.as_bytes());
    }
    fs::write(place("next"), &other).unwrap();
    mode(&place("next"), 0o600);
    fs::rename(place("next"), &path).unwrap();
    assert_eq!(load().unwrap(), other.as_bytes());
    // The folder is another one; then a link, whose own place is safe, into a folder that is not.
    fs::rename(place("keys"), place("before")).unwrap();
    assert!(refusal(&path, false).contains("does not exist"));
    fs::write(place("later/token"), STRONG).unwrap();
    fs::rename(place("later"), place("keys")).unwrap();
    assert_eq!(load().unwrap(), STRONG.as_bytes());
    fs::rename(place("keys"), place("after")).unwrap();
    symlink(place("open/keys"), place("keys")).unwrap();
    assert_eq!(load().unwrap(), third.as_bytes());
    mode(&place("open"), 0o777);
    assert!(refusal(&path, false).contains("everyone can write"));
}

#[test]
fn a_file_of_another_user_is_refused() {
    let (_folder, path) = secret_file(STRONG.as_bytes(), 0o600);
    if chown(&path, Some(65534), None).is_err() {
        eprintln!("SKIPPED: a file of another user: changing an owner needs root");
        return;
    }
    assert!(refusal(&path, false).contains("another user"));
}

/// The check at start does not look at the content; the load does.
#[test]
fn existence_says_nothing_about_content() {
    let (_folder, path) = secret_file(b"password", 0o600);
    let source = file_source(&path, false);
    source.exists("api", &nothing()).unwrap();
    let error = source.load("api", &nothing()).err().unwrap();
    assert!(matches!(error, VaultError::Weak { .. }));
    assert!(!error.to_string().contains("password"));
}

#[test]
fn header_values() {
    let safe = |bytes: &[u8]| framegate_vault::Secret::new(bytes.to_vec()).expose_header_bytes("api").is_ok();
    assert!(safe(b"a b\tc~!"));
    assert!(safe("w\u{f6}rd".as_bytes()));
    for bad in ["", " a", "a ", "\ta", "a\t", "a\nb", "a\rb", "a\0b", "a\x7fb", "a\x1bb", "a\n", "a\r"] {
        assert!(!safe(bad.as_bytes()), "{bad:?}");
    }
}
