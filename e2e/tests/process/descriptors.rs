//! What the launcher leaves open or puts into the environment changes nothing and reaches nobody.

use std::path::PathBuf;

use framegate_e2e::target::Target;

use super::{REVISION, Session, live, marker, recorder, talk};

fn link(id: u32, descriptor: u32) -> PathBuf {
    std::fs::read_link(format!("/proc/{id}/fd/{descriptor}")).unwrap_or_default()
}

/// The flags of an open descriptor (proc(5), `fdinfo`), octal.
fn flags(id: u32, descriptor: u32) -> Option<u32> {
    let text = std::fs::read_to_string(format!("/proc/{id}/fdinfo/{descriptor}")).ok()?;
    let flags = text.lines().find_map(|line| line.strip_prefix("flags:"))?;
    u32::from_str_radix(flags.trim(), 8).ok()
}

const CLOSE_ON_EXEC: u32 = 0o2_000_000;

#[test]
fn standard_descriptors_are_taken_over_and_inherited_ones_are_sealed() {
    let stage = recorder("descriptors");
    let script = r#"exec 3</etc/passwd 7</dev/null 9>>inherited; exec "$@""#;
    let mut session = Session::launch(&stage, stage.launch().shell(script));
    session.ready(REVISION);
    let id = session.process().id();
    assert_eq!(link(id, 0), PathBuf::from("/dev/null"), "fd 0");
    assert_eq!(link(id, 1), link(id, 2), "fd 1 points at stderr");
    let mut open: Vec<u32> = std::fs::read_dir(format!("/proc/{id}/fd"))
        .expect("own child")
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect();
    open.sort_unstable();
    for descriptor in open.into_iter().filter(|descriptor| *descriptor > 2) {
        // A descriptor may be closed between the two looks.
        let Some(flags) = flags(id, descriptor) else { continue };
        let what = link(id, descriptor);
        assert!(flags & CLOSE_ON_EXEC != 0, "fd {descriptor} ({}) would reach a child", what.display());
        if descriptor < 10 {
            assert!(
                !what.to_string_lossy().starts_with("pipe:"),
                "fd {descriptor} is a pipe: {}",
                what.display()
            );
        }
    }
    assert_eq!(session.end().code(), Some(0));
    assert_eq!(std::fs::read(stage.folder().join("empty/inherited")).expect("the shell made it"), b"");
}

#[test]
fn a_verbose_environment_changes_nothing() {
    let stage = live("environment");
    let proxy = Target::start(false);
    let address = format!("http://{}", proxy.address());
    let keys = stage.folder().join("keys");
    let mut launch = stage.launch();
    for (name, value) in [
        ("RUST_LOG", "trace"),
        ("RUST_BACKTRACE", "full"),
        ("RUST_LIB_BACKTRACE", "1"),
        ("RUST_LOG_STYLE", "always"),
        ("CLICOLOR_FORCE", "1"),
        ("FORCE_COLOR", "3"),
        ("DEBUG", "*"),
        ("NODE_DEBUG", "*"),
        ("LANG", "tr_TR.UTF-8"),
        ("LC_ALL", "C"),
        ("TZ", "Pacific/Kiritimati"),
        ("HTTP_PROXY", &address),
        ("HTTPS_PROXY", &address),
        ("ALL_PROXY", &address),
        ("http_proxy", &address),
        ("https_proxy", &address),
        ("SSL_CERT_FILE", "/dev/null"),
        ("SSL_CERT_DIR", "/nonexistent"),
        ("RES_OPTIONS", "debug ndots:15 attempts:5"),
        ("LOCALDOMAIN", "evil.test"),
        ("HOSTALIASES", "/dev/null"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", &address),
        ("OTEL_TRACES_EXPORTER", "otlp"),
        ("FRAMEGATE_CONFIG", "/nonexistent"),
        ("FRAMEGATE_LOG", "trace"),
        ("FRAMEGATE_ON_INVALID_FRAME", "close"),
        ("TOKIO_WORKER_THREADS", "0"),
        ("COLUMNS", "1"),
    ] {
        launch = launch.variable(name, value);
    }
    launch = launch.variable("SSLKEYLOGFILE", &keys);
    let mut session = Session::launch(&stage, launch);
    talk(&mut session);
    let ended = session.end();
    assert_eq!(ended.code(), Some(0), "{}", ended.stderr);
    assert_eq!(stage.executed("mk-talk"), 1);
    assert_eq!((stage.traces().connections, stage.traces().lookups), (1, 1));
    let names: Vec<String> = stage.names().questions().into_iter().map(|question| question.name).collect();
    assert!(names.iter().all(|name| name == "probe.test."), "{names:?}");
    assert_eq!(proxy.connections(), 0, "nothing of the environment is connected to");
    assert!(!keys.exists(), "session keys were written down");
}

#[test]
fn a_working_folder_that_cannot_be_used() {
    let stage = recorder("folder-gone");
    let gone = stage.folder().join("gone");
    std::fs::create_dir(&gone).expect("own folder");
    let mut launch = stage.launch();
    launch.folder.clone_from(&gone);
    let launch = launch.shell(&format!(r#"rmdir '{}' && exec "$@""#, gone.display()));
    let mut session = Session::launch(&stage, launch);
    talk(&mut session);
    assert_eq!(session.end().code(), Some(0));
}

#[test]
fn two_gateways_on_one_journal_folder() {
    let stage = recorder("two-gateways");
    let (mut first, mut second) = (Session::start(&stage), Session::start(&stage));
    for session in [&mut first, &mut second] {
        session.ready(REVISION);
    }
    // The same ids on both: each reply at its own client.
    first.call(REVISION, "probe_write", marker("mk-first"));
    second.call(REVISION, "probe_write", marker("mk-second"));
    let replies = [first.end().replies, second.end().replies];
    for (replies, marker) in replies.iter().zip(["mk-second", "mk-first"]) {
        assert!(!replies.iter().any(|reply| reply.to_string().contains(marker)), "{replies:#?}");
    }
    assert_eq!((stage.executed("mk-first"), stage.executed("mk-second")), (1, 1));
    let journal = stage.journal();
    assert_eq!((journal.count("start"), journal.count("stop"), journal.count("intent")), (2, 2, 2));
    assert_eq!(journal.actions.len(), 2, "each process has its own file");
}
