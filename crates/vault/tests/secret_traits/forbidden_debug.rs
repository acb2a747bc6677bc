//! `Secret` must not implement `std::fmt::Debug`.

fn need<T: std::fmt::Debug>() {}

fn main() {
    need::<framegate_vault::Secret>();
}
