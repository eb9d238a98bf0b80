//! The greeting: before anything else, each side says who it is in 64 bytes.

use super::wire::Reader;
use super::{GREETING_BYTES, MAGIC, MOST_STREAMS, Malformed, VERSION};
use crate::Checksum;

/// What the sender says first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hello {
    /// The version it speaks.
    pub version: u16,
    /// The checksum it makes.
    pub checksum: Checksum,
    /// Whether it has a token.
    pub has_token: bool,
    /// How many connections carry the transfer.
    pub streams: u16,
    /// Which of them this is, from 0.
    pub stream: u16,
    /// The transfer, the same on all of its connections.
    pub session: [u8; 16],
    /// Random bytes, never used before.
    pub nonce: [u8; 32],
}

/// What the receiver answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Challenge {
    /// The version it speaks.
    pub version: u16,
    /// Whether it goes on.
    pub verdict: Verdict,
    /// The largest file that it takes, in bytes.
    pub max_size: u64,
    /// Random bytes, never used before.
    pub nonce: [u8; 32],
}

/// Whether a receiver goes on with a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It does.
    Welcome,
    /// It speaks another version.
    Version,
    /// It wants a token.
    TokenNeeded,
    /// It has no token to check the sender's with.
    NoToken,
    /// It has as many connections as it may have.
    Busy,
    /// It wants another checksum.
    Checksum,
}

const VERDICTS: [Verdict; 6] = [
    Verdict::Welcome,
    Verdict::Version,
    Verdict::TokenNeeded,
    Verdict::NoToken,
    Verdict::Busy,
    Verdict::Checksum,
];

impl Hello {
    /// The bytes that say it.
    pub fn encode(&self) -> [u8; GREETING_BYTES] {
        let mut bytes = Vec::with_capacity(GREETING_BYTES);
        bytes.extend(MAGIC);
        bytes.extend(self.version.to_le_bytes());
        bytes.push(self.checksum.code());
        bytes.push(u8::from(self.has_token));
        bytes.extend(self.streams.to_le_bytes());
        bytes.extend(self.stream.to_le_bytes());
        bytes.extend(self.session);
        bytes.extend(self.nonce);
        bytes.try_into().expect("the fields have 64 bytes together")
    }

    /// What the bytes say. Of another version only the version counts.
    ///
    /// # Errors
    /// If they are no greeting.
    pub fn parse(bytes: &[u8; GREETING_BYTES]) -> Result<Self, Malformed> {
        let short = Malformed::Number("greeting");
        let mut reader = Reader(bytes);
        if reader.array() != Some(MAGIC) {
            return Err(Malformed::Magic);
        }
        let mut fields = || {
            let version = reader.u16()?;
            let rest = (reader.u8()?, reader.u8()?, reader.u16()?, reader.u16()?);
            Some((version, rest, reader.array()?, reader.array()?))
        };
        let (version, (checksum, token, streams, stream), session, nonce) =
            fields().ok_or(short)?;
        if version != VERSION {
            return Ok(Self {
                version,
                checksum: Checksum::None,
                has_token: false,
                streams: 1,
                stream: 0,
                session,
                nonce,
            });
        }
        if streams == 0 || streams > MOST_STREAMS || stream >= streams {
            return Err(Malformed::Number("number of connections"));
        }
        Ok(Self {
            version,
            checksum: Checksum::from_code(checksum).ok_or(Malformed::Number("checksum"))?,
            has_token: match token {
                0 => false,
                1 => true,
                _ => return Err(Malformed::Number("kind of proof")),
            },
            streams,
            stream,
            session,
            nonce,
        })
    }
}

impl Challenge {
    /// The bytes that say it.
    pub fn encode(&self) -> [u8; GREETING_BYTES] {
        let verdict = VERDICTS.iter().position(|verdict| *verdict == self.verdict);
        let mut bytes = Vec::with_capacity(GREETING_BYTES);
        bytes.extend(MAGIC);
        bytes.extend(self.version.to_le_bytes());
        bytes.push(verdict.map_or(u8::MAX, |index| index as u8));
        bytes.extend([0; 5]);
        bytes.extend(self.max_size.to_le_bytes());
        bytes.extend(self.nonce);
        bytes.extend([0; 8]);
        bytes.try_into().expect("the fields have 64 bytes together")
    }

    /// What the bytes say.
    ///
    /// # Errors
    /// If they are no answer to a greeting.
    pub fn parse(bytes: &[u8; GREETING_BYTES]) -> Result<Self, Malformed> {
        let mut reader = Reader(bytes);
        if reader.array() != Some(MAGIC) {
            return Err(Malformed::Magic);
        }
        let mut fields = || {
            let (version, verdict) = (reader.u16()?, reader.u8()?);
            reader.bytes(5)?;
            Some((version, verdict, reader.u64()?, reader.array()?))
        };
        let (version, verdict, max_size, nonce) = fields().ok_or(Malformed::Number("answer"))?;
        let verdict = VERDICTS.get(usize::from(verdict)).copied();
        Ok(Self {
            version,
            verdict: verdict.ok_or(Malformed::Number("verdict"))?,
            max_size,
            nonce,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Challenge, Hello, VERDICTS};
    use crate::Checksum;
    use crate::protocol::{GREETING_BYTES, Malformed, VERSION};
    use proptest::prelude::*;

    prop_compose! {
        fn hello()(
            checksum in 0_u8..3, has_token: bool, streams in 1_u16..=64, stream in 0_u16..64,
            session: [u8; 16], nonce: [u8; 32],
        ) -> Hello {
            let checksum = Checksum::from_code(checksum).expect("there are three");
            let stream = stream % streams;
            Hello { version: VERSION, checksum, has_token, streams, stream, session, nonce }
        }
    }

    proptest! {
        #[test]
        fn greetings_come_back_as_they_were(hello in hello(), verdict in 0..VERDICTS.len(), max_size: u64) {
            prop_assert_eq!(Hello::parse(&hello.encode()), Ok(hello));
            let challenge = Challenge {
                version: VERSION, verdict: VERDICTS[verdict], max_size, nonce: hello.nonce,
            };
            prop_assert_eq!(Challenge::parse(&challenge.encode()), Ok(challenge));
        }

        #[test]
        fn any_bytes_are_understood_or_refused(bytes in proptest::collection::vec(any::<u8>(), GREETING_BYTES)) {
            let bytes: [u8; GREETING_BYTES] = bytes.try_into().expect("as many as asked for");
            prop_assert!(Hello::parse(&bytes).is_err());
            prop_assert!(Challenge::parse(&bytes).is_err());
        }
    }

    #[test]
    fn a_web_browser_is_told_from_a_sender_and_an_old_sender_from_both() {
        let mut browser = [b' '; GREETING_BYTES];
        browser[..14].copy_from_slice(b"GET / HTTP/1.1");
        assert_eq!(Hello::parse(&browser), Err(Malformed::Magic));
        let mut old = [0; GREETING_BYTES];
        old[..8].copy_from_slice(&crate::protocol::MAGIC);
        assert_eq!(Hello::parse(&old).map(|hello| hello.version), Ok(0));
    }
}
