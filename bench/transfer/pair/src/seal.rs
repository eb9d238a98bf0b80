//! Frames under a key that both sides know: what sealing costs, not how a key is agreed on.

use crate::{CHECK, HEADER};
use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use std::io::{Error, Result};

pub struct Seal {
    key: LessSafeKey,
    message: usize,
    count: u64,
}

impl Seal {
    pub fn new(message: usize) -> Result<Self> {
        let key = UnboundKey::new(&AES_256_GCM, &[7; 32]).map_err(|_| Error::other("key"))?;
        Ok(Self {
            key: LessSafeKey::new(key),
            message,
            count: 0,
        })
    }

    fn nonce(&mut self) -> Nonce {
        let mut nonce = [0; 12];
        nonce[4..].copy_from_slice(&self.count.to_be_bytes());
        self.count += 1;
        Nonce::assume_unique_for_key(nonce)
    }

    /// Seals a body where it is; its tags are written one behind the other.
    pub fn seal(&mut self, header: &[u8; HEADER], body: &mut [u8], tags: &mut [u8]) -> Result<()> {
        for (part, tag) in body.chunks_mut(self.message).zip(tags.chunks_mut(CHECK)) {
            let nonce = self.nonce();
            let made = self
                .key
                .seal_in_place_separate_tag(nonce, Aad::from(header), part)
                .map_err(|_| Error::other("cannot seal"))?;
            tag.copy_from_slice(made.as_ref());
        }
        Ok(())
    }

    pub fn open(&mut self, header: &[u8; HEADER], body: &mut [u8], tags: &[u8]) -> Result<()> {
        for (part, tag) in body.chunks_mut(self.message).zip(tags.chunks(CHECK)) {
            let nonce = self.nonce();
            self.key
                .open_in_place_separate_tag(nonce, Aad::from(header), tag, part)
                .map_err(|_| Error::other("forged"))?;
        }
        Ok(())
    }
}
