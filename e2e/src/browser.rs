//! A real browser: opens a page, says what it shows, what it fetched and what it complained of.
//!
//! Belongs here: its start, its end, the few commands of the Chrome DevTools Protocol that tests need, over a pipe.
//! Does not belong here: what a page must show.
//!
//! `e2e/browser/setup.sh` installs it. Where it is not, tests say so loudly; with FRAMEGATE_SHARED set, as in CI,
//! they fail instead.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::process::DEADLINE;
use crate::{binary, shared};

/// The browser reads commands from descriptor 3 and writes answers to 4, each ended by a NUL.
const START: &str = r#"exec "$@" 3<&0 4>&1 </dev/null >/dev/null 2>&1"#;

/// A running browser with one tab.
#[derive(Debug)]
pub struct Browser {
    process: Child,
    commands: ChildStdin,
    messages: Receiver<Value>,
    session: Value,
    number: u64,
    events: Vec<Value>,
    /// What the browser writes while it runs.
    _profile: tempfile::TempDir,
}

impl Browser {
    /// Starts it; `None`, said loudly on stderr, if there is none here.
    ///
    /// # Panics
    /// If there is none and FRAMEGATE_SHARED is set, or it does not start.
    #[must_use]
    pub fn start() -> Option<Self> {
        let folder = installed()?;
        let profile = tempfile::tempdir().expect("a folder");
        let mut process = Command::new("sh")
            .args(["-c", START, "sh"])
            .arg(folder.join("chromium"))
            // No sandbox: it needs privileges, and the pages are our own.
            .args([
                "--headless",
                "--no-sandbox",
                "--no-zygote",
                "--disable-gpu",
                "--hide-scrollbars",
                "--remote-debugging-pipe",
            ])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .env("LD_LIBRARY_PATH", folder.join("lib"))
            .env("FONTCONFIG_FILE", folder.join("fonts.conf"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the browser starts");
        let commands = process.stdin.take().expect("a pipe");
        let answers = BufReader::new(process.stdout.take().expect("a pipe"));
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            for message in answers.split(0).map_while(Result::ok) {
                let Ok(message) = serde_json::from_slice(&message) else { return };
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let mut browser = Self {
            process,
            commands,
            messages,
            session: Value::Null,
            number: 0,
            events: Vec::new(),
            _profile: profile,
        };
        let tab = browser.command("Target.createTarget", json!({"url": "about:blank"}));
        let tab =
            browser.command("Target.attachToTarget", json!({"targetId": tab["targetId"], "flatten": true}));
        browser.session = tab["sessionId"].clone();
        for domain in ["Log", "Network", "Page", "Runtime"] {
            browser.command(&format!("{domain}.enable"), json!({}));
        }
        Some(browser)
    }

    /// Opens a file, with or without scripts, and forgets what was fetched and complained of before.
    pub fn open(&mut self, page: &Path, scripts: bool) {
        self.command("Emulation.setScriptExecutionDisabled", json!({"value": !scripts}));
        self.events.clear();
        self.command("Page.navigate", json!({"url": format!("file://{}", page.display())}));
        while !self.events.iter().any(|event| event["method"] == "Page.loadEventFired") {
            self.receive();
        }
    }

    /// The value of a JavaScript expression, which is evaluated even where a page's own scripts are off.
    ///
    /// # Panics
    /// If it throws.
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let answer =
            self.command("Runtime.evaluate", json!({"expression": expression, "returnByValue": true}));
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    /// Types into the element that the selector names.
    pub fn write(&mut self, selector: &str, text: &str) {
        self.evaluate(&format!("document.querySelector({}).select()", json!(selector)));
        self.command("Input.insertText", json!({"text": text}));
    }

    /// The addresses that were fetched since the page was opened, its own included.
    #[must_use]
    pub fn fetched(&self) -> Vec<&str> {
        let requests = self.events.iter().filter(|event| event["method"] == "Network.requestWillBeSent");
        requests.filter_map(|event| event["params"]["request"]["url"].as_str()).collect()
    }

    /// What the page's scripts and the browser itself said since: errors, violations of the page's policy, anything
    /// that was logged.
    #[must_use]
    pub fn complaints(&self) -> Vec<&Value> {
        let is_one = |event: &&Value| {
            let method = event["method"].as_str().unwrap_or_default();
            matches!(method, "Log.entryAdded" | "Runtime.consoleAPICalled" | "Runtime.exceptionThrown")
        };
        self.events.iter().filter(is_one).collect()
    }

    /// A picture of the page's upper part, as PNG.
    #[must_use]
    pub fn picture(&mut self, width: u32, height: u32) -> Vec<u8> {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.command("Emulation.setDeviceMetricsOverride", size);
        let picture = self.command("Page.captureScreenshot", json!({"format": "png"}));
        STANDARD.decode(picture["data"].as_str().expect("a picture")).expect("base64")
    }

    fn command(&mut self, method: &str, parameters: Value) -> Value {
        self.number += 1;
        let mut command = json!({"id": self.number, "method": method, "params": parameters});
        if !self.session.is_null() {
            command["sessionId"] = self.session.clone();
        }
        self.commands.write_all(format!("{command}\0").as_bytes()).expect("the browser reads");
        loop {
            let message = self.receive();
            if message["id"] == self.number {
                assert!(message["error"].is_null(), "{method}: {message}");
                return message["result"].clone();
            }
        }
    }

    /// The next message; events are kept.
    fn receive(&mut self) -> Value {
        let message = self.messages.recv_timeout(DEADLINE).expect("the browser answers");
        if message["id"].is_null() {
            self.events.push(message.clone());
        }
        message
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Its own children end when it does.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn installed() -> Option<PathBuf> {
    let folder = binary::workspace().join(".test-env/browser");
    if folder.join("installed").exists() {
        return Some(folder);
    }
    assert!(std::env::var_os(shared::VARIABLE).is_none(), "there is no browser: run e2e/browser/setup.sh");
    eprintln!("SKIPPED: there is no browser: run e2e/browser/setup.sh");
    None
}
