//! Names of files as the peer gives them: components that cannot lead elsewhere.

use super::{LONGEST_COMPONENT, LONGEST_NAME};

/// The directory of incomplete files. No received file may have a name that begins with this.
pub(crate) const PARTIAL_NAME: &str = ".oscope-partial";

/// A name that stays within the receiver's directory: one component or several, with `/` between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileName<'b>(&'b [u8]);

/// The reason why bytes cannot be the name of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WrongName {
    /// It is empty.
    #[error("an empty name")]
    Empty,
    /// It is longer than file systems allow.
    #[error(
        "a name of more than {LONGEST_COMPONENT} bytes, or {LONGEST_NAME} with its directories"
    )]
    TooLong,
    /// It is absolute, or has an empty component or another system's separator.
    #[error("a name that leads into another directory")]
    Separator,
    /// A component is `.` or `..`.
    #[error("the name of a directory")]
    Directory,
    /// It contains a zero byte.
    #[error("a name with a zero byte")]
    Zero,
    /// It is reserved for incomplete files.
    #[error("a name that is kept for incomplete files")]
    Kept,
    /// Windows takes it for a device.
    #[error("the name of a device")]
    Device,
}

impl<'b> FileName<'b> {
    /// Checks a name.
    ///
    /// # Errors
    /// If no file may have it.
    pub fn new(bytes: &'b [u8]) -> Result<Self, WrongName> {
        if bytes.is_empty() {
            return Err(WrongName::Empty);
        }
        if bytes.len() > LONGEST_NAME {
            return Err(WrongName::TooLong);
        }
        let name = Self(bytes);
        name.components().try_for_each(check)?;
        Ok(name)
    }

    /// The names of the directories that the file lies in, from the outermost, and its own.
    pub fn components(self) -> impl Iterator<Item = &'b [u8]> {
        self.0.split(|byte| *byte == b'/')
    }

    /// True if a component begins with a dot, so that directory listings hide it.
    pub fn is_hidden(self) -> bool {
        self.components()
            .any(|component| component.starts_with(b"."))
    }

    /// The name as bytes.
    pub fn bytes(self) -> &'b [u8] {
        self.0
    }
}

fn check(component: &[u8]) -> Result<(), WrongName> {
    match component {
        [] => Err(WrongName::Separator),
        b"." | b".." => Err(WrongName::Directory),
        _ if component.len() > LONGEST_COMPONENT => Err(WrongName::TooLong),
        _ if component.contains(&0) => Err(WrongName::Zero),
        _ if component.starts_with(PARTIAL_NAME.as_bytes()) => Err(WrongName::Kept),
        _ if cfg!(windows) => check_windows(component),
        _ => Ok(()),
    }
}

/// Rejects names with a special meaning on Windows only: other separators, drives, streams,
/// devices.
fn check_windows(bytes: &[u8]) -> Result<(), WrongName> {
    if bytes.iter().any(|byte| matches!(byte, b'\\' | b':')) {
        return Err(WrongName::Separator);
    }
    let stem = bytes.split(|byte| *byte == b'.').next().unwrap_or(bytes);
    let stem = stem.trim_ascii_end().to_ascii_uppercase();
    let is_numbered = |port: &[u8]| {
        stem.strip_prefix(port)
            .is_some_and(|number| matches!(number, [b'0'..=b'9']))
    };
    let is_device = matches!(stem.as_slice(), b"CON" | b"PRN" | b"AUX" | b"NUL")
        || is_numbered(b"COM")
        || is_numbered(b"LPT");
    if is_device {
        Err(WrongName::Device)
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{FileName, WrongName, check_windows};
    use proptest::prelude::*;

    #[test]
    fn what_leads_elsewhere_is_no_name() {
        for (bytes, wrong) in [
            (&b""[..], WrongName::Empty),
            (b"..", WrongName::Directory),
            (b".", WrongName::Directory),
            (b"/etc/passwd", WrongName::Separator),
            (b"a/../b", WrongName::Directory),
            (b"../a", WrongName::Directory),
            (b"a/..", WrongName::Directory),
            (b"./a", WrongName::Directory),
            (b"a//b", WrongName::Separator),
            (b"a/", WrongName::Separator),
            (b"/", WrongName::Separator),
            (b"a/.oscope-partial/b", WrongName::Kept),
            (b"a\0b", WrongName::Zero),
            (b".oscope-partial", WrongName::Kept),
            (b".oscope-partial-00", WrongName::Kept),
            (&[b'x'; 256], WrongName::TooLong),
            (&[&[b'x'; 256][..], b"/a"].concat(), WrongName::TooLong),
            (&b"a/".repeat(2048), WrongName::TooLong),
        ] {
            assert_eq!(FileName::new(bytes), Err(wrong));
        }
        for good in [
            &b"a/b"[..],
            b"a/...",
            b"...",
            b"\xff\xfe",
            b"new\nline",
            b"-rf",
            &[b'x'; 255],
        ] {
            assert_eq!(FileName::new(good).map(FileName::bytes), Ok(good));
        }
    }

    #[test]
    fn devices_of_windows_are_known() {
        for device in [&b"NUL"[..], b"con.txt", b"COM1", b"lpt9.log", b"aux "] {
            assert_eq!(check_windows(device), Err(WrongName::Device));
        }
        for good in [&b"console"[..], b"COM", b"nul_"] {
            assert_eq!(check_windows(good), Ok(()));
        }
        assert_eq!(check_windows(b"c:x"), Err(WrongName::Separator));
    }

    proptest! {
        #[test]
        fn a_name_that_passes_stays_in_its_directory(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            if FileName::new(&bytes).is_ok() {
                prop_assert!(!bytes.contains(&0));
                for component in bytes.split(|byte| *byte == b'/') {
                    prop_assert!(!component.is_empty() && component.len() <= 255);
                    prop_assert!(component != b"." && component != b"..");
                }
            }
        }
    }
}
