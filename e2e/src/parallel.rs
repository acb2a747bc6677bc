//! Runs many small jobs on a few threads and reports every failure.
//!
//! Belongs here: sharing out the work, gathering panics. Does not belong here: what a job is.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many failures are shown in full.
const SHOWN: usize = 12;

/// Runs `job` for each of `items`; each thread first makes what its jobs share, and makes it anew
/// after a job that failed.
///
/// # Panics
/// If any job panicked, with the first failures and how many there were.
pub fn run<T: Sync, C>(items: &[T], context: impl Fn() -> C + Sync, job: impl Fn(&mut C, &T) + Sync) {
    let next = AtomicUsize::new(0);
    let failures = Mutex::new(Vec::new());
    // Jobs wait for processes most of the time.
    let threads = std::thread::available_parallelism().map_or(2, usize::from) * 2;
    std::thread::scope(|scope| {
        for _ in 0..threads.min(items.len()) {
            scope.spawn(|| {
                let mut shared = None;
                while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let done = catch_unwind(AssertUnwindSafe(|| {
                        let mut context = shared.take().unwrap_or_else(&context);
                        job(&mut context, item);
                        context
                    }));
                    match done {
                        Ok(context) => shared = Some(context),
                        Err(panic) => {
                            let text = panic
                                .downcast_ref::<String>()
                                .cloned()
                                .or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
                            failures.lock().expect("not poisoned").push(text.unwrap_or_default());
                        }
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().expect("not poisoned");
    assert!(
        failures.is_empty(),
        "{} of {} failed:\n{}",
        failures.len(),
        items.len(),
        failures[..failures.len().min(SHOWN)].join("\n")
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_job_runs_once_and_every_failure_counts() {
        let ran = AtomicUsize::new(0);
        let items: Vec<usize> = (0..40).collect();
        let result = catch_unwind(AssertUnwindSafe(|| {
            run(
                &items,
                || (),
                |(), item| {
                    ran.fetch_add(1, Ordering::Relaxed);
                    assert!(item % 20 != 0, "item {item}");
                },
            );
        }));
        assert_eq!(ran.load(Ordering::Relaxed), 40);
        let text = result.expect_err("two failed").downcast::<String>().expect("a text");
        assert!(text.starts_with("2 of 40 failed") && text.contains("item 20"), "{text}");
    }
}
