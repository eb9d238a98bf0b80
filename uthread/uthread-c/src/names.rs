//! Names that are resolved off the worker.

use core::ffi::{CStr, c_char, c_int, c_uint};
use core::ptr;
use std::ffi::CString;
use std::io::{PipeWriter, pipe};
use std::os::fd::AsRawFd;
use std::sync::{Arc, Mutex, PoisonError};

use uthread::io::Interest;
use uthread::no_preempt;

use crate::call::caught;
use crate::error::Errno;
use crate::socket::Deadline;

/// The list of addresses, which belongs to this until it is taken.
struct Addresses(*mut libc::addrinfo);

// SAFETY: nothing else uses the list.
unsafe impl Send for Addresses {}

impl Drop for Addresses {
    fn drop(&mut self) {
        if !self.0.is_null() {
            // SAFETY: getaddrinfo(3) made it, and it is freed once.
            unsafe { libc::freeaddrinfo(self.0) };
        }
    }
}

/// The result of getaddrinfo(3), which may come when nobody waits for it any more.
type Answer = Arc<Mutex<Option<Result<Addresses, c_int>>>>;

/// A question, with copies of all that C passes.
struct Question {
    node: Option<CString>,
    service: Option<CString>,
    hints: Option<[c_int; 4]>,
}

impl Question {
    fn ask(&self) -> Result<Addresses, c_int> {
        let text = |text: &Option<CString>| text.as_ref().map_or(ptr::null(), |text| text.as_ptr());
        let mut list = ptr::null_mut();
        // SAFETY: the strings and the hints live until the call returns; zeros are valid for the rest of the hints.
        let result = unsafe {
            let mut hints: libc::addrinfo = core::mem::zeroed();
            let place = self
                .hints
                .map_or(ptr::null(), |[flags, family, kind, protocol]| {
                    hints.ai_flags = flags;
                    hints.ai_family = family;
                    hints.ai_socktype = kind;
                    hints.ai_protocol = protocol;
                    &raw const hints
                });
            libc::getaddrinfo(text(&self.node), text(&self.service), place, &raw mut list)
        };
        match result {
            0 => Ok(Addresses(list)),
            error => Err(error),
        }
    }
}

fn with<R>(answer: &Answer, work: impl FnOnce(&mut Option<Result<Addresses, c_int>>) -> R) -> R {
    let _guard = no_preempt();
    work(&mut answer.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Asks on a kernel thread. The other end of `writer` is readable when the answer is there.
fn start(question: Question, writer: PipeWriter) -> Result<Answer, Errno> {
    let answer = Answer::default();
    let place = Arc::clone(&answer);
    let resolver = std::thread::Builder::new().name("uthread-names".into());
    let started = resolver.spawn(move || {
        let found = question.ask();
        with(&place, |answer| *answer = Some(found));
        drop(writer);
    });
    started
        .map(|_| answer)
        .map_err(|error| error.raw_os_error().unwrap_or(libc::EAGAIN))
}

/// # Safety
/// As getaddrinfo(3).
unsafe fn resolve(
    node: *const c_char,
    service: *const c_char,
    hints: *const libc::addrinfo,
    result: *mut *mut libc::addrinfo,
    microseconds: Option<c_uint>,
) -> c_int {
    caught(|| {
        if result.is_null() || !uthread::is_user_thread() {
            let outside = !uthread::is_user_thread();
            return Err(if outside { libc::EPERM } else { libc::EINVAL });
        }
        let deadline = Deadline::of(microseconds);
        // SAFETY: the caller's contract.
        let question = unsafe {
            let text =
                |text: *const c_char| (!text.is_null()).then(|| CStr::from_ptr(text).to_owned());
            Question {
                node: text(node),
                service: text(service),
                hints: hints.as_ref().map(|hints| {
                    let kind = hints.ai_socktype;
                    [hints.ai_flags, hints.ai_family, kind, hints.ai_protocol]
                }),
            }
        };
        let (reader, writer) = pipe().map_err(|error| error.raw_os_error().unwrap_or(libc::EIO))?;
        let answer = start(question, writer)?;
        // SAFETY: the descriptor is open until the end of this function.
        unsafe { deadline.wait(reader.as_raw_fd(), Interest::READABLE) }?;
        match with(&answer, Option::take) {
            Some(Ok(mut addresses)) => {
                let list = core::mem::replace(&mut addresses.0, ptr::null_mut());
                // SAFETY: the caller's contract.
                unsafe { result.write(list) };
                Ok(0)
            }
            // Those of getaddrinfo(3) are negative.
            Some(Err(error)) => Ok(-error),
            None => Err(libc::ENOTRECOVERABLE),
        }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_getaddrinfo(
    node: *const c_char,
    service: *const c_char,
    hints: *const libc::addrinfo,
    result: *mut *mut libc::addrinfo,
) -> c_int {
    // SAFETY: as the header asks.
    unsafe { resolve(node, service, hints, result, None) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_getaddrinfo_timed(
    node: *const c_char,
    service: *const c_char,
    hints: *const libc::addrinfo,
    result: *mut *mut libc::addrinfo,
    microseconds: c_uint,
) -> c_int {
    // SAFETY: as the header asks.
    unsafe { resolve(node, service, hints, result, Some(microseconds)) }
}
