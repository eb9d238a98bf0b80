//! The announcement of a file, or of a part of one, before its bytes.

use super::header::{Header, RESUME};
use super::wire::Reader;
use super::{FileName, MOST_STREAMS, Malformed};

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
    /// Permission bits to set.
    pub mode: Option<u32>,
    /// Modification time to set.
    pub modified: Option<Times>,
    /// Its name.
    pub name: FileName<'b>,
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
        if mode != NONE_U32 && mode > 0o7777 {
            return Err(Malformed::Number("mode"));
        }
        let is_none = nanoseconds == NONE_U32 && seconds == 0;
        if !is_none && nanoseconds >= 1_000_000_000 {
            return Err(Malformed::Number("time"));
        }
        Ok(Self {
            id: header.value,
            size: (size != NONE_U64).then_some(size),
            parts,
            resume: header.flags & RESUME != 0,
            mode: (mode != NONE_U32).then_some(mode),
            modified: (!is_none).then_some(Times {
                seconds,
                nanoseconds,
            }),
            name: FileName::new(reader.0)?,
        })
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        let modified = self.modified.unwrap_or(Times {
            seconds: 0,
            nanoseconds: NONE_U32,
        });
        out.extend(self.size.unwrap_or(NONE_U64).to_le_bytes());
        out.extend(self.parts.to_le_bytes());
        out.extend(self.mode.unwrap_or(NONE_U32).to_le_bytes());
        out.extend(modified.seconds.to_le_bytes());
        out.extend(modified.nanoseconds.to_le_bytes());
        out.extend(self.name.bytes());
    }
}
