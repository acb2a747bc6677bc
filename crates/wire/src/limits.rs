//! The bounds of one session's input, with their defaults and ceilings.
//!
//! Belongs here: numbers that bound what a peer can make us keep or compute, checked before use.
//! Does not belong here: time-outs, concurrency, limits of executors.

/// Bounds on frames and documents. All sizes are in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The longest line, without its line end. 4 MiB by default, at most [`Limits::MAX_FRAME_CEILING`].
    pub max_frame: usize,
    /// The deepest nesting of arrays and objects: the outermost container has depth 1.
    pub max_depth: usize,
    /// The most members of one array or object.
    pub max_members: usize,
    /// The most values (names not counted) of one document.
    pub max_nodes: usize,
    /// The longest string `id`, decoded.
    pub max_id: usize,
    /// The most members of a batch (2025-03-26 only).
    pub max_batch: usize,
}

impl Limits {
    /// The highest value that `max_frame` may be set to.
    pub const MAX_FRAME_CEILING: usize = 64 * 1024 * 1024;
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_frame: 4 * 1024 * 1024,
            max_depth: 64,
            max_members: 10_000,
            max_nodes: 100_000,
            max_id: 1_024,
            max_batch: 100,
        }
    }
}
