//! `Secret` must not implement `std::ops::Deref`.

fn need<T: std::ops::Deref>() {}

fn main() {
    need::<framegate_vault::Secret>();
}
