//! Sockets whose waits block only the calling thread.

use core::ffi::{c_int, c_uint, c_void};
use core::slice;
use core::time::Duration;
use std::time::Instant;

use uthread::io::{self, Interest, poll_fd, poll_fd_timeout, sleep};

use crate::call::caught;
use crate::error::{Errno, limit};
use crate::transfer::{borrow, errno, transferred};

/// The end of a call's waits, if it has one.
#[derive(Clone, Copy)]
pub(crate) struct Deadline(Option<Instant>);

impl Deadline {
    pub(crate) fn of(microseconds: Option<c_uint>) -> Self {
        Self(microseconds.map(|microseconds| Instant::now() + limit(microseconds)))
    }

    fn left(self) -> Option<Duration> {
        self.0
            .map(|end| end.saturating_duration_since(Instant::now()))
    }

    /// Waits for a descriptor.
    ///
    /// # Safety
    /// It must stay open until this returns.
    pub(crate) unsafe fn wait(self, fd: c_int, interest: Interest) -> Result<(), Errno> {
        // SAFETY: the caller's contract.
        let fd = unsafe { borrow(fd) }?;
        let found = match self.left() {
            None => poll_fd(fd, interest),
            Some(left) => poll_fd_timeout(fd, interest, left),
        };
        found.map(drop).map_err(errno)
    }
}

fn last_error() -> Errno {
    std::io::Error::last_os_error()
        .raw_os_error()
        .unwrap_or(libc::EIO)
}

/// Makes a call that does not block, again each time the descriptor is ready.
///
/// # Safety
/// The descriptor must stay open until this returns.
unsafe fn when_ready(
    fd: c_int,
    interest: Interest,
    microseconds: Option<c_uint>,
    mut call: impl FnMut() -> isize,
) -> Result<usize, Errno> {
    let deadline = Deadline::of(microseconds);
    loop {
        if let Ok(result) = usize::try_from(call()) {
            return Ok(result);
        }
        match last_error() {
            // SAFETY: the caller's contract.
            libc::EAGAIN => unsafe { deadline.wait(fd, interest) }?,
            libc::EINTR => {}
            error => return Err(error),
        }
    }
}

/// Makes a descriptor return at once from now on.
fn set_nonblocking(fd: c_int) -> Result<(), Errno> {
    // SAFETY: the calls take no pointers.
    let set = unsafe {
        let flags = libc::fcntl(fd, libc::F_GETFL);
        flags >= 0
            && (flags & libc::O_NONBLOCK != 0
                || libc::fcntl(fd, libc::F_SETFL, flags | libc::O_NONBLOCK) == 0)
    };
    if set { Ok(()) } else { Err(last_error()) }
}

/// # Safety
/// As accept(2), and the descriptor must stay open.
unsafe fn accept(
    fd: c_int,
    address: *mut libc::sockaddr,
    length: *mut libc::socklen_t,
    microseconds: Option<c_uint>,
) -> c_int {
    caught(|| {
        set_nonblocking(fd)?;
        // SAFETY: the caller's contract.
        let accept = || unsafe { libc::accept4(fd, address, length, libc::SOCK_CLOEXEC) as isize };
        // SAFETY: as above.
        let new = unsafe { when_ready(fd, Interest::READABLE, microseconds, accept) }?;
        c_int::try_from(new).map_err(|_| libc::EMFILE)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_accept(
    fd: c_int,
    address: *mut libc::sockaddr,
    length: *mut libc::socklen_t,
) -> c_int {
    // SAFETY: as the header asks.
    unsafe { accept(fd, address, length, None) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_accept_timed(
    fd: c_int,
    address: *mut libc::sockaddr,
    length: *mut libc::socklen_t,
    microseconds: c_uint,
) -> c_int {
    // SAFETY: as the header asks.
    unsafe { accept(fd, address, length, Some(microseconds)) }
}

/// # Safety
/// As connect(2), and the descriptor must stay open.
unsafe fn connect(
    fd: c_int,
    address: *const libc::sockaddr,
    length: libc::socklen_t,
    microseconds: Option<c_uint>,
) -> c_int {
    /// Time until a listener without room is asked again. Nothing reports that it has room.
    const MOMENT: Duration = Duration::from_millis(1);
    caught(|| {
        let deadline = Deadline::of(microseconds);
        set_nonblocking(fd)?;
        // SAFETY: the caller's contract.
        while unsafe { libc::connect(fd, address, length) } != 0 {
            match last_error() {
                // An earlier call, whose time was up, may have begun it.
                libc::EINPROGRESS | libc::EALREADY | libc::EINTR => {
                    // SAFETY: as above.
                    unsafe { deadline.wait(fd, Interest::WRITABLE) }?;
                    return match error_of(fd)? {
                        0 => Ok(0),
                        error => Err(error),
                    };
                }
                libc::EAGAIN if deadline.left() == Some(Duration::ZERO) => {
                    return Err(libc::ETIMEDOUT);
                }
                libc::EAGAIN => sleep(deadline.left().map_or(MOMENT, |left| left.min(MOMENT))),
                error => return Err(error),
            }
        }
        Ok(0)
    })
}

/// The error with which the socket's connecting has ended, or 0.
fn error_of(fd: c_int) -> Result<Errno, Errno> {
    let mut error = 0;
    let mut bytes = size_of_val(&error) as libc::socklen_t;
    let (level, option) = (libc::SOL_SOCKET, libc::SO_ERROR);
    let place = (&raw mut error).cast();
    // SAFETY: the option is a number of this size.
    match unsafe { libc::getsockopt(fd, level, option, place, &raw mut bytes) } {
        0 => Ok(error),
        _ => Err(last_error()),
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_connect(
    fd: c_int,
    address: *const libc::sockaddr,
    length: c_uint,
) -> c_int {
    // SAFETY: as the header asks.
    unsafe { connect(fd, address, length, None) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_connect_timed(
    fd: c_int,
    address: *const libc::sockaddr,
    length: c_uint,
    microseconds: c_uint,
) -> c_int {
    // SAFETY: as the header asks.
    unsafe { connect(fd, address, length, Some(microseconds)) }
}

/// The place for the address of a sender, or null.
#[derive(Clone, Copy)]
struct From {
    address: *mut libc::sockaddr,
    length: *mut libc::socklen_t,
}

const NOBODY: From = From {
    address: core::ptr::null_mut(),
    length: core::ptr::null_mut(),
};

/// # Safety
/// As recvfrom(2), and the descriptor must stay open.
unsafe fn receive(
    fd: c_int,
    buffer: *mut c_void,
    bytes: usize,
    flags: c_int,
    from: From,
    microseconds: Option<c_uint>,
) -> isize {
    if flags == 0 && from.address.is_null() && !buffer.is_null() {
        return transferred(|| {
            // SAFETY: the caller's contract.
            let (socket, buffer) = unsafe {
                let buffer = slice::from_raw_parts_mut(buffer.cast(), bytes);
                (borrow(fd)?, buffer)
            };
            io::receive(socket, buffer, "uthread_recv", microseconds.map(limit)).map_err(errno)
        });
    }
    let flags = flags | libc::MSG_DONTWAIT;
    // SAFETY: the caller's contract.
    let receive = || unsafe { libc::recvfrom(fd, buffer, bytes, flags, from.address, from.length) };
    // SAFETY: as above.
    transferred(|| unsafe { when_ready(fd, Interest::READABLE, microseconds, receive) })
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_recv(
    fd: c_int,
    buffer: *mut c_void,
    bytes: usize,
    flags: c_int,
) -> isize {
    // SAFETY: as the header asks.
    unsafe { receive(fd, buffer, bytes, flags, NOBODY, None) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_recv_timed(
    fd: c_int,
    buffer: *mut c_void,
    bytes: usize,
    flags: c_int,
    microseconds: c_uint,
) -> isize {
    // SAFETY: as the header asks.
    unsafe { receive(fd, buffer, bytes, flags, NOBODY, Some(microseconds)) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_recvfrom(
    fd: c_int,
    buffer: *mut c_void,
    bytes: usize,
    flags: c_int,
    address: *mut libc::sockaddr,
    length: *mut libc::socklen_t,
) -> isize {
    // SAFETY: as the header asks.
    unsafe { receive(fd, buffer, bytes, flags, From { address, length }, None) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_recvfrom_timed(
    fd: c_int,
    buffer: *mut c_void,
    bytes: usize,
    flags: c_int,
    address: *mut libc::sockaddr,
    length: *mut libc::socklen_t,
    microseconds: c_uint,
) -> isize {
    let from = From { address, length };
    // SAFETY: as the header asks.
    unsafe { receive(fd, buffer, bytes, flags, from, Some(microseconds)) }
}

/// # Safety
/// As sendto(2), and the descriptor must stay open.
unsafe fn send(
    fd: c_int,
    buffer: *const c_void,
    bytes: usize,
    flags: c_int,
    to: (*const libc::sockaddr, libc::socklen_t),
    microseconds: Option<c_uint>,
) -> isize {
    let flags = flags | libc::MSG_DONTWAIT;
    // SAFETY: the caller's contract.
    let send = || unsafe { libc::sendto(fd, buffer, bytes, flags, to.0, to.1) };
    // SAFETY: as above.
    transferred(|| unsafe { when_ready(fd, Interest::WRITABLE, microseconds, send) })
}

const CONNECTED: (*const libc::sockaddr, libc::socklen_t) = (core::ptr::null(), 0);

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_send(
    fd: c_int,
    buffer: *const c_void,
    bytes: usize,
    flags: c_int,
) -> isize {
    // SAFETY: as the header asks.
    unsafe { send(fd, buffer, bytes, flags, CONNECTED, None) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_send_timed(
    fd: c_int,
    buffer: *const c_void,
    bytes: usize,
    flags: c_int,
    microseconds: c_uint,
) -> isize {
    // SAFETY: as the header asks.
    unsafe { send(fd, buffer, bytes, flags, CONNECTED, Some(microseconds)) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_sendto(
    fd: c_int,
    buffer: *const c_void,
    bytes: usize,
    flags: c_int,
    address: *const libc::sockaddr,
    length: c_uint,
) -> isize {
    // SAFETY: as the header asks.
    unsafe { send(fd, buffer, bytes, flags, (address, length), None) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_sendto_timed(
    fd: c_int,
    buffer: *const c_void,
    bytes: usize,
    flags: c_int,
    address: *const libc::sockaddr,
    length: c_uint,
    microseconds: c_uint,
) -> isize {
    let to = (address, length);
    // SAFETY: as the header asks.
    unsafe { send(fd, buffer, bytes, flags, to, Some(microseconds)) }
}
