//! Tests of the configuration room, by subject.

mod cases;
mod faults;
mod files;
mod headers;
mod masks;
mod model;
mod property;
mod schema;

use std::path::Path;

use super::{Config, Faults};

/// The folder that relative paths are relative to in these tests.
const BASE: &str = "/etc/framegate";

fn read(text: &str) -> Result<Config, Faults> {
    Config::from_text("framegate.toml", text, Path::new(BASE))
}

fn accepted(text: &str) -> Config {
    read(text).unwrap_or_else(|faults| panic!("{faults}\n{text}"))
}

fn refused(text: &str) -> Faults {
    match read(text) {
        Ok(_) => panic!("accepted:\n{text}"),
        Err(faults) => {
            assert!(!faults.is_empty());
            faults
        }
    }
}
