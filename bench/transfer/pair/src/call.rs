//! The system calls, each with its failure as an error.

use std::ffi::c_int;
use std::io::{Error, Result};
use std::mem::size_of;
use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::{ptr, slice};

fn checked(outcome: isize) -> Result<usize> {
    usize::try_from(outcome).map_err(|_| Error::last_os_error())
}

fn done(outcome: c_int) -> Result<c_int> {
    if outcome < 0 {
        Err(Error::last_os_error())
    } else {
        Ok(outcome)
    }
}

/// Memory that begins where a page does, so that copies of whole pages are aligned.
pub fn pages(len: usize) -> Result<&'static mut [u8]> {
    let (protection, flags) = (
        libc::PROT_READ | libc::PROT_WRITE,
        libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
    );
    // SAFETY: a new mapping of the kernel's choice, which is never given back.
    unsafe {
        let memory = libc::mmap(ptr::null_mut(), len, protection, flags, -1, 0);
        if memory == libc::MAP_FAILED {
            return Err(Error::last_os_error());
        }
        Ok(slice::from_raw_parts_mut(memory.cast(), len))
    }
}

fn set(socket: &OwnedFd, level: c_int, name: c_int, value: &[u8]) -> Result<()> {
    // SAFETY: the value is readable for its length.
    done(unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            name,
            value.as_ptr().cast(),
            value.len() as libc::socklen_t,
        )
    })
    .map(drop)
}

/// A socket whose congestion control is chosen before it connects or listens: one that is changed
/// later keeps what pacing it began with.
fn socket(congestion: &str) -> Result<OwnedFd> {
    // SAFETY: a new descriptor, which nobody else owns.
    let socket = unsafe {
        let number = done(libc::socket(
            libc::AF_INET,
            libc::SOCK_STREAM | libc::SOCK_CLOEXEC,
            0,
        ))?;
        OwnedFd::from_raw_fd(number)
    };
    if congestion != "-" {
        set(
            &socket,
            libc::IPPROTO_TCP,
            libc::TCP_CONGESTION,
            congestion.as_bytes(),
        )?;
    }
    Ok(socket)
}

fn loopback(port: u16) -> libc::sockaddr_in {
    libc::sockaddr_in {
        sin_family: libc::AF_INET as libc::sa_family_t,
        sin_port: port.to_be(),
        sin_addr: libc::in_addr {
            s_addr: u32::from(Ipv4Addr::LOCALHOST).to_be(),
        },
        sin_zero: [0; 8],
    }
}

const ADDRESS: libc::socklen_t = size_of::<libc::sockaddr_in>() as libc::socklen_t;

pub fn connect(port: u16, congestion: &str) -> Result<OwnedFd> {
    let socket = socket(congestion)?;
    let address = loopback(port);
    // SAFETY: the address is of the length that is named.
    done(unsafe { libc::connect(socket.as_raw_fd(), (&raw const address).cast(), ADDRESS) })?;
    set(
        &socket,
        libc::IPPROTO_TCP,
        libc::TCP_NODELAY,
        &1i32.to_ne_bytes(),
    )?;
    Ok(socket)
}

pub fn accept(port: u16, congestion: &str) -> Result<OwnedFd> {
    let door = socket(congestion)?;
    set(
        &door,
        libc::SOL_SOCKET,
        libc::SO_REUSEADDR,
        &1i32.to_ne_bytes(),
    )?;
    let address = loopback(port);
    // SAFETY: the address is of the length that is named; the descriptor is new.
    unsafe {
        done(libc::bind(
            door.as_raw_fd(),
            (&raw const address).cast(),
            ADDRESS,
        ))?;
        done(libc::listen(door.as_raw_fd(), 1))?;
        let number = done(libc::accept(
            door.as_raw_fd(),
            ptr::null_mut(),
            ptr::null_mut(),
        ))?;
        Ok(OwnedFd::from_raw_fd(number))
    }
}

pub fn set_lowat(socket: &OwnedFd, bytes: usize) -> Result<()> {
    set(
        socket,
        libc::SOL_SOCKET,
        libc::SO_RCVLOWAT,
        &(bytes as i32).to_ne_bytes(),
    )
}

pub fn poll(socket: &OwnedFd) -> Result<()> {
    let mut ready = libc::pollfd {
        fd: socket.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    // SAFETY: one entry, as is said.
    done(unsafe { libc::poll(&raw mut ready, 1, -1) }).map(drop)
}

fn piece(bytes: &[u8]) -> libc::iovec {
    libc::iovec {
        iov_base: bytes.as_ptr().cast_mut().cast(),
        iov_len: bytes.len(),
    }
}

fn message(pieces: &mut [libc::iovec]) -> libc::msghdr {
    // SAFETY: all zeros is a message without pieces.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = pieces.as_mut_ptr();
    message.msg_iovlen = pieces.len();
    message
}

/// Leaves out what was done of the pieces.
fn advance(pieces: &mut [libc::iovec], mut bytes: usize) {
    for piece in pieces {
        let part = bytes.min(piece.iov_len);
        piece.iov_base = piece.iov_base.wrapping_byte_add(part);
        piece.iov_len -= part;
        bytes -= part;
    }
}

pub fn send_all(socket: &OwnedFd, parts: [&[u8]; 3]) -> Result<()> {
    let mut pieces = parts.map(piece);
    let mut left: usize = parts.iter().map(|part| part.len()).sum();
    while left > 0 {
        let message = message(&mut pieces);
        // SAFETY: the pieces are parts of slices that live on.
        let sent = checked(unsafe {
            libc::sendmsg(socket.as_raw_fd(), &raw const message, libc::MSG_NOSIGNAL)
        })?;
        advance(&mut pieces, sent);
        left -= sent;
    }
    Ok(())
}

/// Fills all parts, or as many bytes of them as come before the end; returns how many.
pub fn receive_all(socket: &OwnedFd, parts: [&mut [u8]; 3], polls: bool) -> Result<usize> {
    let whole: usize = parts.iter().map(|part| part.len()).sum();
    let mut pieces = parts.map(|part| piece(part));
    let mut came = 0;
    while came < whole {
        if polls {
            poll(socket)?;
        }
        let mut message = message(&mut pieces);
        let flags = if polls { 0 } else { libc::MSG_WAITALL };
        // SAFETY: the pieces are parts of slices that are borrowed mutably until the end.
        let count = checked(unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, flags) })?;
        if count == 0 {
            break;
        }
        advance(&mut pieces, count);
        came += count;
    }
    Ok(came)
}

pub fn receive(socket: &OwnedFd, buffer: &mut [u8]) -> Result<usize> {
    let len = buffer.len();
    // SAFETY: the buffer is writable for its length.
    checked(unsafe { libc::recv(socket.as_raw_fd(), buffer.as_mut_ptr().cast(), len, 0) })
}

pub fn sendfile(to: &OwnedFd, from: RawFd, bytes: usize) -> Result<usize> {
    // SAFETY: no memory is handed over.
    checked(unsafe { libc::sendfile(to.as_raw_fd(), from, ptr::null_mut(), bytes) })
}

pub fn splice(from: RawFd, to: RawFd, bytes: usize) -> Result<usize> {
    let flags = libc::SPLICE_F_MOVE | libc::SPLICE_F_MORE;
    // SAFETY: no memory is handed over.
    checked(unsafe { libc::splice(from, ptr::null_mut(), to, ptr::null_mut(), bytes, flags) })
}

/// A pipe of so many bytes: its end to read, its end to write.
pub fn pipe(bytes: usize) -> Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    // SAFETY: room for two descriptors, which nobody else owns.
    unsafe {
        done(libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC))?;
        done(libc::fcntl(ends[1], libc::F_SETPIPE_SZ, bytes as c_int))?;
        Ok((OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])))
    }
}
