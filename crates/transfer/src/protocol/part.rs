//! The announcement of a file, or of a part of one, before its bytes.

use super::{DIGEST_BYTES, LONGEST_COMPONENT, LONGEST_NAME, MOST_STREAMS, Malformed};
use serde::{Deserialize, Serialize};

/// The announcement of a file, or of a part of one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Number of the file in its transfer.
    pub id: u64,
    /// Size of the whole file; `None` if the sender does not know it yet.
    pub size: Option<u64>,
    /// Number of the file's parts, each of which arrives over its own connection.
    pub parts: u16,
    /// True if the receiver should keep what it already has, where that agrees with the file.
    pub resume: bool,
    /// Its permission bits; `None` if the sender's system has none.
    pub mode: Option<Mode>,
    /// Modification time to set.
    pub modified: Option<Times>,
    /// Its name.
    pub name: FileName,
    /// Its kind.
    pub kind: Kind,
}

/// The kind of an announced file. Only a regular file has contents.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory, before all that lies in it. Its mode is the most that it gets, except that its
    /// owner may do everything in it.
    Directory,
    /// A directory that got all that lies in it: the mode and the time to set.
    CompleteDirectory,
    /// A symbolic link with this target.
    Link(Vec<u8>),
}

/// Permission bits of a file at the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mode {
    /// The bits, up to `0o7777`.
    pub bits: u32,
    /// True if the receiver should set exactly these; otherwise it sets those of them that it would
    /// give to a new file.
    pub is_kept: bool,
}

/// A point in time: seconds since 1970, and nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Times {
    /// Whole seconds.
    pub seconds: i64,
    /// Less than 1 000 000 000.
    pub nanoseconds: u32,
}

impl Part {
    /// A whole regular file, without attributes to keep.
    pub fn file(id: u64, name: FileName, size: Option<u64>) -> Self {
        Self {
            id,
            size,
            parts: 1,
            resume: false,
            mode: None,
            modified: None,
            name,
            kind: Kind::File,
        }
    }

    /// Checks what a peer announced.
    pub(super) fn check(&self) -> Result<(), Malformed> {
        let has_good_target = match &self.kind {
            Kind::Link(target) => {
                (1..=LONGEST_NAME).contains(&target.len()) && !target.contains(&0)
            }
            _ => true,
        };
        let is_empty = self.size == Some(0) && self.parts == 1;
        let checks = [
            ("number of parts", (1..=MOST_STREAMS).contains(&self.parts)),
            ("mode", self.mode.is_none_or(|mode| mode.bits <= 0o7777)),
            (
                "time",
                self.modified
                    .is_none_or(|time| time.nanoseconds < 1_000_000_000),
            ),
            ("target of a link", has_good_target),
            (
                "size of what has no contents",
                self.kind == Kind::File || is_empty,
            ),
        ];
        if let Some((what, _)) = checks.iter().find(|(_, is_good)| !is_good) {
            return Err(Malformed::Number(what));
        }
        self.name.check()
    }
}

/// The directory of incomplete files. No received file may have a name that begins with this.
pub(crate) const PARTIAL_NAME: &str = ".oscope-partial";

/// A name that stays within the receiver's directory: one component or several, with `/` between them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileName(Vec<u8>);

const TOO_LONG: &str = "a name of more than 255 bytes, or 4095 with its directories";
const ELSEWHERE: &str = "a name that leads into another directory";
const A_DIRECTORY: &str = "the name of a directory";
const A_ZERO: &str = "a name with a zero byte";
const RESERVED: &str = "a name that is kept for incomplete files";
const A_DEVICE: &str = "the name of a device";

impl FileName {
    /// Checks a name.
    pub fn new(bytes: &[u8]) -> Result<Self, Malformed> {
        let name = Self(bytes.to_vec());
        name.check()?;
        Ok(name)
    }

    fn check(&self) -> Result<(), Malformed> {
        match self.0.len() {
            0 => Err(Malformed::Name("an empty name")),
            1..=LONGEST_NAME => self.components().try_for_each(check),
            _ => Err(Malformed::Name(TOO_LONG)),
        }
    }

    /// The names of the directories that the file lies in, from the outermost, and its own.
    pub fn components(&self) -> impl Iterator<Item = &[u8]> {
        self.0.split(|byte| *byte == b'/')
    }

    /// True if a component begins with a dot, so that directory listings hide it.
    pub fn is_hidden(&self) -> bool {
        self.components()
            .any(|component| component.starts_with(b"."))
    }

    /// The name as bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

fn check(component: &[u8]) -> Result<(), Malformed> {
    let wrong = match component {
        [] => ELSEWHERE,
        b"." | b".." => A_DIRECTORY,
        _ if component.len() > LONGEST_COMPONENT => TOO_LONG,
        _ if component.contains(&0) => A_ZERO,
        _ if component.starts_with(PARTIAL_NAME.as_bytes()) => RESERVED,
        _ if cfg!(windows) => return check_windows(component),
        _ => return Ok(()),
    };
    Err(Malformed::Name(wrong))
}

/// Rejects names with a special meaning on Windows only: other separators, drives, streams,
/// devices.
fn check_windows(bytes: &[u8]) -> Result<(), Malformed> {
    if bytes.iter().any(|byte| matches!(byte, b'\\' | b':')) {
        return Err(Malformed::Name(ELSEWHERE));
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
        Err(Malformed::Name(A_DEVICE))
    } else {
        Ok(())
    }
}

/// Digests of the first bytes of a file. Each range but the last is `step` bytes long.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Partial {
    /// True if these bytes are a complete file under its name: the sender's file is the same, or
    /// nothing of this one is used.
    pub is_complete: bool,
    /// Number of bytes from the start.
    pub len: u64,
    /// Length of a range in bytes; 0 if there is none.
    pub step: u64,
    /// Digest of each range.
    pub digests: Vec<[u8; DIGEST_BYTES]>,
}

impl Partial {
    /// Maximum number of ranges in one frame.
    pub const MOST_RANGES: u64 = 63;

    /// Checks what a peer described.
    pub(super) fn check(&self) -> Result<(), Malformed> {
        let ranges = match self.step {
            0 => (self.len == 0).then_some(0),
            step => Some(self.len.div_ceil(step)),
        };
        if ranges == Some(self.digests.len() as u64) {
            return Ok(());
        }
        Err(Malformed::Number("ranges of a file"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_name_that_leads_elsewhere_is_refused() {
        for (bytes, wrong) in [
            (&b""[..], "an empty name"),
            (b"..", A_DIRECTORY),
            (b".", A_DIRECTORY),
            (b"/etc/passwd", ELSEWHERE),
            (b"a/../b", A_DIRECTORY),
            (b"../a", A_DIRECTORY),
            (b"a/..", A_DIRECTORY),
            (b"./a", A_DIRECTORY),
            (b"a//b", ELSEWHERE),
            (b"a/", ELSEWHERE),
            (b"/", ELSEWHERE),
            (b"a/.oscope-partial/b", RESERVED),
            (b"a\0b", A_ZERO),
            (b".oscope-partial", RESERVED),
            (b".oscope-partial-00", RESERVED),
            (&[b'x'; 256], TOO_LONG),
            (&[&[b'x'; 256][..], b"/a"].concat(), TOO_LONG),
            (&b"a/".repeat(2048), TOO_LONG),
        ] {
            assert_eq!(FileName::new(bytes), Err(Malformed::Name(wrong)));
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
            assert_eq!(FileName::new(good).unwrap().bytes(), good);
        }
    }

    #[test]
    fn devices_of_windows_are_known() {
        for device in [&b"NUL"[..], b"con.txt", b"COM1", b"lpt9.log", b"aux "] {
            assert_eq!(check_windows(device), Err(Malformed::Name(A_DEVICE)));
        }
        for good in [&b"console"[..], b"COM", b"nul_"] {
            assert_eq!(check_windows(good), Ok(()));
        }
        assert_eq!(check_windows(b"c:x"), Err(Malformed::Name(ELSEWHERE)));
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
