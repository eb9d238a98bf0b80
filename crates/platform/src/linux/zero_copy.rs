//! Sends without a copy: the kernel reads the pages themselves until the data is delivered, and
//! reports on the connection's error queue when it no longer needs them
//! (`Documentation/networking/msg_zerocopy.rst`).

use std::io;
use std::net::TcpStream;
use std::os::fd::AsRawFd;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::net::SendFlags;

use super::clock::timespec_of;
use super::memory::Mapping;
use super::socket::set_option;
use crate::memory::PageSize;

/// Sends from its own buffers without copying them
/// ([`MSG_ZEROCOPY`](https://docs.kernel.org/networking/msg_zerocopy.html)). A buffer is reused
/// only after the kernel reports that it no longer needs it.
///
/// Over loopback the kernel copies anyway.
#[derive(Debug)]
pub struct ZeroCopy {
    buffers: Vec<Buffer>,
    current: usize,
    /// Number of sends so far; the kernel numbers them from 0.
    sends: u32,
}

#[derive(Debug)]
struct Buffer {
    memory: Mapping,
    /// Its sends that the kernel has not completed.
    in_flight: Vec<u32>,
}

/// `MSG_ZEROCOPY`, which rustix does not define.
const ZERO_COPY: SendFlags = SendFlags::from_bits_retain(libc::MSG_ZEROCOPY.cast_unsigned());
/// Space for the control data of a message of the error queue: a header and an address.
const CONTROL_BYTES: usize = 128;
/// `SO_EE_ORIGIN_ZEROCOPY` of `linux/errqueue.h`.
const ORIGIN_ZERO_COPY: u8 = 5;

impl ZeroCopy {
    /// Allocates `buffers` buffers of `buffer_len` bytes each for a connection.
    ///
    /// # Errors
    /// [`io::ErrorKind::Unsupported`] if the system does not support it.
    pub fn new(socket: &TcpStream, buffers: usize, buffer_len: usize) -> io::Result<Self> {
        set_option(socket, libc::SO_ZEROCOPY, 1).map_err(|_| io::ErrorKind::Unsupported)?;
        let buffer = || {
            let memory =
                Mapping::anonymous(buffer_len, PageSize::Base).map_err(io::Error::other)?;
            let in_flight = Vec::new();
            Ok(Buffer { memory, in_flight })
        };
        Ok(Self {
            buffers: (0..buffers.max(1))
                .map(|_| buffer())
                .collect::<io::Result<_>>()?,
            current: 0,
            sends: 0,
        })
    }

    /// Waits for the next buffer to be free and selects it. Fails with
    /// [`io::ErrorKind::WouldBlock`] after the connection's write timeout.
    pub fn advance(&mut self, socket: &TcpStream) -> io::Result<()> {
        let next = (self.current + 1) % self.buffers.len();
        while !self.buffers[next].in_flight.is_empty() {
            self.wait(socket)?;
        }
        self.current = next;
        Ok(())
    }

    /// The current buffer, mutable. Do not change it between [`ZeroCopy::send`] and
    /// [`ZeroCopy::advance`], or the received bytes are undefined.
    pub fn buffer(&mut self) -> &mut [u8] {
        self.buffers[self.current].memory.as_mut_slice()
    }

    /// Sends the first `len` bytes of the buffer. Calls `retry` each time that the connection's
    /// timeout passes; its error ends the call.
    pub fn send(
        &mut self,
        socket: &TcpStream,
        len: usize,
        mut retry: impl FnMut(io::Error) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut sent = 0;
        while sent < len {
            let bytes = &self.buffers[self.current].memory.as_slice()[sent..len];
            // The kernel uses the pages until it reports completion. `advance` leaves them unchanged
            // until then, and unmapping removes them from this process only.
            match rustix::net::send(socket, bytes, ZERO_COPY | SendFlags::NOSIGNAL) {
                Ok(count) => {
                    sent += count;
                    self.buffers[self.current].in_flight.push(self.sends);
                    self.sends = self.sends.wrapping_add(1);
                }
                // The kernel's queue of pending sends is full.
                Err(Errno::NOBUFS) => self.wait(socket).or_else(&mut retry)?,
                Err(errno) => retry(errno.into())?,
            }
        }
        Ok(())
    }

    /// Waits for a message on the error queue and processes all of them.
    fn wait(&mut self, socket: &TcpStream) -> io::Result<()> {
        if self.take_reports(socket)? {
            return Ok(());
        }
        let timeout = socket.write_timeout()?.map(timespec_of);
        // A message is an error condition, which poll reports without a request.
        let ready = poll(
            &mut [PollFd::new(socket, PollFlags::empty())],
            timeout.as_ref(),
        )?;
        if ready == 0 {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        if !self.take_reports(socket)? {
            // The connection itself failed.
            return Err(socket
                .take_error()?
                .unwrap_or_else(|| io::ErrorKind::ConnectionAborted.into()));
        }
        Ok(())
    }

    /// Processes the messages on the queue; true if there were any.
    fn take_reports(&mut self, socket: &TcpStream) -> io::Result<bool> {
        let mut any = false;
        while let Some((first, last)) = completed_sends(socket)? {
            any = true;
            let done = |send: &u32| send.wrapping_sub(first) <= last.wrapping_sub(first);
            for buffer in &mut self.buffers {
                buffer.in_flight.retain(|send| !done(send));
            }
        }
        Ok(any)
    }
}

/// The next range of completed sends.
fn completed_sends(socket: &TcpStream) -> io::Result<Option<(u32, u32)>> {
    // An array of words, for the alignment of the headers.
    let mut control = [0_u64; CONTROL_BYTES / 8];
    // SAFETY: zeros are a valid `msghdr`: nothing to be filled in.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_control = control.as_mut_ptr().cast();
    message.msg_controllen = CONTROL_BYTES as _;
    // SAFETY: the message points to the control buffer, which has the given length.
    let outcome = unsafe {
        libc::recvmsg(
            socket.as_raw_fd(),
            &raw mut message,
            libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT,
        )
    };
    if outcome < 0 {
        let error = io::Error::last_os_error();
        return match error.kind() {
            io::ErrorKind::WouldBlock => Ok(None),
            _ => Err(error),
        };
    }
    // SAFETY: recvmsg filled in the message.
    let header = unsafe { libc::CMSG_FIRSTHDR(&raw const message) };
    // SAFETY: the header is null or lies in the control buffer.
    let kind = unsafe { header.as_ref() }.map(|header| (header.cmsg_level, header.cmsg_type));
    let Some((libc::SOL_IP, libc::IP_RECVERR) | (libc::SOL_IPV6, libc::IPV6_RECVERR)) = kind else {
        return Ok(None);
    };
    // SAFETY: a message of this level and type contains such a report, which may be unaligned.
    let report = unsafe {
        let data = libc::CMSG_DATA(header);
        data.cast::<libc::sock_extended_err>().read_unaligned()
    };
    if report.ee_origin != ORIGIN_ZERO_COPY {
        return Err(io::Error::from_raw_os_error(report.ee_errno.cast_signed()));
    }
    Ok(Some((report.ee_info, report.ee_data)))
}
