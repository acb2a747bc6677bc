//! Open connections that wait for the next request of the very same kind.
//!
//! Belongs here: whose a connection is, how many wait and for how long.
//! Does not belong here: dialling; which answers leave a connection fit to wait.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use framegate_gate::action::Origin;
use tokio::runtime::Handle;
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep_until};

use super::connection::Connection;
use super::masking::Generation;

/// How long a connection waits. Below the 5 s after which common servers hang up: a request that crosses the
/// server's farewell on its way is neither refused nor answered, and its outcome would be unknown.
const MAX_IDLE: Duration = Duration::from_secs(4);
/// How old a connection gets. The next one is looked up and checked anew, so a change of name is seen.
const MAX_AGE: Duration = Duration::from_secs(60);
/// How many connections of one kind wait: as many as calls run at the same time unless configured otherwise.
const MAX_A_KEY: usize = 8;
/// How many wait in all.
const MAX_IN_ALL: usize = 64;

/// Whose a connection is. Two requests that differ in any of these never share one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Key {
    /// The target's name: its addresses, authorities and TLS settings are its own.
    pub(super) target: String,
    /// The secret's name, and which of the values that it has had; none for a target without a credential.
    pub(super) credential: Option<(String, Generation)>,
    /// Scheme, host and port.
    pub(super) origin: Origin,
}

/// The connections that wait. They are closed when this is dropped, or when their time is over.
#[derive(Default)]
pub(super) struct Pool(Arc<Mutex<Shelf>>);

/// Oldest first.
#[derive(Default)]
struct Shelf {
    waiting: Vec<Waiting>,
    /// Closes what has waited too long; there while something waits.
    reaper: Option<AbortHandle>,
}

struct Waiting {
    key: Key,
    connection: Connection,
    until: Instant,
}

impl Pool {
    /// A connection of this kind whose peer has kept quiet; others are closed on the way to it.
    pub(super) async fn take(&self, key: &Key) -> Option<Connection> {
        while let Some(mut connection) = self.pop(key) {
            if connection.stream.is_quiet().await {
                return Some(connection);
            }
        }
        None
    }

    /// The one that was used last: the others grow old and go.
    fn pop(&self, key: &Key) -> Option<Connection> {
        let mut shelf = lock(&self.0);
        shelf.close_expired(Instant::now());
        let place = shelf.waiting.iter().rposition(|waiting| waiting.key == *key)?;
        Some(shelf.waiting.remove(place).connection)
    }

    /// Lets a connection wait that has carried a whole, sound answer and nothing else.
    pub(super) fn put(&self, key: Key, connection: Connection) {
        let now = Instant::now();
        let idle = now.checked_add(MAX_IDLE);
        let (Some(idle), Some(age)) = (idle, connection.opened.checked_add(MAX_AGE)) else { return };
        let until = idle.min(age);
        // Without a runtime nobody would close it in time.
        let Ok(runtime) = Handle::try_current() else { return };
        let mut shelf = lock(&self.0);
        shelf.close_expired(now);
        let of_key = |waiting: &Waiting| waiting.key == key;
        let first_of_key = shelf.waiting.iter().position(of_key);
        let full_key = shelf.waiting.iter().filter(|waiting| of_key(waiting)).count() >= MAX_A_KEY;
        let full = shelf.waiting.len() >= MAX_IN_ALL;
        if let Some(oldest) = first_of_key.filter(|_| full_key).or(full.then_some(0)) {
            shelf.waiting.remove(oldest);
        }
        shelf.waiting.push(Waiting { key, connection, until });
        if shelf.reaper.as_ref().is_none_or(AbortHandle::is_finished) {
            shelf.reaper = Some(runtime.spawn(reap(Arc::downgrade(&self.0), until)).abort_handle());
        }
    }
}

impl Shelf {
    fn close_expired(&mut self, now: Instant) {
        self.waiting.retain(|waiting| waiting.until > now);
    }
}

impl Drop for Shelf {
    fn drop(&mut self) {
        if let Some(reaper) = &self.reaper {
            reaper.abort();
        }
    }
}

/// Closes what has waited too long, first at `next`, until nothing waits. A connection that is in use by then and
/// comes back needs no other task.
async fn reap(shelf: Weak<Mutex<Shelf>>, mut next: Instant) {
    loop {
        sleep_until(next).await;
        let Some(shelf) = shelf.upgrade() else { return };
        let mut shelf = lock(&shelf);
        shelf.close_expired(Instant::now());
        let Some(earliest) = shelf.waiting.iter().map(|waiting| waiting.until).min() else {
            // Under the lock, so that whatever comes next to wait finds that it needs another.
            shelf.reaper = None;
            return;
        };
        next = earliest;
    }
}

/// A panic elsewhere leaves the list whole: each change of it is one step.
fn lock(shelf: &Mutex<Shelf>) -> MutexGuard<'_, Shelf> {
    shelf.lock().unwrap_or_else(PoisonError::into_inner)
}
