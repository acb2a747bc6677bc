//! The policy door: what may be loaded, and how real frames are judged by it.

mod fixture;
mod lints;
mod peer;
mod seen_is_rendered;
mod show;
mod verdicts;
