//! The default location of the store.

use super::error::Error;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The default location of the store: `oscope/oscope.db` in the user's data directory. That is
/// `$XDG_DATA_HOME` or, if unset, `~/.local/share` ([XDG base directory
/// specification](https://specifications.freedesktop.org/basedir-spec/latest/)),
/// `~/Library/Application Support` on macOS and `%LOCALAPPDATA%` on Windows.
///
/// # Errors
/// [`Error::NoPlace`] if the environment does not define it.
pub fn default_path() -> Result<PathBuf, Error> {
    Ok(data_folder(|name| std::env::var_os(name))?
        .join("oscope")
        .join("oscope.db"))
}

fn data_folder(variable: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf, Error> {
    // The specification says to ignore relative paths; they would depend on the working directory.
    let folder = |name| {
        variable(name)
            .map(PathBuf::from)
            .filter(|folder| folder.is_absolute())
    };
    let below = |name, rest| match folder(name) {
        Some(folder) => Ok(folder.join(rest)),
        None => Err(Error::NoPlace { missing: name }),
    };
    if cfg!(windows) {
        below("LOCALAPPDATA", "")
    } else if cfg!(target_os = "macos") {
        below("HOME", "Library/Application Support")
    } else {
        folder("XDG_DATA_HOME").map_or_else(|| below("HOME", ".local/share"), Ok)
    }
}

/// Creates the default store's directory, accessible to this user only, as the specification
/// requires.
pub(super) fn make_folder(folder: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    fn of(variables: &[(&str, &str)]) -> Result<PathBuf, Error> {
        data_folder(|name| {
            variables
                .iter()
                .find(|(key, _)| *key == name)
                .map(|(_, value)| value.into())
        })
    }

    #[test]
    fn the_data_folder_follows_the_specification() {
        let home = ("HOME", "/home/ada");
        let share = PathBuf::from("/home/ada/.local/share");
        assert_eq!(of(&[home]).unwrap(), share);
        assert_eq!(
            of(&[home, ("XDG_DATA_HOME", "/data")]).unwrap(),
            Path::new("/data")
        );
        assert_eq!(of(&[home, ("XDG_DATA_HOME", "data")]).unwrap(), share);
        assert_eq!(of(&[home, ("XDG_DATA_HOME", "")]).unwrap(), share);
    }

    #[test]
    fn without_a_home_the_error_names_it() {
        for variables in [&[][..], &[("HOME", "")], &[("HOME", "here")]] {
            let error = of(variables).unwrap_err();
            assert!(
                matches!(error, Error::NoPlace { missing: "HOME" }),
                "{error}"
            );
        }
    }
}
