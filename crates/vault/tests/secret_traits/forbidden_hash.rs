//! `Secret` must not implement `std::hash::Hash`.

fn need<T: std::hash::Hash>() {}

fn main() {
    need::<framegate_vault::Secret>();
}
