//! The wire format, as pure functions over bytes: no I/O, and no allocation of more than 1 MiB whose
//! size the peer chooses.

mod frame;
mod greeting;
mod part;

pub use frame::Frame;
pub use greeting::{Hello, Verdict};
pub(crate) use part::PARTIAL_NAME;
pub use part::{FileName, Kind, Mode, Part, Partial, Times};

/// The protocol version of this program.
pub const VERSION: u16 = 5;
/// The first bytes of each side.
pub const MAGIC: [u8; 8] = *b"oscope\r\n";
/// Size of [`Hello`] and of the answer to it in bytes.
pub const GREETING_BYTES: usize = 64;
/// Size of a frame's header in bytes.
pub const HEADER_BYTES: usize = 16;
/// Size in bytes of the check behind each header and each body: a tag that takes the key to make,
/// or a checksum.
pub const CHECK_BYTES: usize = 16;
/// Size of a header with its check in bytes.
pub const HEAD_BYTES: usize = HEADER_BYTES + CHECK_BYTES;
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
/// The longest body of a frame other than data, in bytes: a link with the longest name and target.
pub const LONGEST_BODY: usize = 2 * LONGEST_NAME + 64;
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
    /// A frame that cannot be read.
    #[error("a frame that cannot be read")]
    Frame,
    /// A frame longer than any, or without a body.
    #[error("a frame of {0} bytes")]
    Length(u32),
    /// A number out of bounds.
    #[error("a {0} that is out of bounds")]
    Number(&'static str),
    /// A name that no file may have.
    #[error("{0}")]
    Name(&'static str),
    /// A wrong check: bytes were changed, left out, repeated or moved in transit.
    #[error("a frame that was changed on its way")]
    Check,
    /// A frame that is not allowed at this point.
    #[error("a frame where there should be none")]
    Order,
}

/// The reason for a failure, as far as a frame has room for it.
pub(crate) fn reason(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(LONGEST_REASON));
    text
}

/// The first 16 bytes of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// True if bytes of a file follow, which [`Frame::parse`] does not read.
    pub is_data: bool,
    /// True if another frame of data immediately follows. In total, at least [`FOLLOWING`] bytes follow.
    pub more: bool,
    /// Length of the body in bytes.
    pub len: u32,
    /// Offset of data in their file.
    pub offset: u64,
}

impl Header {
    /// Parses a header.
    pub fn parse(bytes: &[u8; HEADER_BYTES]) -> Result<Self, Malformed> {
        let [kind, more, zeros @ .., a, b, c, d] = *bytes.first_chunk::<8>().expect("it is longer");
        let offset = bytes.last_chunk().expect("it is longer");
        let header = Self {
            is_data: kind == 1,
            more: more == 1,
            len: u32::from_le_bytes([a, b, c, d]),
            offset: u64::from_le_bytes(*offset),
        };
        if kind > 1 || more > kind || zeros != [0, 0] || (kind == 0 && header.offset != 0) {
            return Err(Malformed::Number("header"));
        }
        let lens = if header.is_data {
            0..=LONGEST_BARE
        } else {
            1..=LONGEST_BODY as u32
        };
        if !lens.contains(&header.len) {
            return Err(Malformed::Length(header.len));
        }
        Ok(header)
    }

    /// The header's bytes.
    pub fn encode(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[0] = u8::from(self.is_data);
        bytes[1] = u8::from(self.more);
        bytes[4..8].copy_from_slice(&self.len.to_le_bytes());
        bytes[8..].copy_from_slice(&self.offset.to_le_bytes());
        bytes
    }

    /// The header of `len` bytes of data at `offset`. `more` is true if further data immediately
    /// follows.
    pub fn data(offset: u64, len: u32, more: bool) -> Self {
        Self {
            is_data: true,
            more,
            len,
            offset,
        }
    }
}
