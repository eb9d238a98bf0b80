//! Frames: all traffic after the greeting. A header of 16 bytes, then a body of the length that the
//! header gives.

use super::{
    ABORT, BYE, COMPLETE, DATA, DONE, END, FILE, HEADER_BYTES, Header, LONGEST_REASON, MORE,
    Malformed, NO_ROOM, OPEN, OPENED, PARTIAL, PREPARE, Part, Partial, READY, RECEIPT, Reader,
    START, Verdict, WORKING,
};
use crate::method::ReceiveMethod;

/// A frame. It borrows from the bytes it was read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame<'b> {
    /// The sender wants to send. This is the first frame that proves knowledge of the token.
    Open,
    /// A file, or a part of one, starts.
    File(Part<'b>),
    /// After hearing how much the receiver has, the sender starts at this offset.
    Start {
        /// Offset of the first byte that follows.
        offset: u64,
    },
    /// Bytes of the file follow.
    Data {
        /// Their offset in the file.
        offset: u64,
        /// Their number.
        len: u32,
        /// True if another frame of data immediately follows.
        more: bool,
    },
    /// The part is complete.
    End {
        /// Size of the whole file.
        size: u64,
    },
    /// The part will not be completed.
    Abort {
        /// The reason, as bytes that should be UTF-8.
        reason: &'b [u8],
    },
    /// There are no more files.
    Bye,
    /// A request to delete the last measured file and to receive the next one by this method.
    Prepare {
        /// The method.
        method: ReceiveMethod,
    },
    /// The receiver's decision to accept the sender.
    Opened {
        /// The decision.
        verdict: Verdict,
        /// The largest file that the receiver accepts, in bytes.
        max_size: u64,
    },
    /// The receiver's share of a file that is to be resumed.
    Partial(Partial),
    /// The outcome of a file or a part.
    Receipt {
        /// The file's number.
        id: u64,
        /// Time from its first byte until its last was received, in ns.
        received_ns: u64,
        /// Time from its first byte until its last was stored, in ns.
        stored_ns: u64,
        /// True if the device of the receiver is full.
        needs_room: bool,
        /// The reason why it was not kept; empty if it was.
        failure: &'b [u8],
    },
    /// The receiver's last frame.
    Done {
        /// Bytes of files received.
        bytes: u64,
        /// CPU time that the receiver spent, in ns.
        cpu_ns: u64,
    },
    /// The last measured file is deleted, and the receiver waits for the next.
    Ready {
        /// Size of the largest file that fits, in bytes.
        room: u64,
        /// The reason why the receiver is not ready; empty if it is.
        failure: &'b [u8],
    },
    /// Either side is at work and has nothing else to report yet.
    Working,
}

impl<'b> Frame<'b> {
    /// Parses a header and its body. For a frame of data, `body` is ignored.
    pub fn parse(header: &Header, body: &'b [u8]) -> Result<Self, Malformed> {
        let Header {
            kind,
            flags,
            len,
            value,
        } = *header;
        let wrong = Malformed::Length { kind, len };
        let mut reader = Reader(body);
        let mut parse = || {
            Some(match kind {
                OPEN => Self::Open,
                START => Self::Start { offset: value },
                DATA => Self::Data {
                    offset: value,
                    len,
                    more: flags & MORE != 0,
                },
                END => Self::End { size: value },
                BYE => Self::Bye,
                WORKING => Self::Working,
                OPENED => Self::Opened {
                    verdict: Verdict::from_code(reader.u8()?)?,
                    max_size: value,
                },
                RECEIPT => Self::Receipt {
                    id: value,
                    received_ns: reader.u64()?,
                    stored_ns: reader.u64()?,
                    needs_room: flags & NO_ROOM != 0,
                    failure: reader.bytes(reader.0.len())?,
                },
                DONE => Self::Done {
                    bytes: value,
                    cpu_ns: reader.u64()?,
                },
                READY => Self::Ready {
                    room: value,
                    failure: reader.bytes(reader.0.len())?,
                },
                _ => return None,
            })
        };
        let frame = match kind {
            FILE => return Part::parse(header, body).map(Self::File),
            PARTIAL => return Partial::parse(header, body).map(Self::Partial),
            ABORT => return Ok(Self::Abort { reason: body }),
            PREPARE if body.is_empty() => {
                let method = ReceiveMethod::from_code(value).ok_or(Malformed::Number("method"))?;
                return Ok(Self::Prepare { method });
            }
            _ => parse().ok_or(wrong.clone())?,
        };
        if reader.0.is_empty() {
            Ok(frame)
        } else {
            Err(wrong)
        }
    }

    /// Appends the frame's bytes to `out`: only the header, for a frame of data.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let at = out.len();
        out.extend([0; HEADER_BYTES]);
        let (kind, value) = match *self {
            Self::Open => (OPEN, 0),
            Self::File(ref part) => {
                part.encode(out);
                (FILE, part.id)
            }
            Self::Start { offset } => (START, offset),
            Self::Data { offset, len, more } => {
                out[at..].copy_from_slice(&Header::data(offset, len, more).encode());
                return;
            }
            Self::End { size } => (END, size),
            Self::Abort { reason } => {
                out.extend(&reason[..reason.len().min(LONGEST_REASON)]);
                (ABORT, 0)
            }
            Self::Bye => (BYE, 0),
            Self::Working => (WORKING, 0),
            Self::Prepare { method } => (PREPARE, method.code()),
            Self::Opened { verdict, max_size } => {
                out.push(verdict.code());
                (OPENED, max_size)
            }
            Self::Partial(ref partial) => {
                partial.encode(out);
                (PARTIAL, partial.len)
            }
            Self::Receipt {
                id,
                received_ns,
                stored_ns,
                failure,
                ..
            } => {
                out.extend(received_ns.to_le_bytes());
                out.extend(stored_ns.to_le_bytes());
                out.extend(&failure[..failure.len().min(LONGEST_REASON)]);
                (RECEIPT, id)
            }
            Self::Done { bytes, cpu_ns } => {
                out.extend(cpu_ns.to_le_bytes());
                (DONE, bytes)
            }
            Self::Ready { room, failure } => {
                out.extend(&failure[..failure.len().min(LONGEST_REASON)]);
                (READY, room)
            }
        };
        let header = Header {
            kind,
            flags: match self {
                Self::File(part) => part.flags(),
                Self::Partial(partial) if partial.is_complete => COMPLETE,
                Self::Receipt { needs_room, .. } if *needs_room => NO_ROOM,
                _ => 0,
            },
            len: (out.len() - at - HEADER_BYTES) as u32,
            value,
        };
        out[at..at + HEADER_BYTES].copy_from_slice(&header.encode());
    }

    /// The number of the frame's kind, for errors.
    pub fn kind(&self) -> u8 {
        match self {
            Self::Open => OPEN,
            Self::Opened { .. } => OPENED,
            Self::File(_) => FILE,
            Self::Start { .. } => START,
            Self::Data { .. } => DATA,
            Self::End { .. } => END,
            Self::Abort { .. } => ABORT,
            Self::Bye => BYE,
            Self::Working => WORKING,
            Self::Prepare { .. } => PREPARE,
            Self::Partial(_) => PARTIAL,
            Self::Receipt { .. } => RECEIPT,
            Self::Done { .. } => DONE,
            Self::Ready { .. } => READY,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Frame;
    use crate::method::ReceiveMethod;
    use crate::protocol::{
        FileName, HEADER_BYTES, Header, Kind, LONGEST_ANNOUNCEMENT, LONGEST_BARE, Malformed, Mode,
        Part, Partial, Times, Verdict,
    };
    use choice::Choice;
    use proptest::prelude::*;

    /// Parses `bytes` as exactly one frame.
    fn parse(bytes: &[u8]) -> Result<Frame<'_>, Malformed> {
        let (header, body) = bytes.split_first_chunk::<HEADER_BYTES>().expect("a header");
        let header = Header::parse(header)?;
        assert!(header.is_data() || body.len() == header.len as usize);
        Frame::parse(&header, body)
    }

    fn assert_returns(frame: Frame<'_>) {
        let mut bytes = Vec::new();
        frame.encode(&mut bytes);
        assert!(bytes.len() <= HEADER_BYTES + LONGEST_ANNOUNCEMENT);
        assert_eq!(parse(&bytes), Ok(frame));
    }

    proptest! {
        #[test]
        fn frames_come_back_as_they_were(
            number: u64, other: u64, len in 0..LONGEST_BARE, more: bool, digest: [u8; 32],
            step in 1_u64.., ranges in 0..Partial::MOST_RANGES, is_complete: bool,
            text in proptest::collection::vec(any::<u8>(), 0..1024),
        ) {
            assert_returns(Frame::Start { offset: number });
            assert_returns(Frame::Open);
            for verdict in Verdict::ALL {
                assert_returns(Frame::Opened { verdict, max_size: number });
            }
            assert_returns(Frame::Data { offset: number, len, more });
            assert_returns(Frame::End { size: number });
            assert_returns(Frame::Abort { reason: &text });
            assert_returns(Frame::Bye);
            assert_returns(Frame::Working);
            let digests = vec![digest; ranges as usize];
            if let Some(len) = step.checked_mul(ranges) {
                assert_returns(Frame::Partial(Partial { is_complete, len, step, digests }));
            }
            assert_returns(Frame::Receipt {
                id: number, received_ns: other, stored_ns: number, needs_room: is_complete, failure: &text,
            });
            assert_returns(Frame::Done { bytes: number, cpu_ns: other });
            assert_returns(Frame::Ready { room: number, failure: &text });
            for &method in ReceiveMethod::ALL {
                assert_returns(Frame::Prepare { method });
            }
        }

        #[test]
        fn files_come_back_as_they_were(
            id: u64, size in proptest::option::of(0..u64::MAX), parts in 1_u16..=64, resume: bool,
            mode in proptest::option::of((0_u32..=0o7777, any::<bool>())),
            modified in proptest::option::of((any::<i64>(), 0_u32..1_000_000_000)),
            name in proptest::collection::vec(1_u8..=255, 1..=255),
            target in proptest::collection::vec(1_u8..=255, 1..=4095),
        ) {
            let Ok(name) = FileName::new(&name) else { return Ok(()) };
            let mode = mode.map(|(bits, is_kept)| Mode { bits, is_kept });
            let modified = modified.map(|(seconds, nanoseconds)| Times { seconds, nanoseconds });
            let kind = Kind::File;
            let part = Part { id, size, parts, resume, mode, modified, name, kind };
            assert_returns(Frame::File(part));
            for kind in [Kind::Directory, Kind::CompleteDirectory, Kind::Link(&target)] {
                assert_returns(Frame::File(Part { kind, size: Some(0), parts: 1, ..part }));
            }
        }

        #[test]
        fn any_header_is_understood_or_refused_and_never_promises_too_much(bytes: [u8; HEADER_BYTES]) {
            if let Ok(header) = Header::parse(&bytes) {
                let longest = if header.is_data() { LONGEST_BARE } else { LONGEST_ANNOUNCEMENT as u32 };
                prop_assert!(header.len <= longest);
                prop_assert_eq!(header.encode(), bytes);
            }
        }

        #[test]
        fn any_body_is_understood_or_refused(
            kind in 0_u8..34, value in 0_u64..8,
            body in proptest::collection::vec(any::<u8>(), 0..300),
        ) {
            let header = Header { kind, flags: 0, len: body.len() as u32, value };
            if let Ok(frame) = Frame::parse(&header, &body) {
                prop_assert_eq!(frame.kind(), kind);
            }
        }
    }

    #[test]
    fn only_a_mode_that_is_there_can_be_kept() {
        let file = |flags, mode: u32| {
            let mut body = vec![0; 26];
            body[8] = 1;
            body[10..14].copy_from_slice(&mode.to_le_bytes());
            body.push(b'x');
            let len = body.len() as u32;
            let header = Header {
                kind: 1,
                flags,
                len,
                value: 0,
            };
            let header = Header::parse(&header.encode())?;
            Frame::parse(&header, &body).map(|_| ())
        };
        assert_eq!(file(8, 0o640), Ok(()));
        assert_eq!(file(0, u32::MAX), Ok(()));
        for (flags, mode) in [(8, u32::MAX), (0, 0o10_000), (8, 0o10_000)] {
            assert_eq!(file(flags, mode), Err(Malformed::Number("mode")));
        }
        assert_eq!(file(16, 0), Err(Malformed::Number("flag")));
    }

    #[test]
    fn only_files_have_contents_and_only_links_have_targets() {
        let part = Part {
            id: 0,
            size: Some(0),
            parts: 1,
            resume: false,
            mode: None,
            modified: None,
            name: FileName::new(b"name").expect("a plain name"),
            kind: Kind::Link(b"target"),
        };
        let error = |part| {
            let mut bytes = Vec::new();
            Frame::File(part).encode(&mut bytes);
            parse(&bytes).err()
        };
        assert_eq!(error(part), None);
        let wrong = Some(Malformed::Number("target of a link"));
        for target in [&b""[..], b"a\0b", &[b'x'; 4096]] {
            assert_eq!(
                error(Part {
                    kind: Kind::Link(target),
                    ..part
                }),
                wrong
            );
        }
        let wrong = Some(Malformed::Number("size of what has no contents"));
        for kind in [
            Kind::Directory,
            Kind::CompleteDirectory,
            Kind::Link(b"target"),
        ] {
            for (size, parts) in [(Some(1), 1), (None, 1), (Some(0), 2)] {
                let part = Part {
                    size,
                    parts,
                    kind,
                    ..part
                };
                assert_eq!(error(part), wrong, "{kind:?}");
            }
        }
    }

    #[test]
    fn lengths_are_bounded_by_kind() {
        let header = Header {
            kind: 4,
            flags: 0,
            len: 1,
            value: 0,
        };
        assert_eq!(
            Header::parse(&header.encode()),
            Err(Malformed::Length { kind: 4, len: 1 })
        );
        let header = Header { kind: 77, ..header };
        assert_eq!(Header::parse(&header.encode()), Err(Malformed::Kind(77)));
    }
}
