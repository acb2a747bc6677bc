//! `Secret` must not implement `Clone`.

fn need<T: Clone>() {}

fn main() {
    need::<framegate_vault::Secret>();
}
