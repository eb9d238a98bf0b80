//! Names of files as the peer gives them: one component that cannot lead elsewhere.

use super::LONGEST_NAME;

/// The directory of incomplete files. No received file may have a name that begins with this.
pub(crate) const PARTIAL_NAME: &str = ".oscope-partial";

/// A name that stays within its directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileName<'b>(&'b [u8]);

/// The reason why bytes cannot be the name of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WrongName {
    /// It is empty.
    #[error("an empty name")]
    Empty,
    /// It is longer than file systems allow.
    #[error("a name of more than {LONGEST_NAME} bytes")]
    TooLong,
    /// It contains a separator: it is absolute or has a directory in it.
    #[error("a name that leads into another directory")]
    Separator,
    /// It is `.` or `..`.
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
        match bytes {
            [] => Err(WrongName::Empty),
            b"." | b".." => Err(WrongName::Directory),
            _ if bytes.len() > LONGEST_NAME => Err(WrongName::TooLong),
            _ if bytes.contains(&0) => Err(WrongName::Zero),
            _ if bytes.contains(&b'/') => Err(WrongName::Separator),
            _ if bytes.starts_with(PARTIAL_NAME.as_bytes()) => Err(WrongName::Kept),
            _ if cfg!(windows) => check_windows(bytes),
            _ => Ok(()),
        }?;
        Ok(Self(bytes))
    }

    /// True if the name begins with a dot, so that directory listings hide the file.
    pub fn is_hidden(self) -> bool {
        self.0.starts_with(b".")
    }

    /// The name as bytes.
    pub fn bytes(self) -> &'b [u8] {
        self.0
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
            (b"a/../b", WrongName::Separator),
            (b"a\0b", WrongName::Zero),
            (b".oscope-partial", WrongName::Kept),
            (b".oscope-partial-00", WrongName::Kept),
            (&[b'x'; 256], WrongName::TooLong),
        ] {
            assert_eq!(FileName::new(bytes), Err(wrong));
        }
        for good in [&b"..."[..], b"\xff\xfe", b"new\nline", b"-rf", &[b'x'; 255]] {
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
                prop_assert!(!bytes.contains(&b'/') && !bytes.contains(&0));
                prop_assert!(bytes != b"." && bytes != b".." && bytes.len() <= 255);
            }
        }
    }
}
