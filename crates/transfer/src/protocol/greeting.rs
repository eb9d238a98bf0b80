//! The greeting: before anything else, each side says who it is in 64 bytes.

use super::wire::Reader;
use super::{GREETING_BYTES, MAGIC, MOST_STREAMS, Malformed, VERSION};
use crate::cover::{Cover, Suite};

/// The sender's first words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hello {
    /// The version it speaks.
    pub version: u16,
    /// What protects the contents of files.
    pub cover: Cover,
    /// What it seals frames with; `None` if it has no token.
    pub suite: Option<Suite>,
    /// How many connections carry the transfer.
    pub streams: u16,
    /// Which of them this is, from 0.
    pub stream: u16,
    /// The transfer, the same on all of its connections.
    pub session: [u8; 16],
}

/// The receiver's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The version it speaks.
    pub version: u16,
    /// Whether it goes on.
    pub verdict: Verdict,
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
    /// It has as many connections as it may have, or lacks threads or memory for one more.
    Busy,
    /// It takes no contents that are not sealed.
    Unsealed,
    /// It is told to let the kernel move contents, which cannot open what is sealed.
    Sealed,
    /// Without a token it serves its own user only.
    Stranger,
}

impl Verdict {
    /// All of them, each at the place of its number on the wire.
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
    /// The bytes that say it.
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

    /// What the bytes say; `None` if the sender speaks another version, of which nothing else is known.
    ///
    /// # Errors
    /// If they are no greeting.
    pub fn parse(bytes: &[u8; GREETING_BYTES]) -> Result<Option<Self>, Malformed> {
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
        let (version, (cover, suite, streams, stream), session, zeros) =
            fields().ok_or(short.clone())?;
        if version != VERSION {
            return Ok(None);
        }
        if streams == 0 || streams > MOST_STREAMS || stream >= streams {
            return Err(Malformed::Number("number of connections"));
        }
        let cover = Cover::from_code(cover).ok_or(Malformed::Number("cover"))?;
        let suite = match suite {
            0 => None,
            code => Some(Suite::from_code(code).ok_or(Malformed::Number("cipher"))?),
        };
        // What is sealed is sealed with something.
        if zeros != [0; 32] || (cover == Cover::Sealed && suite.is_none()) {
            return Err(short);
        }
        Ok(Some(Self {
            version,
            cover,
            suite,
            streams,
            stream,
            session,
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

    /// The bytes that say it. A sender of version 2 reads as many, and finds version and verdict at the
    /// same places.
    pub fn encode(&self) -> [u8; GREETING_BYTES] {
        let mut bytes = [0; GREETING_BYTES];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..10].copy_from_slice(&self.version.to_le_bytes());
        bytes[10] = self.verdict.code();
        bytes
    }

    /// What the bytes say. A receiver that speaks another version refuses.
    ///
    /// # Errors
    /// If they are no answer to a greeting.
    pub fn parse(bytes: &[u8; GREETING_BYTES]) -> Result<Self, Malformed> {
        let mut reader = Reader(bytes);
        if reader.array() != Some(MAGIC) {
            return Err(Malformed::Magic);
        }
        let mut fields = || Some((reader.u16()?, reader.u8()?));
        let (version, verdict) = fields().ok_or(Malformed::Number("answer"))?;
        if version != VERSION {
            let verdict = Verdict::Version;
            return Ok(Self { version, verdict });
        }
        let verdict = Verdict::from_code(verdict).ok_or(Malformed::Number("verdict"))?;
        if reader.0.iter().any(|byte| *byte != 0) {
            return Err(Malformed::Number("answer"));
        }
        Ok(Self { version, verdict })
    }
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
    fn a_web_browser_is_told_from_a_sender_and_an_old_sender_from_both() {
        let mut browser = [b' '; GREETING_BYTES];
        browser[..14].copy_from_slice(b"GET / HTTP/1.1");
        assert_eq!(Hello::parse(&browser), Err(Malformed::Magic));
        let mut old = [7; GREETING_BYTES];
        old[..8].copy_from_slice(&MAGIC);
        old[8..10].copy_from_slice(&[2, 0]);
        assert_eq!(Hello::parse(&old), Ok(None));
        // An old receiver welcomes nobody who speaks this version.
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
