//! Drives the program with rmcp, as a user of that library writes it.

use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use framegate_e2e::stage::Stage;
use rmcp::model::{CallToolRequest, CallToolRequestParams, CallToolResult, ClientRequest, ProtocolVersion};
use rmcp::service::{PeerRequestOptions, RunningService};
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt as _, RoleClient, ServiceError};
use serde_json::{Value, json};

#[derive(Clone, Default)]
struct Client;

impl ClientHandler for Client {}

/// Runs the plan on a runtime of its own, while `play` moves the world.
pub fn run(stage: &Stage, plan: &Value, stateless: bool) -> Value {
    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let client = scope.spawn(|| {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            let report = runtime.block_on(steps(plan, stateless));
            ended.store(true, Ordering::SeqCst);
            report
        });
        super::play(stage, || ended.load(Ordering::SeqCst) || client.is_finished());
        client.join().expect("the client does not panic")
    })
}

async fn steps(plan: &Value, stateless: bool) -> Value {
    let words: Vec<&str> =
        plan["command"].as_array().expect("words").iter().filter_map(Value::as_str).collect();
    let mut child = tokio::process::Command::new(words[0])
        .args(&words[1..])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the tap can be started");
    let pipes = (child.stdout.take().expect("piped"), child.stdin.take().expect("piped"));
    let lifecycle = if stateless {
        ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] }
    } else {
        ClientLifecycleMode::Initialize
    };
    let client = Client.serve_with_lifecycle(pipes, lifecycle).await.expect("a session");
    let mut report = json!({ "library": "rmcp" });
    report["revision"] = json!(client.peer().peer_info().map(|info| info.protocol_version.clone()));
    let tools = client.list_all_tools().await.expect("tools");
    report["tools"] = tools.iter().map(|tool| tool.name.to_string()).collect();
    for name in ["good", "tool_error", "denied"] {
        report[name] = seen(client.call_tool(params(&plan[name])).await);
    }
    report["cancelled"] = cancel(&client, &plan["cancel"]).await;
    report["after"] = seen(client.call_tool(params(&plan["after"])).await);
    client.cancel().await.expect("the session can be closed");
    child.wait().await.expect("own child");
    report["closed"] = json!(true);
    report
}

async fn cancel(client: &RunningService<RoleClient, Client>, step: &Value) -> Value {
    let request = CallToolRequest::new(params(step));
    let handle = client
        .send_cancellable_request(ClientRequest::CallToolRequest(request), PeerRequestOptions::no_options())
        .await
        .expect("the call is sent");
    let file = |name: &str| Path::new(step[name].as_str().expect("a path")).to_owned();
    while !file("when").exists() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    handle.cancel(Some("enough".to_owned())).await.expect("the notification is sent");
    std::fs::write(file("then"), "").expect("the stage's folder");
    json!("given up")
}

fn params(step: &Value) -> CallToolRequestParams {
    CallToolRequestParams::new(step["tool"].as_str().expect("a name").to_owned())
        .with_arguments(step["arguments"].as_object().expect("an object").clone())
}

fn seen(result: Result<CallToolResult, ServiceError>) -> Value {
    match result {
        Ok(result) => {
            let whole = serde_json::to_value(&result).expect("a result is JSON");
            let texts = whole["content"].as_array().into_iter().flatten();
            json!({
                "is_error": result.is_error.unwrap_or_default(),
                "text": texts.filter_map(|block| block["text"].as_str()).collect::<String>(),
                "structured": result.structured_content,
            })
        }
        Err(error) => json!({ "raised": error.to_string() }),
    }
}
