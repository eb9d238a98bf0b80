//! Connecting without blocking the worker.

use core::mem;
use core::time::Duration;
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::wait::Deadline;
use crate::io::{Interest, sleep};

/// An address as the kernel reads it.
pub(super) struct KernelAddress {
    place: libc::sockaddr_storage,
    bytes: usize,
}

impl KernelAddress {
    /// # Safety
    /// `T` must be the kernel's structure for the family of the address.
    unsafe fn new<T>(address: T) -> Self {
        // SAFETY: plain data, for which zeros are valid.
        let mut place: libc::sockaddr_storage = unsafe { mem::zeroed() };
        // SAFETY: the place is large enough and aligned for the structure of each family.
        unsafe { (&raw mut place).cast::<T>().write(address) };
        let bytes = size_of::<T>();
        Self { place, bytes }
    }

    fn family(&self) -> libc::c_int {
        self.place.ss_family.into()
    }
}

impl From<SocketAddr> for KernelAddress {
    fn from(address: SocketAddr) -> Self {
        // SAFETY: the structures belong to the families.
        unsafe {
            match address {
                SocketAddr::V4(address) => Self::new(libc::sockaddr_in {
                    sin_family: libc::AF_INET as libc::sa_family_t,
                    sin_port: address.port().to_be(),
                    sin_addr: libc::in_addr {
                        s_addr: u32::from_ne_bytes(address.ip().octets()),
                    },
                    sin_zero: [0; 8],
                }),
                SocketAddr::V6(address) => Self::new(libc::sockaddr_in6 {
                    sin6_family: libc::AF_INET6 as libc::sa_family_t,
                    sin6_port: address.port().to_be(),
                    sin6_flowinfo: address.flowinfo(),
                    sin6_addr: libc::in6_addr {
                        s6_addr: address.ip().octets(),
                    },
                    sin6_scope_id: address.scope_id(),
                }),
            }
        }
    }
}

impl TryFrom<&Path> for KernelAddress {
    type Error = io::Error;

    fn try_from(path: &Path) -> io::Result<Self> {
        // SAFETY: plain data, for which zeros are valid.
        let mut address: libc::sockaddr_un = unsafe { mem::zeroed() };
        address.sun_family = libc::AF_UNIX as libc::sa_family_t;
        let path = path.as_os_str().as_bytes();
        // The last byte stays zero.
        if path.len() >= address.sun_path.len() || path.contains(&0) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        // SAFETY: the path is shorter than its place, and the structure belongs to the family.
        unsafe {
            let place = address.sun_path.as_mut_ptr().cast::<u8>();
            place.copy_from_nonoverlapping(path.as_ptr(), path.len());
            Ok(Self::new(address))
        }
    }
}

/// A stream socket that is connected to an address.
pub(super) fn connect(
    address: &KernelAddress,
    operation: &str,
    deadline: Deadline,
) -> io::Result<OwnedFd> {
    /// Time until a listener without room is asked again. Nothing reports that it has room.
    const MOMENT: Duration = Duration::from_millis(1);
    let kind = libc::SOCK_STREAM | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // SAFETY: the call takes no pointers.
    let fd = unsafe { libc::socket(address.family(), kind, 0) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: a new descriptor that has no other owner.
    let socket = unsafe { OwnedFd::from_raw_fd(fd) };
    loop {
        let place = (&raw const address.place).cast();
        // SAFETY: the address has this size at least.
        if unsafe { libc::connect(fd, place, address.bytes as libc::socklen_t) } == 0 {
            return Ok(socket);
        }
        let error = io::Error::last_os_error();
        match error.raw_os_error() {
            Some(libc::EINPROGRESS | libc::EINTR) => break,
            Some(libc::EAGAIN) if deadline.left().is_none_or(|left| !left.is_zero()) => {
                sleep(deadline.left().map_or(MOMENT, |left| left.min(MOMENT)));
            }
            Some(libc::EAGAIN) => return Err(io::ErrorKind::TimedOut.into()),
            _ => return Err(error),
        }
    }
    deadline.wait(&socket, Interest::WRITABLE, operation)?;
    match error_of(&socket)? {
        0 => Ok(socket),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

/// The error number with which the socket's connecting has ended, or 0.
fn error_of(socket: &OwnedFd) -> io::Result<i32> {
    let mut error = 0;
    let mut bytes = size_of_val(&error) as libc::socklen_t;
    let (level, option) = (libc::SOL_SOCKET, libc::SO_ERROR);
    // SAFETY: the option is a number of this size.
    let asked = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            level,
            option,
            (&raw mut error).cast(),
            &raw mut bytes,
        )
    };
    if asked == 0 {
        Ok(error)
    } else {
        Err(io::Error::last_os_error())
    }
}
