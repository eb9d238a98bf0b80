//! The first 16 bytes of every frame: its kind and its length.

use super::wire::Reader;
use super::{HEADER_BYTES, LONGEST_ANNOUNCEMENT, LONGEST_BARE, LONGEST_BODY, Malformed};

/// The first 16 bytes of a frame, checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Kind of the frame.
    pub kind: u8,
    /// Flags of the frame.
    pub flags: u8,
    /// Length of the body in bytes, within the limits of the kind.
    pub len: u32,
    /// A number whose meaning depends on the kind.
    pub value: u64,
}

/// Kinds of frames. The sender's are below 16, the receiver's from 16, those of both from 32.
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
pub(super) const WORKING: u8 = 32;

/// Flag of a file that resumes an earlier attempt.
pub(super) const RESUME: u8 = 1;
/// Bits of the kind of an announced file.
pub(super) const KIND: u8 = 6;
/// Flag of a file whose permission bits are set exactly as they are at the sender.
pub(super) const KEEP_MODE: u8 = 8;
/// Flag of a description of a file that is complete under its name.
pub(super) const COMPLETE: u8 = 1;
/// Flag of a receipt of a file for which the receiver has no room.
pub(super) const NO_ROOM: u8 = 1;
/// Flag of a frame of data that another one immediately follows. In total, at least
/// [`FOLLOWING`](super::FOLLOWING) bytes follow.
pub(super) const MORE: u8 = 2;

impl Header {
    /// Parses a header.
    ///
    /// # Errors
    /// If the kind is unknown or the length is out of bounds.
    pub fn parse(bytes: &[u8; HEADER_BYTES]) -> Result<Self, Malformed> {
        let mut reader = Reader(bytes);
        let mut fields = || {
            let (kind, flags, zero) = (reader.u8()?, reader.u8()?, reader.u16()?);
            Some((kind, flags, zero, reader.u32()?, reader.u64()?))
        };
        let (kind, flags, zero, len, value) = fields().ok_or(Malformed::Number("header"))?;
        let longest = match kind {
            DATA => LONGEST_BARE,
            START | END | BYE | PREPARE | OPEN | WORKING => 0,
            FILE => LONGEST_ANNOUNCEMENT as u32,
            ABORT | PARTIAL | RECEIPT | READY => LONGEST_BODY as u32,
            DONE => 8,
            OPENED => 1,
            _ => return Err(Malformed::Kind(kind)),
        };
        if len > longest {
            return Err(Malformed::Length { kind, len });
        }
        let known_flags = match kind {
            FILE => RESUME | KIND | KEEP_MODE,
            DATA => MORE,
            PARTIAL => COMPLETE,
            RECEIPT => NO_ROOM,
            _ => 0,
        };
        if zero != 0 || flags & !known_flags != 0 {
            return Err(Malformed::Number("flag"));
        }
        if matches!(kind, ABORT | BYE | OPEN | WORKING) && value != 0 {
            return Err(Malformed::Number("value"));
        }
        Ok(Self {
            kind,
            flags,
            len,
            value,
        })
    }

    /// The header's bytes.
    pub fn encode(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[0] = self.kind;
        bytes[1] = self.flags;
        bytes[4..8].copy_from_slice(&self.len.to_le_bytes());
        bytes[8..].copy_from_slice(&self.value.to_le_bytes());
        bytes
    }

    /// The header of `len` bytes of data at `offset`. `more` is true if further data immediately
    /// follows.
    pub fn data(offset: u64, len: u32, more: bool) -> Self {
        Self {
            kind: DATA,
            flags: if more { MORE } else { 0 },
            len,
            value: offset,
        }
    }

    /// True if the peer only says that it is at work.
    pub fn is_working(&self) -> bool {
        self.kind == WORKING
    }

    /// True if bytes of a file follow, which [`Frame::parse`](super::Frame::parse) does not read.
    pub fn is_data(&self) -> bool {
        self.kind == DATA
    }
}
