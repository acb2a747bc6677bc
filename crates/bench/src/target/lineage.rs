//! The processes that a target started, whatever became of their parents, groups and sessions.
//!
//! Belongs here: marking a target so that its descendants can be told, finding them, killing them.
//! Does not belong here: the target's own process (`launch`).
//!
//! A process that made a session of its own and lost its parent is nobody's child any more: neither its group nor its
//! parent says whose it was, and its environment may be another. What stays, through fork and exec, are the limits on
//! resources. `RLIMIT_LOCKS` is one that the kernel enforces no more since Linux 2.4.25 (getrlimit(2)): its soft
//! value is the target's number. Whoever changes it, or has root start something, hides; the group is known all the same.

use std::fs;
use std::io;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{
    Pid, PidfdFlags, Resource, Rlimit, Signal, getpid, getrlimit, kill_process_group, pidfd_open,
    pidfd_send_signal, setrlimit,
};

/// Between two looks at whether killed processes have ended.
const LOOK: Duration = Duration::from_millis(1);
/// How long a tree is killed that goes on making processes.
const PATIENCE: Duration = Duration::from_secs(2);
/// The limit's line in `/proc/PID/limits` (proc(5)).
const LIMIT: &str = "Max file locks";

/// The limit is the whole process's: one start at a time.
static STARTING: Mutex<()> = Mutex::new(());

/// The number that a target and its descendants carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Number(u64);

/// A target's process group, and its number where it carries one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lineage {
    group: Pid,
    number: Option<Number>,
}

/// A process of a lineage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Member {
    /// Its process id.
    pub(crate) process: u32,
    /// Its name, escaped: at most 15 bytes that the target chose.
    pub(crate) name: String,
}

/// Starts something that carries a number of its own; none where the limit cannot be set.
pub(super) fn numbered<T>(start: impl FnOnce() -> io::Result<T>) -> io::Result<(T, Option<Number>)> {
    let _alone = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
    let before = getrlimit(Resource::Locks);
    let number = Number::draw()?;
    let marked = Rlimit { current: Some(number.0), maximum: before.maximum };
    let is_marked = setrlimit(Resource::Locks, marked).is_ok();
    let started = start();
    if is_marked {
        let _ = setrlimit(Resource::Locks, before);
    }
    Ok((started?, is_marked.then_some(number)))
}

impl Number {
    /// One that no other bench draws at the same time, but for a chance of 2^-62; far from what a person would set.
    fn draw() -> io::Result<Self> {
        let mut random = [0; 8];
        getrandom::fill(&mut random).map_err(|error| io::Error::other(error.to_string()))?;
        Ok(Self((u64::from_le_bytes(random) >> 2) | (1 << 62)))
    }
}

impl Lineage {
    pub(super) const fn new(group: Pid, number: Option<Number>) -> Self {
        Self { group, number }
    }

    /// Those that run, as far as `/proc` shows them.
    pub(super) fn members(self) -> Vec<Member> {
        let Ok(processes) = fs::read_dir("/proc") else { return Vec::new() };
        let ids = processes.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        ids.filter_map(|process: u32| Some(Member { process, name: self.name_of_member(process)? })).collect()
    }

    /// Kills them all, and those that they start meanwhile. The first process must not be waited for yet: as long as it
    /// is not, its number, and its group's, are nobody else's.
    pub(super) fn kill(self) {
        let begun = Instant::now();
        let _ = kill_process_group(self.group, Signal::KILL);
        loop {
            let left = self.members();
            if left.is_empty() || begun.elapsed() > PATIENCE {
                return;
            }
            left.iter().for_each(|member| self.kill_member(member.process));
            thread::sleep(LOOK);
        }
    }

    /// A process that ends meanwhile leaves its id to another: what is killed is looked at once it is held.
    fn kill_member(self, process: u32) {
        let Some(pid) = i32::try_from(process).ok().and_then(Pid::from_raw) else { return };
        let Ok(held) = pidfd_open(pid, PidfdFlags::empty()) else { return };
        if self.name_of_member(process).is_some() {
            let _ = pidfd_send_signal(&held, Signal::KILL);
        }
    }

    /// The name of this process, if it is a member and runs.
    fn name_of_member(self, process: u32) -> Option<String> {
        let text = String::from_utf8_lossy(&fs::read(format!("/proc/{process}/stat")).ok()?).into_owned();
        let (before, behind) = text.rsplit_once(')')?;
        let (_, name) = before.split_once('(')?;
        let mut fields = behind.split_ascii_whitespace();
        let runs = !matches!(fields.next()?, "Z" | "X");
        let group = fields.nth(1)?.parse().ok()?;
        let is_member = || Pid::from_raw(group) == Some(self.group) || self.has_numbered(process);
        (runs && is_member()).then(|| name.escape_debug().to_string())
    }

    fn has_numbered(self, process: u32) -> bool {
        let own = u32::try_from(getpid().as_raw_pid());
        self.number.is_some() && own != Ok(process) && number_of(process) == self.number
    }
}

/// The number that a process carries, if it carries any.
fn number_of(process: u32) -> Option<Number> {
    let limits = fs::read_to_string(format!("/proc/{process}/limits")).ok()?;
    let values = limits.lines().find_map(|line| line.strip_prefix(LIMIT))?;
    values.split_ascii_whitespace().next()?.parse().ok().map(Number)
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command, Stdio};

    use super::*;

    fn sleeper() -> Command {
        let mut command = Command::new("setsid");
        command.args(["sleep", "600"]).env_clear().env("PATH", "/usr/bin:/bin").stdin(Stdio::null());
        command
    }

    fn is_running(child: &mut Child) -> bool {
        child.try_wait().unwrap().is_none()
    }

    /// In a process of its own: what other tests start meanwhile would carry the number too, and be killed.
    #[test]
    fn a_process_is_known_by_its_number_in_any_session_and_others_are_let_alone() {
        let name = "target::lineage::tests::alone";
        let mut test = Command::new(std::env::current_exe().unwrap());
        let output = test.args(["--exact", name, "--ignored"]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("1 passed"), "{said}");
    }

    #[test]
    #[ignore = "run by a_process_is_known_by_its_number_in_any_session_and_others_are_let_alone, in a process of its own"]
    fn alone() {
        let before = getrlimit(Resource::Locks).current;
        let (mut ours, number) = numbered(|| sleeper().spawn()).unwrap();
        let (mut other, others) = numbered(|| sleeper().spawn()).unwrap();
        assert_eq!(getrlimit(Resource::Locks).current, before, "our own limit is as it was");
        assert!(number.is_some() && number != others);
        // Nobody is in a group of that number: the number of the lineage alone tells.
        let lineage = Lineage::new(Pid::from_child(&ours), number);
        let strangers = Lineage::new(Pid::from_raw(i32::MAX).unwrap(), number);
        let ids = |lineage: Lineage| -> Vec<_> {
            lineage.members().into_iter().map(|member| member.process).collect()
        };
        assert_eq!(ids(lineage), [ours.id()]);
        assert_eq!(ids(strangers), [ours.id()]);
        strangers.kill();
        assert_eq!(ours.wait().unwrap().code(), None, "it was killed");
        assert!(is_running(&mut other));
        assert!(ids(lineage).is_empty());
        other.kill().unwrap();
        other.wait().unwrap();
    }
}
