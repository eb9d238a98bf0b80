use std::ffi::CStr;
use std::fs::File;
use std::hint::black_box;
use std::io;
use std::os::fd::AsRawFd;

use crate::error::{Error, Result};

/// Kept out of the measured path.
#[cold]
fn failed<T>(action: &'static str) -> Result<T> {
    Err(Error::os(action)(io::Error::last_os_error()))
}

#[inline]
#[expect(clippy::unnecessary_wraps, reason = "other systems lack this call")]
pub(crate) fn getpid_syscall() -> Result<u32> {
    // SAFETY: it takes no arguments and cannot fail.
    Ok(unsafe { libc::syscall(libc::SYS_getpid) } as u32)
}

#[inline]
pub(crate) fn read_byte(file: &File) -> Result<Option<u8>> {
    let mut byte = 0_u8;
    // SAFETY: there is room for the 1 byte that is asked for.
    match unsafe { libc::read(file.as_raw_fd(), (&raw mut byte).cast(), 1) } {
        1 => Ok(Some(byte)),
        0 => Ok(None),
        _ => failed("read a byte"),
    }
}

#[inline]
pub(crate) fn seek(file: &File) -> Result<u64> {
    // SAFETY: no memory is involved.
    match unsafe { libc::lseek(file.as_raw_fd(), 1, libc::SEEK_CUR) } {
        -1 => failed("move the position of a file"),
        position => Ok(position as u64),
    }
}

#[inline]
pub(crate) fn open_close(path: &CStr) -> Result<()> {
    // SAFETY: the path ends with a zero byte.
    let fd = unsafe { libc::open(path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) };
    close(fd, "open a file")
}

/// Closes what an `open` for `action` returned.
#[inline]
fn close(fd: libc::c_int, action: &'static str) -> Result<()> {
    if fd == -1 {
        return failed(action);
    }
    // SAFETY: the descriptor was opened by the caller, and nobody else has it.
    if unsafe { libc::close(fd) } == -1 {
        return failed("close a file");
    }
    Ok(())
}

#[inline]
pub(crate) fn fopen_fclose(path: &CStr) -> Result<()> {
    // SAFETY: both texts end with a zero byte.
    let stream = unsafe { libc::fopen(path.as_ptr(), c"re".as_ptr()) };
    if stream.is_null() {
        return failed("open a stream");
    }
    // SAFETY: the stream was opened above, and nobody else has it.
    if unsafe { libc::fclose(stream) } != 0 {
        return failed("close a stream");
    }
    Ok(())
}

#[inline]
pub(crate) fn create_delete(path: &CStr) -> Result<()> {
    const FLAGS: libc::c_int = libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL | libc::O_CLOEXEC;
    // SAFETY: the path ends with a zero byte.
    let fd = unsafe { libc::open(path.as_ptr(), FLAGS, 0o600 as libc::c_uint) };
    close(fd, "make a file")?;
    // SAFETY: as above.
    if unsafe { libc::unlink(path.as_ptr()) } == -1 {
        return failed("delete a file");
    }
    Ok(())
}

#[inline]
pub(crate) fn malloc_free(bytes: usize) -> Result<()> {
    // Opaque on both sides, or the compiler would leave out the pair.
    // SAFETY: any size may be asked for.
    let memory = black_box(unsafe { libc::malloc(black_box(bytes)) });
    if memory.is_null() && bytes > 0 {
        return failed("take memory");
    }
    // SAFETY: it came from malloc above.
    unsafe { libc::free(memory) };
    Ok(())
}

#[inline]
pub(crate) fn fork_exit_wait() -> Result<()> {
    // SAFETY: the child calls nothing but `_exit`, which is safe also when other threads held locks
    // at the time of the fork.
    let child = unsafe { libc::fork() };
    match child {
        -1 => failed("fork"),
        // SAFETY: it ends the child without running anything of the parent's.
        0 => unsafe { libc::_exit(0) },
        child => wait(child),
    }
}

#[inline]
fn wait(child: libc::pid_t) -> Result<()> {
    let mut status = 0;
    loop {
        // SAFETY: there is room for the status.
        if unsafe { libc::waitpid(child, &raw mut status, 0) } == child {
            break;
        }
        if io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            return failed("wait for a child");
        }
    }
    if status == 0 {
        Ok(())
    } else {
        Err(Error::os("end a child in peace")(io::Error::other(
            format!("its wait status is {status:#x}"),
        )))
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::CString;
    use std::fs;
    use std::io::Write;
    use std::path::Path;

    use super::*;

    fn c_path(path: &Path) -> CString {
        CString::new(path.to_str().unwrap()).unwrap()
    }

    #[test]
    fn getpid_is_this_process() {
        assert_eq!(getpid_syscall().unwrap(), std::process::id());
    }

    #[test]
    fn reading_and_seeking_move_on_by_a_byte() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        fs::write(&path, b"abc").unwrap();
        let file = File::open(&path).unwrap();
        assert_eq!(read_byte(&file).unwrap(), Some(b'a'));
        assert_eq!(seek(&file).unwrap(), 2);
        assert_eq!(read_byte(&file).unwrap(), Some(b'c'));
        assert_eq!(read_byte(&file).unwrap(), None);
        let write_only = File::create(&path).unwrap();
        read_byte(&write_only).unwrap_err();
    }

    #[test]
    fn opening_needs_a_file_and_leaves_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        open_close(&c_path(&path)).unwrap_err();
        fopen_fclose(&c_path(&path)).unwrap_err();
        fs::write(&path, b"x").unwrap();
        open_close(&c_path(&path)).unwrap();
        fopen_fclose(&c_path(&path)).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"x");
    }

    #[test]
    fn creating_never_touches_a_file_that_is_there() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        create_delete(&c_path(&path)).unwrap();
        assert!(!path.exists());
        File::create(&path).unwrap().write_all(b"x").unwrap();
        create_delete(&c_path(&path)).unwrap_err();
        assert_eq!(fs::read(&path).unwrap(), b"x");
    }

    #[test]
    fn memory_and_processes_can_be_had_again_and_again() {
        for _ in 0..100 {
            malloc_free(4).unwrap();
            fork_exit_wait().unwrap();
        }
        malloc_free(usize::MAX).unwrap_err();
    }
}
