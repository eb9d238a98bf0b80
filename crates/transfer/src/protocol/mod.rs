//! What goes over the wire, as pure functions over bytes: no input, no output, and nothing allocated
//! on the peer's word.

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
pub use part::{Part, Times};
pub use partial::Partial;

/// The version that this program speaks.
pub const VERSION: u16 = 3;
/// The first bytes of either side.
pub const MAGIC: [u8; 8] = *b"oscope\r\n";
/// Bytes of [`Hello`] and of [`Answer`].
pub const GREETING_BYTES: usize = 64;
/// Bytes of a frame's header.
pub const HEADER_BYTES: usize = 16;
/// Bytes of the check behind each header and behind each body: a tag that only who has the key can
/// make, or a sum.
pub const CHECK_BYTES: usize = 16;
/// A header with its check.
pub const HEAD_BYTES: usize = HEADER_BYTES + CHECK_BYTES;
/// The longest body of a frame that is no data.
pub const LONGEST_BODY: usize = 2048;
/// The longest body of a frame of data that is checked. In calls of this size new files are written
/// fast everywhere; of 1 MiB and more they are several times slower on ext4.
pub const LONGEST_DATA: u32 = 512 << 10;
/// The longest body of a frame of data that is not checked.
pub const LONGEST_BARE: u32 = 8 << 20;
/// So many bytes follow a frame that says that more does.
pub const FOLLOWING: usize = 256 << 10;
/// The longest name of a file.
pub const LONGEST_NAME: usize = 255;
/// The longest reason that is given for a failure.
pub const LONGEST_REASON: usize = 1024;
/// Bytes of a digest of a range of a file.
pub const DIGEST_BYTES: usize = 32;
/// The most connections that may carry one transfer.
pub const MOST_STREAMS: u16 = 64;

/// Bytes that follow no rule of the protocol.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// It does not begin as the protocol begins.
    #[error("something else than this protocol")]
    Magic,
    /// A kind of frame that there is not.
    #[error("a frame of unknown kind {0}")]
    Kind(u8),
    /// A frame that is longer or shorter than its kind.
    #[error("a frame of kind {kind} with {len} bytes")]
    Length {
        /// The kind.
        kind: u8,
        /// Its length.
        len: u32,
    },
    /// A number that is out of bounds.
    #[error("a {0} that is out of bounds")]
    Number(&'static str),
    /// A name that cannot be a file's.
    #[error(transparent)]
    Name(#[from] WrongName),
    /// A check that is wrong: bytes were changed, left out, repeated or moved on their way.
    #[error("a frame that was changed on its way")]
    Check,
    /// A frame that makes no sense at this place.
    #[error("a frame of kind {0} where there should be none")]
    Order(u8),
}
