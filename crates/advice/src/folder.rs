//! The user's data directory.

use std::ffi::OsString;
use std::path::PathBuf;

/// The directory in which oscope keeps its files: `oscope` in the user's data directory. That is
/// `$XDG_DATA_HOME` or, if unset, `~/.local/share` ([XDG base directory
/// specification](https://specifications.freedesktop.org/basedir-spec/latest/)),
/// `~/Library/Application Support` on macOS and `%LOCALAPPDATA%` on Windows.
///
/// # Errors
/// The name of the environment variable that is missing.
pub fn data_folder() -> Result<PathBuf, &'static str> {
    Ok(by_environment(|name| std::env::var_os(name))?.join("oscope"))
}

fn by_environment(variable: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf, &'static str> {
    // The specification says to ignore relative paths; they would depend on the working directory.
    let folder = |name| {
        variable(name)
            .map(PathBuf::from)
            .filter(|folder| folder.is_absolute())
    };
    let below = |name, rest| match folder(name) {
        Some(folder) => Ok(folder.join(rest)),
        None => Err(name),
    };
    if cfg!(windows) {
        below("LOCALAPPDATA", "")
    } else if cfg!(target_os = "macos") {
        below("HOME", "Library/Application Support")
    } else {
        folder("XDG_DATA_HOME").map_or_else(|| below("HOME", ".local/share"), Ok)
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::path::Path;

    fn of(variables: &[(&str, &str)]) -> Result<PathBuf, &'static str> {
        by_environment(|name| {
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
            assert_eq!(of(variables), Err("HOME"));
        }
    }
}
