//! The announcement of a file, or of a part of one, before its bytes.

use super::header::{Header, KEEP_MODE, KIND, RESUME};
use super::wire::Reader;
use super::{FileName, LONGEST_NAME, MOST_STREAMS, Malformed};

/// The announcement of a file, or of a part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part<'b> {
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
    pub name: FileName<'b>,
    /// Its kind.
    pub kind: Kind<'b>,
}

/// The kind of an announced file. Only a regular file has contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind<'b> {
    /// A regular file.
    File,
    /// A directory, before all that lies in it. Its mode is the most that it gets, except that its
    /// owner may do everything in it.
    Directory,
    /// A directory that got all that lies in it: the mode and the time to set.
    CompleteDirectory,
    /// A symbolic link with this target.
    Link(&'b [u8]),
}

impl Kind<'_> {
    /// The bits of a header's flags.
    pub(super) fn flags(self) -> u8 {
        match self {
            Self::File => 0,
            Self::Directory => 2,
            Self::CompleteDirectory => 4,
            Self::Link(_) => 6,
        }
    }
}

/// Permission bits of a file at the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mode {
    /// The bits, up to `0o7777`.
    pub bits: u32,
    /// True if the receiver should set exactly these; otherwise it sets those of them that it would
    /// give to a new file.
    pub is_kept: bool,
}

/// A point in time: seconds since 1970, and nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// Whole seconds.
    pub seconds: i64,
    /// Less than 1 000 000 000.
    pub nanoseconds: u32,
}

/// Stands for a missing number.
const NONE_U64: u64 = u64::MAX;
const NONE_U32: u32 = u32::MAX;

impl<'b> Part<'b> {
    pub(super) fn parse(header: &Header, body: &'b [u8]) -> Result<Self, Malformed> {
        let mut reader = Reader(body);
        let mut fields = || {
            let (size, parts, mode) = (reader.u64()?, reader.u16()?, reader.u32()?);
            let (seconds, nanoseconds) = (reader.i64()?, reader.u32()?);
            Some((size, parts, mode, seconds, nanoseconds))
        };
        let length = Malformed::Length {
            kind: header.kind,
            len: header.len,
        };
        let (size, parts, mode, seconds, nanoseconds) = fields().ok_or(length)?;
        if parts == 0 || parts > MOST_STREAMS {
            return Err(Malformed::Number("number of parts"));
        }
        let is_kept = header.flags & KEEP_MODE != 0;
        if mode > 0o7777 && (mode != NONE_U32 || is_kept) {
            return Err(Malformed::Number("mode"));
        }
        let is_none = nanoseconds == NONE_U32 && seconds == 0;
        if !is_none && nanoseconds >= 1_000_000_000 {
            return Err(Malformed::Number("time"));
        }
        let (name, kind) = match header.flags & KIND {
            0 => (reader.0, Kind::File),
            2 => (reader.0, Kind::Directory),
            4 => (reader.0, Kind::CompleteDirectory),
            _ => {
                let wrong = Malformed::Number("target of a link");
                // No name has a zero byte.
                let end = reader.0.iter().position(|byte| *byte == 0);
                let (name, target) = reader.0.split_at(end.ok_or(wrong.clone())?);
                let target = &target[1..];
                if target.is_empty() || target.len() > LONGEST_NAME || target.contains(&0) {
                    return Err(wrong);
                }
                (name, Kind::Link(target))
            }
        };
        if kind != Kind::File && (size != 0 || parts != 1) {
            return Err(Malformed::Number("size of what has no contents"));
        }
        Ok(Self {
            id: header.value,
            size: (size != NONE_U64).then_some(size),
            parts,
            resume: header.flags & RESUME != 0,
            mode: (mode != NONE_U32).then_some(Mode {
                bits: mode,
                is_kept,
            }),
            modified: (!is_none).then_some(Times {
                seconds,
                nanoseconds,
            }),
            name: FileName::new(name)?,
            kind,
        })
    }

    /// The flags of its header.
    pub(super) fn flags(&self) -> u8 {
        let resume = if self.resume { RESUME } else { 0 };
        let keeps_mode = self.mode.is_some_and(|mode| mode.is_kept);
        self.kind.flags() | resume | if keeps_mode { KEEP_MODE } else { 0 }
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        let modified = self.modified.unwrap_or(Times {
            seconds: 0,
            nanoseconds: NONE_U32,
        });
        out.extend(self.size.unwrap_or(NONE_U64).to_le_bytes());
        out.extend(self.parts.to_le_bytes());
        out.extend(self.mode.map_or(NONE_U32, |mode| mode.bits).to_le_bytes());
        out.extend(modified.seconds.to_le_bytes());
        out.extend(modified.nanoseconds.to_le_bytes());
        out.extend(self.name.bytes());
        if let Kind::Link(target) = self.kind {
            out.push(0);
            out.extend(target);
        }
    }
}
