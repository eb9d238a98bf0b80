//! Protection of frames in transit: a seal that nobody can make without the key, or a checksum that
//! detects accidents.
//!
//! Each frame is a header and its check, and, if it has a body, the body and its check:
//!
//! ```text
//!  ┌────────┬───────┬────────────────────────────┬───────┐
//!  │ header │ check │ body                       │ check │
//!  │ 16     │ 16    │ as long as the header says │ 16    │
//!  └────────┴───────┴────────────────────────────┴───────┘
//! ```
//!
//! Frames of one direction are numbered from 0, and the number goes into both checks. So a frame counts
//! only at its own position: none can be changed, left out, repeated or moved.

mod check;
mod cipher;
mod guard;
mod handshake;
#[cfg(test)]
mod vectors;

pub(crate) use check::Check;
pub(crate) use cipher::Keys;
pub(crate) use guard::Guard;
pub(crate) use handshake::{Initiator, OPENING_BYTES, Responder};

/// Protection of file contents in transit, from the weakest to the strongest. Everything else is
/// sealed if the peers share a token, and checksummed if they do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cover {
    /// TCP's own checksum only.
    Bare,
    /// A 128-bit XXH3 checksum of each frame: it detects accidents at memory speed, but no
    /// forgeries.
    Summed,
    /// Encrypted and authenticated.
    Sealed,
}

impl Cover {
    const ALL: [Self; 3] = [Self::Bare, Self::Summed, Self::Sealed];

    pub(crate) fn code(self) -> u8 {
        self as u8
    }

    pub(crate) fn from_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
    }

    /// The name, for command lines and records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bare => "bare",
            Self::Summed => "summed",
            Self::Sealed => "sealed",
        }
    }
}

/// The cipher that seals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Suite {
    /// AES-256-GCM: fastest if the processor has AES instructions.
    Aes,
    /// ChaCha20-Poly1305: fastest in plain code.
    ChaCha,
}

impl Suite {
    const ALL: [Self; 2] = [Self::Aes, Self::ChaCha];

    /// The number on the wire, where 0 means no suite.
    pub(crate) fn code(self) -> u8 {
        self as u8 + 1
    }

    pub(crate) fn from_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code.checked_sub(1)?)).copied()
    }

    /// The faster suite on this processor.
    pub fn usual() -> Self {
        #[cfg(target_arch = "x86_64")]
        let has_aes =
            std::is_x86_feature_detected!("aes") && std::is_x86_feature_detected!("pclmulqdq");
        #[cfg(target_arch = "aarch64")]
        let has_aes = std::arch::is_aarch64_feature_detected!("aes");
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        let has_aes = false;
        if has_aes { Self::Aes } else { Self::ChaCha }
    }
}
