//! What goes over the wire, as pure functions over bytes: no input, no output, and nothing allocated
//! on the peer's word.

mod frame;
mod handshake;
mod header;
mod name;
mod part;
mod wire;

pub use frame::Frame;
pub use handshake::{Challenge, Hello, Verdict};
pub use header::Header;
pub(crate) use name::PARTIAL_PREFIX;
pub use name::{FileName, WrongName};
pub use part::{Part, Times};

/// The version that this program speaks.
pub const VERSION: u16 = 2;
/// The first bytes of either side.
pub const MAGIC: [u8; 8] = *b"oscope\r\n";
/// Bytes of [`Hello`] and of [`Challenge`].
pub const GREETING_BYTES: usize = 64;
/// Bytes of a frame's header.
pub const HEADER_BYTES: usize = 16;
/// The longest body of a frame that is no data.
pub const LONGEST_BODY: usize = 2048;
/// The longest body of a frame of data.
pub const LONGEST_DATA: u32 = 16 << 20;
/// The longest name of a file.
pub const LONGEST_NAME: usize = 255;
/// The longest reason that is given for a failure.
pub const LONGEST_REASON: usize = 1024;
/// Bytes of a digest on the wire; shorter ones are followed by zeros.
pub const DIGEST_BYTES: usize = 32;
/// Bytes of the seal behind each frame that is no data, where the peers share a token.
pub const SEAL_BYTES: usize = 16;
/// Bytes of a proof that a side knows the token.
pub const PROOF_BYTES: usize = 32;
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
    /// A seal that is wrong: the bytes were changed on their way.
    #[error("a frame whose seal is wrong")]
    Seal,
    /// A frame that makes no sense at this place.
    #[error("a frame of kind {0} where there should be none")]
    Order(u8),
}
