//! The greeting: each side begins with 64 bytes that identify it.

use super::{GREETING_BYTES, MAGIC, MOST_STREAMS, Malformed, VERSION};
use crate::cover::{Cover, Suite};
use serde::{Deserialize, Serialize};

/// The sender's greeting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hello {
    /// Protocol version of the sender.
    pub version: u16,
    /// Protection of file contents.
    pub cover: Cover,
    /// The cipher suite that seals frames; `None` if the sender has no token.
    pub suite: Option<Suite>,
    /// Number of connections that carry the transfer.
    pub streams: u16,
    /// Index of this connection, from 0.
    pub stream: u16,
    /// The transfer's identifier, the same on all its connections.
    pub session: [u8; 16],
}

/// The receiver's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Protocol version of the receiver.
    pub version: u16,
    /// The receiver's decision.
    pub verdict: Verdict,
}

/// A receiver's decision to continue with a sender, or the reason for refusing it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    /// The receiver continues.
    Welcome,
    /// The receiver speaks another version.
    Version,
    /// The receiver requires a token.
    TokenNeeded,
    /// The receiver has no token to check the sender's with.
    NoToken,
    /// The receiver has reached its limit of connections, or has no threads or memory for another.
    Busy,
    /// The receiver does not accept contents that are not sealed.
    Unsealed,
    /// The receiver lets the kernel move contents, which cannot decrypt sealed ones.
    Sealed,
    /// Without a token, the receiver accepts only its own user.
    Stranger,
}

impl Verdict {
    /// All verdicts, each at the index that is its number on the wire.
    pub const ALL: [Self; 8] = [
        Self::Welcome,
        Self::Version,
        Self::TokenNeeded,
        Self::NoToken,
        Self::Busy,
        Self::Unsealed,
        Self::Sealed,
        Self::Stranger,
    ];

    pub(super) fn code(self) -> u8 {
        self as u8
    }

    pub(super) fn from_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
    }
}

impl Hello {
    /// The greeting's bytes.
    pub fn encode(&self) -> [u8; GREETING_BYTES] {
        let mut bytes = Vec::with_capacity(GREETING_BYTES);
        bytes.extend(MAGIC);
        bytes.extend(self.version.to_le_bytes());
        bytes.push(self.cover.code());
        bytes.push(self.suite.map_or(0, Suite::code));
        bytes.extend(self.streams.to_le_bytes());
        bytes.extend(self.stream.to_le_bytes());
        bytes.extend(self.session);
        bytes.extend([0; 32]);
        bytes.try_into().expect("the fields have 64 bytes together")
    }

    /// Parses a greeting; `None` if the sender speaks another version, whose fields are unknown.
    pub fn parse(bytes: &[u8; GREETING_BYTES]) -> Result<Option<Self>, Malformed> {
        let version = version(bytes)?;
        if version != VERSION {
            return Ok(None);
        }
        let [cover, suite] = [bytes[10], bytes[11]];
        let [streams, stream] = [12, 14].map(|at| u16::from_le_bytes([bytes[at], bytes[at + 1]]));
        if streams == 0 || streams > MOST_STREAMS || stream >= streams {
            return Err(Malformed::Number("number of connections"));
        }
        let cover = Cover::from_code(cover).ok_or(Malformed::Number("cover"))?;
        let suite = match suite {
            0 => None,
            code => Some(Suite::from_code(code).ok_or(Malformed::Number("cipher"))?),
        };
        // Sealed contents need a cipher suite.
        if bytes[32..] != [0; 32] || (cover == Cover::Sealed && suite.is_none()) {
            return Err(Malformed::Number("greeting"));
        }
        Ok(Some(Self {
            version,
            cover,
            suite,
            streams,
            stream,
            session: *bytes[16..].first_chunk().expect("a greeting is longer"),
        }))
    }
}

impl Answer {
    /// This program's answer.
    pub fn new(verdict: Verdict) -> Self {
        Self {
            version: VERSION,
            verdict,
        }
    }

    /// The answer's bytes. A sender of version 2 reads the same number of bytes and finds version
    /// and verdict at the same offsets.
    pub fn encode(&self) -> [u8; GREETING_BYTES] {
        let mut bytes = [0; GREETING_BYTES];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..10].copy_from_slice(&self.version.to_le_bytes());
        bytes[10] = self.verdict.code();
        bytes
    }

    /// Parses an answer. A receiver of another version always refuses.
    pub fn parse(bytes: &[u8; GREETING_BYTES]) -> Result<Self, Malformed> {
        let version = version(bytes)?;
        if version != VERSION {
            let verdict = Verdict::Version;
            return Ok(Self { version, verdict });
        }
        let verdict = Verdict::from_code(bytes[10]).ok_or(Malformed::Number("verdict"))?;
        if bytes[11..].iter().any(|byte| *byte != 0) {
            return Err(Malformed::Number("answer"));
        }
        Ok(Self { version, verdict })
    }
}

/// The version of a peer, which is at the same place in every version.
fn version(bytes: &[u8; GREETING_BYTES]) -> Result<u16, Malformed> {
    if bytes[..8] != MAGIC {
        return Err(Malformed::Magic);
    }
    Ok(u16::from_le_bytes([bytes[8], bytes[9]]))
}

#[cfg(test)]
mod tests {
    use super::{Answer, Hello, Verdict};
    use crate::cover::{Cover, Suite};
    use crate::protocol::{GREETING_BYTES, MAGIC, Malformed, VERSION};
    use proptest::prelude::*;

    prop_compose! {
        fn hello()(
            cover in 0_u8..3, suite in 0_u8..3, streams in 1_u16..=64, stream in 0_u16..64,
            session: [u8; 16],
        ) -> Hello {
            let cover = Cover::from_code(cover).expect("there are three");
            let suite = Suite::from_code(suite).or((cover == Cover::Sealed).then_some(Suite::Aes));
            let stream = stream % streams;
            Hello { version: VERSION, cover, suite, streams, stream, session }
        }
    }

    proptest! {
        #[test]
        fn greetings_come_back_as_they_were(hello in hello(), verdict in 0..Verdict::ALL.len()) {
            prop_assert_eq!(Hello::parse(&hello.encode()), Ok(Some(hello)));
            let answer = Answer::new(Verdict::ALL[verdict]);
            prop_assert_eq!(Answer::parse(&answer.encode()), Ok(answer));
        }

        #[test]
        fn any_bytes_are_understood_or_refused(bytes in proptest::collection::vec(any::<u8>(), GREETING_BYTES)) {
            let bytes: [u8; GREETING_BYTES] = bytes.try_into().expect("as many as asked for");
            prop_assert!(Hello::parse(&bytes).is_err());
            prop_assert!(Answer::parse(&bytes).is_err());
        }
    }

    #[test]
    fn a_web_browser_a_sender_and_an_old_sender_are_known_by_their_first_words() {
        let mut browser = [b' '; GREETING_BYTES];
        browser[..14].copy_from_slice(b"GET / HTTP/1.1");
        assert_eq!(Hello::parse(&browser), Err(Malformed::Magic));
        let mut old = [7; GREETING_BYTES];
        old[..8].copy_from_slice(&MAGIC);
        old[8..10].copy_from_slice(&[2, 0]);
        assert_eq!(Hello::parse(&old), Ok(None));
        // A receiver of another version welcomes no sender of this one.
        let answer = Answer::parse(&old).unwrap();
        assert_eq!((answer.version, answer.verdict), (2, Verdict::Version));
    }

    #[test]
    fn contents_cannot_be_sealed_without_a_cipher() {
        let hello = Hello {
            version: VERSION,
            cover: Cover::Sealed,
            suite: None,
            streams: 1,
            stream: 0,
            session: [0; 16],
        };
        Hello::parse(&hello.encode()).unwrap_err();
    }
}
