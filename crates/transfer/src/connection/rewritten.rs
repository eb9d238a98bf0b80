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
    Answer, FileName, Frame, GREETING_BYTES, HEAD_BYTES, Header, Hello, Kind, Part, Partial,
    VERSION, Verdict,
};
use crate::{Limits, Token};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use std::io::Write;
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

const GREETING: [u8; GREETING_BYTES] = [8; GREETING_BYTES];

/// Frames of every kind, each with its data.
fn frames() -> Vec<(Frame<'static>, Vec<u8>)> {
    let verdict = Verdict::Welcome;
    let data = |offset, more| Frame::Data {
        offset,
        len: 300,
        more,
    };
    let receipt = |failure| Frame::Receipt {
        id: 7,
        received_ns: 1,
        stored_ns: 2,
        needs_room: false,
        failure,
    };
    let frames = [
        Frame::Open,
        Frame::File(Part {
            id: 7,
            size: Some(2000),
            parts: 1,
            resume: true,
            mode: None,
            modified: None,
            name: FileName::new(b"name").expect("a plain name"),
            kind: Kind::File,
        }),
        Frame::Start { offset: 0 },
        data(0, true),
        data(300, true),
        data(1000, false),
        Frame::End { size: 2000 },
        Frame::Abort { reason: b"no" },
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
        receipt(b""),
        receipt(b"full"),
        Frame::Ready {
            room: 5,
            failure: b"",
        },
        Frame::Done {
            bytes: 6,
            cpu_ns: 8,
        },
    ];
    let data = |(seed, frame): (u8, &Frame<'_>)| match frame {
        Frame::Data { len, .. } => vec![seed; *len as usize],
        _ => Vec::new(),
    };
    let data: Vec<_> = (0..).zip(&frames).map(data).collect();
    frames.into_iter().zip(data).collect()
}

/// The number of them.
const COUNT: usize = 17;

/// The keys of both directions of a connection.
fn keys(stream: u16) -> (Keys, Keys) {
    let hello = Hello {
        version: VERSION,
        cover: Cover::Sealed,
        suite: Some(Suite::Aes),
        streams: 2,
        stream,
        session: [5; 16],
    };
    let token = Token::new(b"0123456789abcdef").unwrap();
    let initiator = Initiator::new(&token, &hello.encode()).unwrap();
    let responder = Responder::new(&token, &hello.encode(), &initiator.opening).unwrap();
    let plain = Answer::new(Verdict::Welcome).encode();
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

fn as_bytes(frame: &Frame<'_>) -> Vec<u8> {
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
        patience: Duration::from_secs(60),
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

/// With a token or without, and the protection of contents.
const COVERS: [(bool, Cover); 5] = [
    (true, Cover::Sealed),
    (true, Cover::Summed),
    (true, Cover::Bare),
    (false, Cover::Summed),
    (false, Cover::Bare),
];

proptest! {
    #[test]
    fn frames_are_heard_at_their_own_place_of_their_own_direction_only(
        kept in 0..=COUNT, rest in 0..=COUNT, others in vec((0..5_usize, 0..COUNT), 0..4),
    ) {
        for (has_token, contents) in COVERS {
            // The attacker knows the frames of the other direction, of the other connection of this transfer and
            // of one before with the same greeting, and can make frames that are only summed.
            let (there, back) = keys(0);
            let known = [there.clone(), back, keys(1).0, keys(0).0].map(Some).into_iter().chain([None]);
            let known: Vec<_> = known.map(|keys| said(keys.as_ref().filter(|_| has_token), contents)).collect();
            let own = &known[0];
            let picked = others.iter().map(|(of, index)| &known[*of][*index]);
            let arrived: Vec<_> = own[..kept].iter().chain(picked).chain(&own[rest..]).collect();
            let unchanged = arrived.iter().zip(own).take_while(|(one, other)| **one == *other).count();
            let bytes: Vec<u8> = arrived.into_iter().flatten().copied().collect();
            let heard = heard(Some(&there).filter(|_| has_token), contents, &bytes);
            prop_assert_eq!(&heard[..], &all()[..unchanged], "{} {:?}", has_token, contents);
        }
    }

    #[test]
    fn a_flipped_bit_ends_a_connection_or_spoils_a_file_that_is_only_summed(at: Index, bit in 0..8) {
        for (has_token, contents) in COVERS {
            let keys = Some(keys(0).0).filter(|_| has_token);
            let said = said(keys.as_ref(), contents);
            let [hit, within, at] = place(&said, at);
            let mut bytes = said.concat();
            bytes[at] ^= 1_u8 << bit;
            let (heard, all) = (heard(keys.as_ref(), contents, &bytes), all());
            if contents == Cover::Sealed || all[hit].1.is_empty() || within < HEAD_BYTES {
                prop_assert_eq!(&heard[..], &all[..hit], "{} {:?}", has_token, contents);
            } else {
                prop_assert_eq!(heard[hit].2, contents == Cover::Bare);
                prop_assert_eq!(&heard[..hit], &all[..hit]);
                prop_assert_eq!(&heard[hit + 1..], &all[hit + 1..]);
            }
        }
    }

    #[test]
    fn of_a_connection_that_ends_early_whole_frames_are_heard(at: Index) {
        for (has_token, contents) in COVERS {
            let keys = Some(keys(0).0).filter(|_| has_token);
            let said = said(keys.as_ref(), contents);
            let [whole, _, end] = place(&said, at);
            let heard = heard(keys.as_ref(), contents, &said.concat()[..end]);
            prop_assert_eq!(&heard[..], &all()[..whole], "{} {:?}", has_token, contents);
        }
    }
}
