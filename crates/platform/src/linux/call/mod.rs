//! The Linux implementation of the calls whose cost is measured.

mod process;

use std::ffi::{CStr, CString, c_char, c_void};
use std::fs::File;
use std::hint::black_box;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::{io, ptr};

use crate::error::{Error, Result};

pub use process::SignalProbe;
pub(super) use process::wait;
pub use process::{
    fork_exec_wait, fork_exit_wait, getpid_syscall, program_that_does_nothing, spawn_wait,
    vfork_exit_wait,
};

/// A separate function, to keep it out of the measured path.
#[cold]
fn failed<T>(action: &'static str) -> Result<T> {
    Err(Error::os(action)(io::Error::last_os_error()))
}

/// Checks a call that returns -1 for an error.
#[inline]
fn check(outcome: impl Into<i64>, action: &'static str) -> Result<()> {
    if outcome.into() == -1 {
        return failed(action);
    }
    Ok(())
}

/// Checks a call that returns its error instead of setting errno.
#[inline]
fn check_errno(errno: libc::c_int, action: &'static str) -> Result<()> {
    if errno != 0 {
        return Err(Error::os(action)(io::Error::from_raw_os_error(errno)));
    }
    Ok(())
}

/// Reads the monotonic clock as programs do: through the C library, which uses the kernel's vDSO
/// and does not enter the kernel if the clock source allows it. On Windows `QueryPerformanceCounter`,
/// of which the same is true.
#[inline]
pub fn clock_gettime() -> Result<()> {
    let mut now = MaybeUninit::<libc::timespec>::uninit();
    // SAFETY: `now` has room for the time.
    let outcome = unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, now.as_mut_ptr()) };
    check(outcome, "read the clock")
}

/// Reads the same clock with a system call: `clock_gettime`, on Windows `NtQueryPerformanceCounter`.
#[inline]
pub fn clock_gettime_syscall() -> Result<()> {
    let mut now = MaybeUninit::<libc::timespec>::uninit();
    // SAFETY: `now` has room for the time.
    let outcome = unsafe {
        libc::syscall(
            libc::SYS_clock_gettime,
            libc::CLOCK_MONOTONIC,
            now.as_mut_ptr(),
        )
    };
    check(outcome, "read the clock by a system call")
}

/// Allocates memory from the C library and frees it: one `malloc`, one `free`. The memory is not
/// touched; small sizes come from the allocator's cache, which on Linux belongs to the thread.
#[inline]
pub fn malloc_free(bytes: usize) -> Result<()> {
    // Opaque on both sides, or the compiler would remove the pair.
    // SAFETY: any size is valid.
    let memory = black_box(unsafe { libc::malloc(black_box(bytes)) });
    if memory.is_null() && bytes > 0 {
        return failed("take memory");
    }
    // SAFETY: it came from malloc above.
    unsafe { libc::free(memory) };
    Ok(())
}

/// Maps private memory and unmaps it: one `mmap` and `munmap`, or `VirtualAlloc` and `VirtualFree`.
/// The memory is not touched, so no page is allocated.
#[inline]
pub fn map_unmap(bytes: usize) -> Result<()> {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: the kernel selects a free range, so no existing memory is touched.
    let start = unsafe { libc::mmap(ptr::null_mut(), bytes, access, flags, -1, 0) };
    if start == libc::MAP_FAILED {
        return failed("map memory");
    }
    // SAFETY: the range was mapped above, and nothing else uses it.
    check(unsafe { libc::munmap(start, bytes) }, "unmap memory")
}

/// A path as the system's calls take it. It is made beforehand, so that calls which are measured convert
/// nothing.
pub struct CallPath(CString);

impl CallPath {
    /// Converts a path.
    pub fn new(path: &Path) -> Result<Self> {
        CString::new(path.as_os_str().as_encoded_bytes())
            .map(Self)
            .map_err(Error::os("convert a path"))
    }

    #[inline]
    pub(crate) fn as_ptr(&self) -> *const c_char {
        self.0.as_ptr()
    }
}

/// Creates a thread that exits at once, and joins it: one `pthread_create` and `pthread_join`, or
/// `CreateThread` and a wait for its end.
#[inline]
pub fn thread_create_join() -> Result<()> {
    extern "C" fn end_at_once(nothing: *mut c_void) -> *mut c_void {
        nothing
    }
    let mut thread = MaybeUninit::uninit();
    // SAFETY: `thread` has room for the handle, and the new thread touches nothing.
    let errno = unsafe {
        libc::pthread_create(
            thread.as_mut_ptr(),
            ptr::null(),
            end_at_once,
            ptr::null_mut(),
        )
    };
    check_errno(errno, "start a thread")?;
    // SAFETY: the call succeeded, so the handle was written, and nothing else joins the thread.
    let errno = unsafe { libc::pthread_join(thread.assume_init(), ptr::null_mut()) };
    check_errno(errno, "wait for a thread")
}

/// Reads 1 byte at the file's position, which advances: one `read` or `ReadFile`. `None` at
/// the end of the file.
#[inline]
pub fn read_byte(file: &File) -> Result<Option<u8>> {
    let mut byte = 0_u8;
    // SAFETY: `byte` has room for the 1 byte requested.
    match unsafe { libc::read(file.as_raw_fd(), (&raw mut byte).cast(), 1) } {
        1 => Ok(Some(byte)),
        0 => Ok(None),
        _ => failed("read a byte"),
    }
}

/// Writes 1 byte at the file's position: one `write` or `WriteFile`.
#[inline]
pub fn write_byte(file: &File) -> Result<()> {
    // SAFETY: the string has the 1 byte to write.
    match unsafe { libc::write(file.as_raw_fd(), c"x".as_ptr().cast(), 1) } {
        1 => Ok(()),
        _ => failed("write a byte"),
    }
}

/// Moves the file's position forward by 1 byte: one `lseek` or `SetFilePointerEx`. Returns the
/// new position.
#[inline]
pub fn seek(file: &File) -> Result<u64> {
    // SAFETY: no memory is involved.
    match unsafe { libc::lseek(file.as_raw_fd(), 1, libc::SEEK_CUR) } {
        -1 => failed("move the position of a file"),
        position => Ok(position as u64),
    }
}

/// Opens a file for reading and closes it: one `open` and `close`, or `CreateFile` and
/// `CloseHandle`.
#[inline]
pub fn open_close(path: &CallPath) -> Result<()> {
    // SAFETY: the path ends with a zero byte.
    let fd = unsafe { libc::open(path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) };
    close(fd, "open a file")
}

/// Closes the result of an `open` for `action`.
#[inline]
fn close(fd: libc::c_int, action: &'static str) -> Result<()> {
    check(fd, action)?;
    // SAFETY: the caller opened the descriptor, and nothing else uses it.
    check(unsafe { libc::close(fd) }, "close a file")
}

/// Opens with `mode` and closes.
#[inline]
fn open_stream(path: &CallPath, mode: &CStr) -> Result<()> {
    // SAFETY: both strings end with a zero byte.
    let stream = unsafe { libc::fopen(path.as_ptr(), mode.as_ptr()) };
    if stream.is_null() {
        return failed("open a stream");
    }
    // SAFETY: the stream was opened above, and nothing else uses it.
    check(unsafe { libc::fclose(stream) }, "close a stream")
}

/// Opens a stream for reading and closes it: one `fopen`, on Windows one `_wfopen`, which takes any
/// path, and one `fclose`. That is the opening and closing of a file and the allocation of the
/// stream. The buffer is not allocated, since nothing is read.
#[inline]
pub fn fopen_fclose(path: &CallPath) -> Result<()> {
    open_stream(path, c"re")
}

/// Opens a stream for writing, which cuts the file to nothing, and closes it.
#[inline]
pub fn fopen_write_fclose(path: &CallPath) -> Result<()> {
    open_stream(path, c"w")
}

/// Opens a file for reading and for writing that waits for the device, which makes it if it does not
/// exist, and closes it: `O_RDWR`, `O_SYNC` and `O_CREAT`, or `FILE_FLAG_WRITE_THROUGH` with
/// `OPEN_ALWAYS`.
#[inline]
pub fn open_sync_close(path: &CallPath) -> Result<()> {
    const FLAGS: libc::c_int = libc::O_RDWR | libc::O_SYNC | libc::O_CREAT;
    // SAFETY: the path ends with a zero byte.
    let fd = unsafe { libc::open(path.as_ptr(), FLAGS, 0o600 as libc::c_uint) };
    close(fd, "open a file")
}

/// As [`open_sync_close`], and deletes the file.
#[inline]
pub fn create_sync_delete(path: &CallPath) -> Result<()> {
    open_sync_close(path)?;
    delete(path)
}

/// Creates an empty file that must not exist, closes it, and deletes it: one `open`, `close` and
/// `unlink`, or `CreateFile`, `CloseHandle` and `DeleteFile`. It does not wait for the device.
#[inline]
pub fn create_delete(path: &CallPath) -> Result<()> {
    const FLAGS: libc::c_int = libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL | libc::O_CLOEXEC;
    // SAFETY: the path ends with a zero byte.
    let fd = unsafe { libc::open(path.as_ptr(), FLAGS, 0o600 as libc::c_uint) };
    close(fd, "make a file")?;
    delete(path)
}

#[inline]
fn delete(path: &CallPath) -> Result<()> {
    // SAFETY: the path ends with a zero byte.
    check(unsafe { libc::unlink(path.as_ptr()) }, "delete a file")
}

/// Reads the size, times and permissions of a file: one `stat`, on Windows one
/// `GetFileAttributesEx`, which opens and closes the file.
#[inline]
pub fn stat(path: &CallPath) -> Result<()> {
    let mut status = MaybeUninit::<libc::stat>::uninit();
    // SAFETY: the path ends with a zero byte, and `status` has room for the result.
    let outcome = unsafe { libc::stat(path.as_ptr(), status.as_mut_ptr()) };
    check(outcome, "ask for the status of a file")
}
