//! The durable record: a permit becomes a recorded action only when its intent is on disk.
