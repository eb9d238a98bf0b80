//! The token that both sides know, the proofs that they do, and the seals on what they say.

use crate::error::{Error, Result};
use crate::protocol::{GREETING_BYTES, PROOF_BYTES, SEAL_BYTES};
use hmac::{Hmac, Mac};
use sha2::Sha256;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// A secret that both sides know.
#[derive(Clone)]
pub struct Token(Vec<u8>);

/// Shorter ones could be guessed by trying, off line, what was overheard.
const SHORTEST_TOKEN: usize = 16;
const LONGEST_TOKEN: usize = 4096;

impl Token {
    /// The token in a file: its bytes without white space at the end.
    ///
    /// # Errors
    /// If it cannot be read, or is shorter than 16 bytes or longer than 4096.
    pub fn read(path: &Path) -> Result<Self> {
        let failed = |reason: String| Error::Token {
            path: path.to_owned(),
            reason,
        };
        let mut bytes = Vec::new();
        File::open(path)
            .and_then(|file| file.take(LONGEST_TOKEN as u64 + 1).read_to_end(&mut bytes))
            .map_err(|error| failed(error.to_string()))?;
        Self::new(&bytes).map_err(failed)
    }

    /// A token of these bytes without white space at the end.
    ///
    /// # Errors
    /// If there are fewer than 16 of them or more than 4096, in words.
    pub fn new(bytes: &[u8]) -> std::result::Result<Self, String> {
        let bytes = bytes.trim_ascii_end();
        match bytes.len() {
            0..SHORTEST_TOKEN => Err(format!(
                "it has fewer than {SHORTEST_TOKEN} bytes; `head -c 32 /dev/urandom | base64` makes \
                 a good one"
            )),
            SHORTEST_TOKEN..=LONGEST_TOKEN => Ok(Self(bytes.to_vec())),
            _ => Err(format!("it has more than {LONGEST_TOKEN} bytes")),
        }
    }

    fn mac(&self, label: &str, greetings: &Greetings) -> Hmac<Sha256> {
        let mut mac = keyed(&self.0);
        mac.update(label.as_bytes());
        mac.update(&greetings.hello);
        mac.update(&greetings.challenge);
        mac
    }

    /// The proof that `side` knows the token, for this connection alone.
    pub(crate) fn proof(&self, side: Side, greetings: &Greetings) -> [u8; PROOF_BYTES] {
        self.mac(side.proof_label(), greetings)
            .finalize()
            .into_bytes()
            .into()
    }

    /// Whether the other side's proof is right, in a time that tells nothing about it.
    pub(crate) fn check(
        &self,
        side: Side,
        greetings: &Greetings,
        proof: &[u8; PROOF_BYTES],
    ) -> Result<()> {
        let mac = self.mac(side.proof_label(), greetings);
        mac.verify_slice(proof).map_err(|_| Error::WrongToken)
    }

    /// What `side` seals its frames with.
    pub(crate) fn seal(&self, side: Side, greetings: &Greetings) -> Seal {
        let key = self
            .mac(side.seal_label(), greetings)
            .finalize()
            .into_bytes();
        Seal {
            mac: keyed(&key),
            count: 0,
        }
    }
}

fn keyed(key: &[u8]) -> Hmac<Sha256> {
    Hmac::new_from_slice(key).expect("HMAC takes keys of any length")
}

/// The two ends of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Sender,
    Receiver,
}

impl Side {
    fn proof_label(self) -> &'static str {
        match self {
            Self::Sender => "oscope transfer 2: the sender knows the token",
            Self::Receiver => "oscope transfer 2: the receiver knows the token",
        }
    }

    fn seal_label(self) -> &'static str {
        match self {
            Self::Sender => "oscope transfer 2: seal of the sender",
            Self::Receiver => "oscope transfer 2: seal of the receiver",
        }
    }
}

/// What both sides said first: with random bytes of each, so that no proof serves twice.
pub(crate) struct Greetings {
    pub(crate) hello: [u8; GREETING_BYTES],
    pub(crate) challenge: [u8; GREETING_BYTES],
}

/// Seals frames, or checks seals: each holds for one frame at one place in one direction.
pub(crate) struct Seal {
    mac: Hmac<Sha256>,
    count: u64,
}

impl Seal {
    fn next(&mut self, frame: &[u8]) -> Hmac<Sha256> {
        let mut mac = self.mac.clone();
        mac.update(&self.count.to_le_bytes());
        mac.update(frame);
        self.count += 1;
        mac
    }

    /// The seal of the next frame.
    pub(crate) fn make(&mut self, frame: &[u8]) -> [u8; SEAL_BYTES] {
        let full: [u8; 32] = self.next(frame).finalize().into_bytes().into();
        full[..SEAL_BYTES].try_into().expect("a seal is shorter")
    }

    /// Whether this is the seal of the next frame.
    pub(crate) fn is_right(&mut self, frame: &[u8], seal: &[u8]) -> bool {
        self.next(frame).verify_truncated_left(seal).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::{Greetings, Side, Token};
    use crate::protocol::{GREETING_BYTES, SEAL_BYTES};

    fn greetings(nonce: u8) -> Greetings {
        Greetings {
            hello: [nonce; GREETING_BYTES],
            challenge: [2; GREETING_BYTES],
        }
    }

    fn token(text: &str) -> Token {
        Token::new(text.as_bytes()).unwrap()
    }

    #[test]
    fn a_proof_holds_for_one_token_one_side_and_one_connection() {
        let right = token("0123456789abcdef");
        let proof = right.proof(Side::Sender, &greetings(1));
        right.check(Side::Sender, &greetings(1), &proof).unwrap();
        right
            .check(Side::Receiver, &greetings(1), &proof)
            .unwrap_err();
        right
            .check(Side::Sender, &greetings(3), &proof)
            .unwrap_err();
        let wrong = token("0123456789abcdeX");
        wrong
            .check(Side::Sender, &greetings(1), &proof)
            .unwrap_err();
    }

    #[test]
    fn a_seal_holds_for_one_frame_at_one_place() {
        let seals = || token("0123456789abcdef").seal(Side::Sender, &greetings(1));
        let (mut maker, mut checker) = (seals(), seals());
        let first = maker.make(b"one");
        let second = maker.make(b"one");
        assert_ne!(first, second);
        assert!(checker.is_right(b"one", &first));
        assert!(!checker.is_right(b"two", &second));
        assert!(!checker.is_right(b"one", &[0; SEAL_BYTES]));
    }

    #[test]
    fn tokens_that_can_be_guessed_are_refused() {
        assert!(Token::new(b"secret\n").is_err());
        assert!(Token::new(&[b'x'; 5000]).is_err());
        assert_eq!(token("0123456789abcdef\n\n").0, b"0123456789abcdef");
    }
}
