//! `Secret` must not implement `serde::Serialize`.

fn need<T: serde::Serialize>() {}

fn main() {
    need::<framegate_vault::Secret>();
}
