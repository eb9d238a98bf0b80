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

/// Size of a hello, in bytes: the token, and room for every question.
pub(crate) const HELLO_BYTES: usize = TOKEN_BYTES + 32;
/// Messages are at most this large.
pub(crate) const MOST_BYTES: usize = 1 << 20;
/// A stream lasts at most this long.
const LONGEST: Duration = Duration::from_mins(1);

/// The question of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    let mut hello = [0; HELLO_BYTES];
    postcard::to_slice(&(token, question), &mut hello).expect("two durations take 30 bytes");
    hello
}

/// The question of a hello with this token; `None` for anything else.
pub(crate) fn read_hello(hello: &[u8; HELLO_BYTES], token: [u8; TOKEN_BYTES]) -> Option<Question> {
    let read: Result<(([u8; TOKEN_BYTES], Question), _), _> = postcard::take_from_bytes(hello);
    let ((given, question), _) = read.ok()?;
    let is_allowed = match question {
        Question::Echo { message_bytes } => (1..=MOST_BYTES).contains(&message_bytes),
        Question::Receive { warming, counted } => warming.max(counted) <= LONGEST,
        Question::Send { limit } => limit <= LONGEST,
    };
    (given == token && is_allowed).then_some(question)
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
        fn random_bytes_are_no_question_or_a_whole_one(rest: [u8; 32], token: [u8; 16]) {
            let mut hello = [0; HELLO_BYTES];
            hello[..TOKEN_BYTES].copy_from_slice(&token);
            hello[TOKEN_BYTES..].copy_from_slice(&rest);
            if let Some(question) = read_hello(&hello, token) {
                prop_assert_eq!(read_hello(&written_hello(token, question), token), Some(question));
            }
        }
    }
}
