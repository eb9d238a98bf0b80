//! The first 16 bytes of every frame: what it is, and how long.

use super::wire::Reader;
use super::{HEADER_BYTES, LONGEST_BARE, LONGEST_BODY, Malformed};

/// The first 16 bytes of a frame, checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// What the frame is.
    pub kind: u8,
    /// What applies to it.
    pub flags: u8,
    /// Length of its body in bytes, within what its kind may have.
    pub len: u32,
    /// A number whose meaning depends on the kind.
    pub value: u64,
}

/// Kinds of frames: below 16 the sender's, above the receiver's.
pub(super) const FILE: u8 = 1;
pub(super) const START: u8 = 2;
pub(super) const DATA: u8 = 3;
pub(super) const END: u8 = 4;
pub(super) const ABORT: u8 = 5;
pub(super) const BYE: u8 = 6;
pub(super) const PREPARE: u8 = 7;
pub(super) const OPEN: u8 = 8;
pub(super) const PARTIAL: u8 = 16;
pub(super) const RECEIPT: u8 = 17;
pub(super) const DONE: u8 = 18;
pub(super) const READY: u8 = 19;
pub(super) const OPENED: u8 = 20;

/// Flag of a file that goes on where an earlier attempt broke off.
pub(super) const RESUME: u8 = 1;
/// Flag of data that are followed at once by another frame of data, and in all by at least
/// [`FOLLOWING`](super::FOLLOWING) bytes.
pub(super) const MORE: u8 = 2;

impl Header {
    /// What a header says.
    ///
    /// # Errors
    /// If there is no such kind, or its length is out of bounds.
    pub fn parse(bytes: &[u8; HEADER_BYTES]) -> Result<Self, Malformed> {
        let mut reader = Reader(bytes);
        let mut fields = || {
            let (kind, flags, zero) = (reader.u8()?, reader.u8()?, reader.u16()?);
            Some((kind, flags, zero, reader.u32()?, reader.u64()?))
        };
        let (kind, flags, zero, len, value) = fields().ok_or(Malformed::Number("header"))?;
        let longest = match kind {
            DATA => LONGEST_BARE,
            START | END | BYE | PREPARE | OPEN => 0,
            FILE | ABORT | PARTIAL | RECEIPT | READY => LONGEST_BODY as u32,
            DONE => 8,
            OPENED => 1,
            _ => return Err(Malformed::Kind(kind)),
        };
        if len > longest {
            return Err(Malformed::Length { kind, len });
        }
        let known_flags = match kind {
            FILE => RESUME,
            DATA => MORE,
            _ => 0,
        };
        if zero != 0 || flags & !known_flags != 0 {
            return Err(Malformed::Number("flag"));
        }
        if matches!(kind, ABORT | BYE | OPEN) && value != 0 {
            return Err(Malformed::Number("value"));
        }
        Ok(Self {
            kind,
            flags,
            len,
            value,
        })
    }

    /// The bytes that say it.
    pub fn encode(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[0] = self.kind;
        bytes[1] = self.flags;
        bytes[4..8].copy_from_slice(&self.len.to_le_bytes());
        bytes[8..].copy_from_slice(&self.value.to_le_bytes());
        bytes
    }

    /// The header of `len` bytes of data for `offset`, and whether more follow at once.
    pub fn data(offset: u64, len: u32, more: bool) -> Self {
        Self {
            kind: DATA,
            flags: if more { MORE } else { 0 },
            len,
            value: offset,
        }
    }

    /// Whether bytes of a file follow, which are no part of what [`Frame::parse`](super::Frame::parse) reads.
    pub fn is_data(&self) -> bool {
        self.kind == DATA
    }
}
