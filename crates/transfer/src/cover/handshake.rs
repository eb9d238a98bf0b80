//! The handshake by which both sides prove that they know the token and agree on keys with forward
//! secrecy: nobody can compute them later, not even with the token. It is `NNpsk0` of the [Noise
//! framework](https://noiseprotocol.org/noise.html).
//!
//! An attacker can record the sender's first message and replay it, so that message alone proves
//! nothing. The receiver does no work for a peer before its first frame, which takes the keys to
//! make.

use super::Keys;
use crate::error::{Error, Result};
use crate::protocol::{GREETING_BYTES, Hello};
use crate::token::Token;
use snow::{Builder, HandshakeState};

const PATTERN: &str = "Noise_NNpsk0_25519_ChaChaPoly_SHA256";
/// A public key and a tag.
pub(crate) const OPENING_BYTES: usize = 32 + 16;
/// A public key, the receiver's plain answer repeated under authentication, and a tag.
pub(crate) const ANSWER_BYTES: usize = 32 + GREETING_BYTES + 16;

/// The sender's side of a handshake in progress.
pub(crate) struct Initiator {
    state: HandshakeState,
    /// The sender's first message.
    pub(crate) opening: [u8; OPENING_BYTES],
}

impl Initiator {
    /// Starts the handshake for a sender that sent `greeting`.
    pub(crate) fn new(token: &Token, greeting: &[u8; GREETING_BYTES]) -> Result<Self> {
        let psk = token.key();
        let mut state = builder(&psk, greeting)?.build_initiator()?;
        let mut opening = [0; OPENING_BYTES];
        state.write_message(&[], &mut opening)?;
        Ok(Self { state, opening })
    }

    /// Finishes with the receiver's message; returns the keys for sending and for receiving.
    /// `plain` is the receiver's earlier answer in the clear.
    pub(crate) fn finish(
        mut self,
        hello: &Hello,
        plain: &[u8; GREETING_BYTES],
        message: &[u8; ANSWER_BYTES],
    ) -> Result<(Keys, Keys)> {
        let mut answer = [0; GREETING_BYTES];
        let read = self.state.read_message(message, &mut answer);
        if read.is_err() || answer != *plain {
            return Err(Error::WrongToken);
        }
        keys(self.state.dangerously_get_raw_split(), hello)
    }
}

/// The receiver's side of a handshake in progress.
pub(crate) struct Responder {
    state: HandshakeState,
}

impl Responder {
    /// Reads the sender's `opening`. That costs little.
    pub(crate) fn new(
        token: &Token,
        greeting: &[u8; GREETING_BYTES],
        opening: &[u8; OPENING_BYTES],
    ) -> Result<Self> {
        let psk = token.key();
        let mut state = builder(&psk, greeting)?.build_responder()?;
        let read = state.read_message(opening, &mut []);
        read.map_err(|_| Error::WrongToken)?;
        Ok(Self { state })
    }

    /// The reply, which repeats the `plain` answer, and the keys for receiving and for sending.
    pub(crate) fn finish(
        mut self,
        hello: &Hello,
        plain: &[u8; GREETING_BYTES],
    ) -> Result<([u8; ANSWER_BYTES], (Keys, Keys))> {
        let mut message = [0; ANSWER_BYTES];
        self.state.write_message(plain, &mut message)?;
        let secrets = self.state.dangerously_get_raw_split();
        Ok((message, keys(secrets, hello)?))
    }
}

/// A secret of one direction, which both sides get from the handshake.
type Secret = [u8; 32];

/// Both sides must agree on the greeting: it is the handshake's prologue.
fn builder<'b>(psk: &'b [u8; 32], greeting: &'b [u8; GREETING_BYTES]) -> Result<Builder<'b>> {
    let pattern = PATTERN.parse().expect("the pattern is one of Noise's");
    Ok(Builder::new(pattern).psk(0, psk)?.prologue(greeting)?)
}

/// The keys for each direction: sender to receiver, then back. They are bound to the connection and the direction.
fn keys((there, back): (Secret, Secret), hello: &Hello) -> Result<(Keys, Keys)> {
    let suite = hello.suite.ok_or(Error::WrongToken)?;
    let of = |secret: &Secret, direction: u8| {
        let mut context = hello.session.to_vec();
        context.extend(hello.stream.to_le_bytes());
        context.push(direction);
        Keys::new(suite, secret, context)
    };
    Ok((of(&there, 0), of(&back, 1)))
}

#[cfg(test)]
mod tests {
    use super::keys;
    use crate::cover::{Cover, Guard, Suite};
    use crate::protocol::Hello;
    use std::collections::HashSet;

    #[test]
    fn keys_are_of_one_session_one_stream_and_one_direction() {
        let mut checks = HashSet::new();
        for (session, stream) in [([5; 16], 0), ([5; 16], 1), ([6; 16], 0)] {
            let hello = Hello {
                cover: Cover::Sealed,
                suite: Some(Suite::Aes),
                streams: 2,
                stream,
                session,
            };
            // The same secret, so that nothing else tells them apart.
            let (there, back) = keys(([7; 32], [7; 32]), &hello).expect("there is a suite");
            let check = |keys| Guard::new(Some(keys), &[8; 64], Cover::Sealed).begin(&[9; 16]);
            checks.extend([there, back].map(check));
        }
        assert_eq!(checks.len(), 6);
    }
}
