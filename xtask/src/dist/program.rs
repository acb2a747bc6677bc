//! The program that is released: static, so that it runs on any Linux of its architecture.
//!
//! Belongs here: how it is built, and that it is static. Does not belong here: what lies beside it in the archive.

use std::error::Error;
use std::ffi::OsString;
use std::path::PathBuf;

use object::Endianness;
use object::elf::{DT_NEEDED, FileHeader64, PT_INTERP};
use object::read::elf::{Dyn, FileHeader, ProgramHeader};

use crate::cargo;
use crate::tree::Tree;

/// Named to cargo, so that flags are not for build scripts and macros as well.
pub const TARGET: &str = "x86_64-unknown-linux-gnu";
/// Where it runs.
pub const PLATFORM: &str = "x86_64-linux";

/// Builds it in a target folder of its own: other flags would have everything else built anew.
pub fn build(tree: &Tree) -> Result<PathBuf, Box<dyn Error>> {
    let folder = tree.join("target/dist-build");
    let status = cargo::command(tree.root())
        .args(["build", "--release", "--locked", "--quiet", "--package", "framegate", "--target", TARGET])
        .arg("--target-dir")
        .arg(&folder)
        .env("CARGO_ENCODED_RUSTFLAGS", flags(tree)?)
        .status()?;
    if !status.success() {
        return Err(
            "the program could not be built; it needs a C compiler and glibc's `libc.a` (Debian: libc6-dev, \
                    Fedora: glibc-static)"
                .into(),
        );
    }
    Ok(folder.join(TARGET).join("release/framegate"))
}

/// Static, for reasons that `docs/decisions/0018-a-static-program.md` tells. Where sources lie on this machine is in no
/// released program: not to tell it, and for the same bytes everywhere.
fn flags(tree: &Tree) -> Result<OsString, Box<dyn Error>> {
    let cargo = match (std::env::var_os("CARGO_HOME"), std::env::home_dir()) {
        (Some(folder), _) => PathBuf::from(folder),
        (None, Some(home)) => home.join(".cargo"),
        (None, None) => return Err("neither CARGO_HOME nor HOME is set".into()),
    };
    let mut flags = OsString::from("-Ctarget-feature=+crt-static");
    for (from, to) in [(cargo.as_path(), "=/cargo"), (tree.root(), "=/framegate")] {
        flags.push("\u{1f}--remap-path-prefix=");
        flags.push(from);
        flags.push(to);
    }
    Ok(flags)
}

/// Checks that it asks for no loader and no library.
pub fn check_static(program: &[u8]) -> Result<(), Box<dyn Error>> {
    let header = FileHeader64::<Endianness>::parse(program)?;
    let endian = header.endian()?;
    for segment in header.program_headers(endian, program)? {
        if segment.p_type(endian) == PT_INTERP {
            return Err("the program is not static: it names a loader (PT_INTERP)".into());
        }
        let dynamic = segment.dynamic(endian, program)?.unwrap_or_default();
        if dynamic.iter().any(|entry| entry.d_tag(endian) == DT_NEEDED) {
            return Err("the program is not static: it needs a library (DT_NEEDED)".into());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests are built for the C library of the machine, which is a shared one.
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    #[test]
    fn a_program_that_needs_a_library_is_not_static() {
        let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        assert!(check_static(&own).unwrap_err().to_string().contains("not static"));
    }

    #[test]
    fn what_is_no_program_is_not_static() {
        assert!(check_static(b"#!/bin/sh\n").is_err());
    }
}
