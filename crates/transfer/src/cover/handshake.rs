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
        let builder = builder(&psk, greeting)?;
        let mut state = builder.build_initiator().map_err(Error::Handshake)?;
        let mut opening = [0; OPENING_BYTES];
        state
            .write_message(&[], &mut opening)
            .map_err(Error::Handshake)?;
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
        keys(&mut self.state, hello)
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
        let mut state = builder(&psk, greeting)?
            .build_responder()
            .map_err(Error::Handshake)?;
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
        self.state
            .write_message(plain, &mut message)
            .map_err(Error::Handshake)?;
        Ok((message, keys(&mut self.state, hello)?))
    }
}

/// Both sides must agree on the greeting: it is the handshake's prologue.
fn builder<'b>(psk: &'b [u8; 32], greeting: &'b [u8; GREETING_BYTES]) -> Result<Builder<'b>> {
    let pattern = PATTERN.parse().expect("the pattern is one of Noise's");
    let builder = Builder::new(pattern)
        .psk(0, psk)
        .map_err(Error::Handshake)?;
    builder.prologue(greeting).map_err(Error::Handshake)
}

/// The keys for each direction: sender to receiver, then back.
fn keys(state: &mut HandshakeState, hello: &Hello) -> Result<(Keys, Keys)> {
    let suite = hello.suite.ok_or(Error::WrongToken)?;
    let (there, back) = state.dangerously_get_raw_split();
    let of = |secret: &[u8; 32], direction: u8| {
        let mut context = hello.session.to_vec();
        context.extend(hello.stream.to_le_bytes());
        context.push(direction);
        Keys::new(suite, secret, context)
    };
    Ok((of(&there, 0), of(&back, 1)))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::{Initiator, Responder};
    use crate::cover::{Check, Cover, Guard, Suite};
    use crate::protocol::{Answer, Hello, VERSION, Verdict};
    use crate::token::Token;

    /// The first words on the connection `stream` of two.
    pub(crate) fn hello(stream: u16) -> Hello {
        Hello {
            version: VERSION,
            cover: Cover::Sealed,
            suite: Some(Suite::Aes),
            streams: 2,
            stream,
            session: [5; 16],
        }
    }

    fn token(text: &str) -> Token {
        Token::new(text.as_bytes()).unwrap()
    }

    /// The first check that the sender makes, and the one that the receiver expects.
    fn checks(said: &Hello, heard: &Hello, theirs: &Token) -> crate::Result<(Check, Check)> {
        let ours = token("0123456789abcdef");
        let initiator = Initiator::new(&ours, &said.encode())?;
        let plain = Answer::new(Verdict::Welcome).encode();
        let responder = Responder::new(theirs, &heard.encode(), &initiator.opening)?;
        let (message, (there, _)) = responder.finish(heard, &plain)?;
        let (mine, _) = initiator.finish(said, &plain, &message)?;
        let check = |keys| Guard::new(Some(keys), &[0; 64], Cover::Sealed).begin(&[0; 16]);
        Ok((check(mine), check(there)))
    }

    #[test]
    fn who_knows_the_token_agrees_on_keys_that_are_new_each_time() {
        let right = token("0123456789abcdef");
        let (mine, theirs) = checks(&hello(0), &hello(0), &right).unwrap();
        assert_eq!(mine, theirs);
        assert_ne!(mine, checks(&hello(0), &hello(0), &right).unwrap().0);
    }

    #[test]
    fn another_token_or_another_greeting_ends_it() {
        let right = token("0123456789abcdef");
        checks(&hello(0), &hello(0), &token("0123456789abcdeX")).unwrap_err();
        checks(&hello(0), &hello(1), &right).unwrap_err();
    }

    #[test]
    fn an_answer_that_was_changed_or_is_of_another_connection_is_refused() {
        let (right, said) = (token("0123456789abcdef"), hello(0));
        let begin = || Initiator::new(&right, &said.encode()).unwrap();
        let plain = Answer::new(Verdict::Welcome).encode();
        let answer = |initiator: &Initiator| {
            let responder = Responder::new(&right, &said.encode(), &initiator.opening).unwrap();
            responder.finish(&said, &plain).unwrap().0
        };
        let (one, other) = (begin(), begin());
        let (message, of_other) = (answer(&one), answer(&other));
        let changed = Answer::new(Verdict::Busy).encode();
        assert!(one.finish(&said, &changed, &message).is_err());
        let again = begin();
        assert!(again.finish(&said, &plain, &of_other).is_err());
        assert!(other.finish(&said, &plain, &of_other).is_ok());
    }
}
