//! One session with the program: everything said is kept, and judged when it ends.
//!
//! Belongs here: starting on a stage, waiting for replies, ending in every way, the judgement.
//! Does not belong here: what MCP messages look like (`client`), the checks themselves.

use std::process::ExitStatus;

use rustix::process::Signal;
use serde_json::Value;

use crate::journal::Journal;
use crate::launch::Launch;
use crate::oracle::{self, Answers, Transcript};
use crate::process::Process;
use crate::stage::Stage;

/// A running session. Dropping it ends it, and judges it unless the test is failing already.
#[derive(Debug)]
pub struct Session<'s> {
    stage: &'s Stage,
    process: Process,
    terminated: bool,
    answers: Option<Answers>,
    judged: bool,
    /// The last id that [`Session::fresh_id`] gave out.
    pub last_id: i64,
}

/// What is left of a session that has ended.
#[derive(Debug)]
pub struct Ended {
    /// How it ended.
    pub status: ExitStatus,
    /// Every line of stdout, parsed.
    pub replies: Vec<Value>,
    /// Raw stdout.
    pub stdout: Vec<u8>,
    /// Raw stderr.
    pub stderr: String,
    /// The whole journal of the stage by then.
    pub journal: Journal,
}

impl Ended {
    /// The exit code.
    #[must_use]
    pub fn code(&self) -> Option<i32> {
        self.status.code()
    }
}

impl<'s> Session<'s> {
    /// Starts the program on a stage.
    #[must_use]
    pub fn start(stage: &'s Stage) -> Self {
        Self::launch(stage, stage.launch())
    }

    /// Starts a launch of the stage that the test has changed.
    #[must_use]
    pub fn launch(stage: &'s Stage, launch: Launch) -> Self {
        Self::named(stage, stage.name(), launch)
    }

    /// The same, with a transcript that is kept under a name of its own.
    #[must_use]
    pub fn named(stage: &'s Stage, name: &str, launch: Launch) -> Self {
        let process = Process::start(name, launch);
        Self { stage, process, terminated: false, answers: None, judged: false, last_id: 0 }
    }

    /// The stage it runs on.
    #[must_use]
    pub fn stage(&self) -> &'s Stage {
        self.stage
    }

    /// The process.
    pub fn process(&mut self) -> &mut Process {
        &mut self.process
    }

    /// Allows requests to be left unanswered that the exit code alone would not.
    pub fn allow_unanswered(&mut self, answers: Answers) {
        self.answers = Some(answers);
    }

    /// Writes bytes as they are.
    pub fn write(&mut self, bytes: &[u8]) {
        self.process.write(bytes);
    }

    /// Writes one message as one line.
    pub fn send(&mut self, message: &Value) {
        let mut line = message.to_string();
        line.push('\n');
        self.process.write(line.as_bytes());
    }

    /// Every whole line of stdout so far, parsed.
    #[must_use]
    pub fn lines(&self) -> Vec<Value> {
        parse_lines(&self.process.stdout().bytes())
    }

    /// Waits for the reply with this id.
    ///
    /// # Panics
    /// If stdout ends without it, or it does not come.
    pub fn reply(&mut self, id: &Value) -> Value {
        self.wait_line(&format!("the reply to {id}"), |line| {
            &line["id"] == id && line.get("method").is_none()
        })
    }

    /// Waits for a line of stdout, alone or as a member of an array.
    ///
    /// # Panics
    /// If stdout ends without it, or it does not come.
    pub fn wait_line(&mut self, what: &str, mut wanted: impl FnMut(&Value) -> bool) -> Value {
        let found = self.process.stdout().wait(|bytes| {
            parse_lines(bytes).into_iter().find(|line| match line {
                Value::Array(members) => members.iter().any(&mut wanted),
                line => wanted(line),
            })
        });
        found.unwrap_or_else(|how| self.process.fail(&format!("stdout {how} before {what}")))
    }

    /// Waits until stdout holds this many whole lines.
    ///
    /// # Panics
    /// If they do not come.
    pub fn wait_lines(&mut self, count: usize) -> Vec<Value> {
        let found = self.process.stdout().wait(|bytes| {
            (bytes.iter().filter(|byte| **byte == b'\n').count() >= count).then(|| parse_lines(bytes))
        });
        found.unwrap_or_else(|how| self.process.fail(&format!("stdout {how} before line {count}")))
    }

    /// Ends stdin, waits for the program to end, and judges the session.
    pub fn end(mut self) -> Ended {
        self.process.close_stdin();
        self.finish()
    }

    /// Waits for the program to end on its own, with stdin still open, and judges the session.
    pub fn wait_end(self) -> Ended {
        self.finish()
    }

    /// Sends SIGTERM, waits for the end, and judges the session.
    pub fn terminate(mut self) -> Ended {
        self.terminated = true;
        self.process.signal(Signal::TERM);
        self.finish()
    }

    fn finish(mut self) -> Ended {
        let status = self
            .process
            .wait_exit()
            .unwrap_or_else(|how| self.process.fail(&format!("the program {how} instead of ending")));
        self.judge(Some(status))
    }

    fn judge(&mut self, status: Option<ExitStatus>) -> Ended {
        self.judged = true;
        let (stdout, stderr) = (self.process.stdout().clone(), self.process.stderr().clone());
        if status.is_some() && (stdout.wait_end().is_err() || stderr.wait_end().is_err()) {
            self.process.fail("a descriptor of the program outlived it");
        }
        let (stdout, stderr) = (stdout.bytes(), stderr.bytes());
        let answers = self.answers.unwrap_or_else(|| oracle::answers_of(status, self.terminated));
        let transcript = Transcript { stdin: self.process.written(), stdout: &stdout, answers };
        oracle::require(self.process.name(), self.process.command(), &transcript, &stderr);
        let journal = self.stage.journal();
        self.stage.assert_secret_kept(&stdout, &stderr, &journal.raw);
        Ended {
            status: status.unwrap_or_default(),
            replies: parse_lines(&stdout),
            stdout,
            stderr: String::from_utf8_lossy(&stderr).into_owned(),
            journal,
        }
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        if self.judged {
            return;
        }
        self.process.kill();
        if std::thread::panicking() {
            let folder = self.process.keep();
            eprintln!(
                "{}: transcript: {}\n  command: {}",
                self.process.name(),
                folder.display(),
                self.process.command()
            );
        } else {
            self.answers.get_or_insert(Answers::Any);
            self.judge(None);
        }
    }
}

/// Every whole line that is JSON.
#[must_use]
pub fn parse_lines(bytes: &[u8]) -> Vec<Value> {
    bytes
        .split_inclusive(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice(line.strip_suffix(b"\n")?).ok())
        .collect()
}
