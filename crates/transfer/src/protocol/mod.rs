//! The wire format, as pure functions over bytes: no I/O, and no allocation whose size the peer
//! chooses.

mod frame;
mod greeting;
mod header;
mod name;
mod part;
mod partial;
mod wire;

pub use frame::Frame;
pub use greeting::{Answer, Hello, Verdict};
pub use header::Header;
pub(crate) use name::PARTIAL_NAME;
pub use name::{FileName, WrongName};
pub use part::{Kind, Mode, Part, Times};
pub use partial::Partial;

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
