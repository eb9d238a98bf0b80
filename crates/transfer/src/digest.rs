//! Checksums, made while bytes go by.

use crate::buffer;
use crate::protocol::DIGEST_BYTES;
use platform::block_io::read_at;
use std::fs::File;
use twox_hash::XxHash3_128;

/// What is compared at the end of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checksum {
    /// Nothing but the number of bytes: for measuring what the checksum costs.
    None,
    /// XXH3 of 128 bits: finds accidents at the speed of memory, and forgeries not at all.
    Xxh3,
    /// BLAKE3: nobody can find other bytes with the same digest.
    Blake3,
}

const ALL: [Checksum; 3] = [Checksum::None, Checksum::Xxh3, Checksum::Blake3];

impl Checksum {
    /// The number that stands for it on the wire.
    pub(crate) fn code(self) -> u8 {
        self as u8
    }

    /// The checksum with this number.
    pub(crate) fn from_code(code: u8) -> Option<Self> {
        ALL.get(usize::from(code)).copied()
    }

    /// The digest of the first `len` bytes of a file; `None` if it has not so many.
    pub(crate) fn of_start(self, file: &File, len: u64) -> Option<[u8; DIGEST_BYTES]> {
        let mut digest = Digest::new(self);
        let mut block = buffer::block().ok()?;
        let buffer = block.as_mut_slice();
        let mut offset = 0;
        while offset < len {
            let wanted = (len - offset).min(buffer.len() as u64) as usize;
            let count = read_at(file, &mut buffer[..wanted], offset).ok()?;
            if count == 0 {
                return None;
            }
            digest.update(&buffer[..count]);
            offset += count as u64;
        }
        Some(digest.finish())
    }
}

/// A checksum under way.
pub(crate) enum Digest {
    None,
    Xxh3(Box<XxHash3_128>),
    Blake3(Box<blake3::Hasher>),
}

impl Digest {
    pub(crate) fn new(checksum: Checksum) -> Self {
        match checksum {
            Checksum::None => Self::None,
            Checksum::Xxh3 => Self::Xxh3(Box::new(XxHash3_128::new())),
            Checksum::Blake3 => Self::Blake3(Box::new(blake3::Hasher::new())),
        }
    }

    pub(crate) fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::None => {}
            Self::Xxh3(hasher) => hasher.write(bytes),
            Self::Blake3(hasher) => {
                hasher.update(bytes);
            }
        }
    }

    /// Takes in where the bytes that follow go, if that is not behind those before.
    pub(crate) fn jump(&mut self, offset: u64) {
        self.update(&offset.to_le_bytes());
    }

    pub(crate) fn finish(&self) -> [u8; DIGEST_BYTES] {
        let mut digest = [0; DIGEST_BYTES];
        match self {
            Self::None => {}
            Self::Xxh3(hasher) => {
                digest[..16].copy_from_slice(&hasher.finish_128().to_le_bytes());
            }
            Self::Blake3(hasher) => digest = *hasher.finalize().as_bytes(),
        }
        digest
    }
}

#[cfg(test)]
mod tests {
    use super::{ALL, Checksum, Digest};

    #[test]
    fn pieces_give_the_digest_of_the_whole_and_places_count() {
        for checksum in [Checksum::Xxh3, Checksum::Blake3] {
            let of = |feed: &dyn Fn(&mut Digest)| {
                let mut digest = Digest::new(checksum);
                feed(&mut digest);
                digest.finish()
            };
            let bytes = vec![7; 100_000];
            let whole = of(&|digest| digest.update(&bytes));
            let in_pieces = of(&|digest| {
                for piece in bytes.chunks(999) {
                    digest.update(piece);
                }
            });
            assert_eq!(whole, in_pieces);
            assert_ne!(whole, of(&|digest| digest.update(&bytes[1..])));
            assert_ne!(of(&|digest| digest.jump(1)), of(&|digest| digest.jump(2)));
        }
        for checksum in ALL {
            assert_eq!(Checksum::from_code(checksum.code()), Some(checksum));
        }
        assert_eq!(Checksum::from_code(9), None);
    }

    #[test]
    fn digests_are_those_of_the_published_algorithms() {
        let of = |checksum| {
            let mut digest = Digest::new(checksum);
            digest.update(b"abc");
            digest.finish()
        };
        let blake3 = blake3::Hash::from_bytes(of(Checksum::Blake3));
        let known = "6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85";
        assert_eq!(blake3.to_hex().as_str(), known);
        // As `xxhsum -H2` prints it, from the other end.
        let mut xxh3 = [0; 32];
        xxh3[..16].copy_from_slice(&0x06b0_5ab6_733a_6185_78af_5f94_892f_3950_u128.to_le_bytes());
        assert_eq!(of(Checksum::Xxh3), xxh3);
    }
}
