//! `Secret` must not implement `std::fmt::Display`.

fn need<T: std::fmt::Display>() {}

fn main() {
    need::<framegate_vault::Secret>();
}
