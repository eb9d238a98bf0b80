//! Protection of frames in transit: a seal that nobody can make without the key, or a checksum that
//! detects accidents.
//!
//! Each frame is a header and its check, and, if it has a body, the body and its check:
//!
//! ```text
//!  ┌────────┬───────┬────────────────────────────┬───────┐
//!  │ header │ check │ body                       │ check │
//!  │ 16     │ 16    │ length in the header       │ 16    │
//!  └────────┴───────┴────────────────────────────┴───────┘
//! ```
//!
//! Frames of one direction are numbered from 0, and the number goes into both checks. So a frame counts
//! only at its own position: none can be changed, left out, repeated or moved.

mod guard;
mod handshake;
#[cfg(test)]
mod vectors;

pub(crate) use guard::Guard;
pub(crate) use handshake::{Initiator, OPENING_BYTES, Responder};

use crate::protocol::{CHECK_BYTES, HEADER_BYTES};
use aws_lc_rs::aead::{
    AES_256_GCM, Aad, Algorithm, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey,
};
use aws_lc_rs::hkdf::{HKDF_SHA256, Prk, Salt};
use choice::Choice;
use twox_hash::XxHash3_128;

/// Protection of file contents in transit, from the weakest to the strongest. Everything else is
/// sealed if the peers share a token, and checksummed if they do not. A protection's position is its number on the wire.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cover {
    /// TCP's own checksum only.
    Bare,
    /// A 128-bit XXH3 checksum of each frame: it detects accidents at memory speed, but no
    /// forgeries.
    Summed,
    /// Encrypted and authenticated.
    Sealed,
}

/// The cipher that seals. A suite's position is its number on the wire, from 1; 0 means no suite.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Suite {
    /// AES-256-GCM: fastest if the processor has AES instructions.
    Aes,
    /// ChaCha20-Poly1305: fastest in plain code.
    ChaCha,
}

impl Suite {
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

/// The check of a header or a body: a tag or a checksum.
pub(crate) type Check = [u8; CHECK_BYTES];

/// The first bytes of a check, as many as a checksum's seed takes.
fn seed(check: &Check) -> u64 {
    let start = check.first_chunk();
    u64::from_le_bytes(*start.expect("a check is longer"))
}

/// The checksum of `bytes`.
fn sum(seed: u64, bytes: &[u8]) -> Check {
    XxHash3_128::oneshot_with_seed(seed, bytes).to_le_bytes()
}

/// Number of frames sealed with one key: less than 64 GiB, far below the limit of AES-GCM.
const FRAMES_OF_A_KEY: u64 = 1 << 16;
/// Separates this protocol's keys from those of any other.
const LABEL: &[u8] = b"oscope transfer 3";

/// The secret from which one direction of one connection derives its keys.
#[derive(Clone)]
pub(crate) struct Keys {
    pub(crate) suite: Suite,
    secret: Prk,
    /// The connection and the direction, which the keys are bound to.
    context: Vec<u8>,
}

impl Keys {
    fn new(suite: Suite, secret: &[u8], context: Vec<u8>) -> Self {
        Self {
            suite,
            secret: Salt::new(HKDF_SHA256, LABEL).extract(secret),
            context,
        }
    }

    fn algorithm(&self) -> &'static Algorithm {
        match self.suite {
            Suite::Aes => &AES_256_GCM,
            Suite::ChaCha => &CHACHA20_POLY1305,
        }
    }

    /// Derives the key with this number.
    fn key(&self, number: u64) -> LessSafeKey {
        let number = number.to_le_bytes();
        let info = [&self.context[..], &number];
        let key = self.secret.expand(&info, self.algorithm());
        let key = key.expect("a key is far shorter than HKDF can make");
        LessSafeKey::new(UnboundKey::from(key))
    }
}

/// Seals or opens the frames of one direction.
struct Cipher {
    keys: Keys,
    /// The current key.
    key: LessSafeKey,
    key_number: u64,
}

/// The two sealed parts of a frame.
#[derive(Clone, Copy)]
enum Half {
    Header,
    Body,
}

impl Cipher {
    fn new(keys: Keys) -> Self {
        Self {
            key: keys.key(0),
            keys,
            key_number: 0,
        }
    }

    /// The key of frame `number` and the nonce of one of its halves. No other half of any frame has
    /// the same pair.
    fn key(&mut self, number: u64, half: Half) -> (&LessSafeKey, Nonce) {
        let key_number = number / FRAMES_OF_A_KEY;
        if key_number != self.key_number {
            self.key = self.keys.key(key_number);
            self.key_number = key_number;
        }
        let mut nonce = [0; NONCE_LEN];
        nonce[0] = half as u8;
        nonce[4..].copy_from_slice(&number.to_le_bytes());
        (&self.key, Nonce::assume_unique_for_key(nonce))
    }

    /// Encrypts `bytes` and returns the tag over them and the header.
    fn seal(
        &mut self,
        number: u64,
        half: Half,
        header: &[u8; HEADER_BYTES],
        bytes: &mut [u8],
    ) -> Check {
        let (key, nonce) = self.key(number, half);
        let tag = key.seal_in_place_separate_tag(nonce, Aad::from(header), bytes);
        let tag = tag.expect("frames are far shorter than the longest that the cipher takes");
        let mut check = [0; CHECK_BYTES];
        check.copy_from_slice(tag.as_ref());
        check
    }

    /// Decrypts `bytes`; returns true if the tag was right. If not, their contents are undefined.
    fn open(
        &mut self,
        number: u64,
        half: Half,
        header: &[u8; HEADER_BYTES],
        bytes: &mut [u8],
        check: &Check,
    ) -> bool {
        let (key, nonce) = self.key(number, half);
        key.open_in_place_separate_tag(nonce, Aad::from(header), check, bytes)
            .is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_change_on_the_way() {
        let mut cipher = Cipher::new(Keys::new(Suite::Aes, &[7; 32], b"a".to_vec()));
        // With the same nonce, which only a test may use twice, the tag shows which key it is.
        let mut tag = |number| {
            let nonce = Nonce::assume_unique_for_key([0; NONCE_LEN]);
            let (key, _) = cipher.key(number, Half::Header);
            let tag = key.seal_in_place_separate_tag(nonce, Aad::empty(), &mut []);
            tag.expect("nothing is short enough").as_ref().to_vec()
        };
        let first = tag(0);
        assert_eq!(tag(FRAMES_OF_A_KEY - 1), first);
        assert_ne!(tag(FRAMES_OF_A_KEY), first);
        assert_eq!(tag(0), first);
    }
}
