//! A `Redactor` holds the spellings of secrets and must not be printable.

fn need<T: std::fmt::Debug>() {}

fn main() {
    need::<framegate_vault::Redactor>();
}
