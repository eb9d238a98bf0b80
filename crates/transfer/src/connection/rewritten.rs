//! Frames that somebody rewrites on their way are heard as they were sent, up to the first one that is not
//! as it was, and no further.
//!
//! Whatever an attacker does, a side hears a stream of bytes. So together with the tests in which
//! connections end at any byte, these properties cover every rewriting of the frames of a transfer.

use super::both;
use super::outlet::Queue;
use crate::cover::{Cover, Guard, Initiator, Keys, Responder, Suite};
use crate::method::ReceiveMethod;
use crate::protocol::{
    FileName, Frame, GREETING_BYTES, HEAD_BYTES, Header, Hello, Part, Partial, Verdict,
};
use crate::{Limits, Token};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use std::io::Write;
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::LazyLock;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

const GREETING: [u8; GREETING_BYTES] = [8; GREETING_BYTES];

/// Frames of every kind, each with its data.
fn frames() -> Vec<(Frame, Vec<u8>)> {
    let verdict = Verdict::Welcome;
    let name = FileName::new(b"name").expect("a plain name");
    let data = |offset, more| Frame::Data {
        offset,
        len: 300,
        more,
    };
    let receipt = |failure: &str| Frame::Receipt {
        id: 7,
        received_ns: 1,
        stored_ns: 2,
        needs_room: false,
        failure: failure.into(),
    };
    let frames = [
        Frame::Open,
        Frame::File(Part::file(7, name, Some(2000))),
        Frame::Start { offset: 0 },
        data(0, true),
        data(300, true),
        data(1000, false),
        Frame::End { size: 2000 },
        Frame::Abort {
            reason: "no".into(),
        },
        Frame::Prepare {
            method: ReceiveMethod::File,
        },
        Frame::Working,
        Frame::Bye,
        Frame::Opened {
            verdict,
            max_size: 9,
        },
        Frame::Partial(Partial {
            is_complete: false,
            len: 3,
            step: 4,
            digests: vec![[5; 32]],
        }),
        receipt(""),
        receipt("full"),
        Frame::Ready {
            room: 5,
            failure: String::new(),
        },
        Frame::Done {
            bytes: 6,
            cpu_ns: 8,
        },
    ];
    let data = |(seed, frame): (u8, &Frame)| match frame {
        Frame::Data { len, .. } => vec![seed; *len as usize],
        _ => Vec::new(),
    };
    let data: Vec<_> = (0..).zip(&frames).map(data).collect();
    frames.into_iter().zip(data).collect()
}

/// The number of them.
const COUNT: usize = 17;

/// The first words on this connection of two, and both sides of a handshake that begins with them.
fn handshake(stream: u16) -> (Hello, Initiator, Responder) {
    let hello = Hello {
        cover: Cover::Sealed,
        suite: Some(Suite::Aes),
        streams: 2,
        stream,
        session: [5; 16],
    };
    let token = Token::new(b"0123456789abcdef").unwrap();
    let initiator = Initiator::new(&token, &hello.encode()).unwrap();
    let responder = Responder::new(&token, &hello.encode(), &initiator.opening).unwrap();
    (hello, initiator, responder)
}

/// The keys of both directions of a connection. They are new each time.
fn keys(stream: u16) -> (Keys, Keys) {
    let (hello, _, responder) = handshake(stream);
    let plain = Verdict::Welcome.encode();
    responder.finish(&hello, &plain).unwrap().1
}

/// The bytes of each of the frames.
fn said(keys: Option<&Keys>, contents: Cover) -> Vec<Vec<u8>> {
    let mut queue = Queue::with_capacity(0);
    queue.guard = Guard::new(keys.cloned(), &GREETING, contents);
    let bytes = frames().into_iter().map(|(frame, mut data)| {
        if let Frame::Data { offset, len, more } = frame {
            let head = queue.head(Header::data(offset, len, more));
            let check = queue.guard.seal_data(&mut data);
            [&head[..], &data, check.as_ref().map_or(&[], |it| &it[..])].concat()
        } else {
            queue.frame(&frame);
            std::mem::take(&mut queue.gathered)
        }
    });
    bytes.collect()
}

/// A frame as bytes, its data, and true if their checksum is right.
type Heard = (Vec<u8>, Vec<u8>, bool);

fn as_bytes(frame: &Frame) -> Vec<u8> {
    let mut bytes = Vec::new();
    frame.encode(&mut bytes);
    bytes
}

/// The frames as they were sent.
fn all() -> Vec<Heard> {
    let sent = frames().into_iter();
    sent.map(|(frame, data)| (as_bytes(&frame), data, true))
        .collect()
}

/// All that a side hears of these bytes, before it gives the connection up.
fn heard(keys: Option<&Keys>, contents: Cover, bytes: &[u8]) -> Vec<Heard> {
    static STOP: AtomicBool = AtomicBool::new(false);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let mut near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (far, _) = listener.accept().unwrap();
    near.write_all(bytes).unwrap();
    near.shutdown(Shutdown::Write).unwrap();
    let limits = Limits {
        patience: Duration::from_mins(1),
        stop: &STOP,
    };
    let (mut inlet, _) = both(&far, limits).unwrap();
    inlet.guard(keys.cloned(), &GREETING, contents);
    let mut heard = Vec::new();
    while let Ok(frame) = inlet.frame() {
        let bytes = as_bytes(&frame);
        let mut data = match frame {
            Frame::Data { len, .. } => vec![0; len as usize],
            _ => Vec::new(),
        };
        let is_right = data.is_empty()
            || match inlet.data(&mut data) {
                Ok(is_right) => is_right,
                Err(_) => break,
            };
        heard.push((bytes, data, is_right));
    }
    heard
}

/// A place in these bytes: the number of its frame, the offset in the frame, and that in all.
fn place(said: &[Vec<u8>], at: Index) -> [usize; 3] {
    let at = at.index(said.iter().map(Vec::len).sum());
    let mut within = at;
    for (frame, bytes) in said.iter().enumerate() {
        if within < bytes.len() {
            return [frame, within, at];
        }
        within -= bytes.len();
    }
    unreachable!("the place is in one of them")
}

/// A protection of a connection, and the frames that an attacker knows.
struct Protection {
    keys: Option<Keys>,
    contents: Cover,
    /// The frames of this connection; of its other direction, of the other connection of this transfer and of one
    /// before with the same greeting; and frames that are only summed.
    known: [Vec<Vec<u8>>; 5],
}

static PROTECTIONS: LazyLock<[Protection; 5]> = LazyLock::new(|| {
    let (there, back) = keys(0);
    let all = [
        Some(there),
        Some(back),
        Some(keys(1).0),
        Some(keys(0).0),
        None,
    ];
    let protections = [
        (true, Cover::Sealed),
        (true, Cover::Summed),
        (true, Cover::Bare),
        (false, Cover::Summed),
        (false, Cover::Bare),
    ];
    protections.map(|(has_token, contents)| {
        let used = |keys: &Option<Keys>| keys.clone().filter(|_| has_token);
        Protection {
            keys: used(&all[0]),
            contents,
            known: all
                .each_ref()
                .map(|keys| said(used(keys).as_ref(), contents)),
        }
    })
});

impl Protection {
    /// Checks what a side hears of these bytes.
    fn hears(&self, bytes: &[u8], expected: &[Heard]) -> Result<(), TestCaseError> {
        let heard = heard(self.keys.as_ref(), self.contents, bytes);
        prop_assert_eq!(
            &heard[..],
            expected,
            "{} {:?}",
            self.keys.is_some(),
            self.contents
        );
        Ok(())
    }
}

proptest! {
    #[test]
    fn frames_are_heard_at_their_own_place_of_their_own_direction_only(
        kept in 0..=COUNT, rest in 0..=COUNT, others in vec((0..5_usize, 0..COUNT), 0..4),
    ) {
        for protection in &*PROTECTIONS {
            let own = &protection.known[0];
            let picked = others.iter().map(|(of, index)| &protection.known[*of][*index]);
            let arrived: Vec<_> = own[..kept].iter().chain(picked).chain(&own[rest..]).collect();
            let unchanged = arrived.iter().zip(own).take_while(|(one, other)| **one == *other).count();
            let bytes: Vec<u8> = arrived.into_iter().flatten().copied().collect();
            protection.hears(&bytes, &all()[..unchanged])?;
        }
    }

    #[test]
    fn a_flipped_bit_ends_a_connection_or_spoils_a_file_that_is_only_summed(at: Index, bit in 0..8) {
        for protection in &*PROTECTIONS {
            let said = &protection.known[0];
            let [hit, within, at] = place(said, at);
            let mut bytes = said.concat();
            bytes[at] ^= 1_u8 << bit;
            let mut expected = all();
            if protection.contents == Cover::Sealed || expected[hit].1.is_empty() || within < HEAD_BYTES {
                expected.truncate(hit);
            } else {
                if let Some(byte) = expected[hit].1.get_mut(within - HEAD_BYTES) {
                    *byte ^= 1_u8 << bit;
                }
                expected[hit].2 = protection.contents == Cover::Bare;
            }
            protection.hears(&bytes, &expected)?;
        }
    }

    #[test]
    fn of_a_connection_that_ends_early_whole_frames_are_heard(at: Index) {
        for protection in &*PROTECTIONS {
            let said = &protection.known[0];
            let [whole, _, end] = place(said, at);
            protection.hears(&said.concat()[..end], &all()[..whole])?;
        }
    }
}

#[test]
fn a_body_is_heard_behind_its_own_header_only() {
    for protection in &*PROTECTIONS {
        let said = &protection.known[0];
        for (at, own) in said.iter().enumerate() {
            let (head, body) = own.split_at(HEAD_BYTES);
            for other in said.iter().map(|other| &other[HEAD_BYTES..]) {
                let mut expected = all()[..=at].to_vec();
                let [.., (_, data, is_right)] = &mut expected[..] else {
                    unreachable!("there is a first one")
                };
                let is_in_clear = protection.contents != Cover::Sealed && !data.is_empty();
                if is_in_clear && other.len() >= body.len() && !other.starts_with(body) {
                    *data = other[..data.len()].to_vec();
                    *is_right = protection.contents == Cover::Bare;
                } else if !other.starts_with(body) {
                    expected.truncate(at);
                }
                let before = said[..at].concat();
                let bytes = [&before[..], head, other].concat();
                protection.hears(&bytes, &expected).unwrap();
            }
        }
    }
}

#[test]
fn an_answer_that_was_rewritten_in_the_clear_is_refused() {
    for (verdict, is_right) in [(Verdict::Welcome, true), (Verdict::Busy, false)] {
        let (hello, initiator, responder) = handshake(0);
        let (message, _) = responder
            .finish(&hello, &Verdict::Welcome.encode())
            .unwrap();
        let finished = initiator.finish(&hello, &verdict.encode(), &message);
        assert_eq!(finished.is_ok(), is_right, "{verdict:?}");
    }
}
