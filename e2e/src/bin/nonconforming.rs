//! A server that breaks one requirement, for the conformance checks of `framegate check` to find.
//!
//! Belongs here: what breaks each requirement. Does not belong here: what finds it (`e2e/tests/conformance.rs`).
//!
//! `nonconforming FOLDER ID`. Everything else is the sound server `planted FOLDER none`, which runs behind it: lines are
//! passed on, but for those that ID is about.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, ExitCode, Stdio};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

const MODERN: &str = "2026-07-28";
const VERSION: &str = "/params/_meta/io.modelcontextprotocol~1protocolVersion";
const CLIENT: &str = "/params/_meta/io.modelcontextprotocol~1clientInfo";
const LEVEL: &str = "/params/_meta/io.modelcontextprotocol~1logLevel";

/// What was asked, by the id as JSON text.
type Asked = Arc<Mutex<BTreeMap<String, Value>>>;

/// What becomes of a line from the client.
enum Line {
    /// The sound server gets it.
    On,
    /// This is answered, and the sound server never sees it.
    Answered(Vec<Value>),
}

/// What has happened in the session.
#[derive(Default)]
struct Seen {
    lines: u32,
    handshakes: u32,
    discoveries: u32,
    is_dead: bool,
}

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [folder, broken] = arguments.as_slice() else { return ExitCode::from(2) };
    let sound = std::env::current_exe().expect("a program").with_file_name("planted");
    let mut command = Command::new(sound);
    let mut child =
        command.args([folder, "none"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it");
    let mut to = child.stdin.take().expect("a pipe");
    let from = BufReader::new(child.stdout.take().expect("a pipe"));
    let asked = Asked::default();
    let (known, id) = (Arc::clone(&asked), broken.clone());
    let back = std::thread::spawn(move || {
        for line in from.lines().map_while(Result::ok) {
            let Ok(reply) = serde_json::from_str::<Value>(&line) else { continue };
            let key = reply.get("id").map(Value::to_string).unwrap_or_default();
            let request = known.lock().expect("a lock").get(&key).cloned().unwrap_or_default();
            after(&id, &request, reply).iter().for_each(say);
        }
    });
    let mut seen = Seen::default();
    for line in std::io::stdin().lock().split(b'\n').map_while(Result::ok) {
        seen.lines += 1;
        let message = serde_json::from_slice::<Value>(&line).unwrap_or_default();
        if let Some(id) = message.get("id") {
            asked.lock().expect("a lock").insert(id.to_string(), message.clone());
        }
        match before(broken, &message, &mut seen) {
            Line::Answered(messages) => messages.iter().for_each(say),
            Line::On => {
                if to.write_all(&[&*line, b"\n"].concat()).is_err() {
                    break;
                }
            }
        }
    }
    drop(to);
    let _ = child.wait();
    let _ = back.join();
    ExitCode::SUCCESS
}

/// What is done with a line, before the sound server sees it.
fn before(broken: &str, message: &Value, seen: &mut Seen) -> Line {
    let method = message.get("method").and_then(Value::as_str).unwrap_or_default();
    let id = message.get("id").cloned();
    let is_modern = message.pointer(VERSION).is_some();
    let params = message.get("params").cloned().unwrap_or_default();
    let result = |result: Value| Line::Answered(vec![json!({"jsonrpc": "2.0", "id": id, "result": result})]);
    let error = |code: i64| {
        let error = json!({"code": code, "message": "no"});
        Line::Answered(vec![json!({"jsonrpc": "2.0", "id": id, "error": error})])
    };
    let tools = || {
        let hints = json!({"tools": [], "resultType": "complete", "ttlMs": 0, "cacheScope": "private"});
        result(hints)
    };
    if method == "initialize" {
        seen.handshakes += 1;
    }
    seen.discoveries += u32::from(method == "server/discover");
    match broken {
        "S-10" if method.starts_with("notifications/") && method != "notifications/initialized" => {
            error(-32600)
        }
        "C-01" if method == "notifications/cancelled" => error(-32600),
        "C-03" if method == "notifications/cancelled" && params["requestId"] == json!(1) => {
            seen.is_dead = true;
            Line::Answered(Vec::new())
        }
        "C-03" if seen.is_dead => Line::Answered(Vec::new()),
        "L-02" if method == "initialize" && params["protocolVersion"] == "2025-11-25" => {
            result(handshake("2025-06-18"))
        }
        "L-03" if method == "initialize" && !is_known(&params["protocolVersion"]) => error(-32602),
        "L-04" if method == "initialize" && !is_known(&params["protocolVersion"]) => {
            result(handshake("2024-11-05"))
        }
        "L-06" if method == "resources/list" => result(json!({"resources": 7, "resultType": "complete"})),
        "L-07" if method == "initialize" && params.get("protocolVersion").is_none() => {
            result(handshake("2025-06-18"))
        }
        "L-10" if method == "initialize" && seen.handshakes > 1 => result(handshake("2025-06-18")),
        "L-11" if method == "server/discover" => error(-32601),
        "L-11" if seen.discoveries > 0 => Line::Answered(Vec::new()),
        "L-12" if seen.lines == 1 && (id.is_none() || method.is_empty()) => std::process::exit(3),
        "L-13" if message.is_array() => Line::Answered(Vec::new()),
        "L-14" if message[0]["method"] == "initialize" => {
            let answer = json!({"jsonrpc": "2.0", "id": message[0]["id"], "result": handshake("2025-03-26")});
            Line::Answered(vec![json!([answer])])
        }
        "M-04" | "M-08" if method == "tools/list" && !is_modern && seen.handshakes == 0 => tools(),
        "M-05" if is_modern && message.pointer(CLIENT).is_none() => error(-32602),
        "M-16" if method == "subscriptions/listen" => result(json!({"resultType": "complete"})),
        "M-17" if method == "ping" && is_modern => result(json!({"resultType": "complete"})),
        "M-18" if method == "initialize" => error(-32601),
        "M-20" if message.pointer(LEVEL).is_some() => tools(),
        "M-22" if method == "initialize" && seen.discoveries > 0 => error(-32600),
        "T-04"
            if method == "tools/call"
                && params["name"] == "framegate-no-such"
                && params["arguments"].is_object() =>
        {
            result(json!({"content": [], "isError": true, "resultType": "complete"}))
        }
        "T-05" if method == "tools/call" && !params["name"].is_string() => {
            result(json!({"content": [], "resultType": "complete"}))
        }
        "T-11" if method == "tools/list" && params.get("cursor").is_some() => tools(),
        "T-12" if params.get("task").is_some() => error(-32602),
        _ => Line::On,
    }
}

/// What is said in place of a reply of the sound server, and around it.
fn after(broken: &str, request: &Value, mut reply: Value) -> Vec<Value> {
    let method = request.get("method").and_then(Value::as_str).unwrap_or_default();
    let params = &request["params"];
    let is_list = method == "tools/list" && reply.get("result").is_some();
    let is_start = matches!(method, "initialize" | "server/discover") && reply.get("result").is_some();
    let notification =
        |method: &str, params: Value| json!({"jsonrpc": "2.0", "method": method, "params": params});
    let asks = |id: Value, method: &str| json!({"jsonrpc": "2.0", "id": id, "method": method});
    match broken {
        "S-11" if reply["id"] == "1" => reply["id"] = json!(1),
        // As a double holds it.
        "S-11-wide" if reply["id"] == json!(9_007_199_254_740_993_i64) => {
            reply["id"] = json!(9_007_199_254_740_992_i64)
        }
        "S-12" if method == "framegate/no-such-method" => reply["result"] = json!({}),
        "S-13" if method == "framegate/no-such-method" => reply["error"]["code"] = json!("-32601"),
        "S-14" if reply.get("error").is_some() && reply.get("id").is_none() => reply["id"] = Value::Null,
        "S-14" if reply.get("error").is_some() && reply["id"].is_null() => drop(remove(&mut reply, "id")),
        "S-15" if request["method"] == 7 => drop(remove(&mut reply, "id")),
        "S-17" | "S-19" if is_list => return vec![reply, asks(json!("s1"), "roots/list")],
        "S-18" if is_list => return vec![json!([reply])],
        "S-20" if is_list => return vec![reply, asks(json!("s1"), "ping"), asks(json!("s1"), "ping")],
        "S-21" if method == "initialize" => {
            return vec![reply, notification("notifications/tools/list_changed", json!({}))];
        }
        "S-22" if is_list => return vec![reply, notification("notifications/framegate", json!({}))],
        "S-23" if is_list => {
            let params = json!({"level": "info", "data": "listed"});
            return vec![reply, notification("notifications/message", params)];
        }
        "S-24" if is_list => return vec![reply, notification("notifications/tools/list_changed", json!({}))],
        "S-25" if is_list => {
            let params = json!({"progressToken": "never given", "progress": 1});
            return vec![reply, notification("notifications/progress", params)];
        }
        "S-26" if is_list => {
            return vec![reply, notification("notifications/cancelled", json!({"requestId": 987_654}))];
        }
        "L-01" if method == "initialize" => drop(remove(&mut reply["result"], "serverInfo")),
        "L-05" if method == "ping" => reply["result"]["framegate"] = json!(1),
        "L-06" if method == "ping" => reply["result"]["_meta"] = json!(7),
        "L-06" if is_start => reply["result"]["capabilities"]["resources"] = json!({}),
        "M-02" if method == "server/discover" => drop(remove(&mut reply["result"], "ttlMs")),
        "M-03" if method == "server/discover" => {
            reply["result"]["supportedVersions"] = json!([MODERN, "2026-12-31"])
        }
        "M-06" if reply["error"]["code"] == -32022 => reply["error"]["code"] = json!(-32602),
        "M-07" if is_list => drop(remove(&mut reply["result"], "resultType")),
        "M-09" if is_list => {
            let name = format!("t{}", std::process::id());
            push(&mut reply, json!({"name": name, "inputSchema": {"type": "object"}}));
        }
        "M-10" if is_list && request["id"] != json!(1) => {
            if let Some(tools) = reply["result"]["tools"].as_array_mut() {
                tools.reverse();
            }
        }
        "M-12" if method == "framegate/no-such-method" => reply["error"]["code"] = json!(-32002),
        "M-19" => drop(remove(&mut reply["result"], "_meta")),
        "M-21" if is_list => drop(remove(&mut reply["result"], "cacheScope")),
        "T-01" if is_start => drop(remove(&mut reply["result"]["capabilities"], "tools")),
        "T-02" if is_list => {
            push(&mut reply, json!({"name": "odd", "inputSchema": {"type": "object", "required": 7}}))
        }
        "T-03" if is_list => push(&mut reply, json!({"name": "a name", "inputSchema": {"type": "object"}})),
        "T-08" if is_good_call(method, params, &reply) => {
            reply["result"]["content"] = json!([{"type": "video"}])
        }
        "T-09" if is_good_call(method, params, &reply) => {
            reply["result"]["structuredContent"] = json!({"no": "such"})
        }
        "T-10" if is_good_call(method, params, &reply) => {
            reply["result"]["content"] = json!([{"type": "text", "text": "done"}]);
        }
        _ => {}
    }
    vec![reply]
}

fn is_good_call(method: &str, params: &Value, reply: &Value) -> bool {
    method == "tools/call" && params["name"] == "probe_write" && reply.get("result").is_some()
}

fn is_known(version: &Value) -> bool {
    ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"].iter().any(|known| version == known)
}

fn handshake(version: &str) -> Value {
    json!({"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": {"name": "x", "version": "1"}})
}

fn push(reply: &mut Value, tool: Value) {
    reply["result"]["tools"].as_array_mut().expect("tools").push(tool);
}

fn remove(value: &mut Value, name: &str) -> Option<Value> {
    value.as_object_mut()?.shift_remove(name)
}

fn say(message: &Value) {
    let mut stdout = std::io::stdout().lock();
    let _ = writeln!(stdout, "{message}").and_then(|()| stdout.flush());
}
