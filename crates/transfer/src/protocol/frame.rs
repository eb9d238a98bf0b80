//! Frames: all traffic after the greeting. A header of 16 bytes, then a body of the length that the
//! header gives: bytes of a file, or a [`Frame`] in the [wire format of
//! postcard](https://postcard.jamesmunns.com/wire-format).

use super::{HEADER_BYTES, Header, Malformed, Part, Partial, Verdict};
use crate::method::ReceiveMethod;
use serde::{Deserialize, Serialize};

/// A frame.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Frame {
    /// The sender wants to send. This is the first frame that proves knowledge of the token.
    Open,
    /// A file, or a part of one, starts.
    File(Part),
    /// After hearing how much the receiver has, the sender starts at this offset.
    Start {
        /// Offset of the first byte that follows.
        offset: u64,
    },
    /// The part is complete.
    End {
        /// Size of the whole file.
        size: u64,
    },
    /// The part will not be completed.
    Abort {
        /// The reason; empty without one.
        reason: String,
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
        failure: String,
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
        failure: String,
    },
    /// Either side is at work and has nothing else to report yet.
    Working,
    /// Bytes of the file follow.
    #[serde(skip)]
    Data {
        /// Their offset in the file.
        offset: u64,
        /// Their number.
        len: u32,
        /// True if another frame of data immediately follows.
        more: bool,
    },
}

impl Frame {
    /// Parses a header and its body. For a frame of data, `body` is ignored.
    pub fn parse(header: &Header, body: &[u8]) -> Result<Self, Malformed> {
        if header.is_data {
            return Ok(Self::Data {
                offset: header.offset,
                len: header.len,
                more: header.more,
            });
        }
        let Ok((frame, [])) = postcard::take_from_bytes(body) else {
            return Err(Malformed::Frame);
        };
        match &frame {
            Self::File(part) => part.check()?,
            Self::Partial(partial) => partial.check()?,
            _ => {}
        }
        Ok(frame)
    }

    /// Appends the frame's bytes to `out`: only the header, for a frame of data.
    pub fn encode(&self, out: &mut Vec<u8>) {
        if let Self::Data { offset, len, more } = *self {
            out.extend(Header::data(offset, len, more).encode());
            return;
        }
        let start = out.len();
        out.extend([0; HEADER_BYTES]);
        *out = postcard::to_extend(self, std::mem::take(out)).expect("a frame is plain data");
        let header = Header {
            is_data: false,
            more: false,
            len: (out.len() - start - HEADER_BYTES) as u32,
            offset: 0,
        };
        out[start..start + HEADER_BYTES].copy_from_slice(&header.encode());
    }
}

#[cfg(test)]
mod tests {
    use super::Frame;
    use crate::protocol::{
        FileName, HEADER_BYTES, Header, Kind, LONGEST_BARE, LONGEST_BODY, Malformed, Mode, Part,
        Times,
    };
    use proptest::prelude::*;

    /// The frame, as a peer reads it.
    fn parsed(frame: &Frame) -> Result<(), Malformed> {
        let mut bytes = Vec::new();
        frame.encode(&mut bytes);
        let (header, body) = bytes.split_first_chunk::<HEADER_BYTES>().expect("a header");
        let header = Header::parse(header)?;
        assert!(header.is_data || body.len() == header.len as usize);
        assert_eq!(&Frame::parse(&header, body)?, frame);
        Ok(())
    }

    proptest! {
        #[test]
        fn any_header_is_understood_or_refused_and_never_promises_too_much(bytes: [u8; HEADER_BYTES]) {
            if let Ok(header) = Header::parse(&bytes) {
                let longest = if header.is_data { LONGEST_BARE } else { LONGEST_BODY as u32 };
                prop_assert!(header.len <= longest);
                prop_assert_eq!(header.encode(), bytes);
            }
        }

        #[test]
        fn any_body_is_understood_or_refused(
            kind in 0_u8..16, rest in proptest::collection::vec(any::<u8>(), 0..300),
        ) {
            let body = [&[kind], &rest[..]].concat();
            let header = Header { is_data: false, more: false, len: body.len() as u32, offset: 0 };
            if let Ok(frame) = Frame::parse(&header, &body) {
                prop_assert_eq!(parsed(&frame), Ok(()));
            }
        }
    }

    #[test]
    fn a_file_out_of_bounds_is_refused() {
        let mode = |bits| {
            let is_kept = true;
            Some(Mode { bits, is_kept })
        };
        let name = FileName::new(b"name").expect("a plain name");
        let part = || Part {
            mode: mode(0o640),
            kind: Kind::Link(b"target".into()),
            ..Part::file(0, name.clone(), Some(0))
        };
        let refused = |part: Part, what| {
            let refused = parsed(&Frame::File(part.clone()));
            assert_eq!(refused, Err(Malformed::Number(what)), "{part:?}");
        };
        assert_eq!(parsed(&Frame::File(part())), Ok(()));
        let mode = mode(0o10_000);
        refused(Part { mode, ..part() }, "mode");
        let modified = Some(Times {
            seconds: 0,
            nanoseconds: 1_000_000_000,
        });
        refused(Part { modified, ..part() }, "time");
        for target in [&b""[..], b"a\0b", &[b'x'; 4096]] {
            let kind = Kind::Link(target.into());
            refused(Part { kind, ..part() }, "target of a link");
        }
        for kind in [Kind::Directory, Kind::CompleteDirectory, part().kind] {
            for (size, parts) in [(Some(1), 1), (None, 1), (Some(0), 2)] {
                let part = Part {
                    size,
                    parts,
                    kind: kind.clone(),
                    ..part()
                };
                refused(part, "size of what has no contents");
            }
        }
        for parts in [0, 65] {
            refused(Part { parts, ..part() }, "number of parts");
        }
    }
}
