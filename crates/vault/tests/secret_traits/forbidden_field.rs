//! The bytes of a `Secret` must not be reachable as a field.

fn main() {
    let secret = framegate_vault::Secret::new(Vec::new());
    let _ = secret.bytes;
}
