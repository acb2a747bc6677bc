//! Where the configuration file is.
//!
//! Belongs here: the two places it can be. Never the working folder or its parents: a checked-out
//! repository must not configure the gateway that an agent starts in it.
//! Does not belong here: the environment, which the caller reads; opening files.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// There is no place to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LocateError {
    /// Neither a path nor a folder is known.
    #[error("no configuration: give `--config FILE`, or set `HOME` to an absolute path")]
    NoHome,
    /// `--config` with an empty path.
    #[error("`--config` names no file")]
    Empty,
}

/// The configuration file: `explicit` from `--config`, or `framegate/framegate.toml` under
/// `xdg_config_home`, or `.config/framegate/framegate.toml` under `home`. The two folders are the
/// values of `XDG_CONFIG_HOME` and `HOME`; as the XDG specification says, a relative one is ignored.
///
/// # Errors
/// [`LocateError`].
pub fn locate(
    explicit: Option<&Path>,
    xdg_config_home: Option<&OsStr>,
    home: Option<&OsStr>,
) -> Result<PathBuf, LocateError> {
    if let Some(explicit) = explicit {
        if explicit.as_os_str().is_empty() {
            return Err(LocateError::Empty);
        }
        return Ok(explicit.to_owned());
    }
    let absolute = |folder: Option<&OsStr>| folder.map(PathBuf::from).filter(|folder| folder.is_absolute());
    let folder = absolute(xdg_config_home).or_else(|| absolute(home).map(|home| home.join(".config")));
    let folder = folder.ok_or(LocateError::NoHome)?;
    Ok(folder.join("framegate").join("framegate.toml"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(explicit: Option<&str>, xdg: Option<&str>, home: Option<&str>) -> Result<String, LocateError> {
        let path = locate(explicit.map(Path::new), xdg.map(OsStr::new), home.map(OsStr::new))?;
        Ok(path.to_str().unwrap().to_owned())
    }

    #[test]
    fn the_first_known_place_is_used() {
        assert_eq!(found(Some("x.toml"), Some("/x"), Some("/h")), Ok("x.toml".to_owned()));
        assert_eq!(found(None, Some("/x"), Some("/h")), Ok("/x/framegate/framegate.toml".to_owned()));
        assert_eq!(found(None, None, Some("/h")), Ok("/h/.config/framegate/framegate.toml".to_owned()));
    }

    #[test]
    fn the_working_folder_is_never_used() {
        assert_eq!(found(None, Some("x"), Some("/h")), Ok("/h/.config/framegate/framegate.toml".to_owned()));
        assert_eq!(found(None, Some(""), Some("")), Err(LocateError::NoHome));
        assert_eq!(found(None, Some("."), Some("..")), Err(LocateError::NoHome));
        assert_eq!(found(None, None, None), Err(LocateError::NoHome));
        assert_eq!(found(Some(""), None, Some("/h")), Err(LocateError::Empty));
    }
}
