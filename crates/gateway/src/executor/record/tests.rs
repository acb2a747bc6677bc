//! The recorder: one whole line an action, in a file of its own, and nothing performed.

use std::fs::{self, File, OpenOptions};
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, symlink};

use framegate_gate::outcome::{Outcome, Status};
use serde_json::{Value, json};

use super::{Mutex, Recorder};
use crate::executor::Executor;
use crate::executor::fixture::{SECRET, World};

fn world(listener: &TcpListener) -> World {
    let port = listener.local_addr().unwrap().port();
    let target = format!(
        "[target.api]\norigin = \"http://127.0.0.1:{port}\"\nallow_plain_loopback = true\n\
         auth = {{ scheme = \"bearer\", secret = \"key\" }}\n"
    );
    let tool = "method = \"POST\"\npath = \"/{item}\"\nbody = { item = \"{item}\" }\n\
                [tool.call.params.item]\ntype = \"word\"\n";
    World::new(&target, tool)
}

fn unconnected() -> TcpListener {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    listener
}

async fn record(recorder: &Recorder, world: &World, item: &str) -> (Outcome, String) {
    let (recorded, _receipt) = world.recorded(&json!({"item": item}));
    let intent = recorded.intent().to_owned();
    (recorder.perform(recorded).await, intent)
}

#[tokio::test]
async fn an_action_is_written_down_and_not_performed() {
    let listener = unconnected();
    let world = world(&listener);
    // It could not be loaded, if anybody tried.
    fs::remove_file(world.path("key")).unwrap();
    let path = world.path("record.jsonl");
    let recorder = Recorder::create(&path).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);

    let mut intents = Vec::new();
    for item in ["one", "two"] {
        let (outcome, intent) = record(&recorder, &world, item).await;
        assert_eq!((outcome.status(), outcome.structured()), (Status::Simulated, None));
        let text: Value = serde_json::from_str(outcome.text()).unwrap();
        assert_eq!(text["performed"], false);
        intents.push(intent);
    }
    let content = fs::read_to_string(&path).unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    let expected = ["one", "two"].iter().zip(&intents).map(|(item, intent)| {
        json!({
            "v": 1,
            "intent": intent,
            "request": "1",
            "tool": "call",
            "arguments": {"item": item},
            "action": {
                "kind": "http",
                "target": "api",
                "method": "POST",
                "origin": origin,
                "path": format!("/{item}"),
                "query": [],
                "headers": [], "content_type": "application/json",
                "body": {"item": item},
            },
        })
    });
    let lines: Vec<Value> = content.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines, expected.collect::<Vec<_>>());
    assert!(content.ends_with('\n') && !content.contains(SECRET));
    assert!(listener.accept().is_err(), "somebody connected");
}

#[test]
fn a_file_that_is_there_is_not_touched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("record\n");
    let link = folder.path().join("link");
    symlink(&path, &link).unwrap();
    // A link to nothing is not followed.
    let fault = Recorder::create(&link).err().unwrap().to_string();
    assert!(fault.starts_with("cannot create the record file `/") && !path.exists(), "{fault}");
    fs::write(&path, "content").unwrap();
    let fault = Recorder::create(&path).err().unwrap().to_string();
    assert!(fault.contains("/record\\n`") && !fault.contains('\n'), "{fault}");
    assert!(Recorder::create(&link).is_err());
    assert_eq!(fs::read_to_string(&path).unwrap(), "content");
}

fn on(file: File) -> Recorder {
    Recorder { file: Mutex::new(Some(file)) }
}

#[tokio::test]
async fn a_full_disk_starts_nothing() {
    let listener = unconnected();
    let world = world(&listener);
    let recorder = on(OpenOptions::new().write(true).open("/dev/full").unwrap());
    for item in ["one", "two"] {
        let (outcome, _) = record(&recorder, &world, item).await;
        assert_eq!(outcome.status(), Status::NotStarted);
        assert_eq!(outcome.text(), "the record file cannot be written; nothing was performed");
    }
    assert!(listener.accept().is_err(), "somebody connected");
}

/// A write that has failed may have left half a line: no later record may follow it.
#[tokio::test]
async fn nothing_is_recorded_after_a_write_has_failed() {
    let world = world(&unconnected());
    let path = world.path("record.jsonl");
    let recorder = Recorder::create(&path).unwrap();
    assert_eq!(record(&recorder, &world, "one").await.0.status(), Status::Simulated);
    let whole = fs::read_to_string(&path).unwrap();
    let good = recorder.file.lock().unwrap().replace(File::open(&path).unwrap());
    assert_eq!(record(&recorder, &world, "two").await.0.status(), Status::NotStarted);
    assert!(recorder.file.lock().unwrap().is_none(), "a later write could succeed");
    assert_eq!(record(&recorder, &world, "three").await.0.status(), Status::NotStarted);
    assert_eq!(fs::read_to_string(&path).unwrap(), whole);
    drop(good);
}
