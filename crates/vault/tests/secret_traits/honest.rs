//! The twin that compiles: a secret is made, exposed and dropped.

fn main() {
    let secret = framegate_vault::Secret::new(b"k7-Rw2!xPq9_Lm".to_vec());
    assert_eq!(secret.expose_bytes().len(), 14);
}
