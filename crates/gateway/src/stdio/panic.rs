//! What a panic may say.
//!
//! Belongs here: a hook that prints fixed text and a place in our source, never the payload, which can hold
//! what a peer sent or a secret.
//! Does not belong here: what a panic does to a session.

use std::panic;

/// Replaces the panic hook. `report` is called with one line; it must not block or panic.
pub fn install_panic_hook(report: impl Fn(&str) + Send + Sync + 'static) {
    panic::set_hook(Box::new(move |information| {
        let place = information.location().map_or_else(
            || "an unknown place".to_owned(),
            |place| format!("{}:{}", place.file(), place.line()),
        );
        report(&format!("internal error at {place}"));
    }));
}
