//! The one step that decides between "never started" and "started".
//!
//! Belongs here: the slot's start flag and its cancellation, taken atomically.
//! Does not belong here: what is started.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use tokio::sync::Notify;

const WAITING: u8 = 0;
const STARTED: u8 = 1;
const CANCELLED: u8 = 2;

/// The start of one action, shared by the pump, which may cancel it, and the executor, which begins it.
#[derive(Clone, Debug, Default)]
pub(super) struct Start(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    state: AtomicU8,
    abandoned: Notify,
}

impl Start {
    /// Begins, unless it was cancelled before. To be called right before the first outside act.
    pub(super) fn begin(&self) -> bool {
        self.0.state.compare_exchange(WAITING, STARTED, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }

    /// Cancels. What has not begun never will; what has begun is abandoned.
    pub(super) fn cancel(&self) {
        let cancelled = self.0.state.compare_exchange(WAITING, CANCELLED, Ordering::SeqCst, Ordering::SeqCst);
        if cancelled.is_err() {
            self.0.abandoned.notify_one();
        }
    }

    /// Resolves when what has begun is abandoned.
    pub(super) async fn abandoned(&self) {
        self.0.abandoned.notified().await;
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::Barrier;
    use std::task::{Context, Poll, Waker};
    use std::thread;

    use super::*;

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Step {
        Begin,
        /// Only after it has begun: asks whether it was abandoned.
        Ask,
        Cancel,
    }

    /// Every merge of the two threads' steps, each in its own order.
    fn merges(executor: &[Step], pump: &[Step], merged: &mut Vec<Step>, visit: &mut dyn FnMut(&[Step])) {
        if executor.is_empty() && pump.is_empty() {
            return visit(merged);
        }
        for (next, executor, pump) in
            [(executor.first(), executor.get(1..), Some(pump)), (pump.first(), Some(executor), pump.get(1..))]
        {
            if let (Some(next), Some(executor), Some(pump)) = (next, executor, pump) {
                merged.push(*next);
                merges(executor, pump, merged, visit);
                merged.pop();
            }
        }
    }

    #[test]
    fn it_begins_or_was_cancelled_before_never_both() {
        let mut explored = 0;
        let executor = [Step::Begin, Step::Ask, Step::Ask];
        let pump = [Step::Cancel, Step::Cancel];
        merges(&executor, &pump, &mut Vec::new(), &mut |steps| {
            explored += 1;
            let start = Start::default();
            let shared = start.clone();
            let mut abandoned = pin!(shared.abandoned());
            let (mut begun, mut cancelled, mut told) = (false, false, false);
            for step in steps {
                match step {
                    Step::Begin => {
                        begun = start.begin();
                        assert_eq!(begun, !cancelled, "{steps:?}");
                        assert!(!start.begin(), "begun twice: {steps:?}");
                    }
                    Step::Cancel => {
                        start.cancel();
                        cancelled = true;
                    }
                    Step::Ask if begun && !told => {
                        let asked = abandoned.as_mut().poll(&mut Context::from_waker(Waker::noop()));
                        told = asked == Poll::Ready(());
                        assert_eq!(told, cancelled, "{steps:?}");
                    }
                    Step::Ask => {}
                }
            }
        });
        assert_eq!(explored, 10);
    }

    #[test]
    fn two_threads_agree_on_who_was_first() {
        for _ in 0..200 {
            let start = Start::default();
            let barrier = Barrier::new(2);
            let begun = thread::scope(|scope| {
                scope.spawn(|| {
                    barrier.wait();
                    start.cancel();
                });
                barrier.wait();
                start.begin()
            });
            assert!(!start.begin());
            if begun {
                // Begun before the cancellation, so it is told.
                let abandoned = pin!(start.abandoned());
                assert_eq!(abandoned.poll(&mut Context::from_waker(Waker::noop())), Poll::Ready(()));
            }
        }
    }
}
