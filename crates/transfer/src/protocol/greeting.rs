//! The greeting: each side begins with 64 bytes that identify it.

use super::{GREETING_BYTES, MAGIC, MOST_STREAMS, Malformed, VERSION};
use crate::cover::{Cover, Suite};
use choice::Choice;
use serde::{Deserialize, Serialize};

/// The sender's greeting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hello {
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

/// A receiver's decision to continue with a sender, or the reason for refusing it. A verdict's position is its number
/// on the wire.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    /// The receiver lets the kernel move contents, and the kernel cannot decrypt sealed ones.
    Sealed,
    /// Without a token, the receiver accepts only its own user.
    Stranger,
}

impl Verdict {
    /// The bytes of the answer. A sender of version 2 reads the same number of bytes and finds version
    /// and verdict at the same offsets.
    pub fn encode(self) -> [u8; GREETING_BYTES] {
        let mut bytes = [0; GREETING_BYTES];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..10].copy_from_slice(&VERSION.to_le_bytes());
        bytes[10] = self as u8;
        bytes
    }

    /// Parses an answer. A receiver of another version always refuses.
    pub fn parse(bytes: &[u8; GREETING_BYTES]) -> Result<Self, Malformed> {
        if version(bytes)? != VERSION {
            return Ok(Self::Version);
        }
        let verdict = Self::ALL.get(usize::from(bytes[10])).copied();
        let verdict = verdict.ok_or(Malformed::Number("verdict"))?;
        if bytes[11..].iter().any(|byte| *byte != 0) {
            return Err(Malformed::Number("answer"));
        }
        Ok(verdict)
    }
}

impl Hello {
    /// The greeting's bytes.
    pub fn encode(&self) -> [u8; GREETING_BYTES] {
        let mut bytes = Vec::with_capacity(GREETING_BYTES);
        bytes.extend(MAGIC);
        bytes.extend(VERSION.to_le_bytes());
        bytes.push(self.cover as u8);
        bytes.push(self.suite.map_or(0, |suite| suite as u8 + 1));
        bytes.extend(self.streams.to_le_bytes());
        bytes.extend(self.stream.to_le_bytes());
        bytes.extend(self.session);
        bytes.extend([0; 32]);
        bytes.try_into().expect("the fields have 64 bytes together")
    }

    /// Parses a greeting; `None` if the sender speaks another version, whose fields are unknown.
    pub fn parse(bytes: &[u8; GREETING_BYTES]) -> Result<Option<Self>, Malformed> {
        if version(bytes)? != VERSION {
            return Ok(None);
        }
        let [cover, suite] = [10, 11].map(|at| usize::from(bytes[at]));
        let [streams, stream] = [12, 14].map(|at| u16::from_le_bytes([bytes[at], bytes[at + 1]]));
        if streams == 0 || streams > MOST_STREAMS || stream >= streams {
            return Err(Malformed::Number("number of connections"));
        }
        let cover = *Cover::ALL.get(cover).ok_or(Malformed::Number("cover"))?;
        let suite = match suite {
            0 => None,
            number => Some(
                *Suite::ALL
                    .get(number - 1)
                    .ok_or(Malformed::Number("cipher"))?,
            ),
        };
        // Sealed contents need a cipher suite.
        if bytes[32..] != [0; 32] || (cover == Cover::Sealed && suite.is_none()) {
            return Err(Malformed::Number("greeting"));
        }
        Ok(Some(Self {
            cover,
            suite,
            streams,
            stream,
            session: *bytes[16..].first_chunk().expect("a greeting is longer"),
        }))
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
    use super::{Hello, Verdict};
    use crate::protocol::{GREETING_BYTES, MAGIC, Malformed};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_greeting_is_understood_as_it_was_said_or_refused(
            [cover, suite] in [0_u8..4, 0..4], streams in 0_u16..70, stream in 0_u16..70,
            session: [u8; 16], zeros in prop_oneof![Just([0; 32]), any::<[u8; 32]>()],
        ) {
            let words = [&MAGIC[..], &[5, 0, cover, suite], &streams.to_le_bytes(), &stream.to_le_bytes()];
            let bytes = [&words.concat()[..], &session, &zeros].concat();
            let bytes: [u8; GREETING_BYTES] = bytes.try_into().expect("as many as a greeting has");
            let is_good = cover < 3 && suite < 3 && (cover < 2 || suite > 0)
                && (1..=64).contains(&streams) && stream < streams && zeros == [0; 32];
            let heard = Hello::parse(&bytes);
            prop_assert_eq!(heard.is_ok(), is_good);
            if let Ok(Some(hello)) = heard {
                prop_assert_eq!((hello.stream, hello.streams, hello.session), (stream, streams, session));
                prop_assert_eq!(hello.encode(), bytes);
            }
        }

        #[test]
        fn an_answer_is_understood_as_it_was_said_or_refused(verdict: u8, at in 11..GREETING_BYTES, zero: bool) {
            let mut bytes = Verdict::Welcome.encode();
            (bytes[10], bytes[at]) = (verdict, u8::from(!zero));
            let heard = Verdict::parse(&bytes);
            prop_assert_eq!(heard.is_ok(), verdict < 8 && zero);
            prop_assert!(heard.is_err() || heard.map(Verdict::encode) == Ok(bytes));
        }
    }

    #[test]
    fn a_web_browser_and_another_version_are_known_by_their_first_words() {
        let mut browser = [b' '; GREETING_BYTES];
        browser[..14].copy_from_slice(b"GET / HTTP/1.1");
        assert_eq!(Hello::parse(&browser), Err(Malformed::Magic));
        assert_eq!(Verdict::parse(&browser), Err(Malformed::Magic));
        let mut old = [7; GREETING_BYTES];
        old[..8].copy_from_slice(&MAGIC);
        old[8..10].copy_from_slice(&[2, 0]);
        assert_eq!(Hello::parse(&old), Ok(None));
        // A receiver of another version welcomes no sender of this one.
        assert_eq!(Verdict::parse(&old), Ok(Verdict::Version));
    }
}
