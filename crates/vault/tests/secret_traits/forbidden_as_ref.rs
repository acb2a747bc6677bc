//! `Secret` must not implement `AsRef<[u8]>`.

fn need<T: AsRef<[u8]>>() {}

fn main() {
    need::<framegate_vault::Secret>();
}
