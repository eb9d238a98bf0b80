//! The wire format, as pure functions over bytes: no I/O, and no allocation whose size the peer
//! chooses.

mod frame;
mod greeting;
mod part;

pub use frame::Frame;
pub use greeting::{Answer, Hello, Verdict};
pub(crate) use part::PARTIAL_NAME;
pub use part::{FileName, Kind, Mode, Part, Partial, Times, WrongName};

/// The protocol version of this program.
pub const VERSION: u16 = 4;
/// The first bytes of each side.
pub const MAGIC: [u8; 8] = *b"oscope\r\n";
/// Size of [`Hello`] and of [`Answer`] in bytes.
pub const GREETING_BYTES: usize = 64;
/// Size of a frame's header in bytes.
pub const HEADER_BYTES: usize = 16;
/// Size in bytes of the check behind each header and each body: a tag that takes the key to make,
/// or a checksum.
pub const CHECK_BYTES: usize = 16;
/// Size of a header with its check in bytes.
pub const HEAD_BYTES: usize = HEADER_BYTES + CHECK_BYTES;
/// The longest body of a frame other than data and announcements, in bytes.
pub const LONGEST_BODY: usize = 2048;
/// The longest body of a frame of data that is checked, in bytes. Calls of this size write new
/// files fast everywhere; on ext4, calls of 1 MiB and more are several times slower.
pub const LONGEST_DATA: u32 = 512 << 10;
/// The longest body of a frame of data that is not checked, in bytes.
pub const LONGEST_BARE: u32 = 8 << 20;
/// Minimum number of bytes behind a frame that announces more data.
pub const FOLLOWING: usize = 256 << 10;
/// The longest component of a name, in bytes.
pub const LONGEST_COMPONENT: usize = 255;
/// The longest name of a file with the directories that it lies in, and the longest target of a link,
/// in bytes.
pub const LONGEST_NAME: usize = 4095;
/// The longest body of an announcement of a file, in bytes.
pub const LONGEST_ANNOUNCEMENT: usize = 26 + 2 * LONGEST_NAME + 1;
/// The longest reason for a failure, in bytes.
pub const LONGEST_REASON: usize = 1024;
/// Size of the digest of a range of a file, in bytes.
pub const DIGEST_BYTES: usize = 32;
/// Maximum number of connections of one transfer.
pub const MOST_STREAMS: u16 = 64;

/// Bytes that violate the protocol.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// The first bytes are not the protocol's magic.
    #[error("data of another protocol")]
    Magic,
    /// An unknown kind of frame.
    #[error("a frame of unknown kind {0}")]
    Kind(u8),
    /// A frame longer or shorter than its kind allows.
    #[error("a frame of kind {kind} with {len} bytes")]
    Length {
        /// The kind.
        kind: u8,
        /// Its length.
        len: u32,
    },
    /// A number out of bounds.
    #[error("a {0} that is out of bounds")]
    Number(&'static str),
    /// A name that no file may have.
    #[error(transparent)]
    Name(#[from] WrongName),
    /// A wrong check: bytes were changed, left out, repeated or moved in transit.
    #[error("a frame that was changed on its way")]
    Check,
    /// A frame that is not allowed at this point.
    #[error("a frame of kind {0} where there should be none")]
    Order(u8),
}

/// Reads from the front of a slice; returns `None` at its end.
struct Reader<'b>(pub &'b [u8]);

impl<'b> Reader<'b> {
    fn bytes(&mut self, len: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.bytes(N)?.try_into().ok()
    }

    fn u8(&mut self) -> Option<u8> {
        self.array().map(u8::from_le_bytes)
    }

    fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn i64(&mut self) -> Option<i64> {
        self.array().map(i64::from_le_bytes)
    }
}

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
const FILE: u8 = 1;
const START: u8 = 2;
const DATA: u8 = 3;
const END: u8 = 4;
const ABORT: u8 = 5;
const BYE: u8 = 6;
const PREPARE: u8 = 7;
const OPEN: u8 = 8;
const PARTIAL: u8 = 16;
const RECEIPT: u8 = 17;
const DONE: u8 = 18;
const READY: u8 = 19;
const OPENED: u8 = 20;
const WORKING: u8 = 32;

/// Flag of a file that resumes an earlier attempt.
const RESUME: u8 = 1;
/// Bits of the kind of an announced file.
const KIND: u8 = 6;
/// Flag of a file whose permission bits are set exactly as they are at the sender.
const KEEP_MODE: u8 = 8;
/// Flag of a description of a file that is complete under its name.
const COMPLETE: u8 = 1;
/// Flag of a receipt of a file for which the receiver has no room.
const NO_ROOM: u8 = 1;
/// Flag of a frame of data that another one immediately follows. In total, at least
/// [`FOLLOWING`](FOLLOWING) bytes follow.
const MORE: u8 = 2;

impl Header {
    /// Parses a header.
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

    /// True if the peer only reports that it is at work.
    pub fn is_working(&self) -> bool {
        self.kind == WORKING
    }

    /// True if bytes of a file follow, which [`Frame::parse`](Frame::parse) does not read.
    pub fn is_data(&self) -> bool {
        self.kind == DATA
    }
}
