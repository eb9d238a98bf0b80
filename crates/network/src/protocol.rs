//! The protocols by which machines talk.

use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use std::time::Duration;

/// A transport protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// TCP without delay (`TCP_NODELAY`).
    Tcp,
    /// UDP.
    Udp,
}

/// The size of a token, in bytes.
pub(crate) const TOKEN_BYTES: usize = 16;

/// The addresses at which a machine answers, and the token that it asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invitation {
    /// The addresses for TCP, the preferred one first. UDP is answered at the same addresses with
    /// [`Invitation::udp_ports`].
    pub addresses: Vec<SocketAddr>,
    /// The port for UDP at each address.
    pub udp_ports: Vec<u16>,
    pub(crate) token: [u8; TOKEN_BYTES],
}

/// Size of a hello, in bytes.
pub(crate) const HELLO_BYTES: usize = TOKEN_BYTES + 1 + 4 + 4 + 4;
/// Messages are at most this large.
pub(crate) const MOST_BYTES: usize = 1 << 20;
/// A stream lasts at most this long.
const LONGEST: Duration = Duration::from_mins(1);

/// The question of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Question {
    /// Send each message of this size back.
    Echo { message_bytes: usize },
    /// Receive, and report how much came in `counted`, which begins after `warming`.
    Receive {
        warming: Duration,
        counted: Duration,
    },
    /// Send until the connection is closed, at most for this long.
    Send { limit: Duration },
}

/// A hello as bytes.
pub(crate) fn written_hello(token: [u8; TOKEN_BYTES], question: Question) -> [u8; HELLO_BYTES] {
    let ms = |time: Duration| u32::try_from(time.as_millis()).unwrap_or(u32::MAX);
    let (kind, size, first, second) = match question {
        Question::Echo { message_bytes } => (0, message_bytes as u32, 0, 0),
        Question::Receive { warming, counted } => (1, 0, ms(warming), ms(counted)),
        Question::Send { limit } => (2, 0, ms(limit), 0),
    };
    let mut hello = [0; HELLO_BYTES];
    hello[..TOKEN_BYTES].copy_from_slice(&token);
    hello[TOKEN_BYTES] = kind;
    for (place, number) in hello[TOKEN_BYTES + 1..]
        .chunks_exact_mut(4)
        .zip([size, first, second])
    {
        place.copy_from_slice(&number.to_le_bytes());
    }
    hello
}

/// The question of a hello with this token; `None` for anything else.
pub(crate) fn read_hello(hello: &[u8; HELLO_BYTES], token: [u8; TOKEN_BYTES]) -> Option<Question> {
    let (given, rest) = hello.split_at(TOKEN_BYTES);
    if given != token {
        return None;
    }
    let (kind, rest) = rest.split_first()?;
    let number = |index: usize| {
        let bytes = rest.get(4 * index..4 * index + 4)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?))
    };
    let time = |index: usize| {
        let time = Duration::from_millis(u64::from(number(index)?));
        (time <= LONGEST).then_some(time)
    };
    match kind {
        0 => {
            let message_bytes = number(0)? as usize;
            (1..=MOST_BYTES)
                .contains(&message_bytes)
                .then_some(Question::Echo { message_bytes })
        }
        1 => Some(Question::Receive {
            warming: time(1)?,
            counted: time(2)?,
        }),
        2 => Some(Question::Send { limit: time(1)? }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::time::Duration;

    fn question() -> impl Strategy<Value = Question> {
        let time = || (0..=60_000_u64).prop_map(Duration::from_millis);
        prop_oneof![
            (1..=1_usize << 20).prop_map(|message_bytes| Question::Echo { message_bytes }),
            (time(), time()).prop_map(|(warming, counted)| Question::Receive { warming, counted }),
            time().prop_map(|limit| Question::Send { limit }),
        ]
    }

    proptest! {
        #[test]
        fn a_question_arrives_as_it_was_asked(token: [u8; 16], question in question()) {
            prop_assert_eq!(read_hello(&written_hello(token, question), token), Some(question));
        }

        #[test]
        fn strangers_are_refused(token: [u8; 16], other: [u8; 16], question in question()) {
            prop_assume!(token != other);
            prop_assert_eq!(read_hello(&written_hello(other, question), token), None);
        }

        #[test]
        fn anything_can_be_read(mut hello: [u8; 29], token: [u8; 16]) {
            hello[..16].copy_from_slice(&token);
            if let Some(question) = read_hello(&hello, token) {
                prop_assert_eq!(read_hello(&written_hello(token, question), token), Some(question));
            }
        }
    }
}
