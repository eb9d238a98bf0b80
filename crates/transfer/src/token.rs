//! The shared secret of both sides.

use crate::error::{Error, Result};
use aws_lc_rs::hmac;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use platform::directory::mode;
use platform::file::open_input;
use std::io::{self, Read};
use std::path::Path;

/// A secret that both sides know.
#[derive(Clone)]
pub struct Token {
    secret: Vec<u8>,
    is_exposed: bool,
}

/// An attacker could guess a shorter one by an offline search over recorded traffic.
const SHORTEST_TOKEN: usize = 16;
const LONGEST_TOKEN: usize = 4096;
/// The permission bits of all users but the owner.
const OF_OTHERS: u32 = 0o077;
/// Separates this protocol's key from other uses of the same token.
const LABEL: &[u8] = b"oscope transfer 3: key of the token";

impl Token {
    /// A new token as text: 32 random bytes in Base64.
    pub fn random_text() -> Result<String> {
        let mut bytes = [0; 32];
        fill_random(&mut bytes)?;
        Ok(STANDARD.encode(bytes))
    }

    /// Reads the token from a file: its bytes without trailing white space.
    ///
    /// # Errors
    /// If the file cannot be read, or the token is shorter than 16 bytes or longer than 4096.
    pub fn read(path: &Path) -> Result<Self> {
        let failed = |reason: String| Error::Token {
            path: path.to_owned(),
            reason,
        };
        let mut bytes = Vec::new();
        let mut read = || {
            let file = open_input(path)?;
            let metadata = file.metadata()?;
            file.take(LONGEST_TOKEN as u64 + 1)
                .read_to_end(&mut bytes)?;
            Ok(mode(&metadata).is_some_and(|mode| mode & OF_OTHERS != 0))
        };
        let is_exposed = read().map_err(|error: io::Error| failed(error.to_string()))?;
        let token = Self::new(&bytes).map_err(failed)?;
        Ok(Self {
            is_exposed,
            ..token
        })
    }

    /// True if the file of the token gives other users rights.
    pub fn is_exposed(&self) -> bool {
        self.is_exposed
    }

    /// A token of these bytes, without trailing white space.
    ///
    /// # Errors
    /// If there are fewer than 16 bytes or more than 4096; the error says so in words.
    pub fn new(bytes: &[u8]) -> std::result::Result<Self, String> {
        let bytes = bytes.trim_ascii_end();
        match bytes.len() {
            0..SHORTEST_TOKEN => Err(format!(
                "it has fewer than {SHORTEST_TOKEN} bytes; `oscope token` makes a good one"
            )),
            SHORTEST_TOKEN..=LONGEST_TOKEN => Ok(Self {
                secret: bytes.to_vec(),
                is_exposed: false,
            }),
            _ => Err(format!("it has more than {LONGEST_TOKEN} bytes")),
        }
    }

    /// Derives the handshake's key, which has a fixed length.
    pub(crate) fn key(&self) -> [u8; 32] {
        let key = hmac::Key::new(hmac::HMAC_SHA256, &self.secret);
        let tag = hmac::sign(&key, LABEL);
        tag.as_ref().try_into().expect("SHA-256 gives 32 bytes")
    }
}

/// Fills `bytes` with cryptographic random bytes.
pub(crate) fn fill_random(bytes: &mut [u8]) -> Result<()> {
    getrandom::fill(bytes).map_err(|error| Error::system("draw random bytes")(error.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_token_is_good_and_new() {
        let text = Token::random_text().unwrap();
        Token::new(text.as_bytes()).unwrap();
        assert_eq!(text.len(), 44);
        assert_ne!(text, Token::random_text().unwrap());
    }

    #[test]
    fn tokens_that_can_be_guessed_are_refused() {
        assert!(Token::new(b"secret\n").is_err());
        assert!(Token::new(&[b'x'; 5000]).is_err());
        let token = |bytes| Token::new(bytes).unwrap();
        let one = token(b"0123456789abcdef\n\n");
        assert_eq!(one.secret, b"0123456789abcdef");
        assert_eq!(one.key(), token(b"0123456789abcdef").key());
        assert_ne!(one.key(), token(b"0123456789abcdeX").key());
    }
}
