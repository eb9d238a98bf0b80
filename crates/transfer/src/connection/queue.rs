//! Frames that wait to be sent together.

use crate::cover::{Cover, Guard};
use crate::protocol::{Frame, GREETING_BYTES, HEAD_BYTES, HEADER_BYTES, Header};
use platform::socket;
use std::io::{self, IoSlice};
use std::net::TcpStream;

/// `EFAULT`: memory that the system cannot read.
const LOST_PAGE: i32 = 14;

/// Frames that are not sent yet.
pub(super) struct Queue {
    pub(super) guard: Guard,
    pub(super) gathered: Vec<u8>,
    /// Buffer for encoding frames and for sealing data that must not be changed in place.
    pub(super) scratch: Vec<u8>,
    /// True if the data of the last frame is being sent past this queue.
    pub(super) is_within_data: bool,
}

impl Queue {
    /// An empty queue, whose frames are only summed until it gets a guard with keys.
    pub(super) fn with_capacity(bytes: usize) -> Self {
        Self {
            guard: Guard::new(None, &[0; GREETING_BYTES], Cover::Summed),
            gathered: Vec::with_capacity(bytes),
            scratch: Vec::new(),
            is_within_data: false,
        }
    }

    /// Adds a frame other than data.
    pub(super) fn frame(&mut self, frame: &Frame<'_>) {
        self.scratch.clear();
        frame.encode(&mut self.scratch);
        let (header, body) = self
            .scratch
            .split_first_chunk_mut::<HEADER_BYTES>()
            .expect("each frame has a header");
        self.gathered.extend(&*header);
        self.gathered.extend(self.guard.begin(header));
        if !body.is_empty() {
            let check = self.guard.seal(body);
            self.gathered.extend(&*body);
            self.gathered.extend(check);
        }
    }

    /// The header and check of the next frame of data.
    pub(super) fn head(&mut self, header: Header) -> [u8; HEAD_BYTES] {
        let header = header.encode();
        let mut head = [0; HEAD_BYTES];
        head[..HEADER_BYTES].copy_from_slice(&header);
        head[HEADER_BYTES..].copy_from_slice(&self.guard.begin(&header));
        head
    }
}

/// One `sendmsg`. `data` may be part of a mapped file that was truncated meanwhile. Reading it
/// here, under the platform's protection, turns the lost pages into zeros, which can be sent; the
/// caller then notices the truncation.
pub(super) fn send_parts(
    socket: &TcpStream,
    parts: &[IoSlice<'_>],
    data: &[u8],
    more: bool,
) -> io::Result<usize> {
    match socket::send_parts(socket, parts, more) {
        Err(error) if error.raw_os_error() == Some(LOST_PAGE) => {
            std::hint::black_box(data.iter().fold(0, |sum, byte| sum ^ byte));
            Err(io::ErrorKind::Interrupted.into())
        }
        sent => sent,
    }
}
