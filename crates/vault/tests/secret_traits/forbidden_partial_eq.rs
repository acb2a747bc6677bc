//! `Secret` must not implement `PartialEq`.

fn need<T: PartialEq>() {}

fn main() {
    need::<framegate_vault::Secret>();
}
