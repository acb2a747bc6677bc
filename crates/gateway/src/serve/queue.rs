//! Queues between the threads of a session.
//!
//! Belongs here: sending, waiting, knowing that the other side is gone.
//! Does not belong here: what is sent.
//!
//! `std::sync::mpsc` wakes the receiver while it holds the lock that the receiver takes next: on one
//! processor each message then costs two more changes of thread. Here the lock is free before anybody is woken.

use std::collections::VecDeque;
use std::sync::mpsc::{RecvTimeoutError, TryRecvError};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

struct Shared<T> {
    state: Mutex<State<T>>,
    filled: Condvar,
    emptied: Condvar,
}

struct State<T> {
    items: VecDeque<T>,
    capacity: usize,
    senders: usize,
    received: bool,
    /// Whether the receiver waits for `filled`.
    waits: bool,
    /// How many senders wait for `emptied`.
    blocked: usize,
}

impl<T> Shared<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        // No code of others runs under the lock: what a panic left is whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A queue of at most `capacity` items; senders wait while it is full.
pub(super) fn queue<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    let state =
        State { items: VecDeque::new(), capacity, senders: 1, received: true, waits: false, blocked: 0 };
    let shared =
        Arc::new(Shared { state: Mutex::new(state), filled: Condvar::new(), emptied: Condvar::new() });
    (Sender(Arc::clone(&shared)), Receiver(shared))
}

/// The side that sends; there may be several.
pub(super) struct Sender<T>(Arc<Shared<T>>);

/// The side that receives.
pub(super) struct Receiver<T>(Arc<Shared<T>>);

impl<T> core::fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}

impl<T> core::fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        let mut state = self.0.lock();
        state.senders = state.senders.saturating_add(1);
        drop(state);
        Self(Arc::clone(&self.0))
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.senders = state.senders.saturating_sub(1);
        let last = state.senders == 0;
        drop(state);
        if last {
            self.0.filled.notify_all();
        }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.received = false;
        let left = core::mem::take(&mut state.items);
        drop(state);
        self.0.emptied.notify_all();
        drop(left);
    }
}

impl<T> Sender<T> {
    /// Appends an item; `false` if nobody will receive it.
    pub(super) fn send(&self, item: T) -> bool {
        let mut state = self.0.lock();
        while state.received && state.items.len() >= state.capacity {
            state.blocked = state.blocked.saturating_add(1);
            state = self.0.emptied.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.blocked = state.blocked.saturating_sub(1);
        }
        if !state.received {
            return false;
        }
        state.items.push_back(item);
        let waits = core::mem::take(&mut state.waits);
        drop(state);
        if waits {
            self.0.filled.notify_one();
        }
        true
    }
}

impl<T> Receiver<T> {
    /// The next item, now.
    pub(super) fn try_recv(&self) -> Result<T, TryRecvError> {
        let mut state = self.0.lock();
        match state.items.pop_front() {
            Some(item) => {
                self.popped(state);
                Ok(item)
            }
            None if state.senders == 0 => Err(TryRecvError::Disconnected),
            None => Err(TryRecvError::Empty),
        }
    }

    /// The next item, within this time if one is given.
    pub(super) fn recv(&self, within: Option<Duration>) -> Result<T, RecvTimeoutError> {
        let deadline = within.map(|within| Instant::now().checked_add(within));
        let mut state = self.0.lock();
        loop {
            if let Some(item) = state.items.pop_front() {
                self.popped(state);
                return Ok(item);
            }
            if state.senders == 0 {
                return Err(RecvTimeoutError::Disconnected);
            }
            state.waits = true;
            state = match deadline {
                Some(Some(deadline)) => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        state.waits = false;
                        return Err(RecvTimeoutError::Timeout);
                    }
                    self.0.filled.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0
                }
                _ => self.0.filled.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    fn popped(&self, state: MutexGuard<'_, State<T>>) {
        let blocked = state.blocked > 0;
        drop(state);
        if blocked {
            self.0.emptied.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::thread;

    use super::*;

    const SHORT: Option<Duration> = Some(Duration::from_millis(1));

    #[test]
    fn each_sender_keeps_its_order_and_nothing_is_lost() {
        for capacity in [1, 3, usize::MAX] {
            let (sender, receiver) = queue(capacity);
            thread::scope(|scope| {
                for name in 0..3 {
                    let sender = sender.clone();
                    scope.spawn(move || (0..2_000).for_each(|number| assert!(sender.send((name, number)))));
                }
                drop(sender);
                let mut next = [0; 3];
                while let Ok((name, number)) = receiver.recv(None) {
                    assert_eq!(number, next[name], "{name}");
                    next[name] += 1;
                }
                assert_eq!(next, [2_000; 3]);
            });
            assert_eq!(receiver.recv(None), Err(RecvTimeoutError::Disconnected));
            assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
        }
    }

    #[test]
    fn what_was_sent_is_received_although_the_sender_is_gone() {
        let (sender, receiver) = queue(2);
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
        assert_eq!(receiver.recv(SHORT), Err(RecvTimeoutError::Timeout));
        assert!(sender.send(1) && sender.send(2));
        drop(sender);
        assert_eq!((receiver.try_recv(), receiver.recv(SHORT)), (Ok(1), Ok(2)));
        assert_eq!(receiver.recv(SHORT), Err(RecvTimeoutError::Disconnected));
    }

    #[test]
    fn a_receiver_that_waits_sees_the_last_sender_go() {
        let (sender, receiver) = queue::<()>(1);
        let second = sender.clone();
        thread::scope(|scope| {
            let waiting = scope.spawn(move || receiver.recv(None));
            drop(sender);
            drop(second);
            assert_eq!(waiting.join().unwrap(), Err(RecvTimeoutError::Disconnected));
        });
    }

    #[test]
    fn senders_that_wait_for_a_place_see_the_receiver_go() {
        let (sender, receiver) = queue(1);
        assert!(sender.send(0));
        let barrier = Barrier::new(3);
        thread::scope(|scope| {
            let waiting: Vec<_> = [1, 2]
                .into_iter()
                .map(|number| {
                    let (sender, barrier) = (sender.clone(), &barrier);
                    scope.spawn(move || {
                        barrier.wait();
                        sender.send(number)
                    })
                })
                .collect();
            barrier.wait();
            drop(receiver);
            for thread in waiting {
                assert!(!thread.join().unwrap());
            }
        });
        assert!(!sender.send(3));
    }
}
