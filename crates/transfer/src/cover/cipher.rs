//! Sealing and opening frames.

use super::Suite;
use super::check::Check;
use crate::protocol::{CHECK_BYTES, HEADER_BYTES};
use aws_lc_rs::aead::{
    AES_256_GCM, Aad, Algorithm, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey,
};
use aws_lc_rs::hkdf::{HKDF_SHA256, Prk, Salt};

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
    pub(super) fn new(suite: Suite, secret: &[u8], context: Vec<u8>) -> Self {
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
pub(super) struct Cipher {
    keys: Keys,
    /// The current key.
    key: LessSafeKey,
    key_number: u64,
}

/// The two sealed parts of a frame.
#[derive(Clone, Copy)]
pub(super) enum Half {
    Header,
    Body,
}

impl Cipher {
    pub(super) fn new(keys: Keys) -> Self {
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
    pub(super) fn seal(
        &mut self,
        number: u64,
        half: Half,
        header: &[u8; HEADER_BYTES],
        bytes: &mut [u8],
    ) -> Check {
        let (key, nonce) = self.key(number, half);
        let tag = key.seal_in_place_separate_tag(nonce, Aad::from(header), bytes);
        let tag = tag.expect("frames are far shorter than the cipher bears");
        let mut check = [0; CHECK_BYTES];
        check.copy_from_slice(tag.as_ref());
        check
    }

    /// Decrypts `bytes`; returns true if the tag was right. If not, their contents are undefined.
    pub(super) fn open(
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
    use super::{Cipher, FRAMES_OF_A_KEY, Half, Keys};
    use crate::cover::Suite;

    fn cipher(suite: Suite, context: &[u8]) -> Cipher {
        Cipher::new(Keys::new(suite, &[7; 32], context.to_vec()))
    }

    #[test]
    fn what_is_sealed_opens_at_its_own_place_only() {
        for suite in [Suite::Aes, Suite::ChaCha] {
            let header = [3; 16];
            let mut bytes = b"contents".to_vec();
            let number = FRAMES_OF_A_KEY * 3 + 1;
            let check = cipher(suite, b"a").seal(number, Half::Body, &header, &mut bytes);
            assert_ne!(bytes, b"contents");
            let opens = |context: &[u8], number, half, header: &[u8; 16]| {
                let mut bytes = bytes.clone();
                let is_right =
                    cipher(suite, context).open(number, half, header, &mut bytes, &check);
                assert!(!is_right || bytes == b"contents");
                is_right
            };
            assert!(opens(b"a", number, Half::Body, &header));
            assert!(!opens(b"b", number, Half::Body, &header));
            assert!(!opens(b"a", number + 1, Half::Body, &header));
            assert!(!opens(b"a", number + FRAMES_OF_A_KEY, Half::Body, &header));
            assert!(!opens(b"a", number, Half::Header, &header));
            assert!(!opens(b"a", number, Half::Body, &[4; 16]));
        }
    }

    #[test]
    fn keys_change_on_the_way() {
        let mut cipher = cipher(Suite::Aes, b"a");
        let mut seal = |number| cipher.seal(number, Half::Header, &[0; 16], &mut []);
        let checks = [
            seal(0),
            seal(FRAMES_OF_A_KEY - 1),
            seal(FRAMES_OF_A_KEY),
            seal(0),
        ];
        assert_eq!(checks[0], checks[3]);
        assert_ne!(checks[1], checks[2]);
    }
}
