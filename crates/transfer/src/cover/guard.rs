//! The checks of the frames of one direction, one after the other.

use super::Cover;
use super::cipher::{Cipher, Half, Keys};
use crate::protocol::{CHECK_BYTES, GREETING_BYTES, HEADER_BYTES, Malformed};
use twox_hash::XxHash3_128;

/// The check of a header or a body.
pub(crate) type Check = [u8; CHECK_BYTES];

/// Makes the checks of the frames that go out, or tests those of the frames that come in.
pub(crate) struct Guard {
    /// Without one, checks are sums.
    cipher: Option<Cipher>,
    contents: Cover,
    /// Sums begin here, so that frames are of this greeting only.
    start: u64,
    /// How many frames there were.
    frames: u64,
    /// Header of the last one, and its check.
    header: [u8; HEADER_BYTES],
    header_check: Check,
}

impl Guard {
    /// For frames of which the contents of files are protected by `contents`, everything else by a seal
    /// if there are keys, else by a sum. Either holds only if both sides know the same greeting.
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

    /// What protects the contents of files.
    pub(crate) fn contents(&self) -> Cover {
        self.contents
    }

    /// The next frame goes out: the check of its header.
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

    /// The next frame comes in: tests its header.
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
        if is_right {
            Ok(())
        } else {
            Err(Malformed::Check)
        }
    }

    /// The check of the last frame's body, which is no data; encrypts it where there are keys.
    pub(crate) fn seal(&mut self, body: &mut [u8]) -> Check {
        let seed = self.seed();
        match &mut self.cipher {
            Some(cipher) => cipher.seal(self.frames - 1, Half::Body, &self.header, body),
            None => sum(seed, body),
        }
    }

    /// Tests the last frame's body, which is no data; decrypts it where there are keys.
    pub(crate) fn open(&mut self, body: &mut [u8], check: &Check) -> Result<(), Malformed> {
        let seed = self.seed();
        let is_right = match &mut self.cipher {
            Some(cipher) => cipher.open(self.frames - 1, Half::Body, &self.header, body, check),
            None => sum(seed, body) == *check,
        };
        if is_right {
            Ok(())
        } else {
            Err(Malformed::Check)
        }
    }

    /// The check of the last frame's data; encrypts them if they are sealed. `None` if data have none.
    pub(crate) fn seal_data(&mut self, data: &mut [u8]) -> Option<Check> {
        match self.contents {
            Cover::Sealed => Some(self.seal(data)),
            Cover::Summed | Cover::Bare => self.sum_data(data),
        }
    }

    /// As [`Guard::seal_data`], for data that are not sealed and so stay as they are.
    pub(crate) fn sum_data(&self, data: &[u8]) -> Option<Check> {
        (self.contents == Cover::Summed).then(|| sum(self.seed(), data))
    }

    /// Tests the last frame's data; decrypts them if they are sealed.
    pub(crate) fn open_data(&mut self, data: &mut [u8], check: &Check) -> Result<(), Malformed> {
        match self.contents {
            Cover::Sealed => self.open(data, check),
            Cover::Summed if self.sum_data(data).as_ref() != Some(check) => Err(Malformed::Check),
            Cover::Summed | Cover::Bare => Ok(()),
        }
    }

    /// Binds the sum of a body to its header, and with that to its place.
    fn seed(&self) -> u64 {
        seed(&self.header_check)
    }
}

/// Of a check as much as a sum takes to begin with.
fn seed(check: &Check) -> u64 {
    let start = check.first_chunk();
    u64::from_le_bytes(*start.expect("a check is longer"))
}

fn sum(seed: u64, bytes: &[u8]) -> Check {
    XxHash3_128::oneshot_with_seed(seed, bytes).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::Guard;
    use crate::cover::{Cover, Keys, Suite};
    use proptest::prelude::*;

    fn guard(is_sealed: bool, contents: Cover) -> Guard {
        let keys = is_sealed.then(|| Keys::new(Suite::Aes, &[1; 32], vec![2]));
        Guard::new(keys, &[8; 64], contents)
    }

    const COVERS: [(bool, Cover); 5] = [
        (true, Cover::Sealed),
        (true, Cover::Summed),
        (true, Cover::Bare),
        (false, Cover::Summed),
        (false, Cover::Bare),
    ];

    proptest! {
        #[test]
        fn frames_are_found_as_they_were_and_no_flip_goes_unseen(
            body in proptest::collection::vec(any::<u8>(), 1..400), at: usize, bit in 0..8,
            is_data: bool,
        ) {
            for (is_sealed, contents) in COVERS {
                let (mut out, mut within) = (guard(is_sealed, contents), guard(is_sealed, contents));
                let header = [9; 16];
                let check = out.begin(&header);
                let mut sent = body.clone();
                let body_check = if is_data {
                    out.seal_data(&mut sent)
                } else {
                    Some(out.seal(&mut sent))
                };
                prop_assert_eq!(within.meet(&header, &check), Ok(()));
                let mut arrived = sent.clone();
                if let Some(check) = &body_check {
                    let opened = if is_data {
                        within.open_data(&mut arrived, check)
                    } else {
                        within.open(&mut arrived, check)
                    };
                    prop_assert_eq!(opened, Ok(()));
                    let mut flipped = sent.clone();
                    flipped[at % body.len()] ^= 1_u8 << bit;
                    let opened = if is_data {
                        within.open_data(&mut flipped, check)
                    } else {
                        within.open(&mut flipped, check)
                    };
                    prop_assert!(opened.is_err());
                }
                prop_assert_eq!(&arrived, &body);
                // The same frame at another place, and another header at this one.
                prop_assert!(within.meet(&header, &check).is_err());
                let mut within = guard(is_sealed, contents);
                let mut flipped = header;
                flipped[at % 16] ^= 1_u8 << bit;
                prop_assert!(within.meet(&flipped, &check).is_err());
            }
        }

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
