//! The checks of the frames of one direction, in order.

use super::{Check, Cipher, Cover, Half, Keys, seed, sum};
use crate::protocol::{CHECK_BYTES, GREETING_BYTES, HEADER_BYTES, Malformed};

/// Makes the checks of outgoing frames, or verifies those of incoming ones.
pub(crate) struct Guard {
    /// `None` if checks are checksums.
    cipher: Option<Cipher>,
    /// Protection of file contents.
    pub(crate) contents: Cover,
    /// Seed of the checksums, which binds frames to this greeting.
    start: u64,
    /// Number of frames so far.
    frames: u64,
    /// Header of the last frame, and its check.
    header: [u8; HEADER_BYTES],
    header_check: Check,
}

impl Guard {
    /// `contents` protects the contents of files. Everything else is sealed if there are keys,
    /// otherwise checksummed. Both kinds verify only if both sides saw the same greeting.
    pub(crate) fn new(
        keys: Option<Keys>,
        greeting: &[u8; GREETING_BYTES],
        contents: Cover,
    ) -> Self {
        Self {
            cipher: keys.map(Cipher::new),
            contents,
            start: seed(&sum(0, greeting)),
            frames: 0,
            header: [0; HEADER_BYTES],
            header_check: [0; CHECK_BYTES],
        }
    }

    /// The check of the next outgoing frame's header.
    pub(crate) fn begin(&mut self, header: &[u8; HEADER_BYTES]) -> Check {
        let number = self.frames;
        self.frames += 1;
        self.header = *header;
        self.header_check = match &mut self.cipher {
            Some(cipher) => cipher.seal(number, Half::Header, header, &mut []),
            None => sum(self.start.wrapping_add(number), header),
        };
        self.header_check
    }

    /// Verifies the header of the next incoming frame.
    pub(crate) fn meet(
        &mut self,
        header: &[u8; HEADER_BYTES],
        check: &Check,
    ) -> Result<(), Malformed> {
        let number = self.frames;
        self.frames += 1;
        self.header = *header;
        self.header_check = *check;
        let is_right = match &mut self.cipher {
            Some(cipher) => cipher.open(number, Half::Header, header, &mut [], check),
            None => sum(self.start.wrapping_add(number), header) == *check,
        };
        is_right.then_some(()).ok_or(Malformed::Check)
    }

    /// The check of the last frame's body, other than data; encrypts the body if there are keys.
    pub(crate) fn seal(&mut self, body: &mut [u8]) -> Check {
        let seed = self.seed();
        match &mut self.cipher {
            Some(cipher) => cipher.seal(self.frames - 1, Half::Body, &self.header, body),
            None => sum(seed, body),
        }
    }

    /// Verifies the last frame's body, other than data; decrypts it if there are keys.
    pub(crate) fn open(&mut self, body: &mut [u8], check: &Check) -> Result<(), Malformed> {
        let seed = self.seed();
        let is_right = match &mut self.cipher {
            Some(cipher) => cipher.open(self.frames - 1, Half::Body, &self.header, body, check),
            None => sum(seed, body) == *check,
        };
        is_right.then_some(()).ok_or(Malformed::Check)
    }

    /// The check of the last frame's data; encrypts the data if contents are sealed. `None` if data
    /// has no check.
    pub(crate) fn seal_data(&mut self, data: &mut [u8]) -> Option<Check> {
        match self.contents {
            Cover::Sealed => Some(self.seal(data)),
            Cover::Summed | Cover::Bare => self.sum_data(data),
        }
    }

    /// Like [`Guard::seal_data`], for data that is not sealed and so stays unchanged.
    pub(crate) fn sum_data(&self, data: &[u8]) -> Option<Check> {
        (self.contents == Cover::Summed).then(|| sum(self.seed(), data))
    }

    /// Verifies the last frame's data; decrypts it if it is sealed.
    pub(crate) fn open_data(&mut self, data: &mut [u8], check: &Check) -> Result<(), Malformed> {
        match self.contents {
            Cover::Sealed => self.open(data, check),
            Cover::Summed if self.sum_data(data).as_ref() != Some(check) => Err(Malformed::Check),
            Cover::Summed | Cover::Bare => Ok(()),
        }
    }

    /// Seed that binds the checksum of a body to its header, and so to its position.
    fn seed(&self) -> u64 {
        seed(&self.header_check)
    }
}

#[cfg(test)]
mod tests {
    use super::Guard;
    use crate::cover::Cover;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_sum_is_of_one_greeting_only(at in 0..64_usize, bit in 0..8) {
            let mut greeting = [8; 64];
            let check = Guard::new(None, &greeting, Cover::Summed).begin(&[9; 16]);
            greeting[at] ^= 1_u8 << bit;
            let mut within = Guard::new(None, &greeting, Cover::Summed);
            prop_assert!(within.meet(&[9; 16], &check).is_err());
        }
    }
}
