//! Streams of the C library (`FILE`): input and output through a buffer in user space.

use std::ffi::{c_char, c_int, c_void};
use std::fs::File;
use std::mem::ManuallyDrop;
use std::ptr::{self, NonNull};

use crate::error::{Result, refuse};
use crate::os::block_io::{
    IOFBF, IONBF, STREAM_BUFFER_BYTES, failed_in_c, open_stream, seek_stream,
};

/// A `FILE` of the C library.
#[repr(C)]
pub(crate) struct CStream {
    _private: [u8; 0],
}

// SAFETY: the C library declares them so.
unsafe extern "C" {
    fn setvbuf(stream: *mut CStream, buffer: *mut c_char, mode: c_int, len: usize) -> c_int;
    fn fread(block: *mut c_void, item_len: usize, count: usize, stream: *mut CStream) -> usize;
    fn fwrite(block: *const c_void, item_len: usize, count: usize, stream: *mut CStream) -> usize;
    fn fflush(stream: *mut CStream) -> c_int;
    fn fclose(stream: *mut CStream) -> c_int;
    fn ferror(stream: *mut CStream) -> c_int;
}

/// Buffering between a stream's calls and system calls
/// ([setvbuf(3)](https://man7.org/linux/man-pages/man3/setvbuf.3.html)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Buffering {
    /// The C library's default: in glibc the file system's preferred block size, usually 4 KiB.
    Default,
    /// No buffer (`_IONBF`): each call of the stream is a system call.
    None,
    /// A full buffer (`_IOFBF`) of this many bytes, at least 1.
    Bytes(usize),
}

/// A stream over an open file. It starts at the file's position. Dropping it closes the file; call
/// [`Stream::close`] to see errors of the final write.
#[derive(Debug)]
pub struct Stream {
    stream: NonNull<CStream>,
    /// The buffer given to `setvbuf`. The C library writes to it until the stream is closed, so
    /// Rust code must not access it.
    buffer: Option<NonNull<[u8]>>,
}

// SAFETY: any thread may use a stream, and nothing else has this one.
unsafe impl Send for Stream {}

impl Stream {
    /// A stream over `file`, with the access for which the file is open (`fdopen`, then `setvbuf`).
    pub fn over(file: File, buffering: Buffering) -> Result<Self> {
        let mut opened = Self {
            stream: open_stream(file)?,
            buffer: None,
        };
        opened.set_buffer(buffering)?;
        Ok(opened)
    }

    fn set_buffer(&mut self, buffering: Buffering) -> Result<()> {
        let (buffer, mode, bytes) = match buffering {
            Buffering::Default => return Ok(()),
            Buffering::None => (ptr::null_mut(), IONBF, 0),
            Buffering::Bytes(bytes) if !STREAM_BUFFER_BYTES.contains(&bytes) => {
                return refuse("a stream's buffer of this size");
            }
            Buffering::Bytes(bytes) => {
                // With a null buffer, glibc would ignore the size.
                let buffer: *mut [u8] = Box::into_raw(vec![0; bytes.max(1)].into_boxed_slice());
                self.buffer = NonNull::new(buffer);
                (buffer.cast(), IOFBF, bytes.max(1))
            }
        };
        // SAFETY: the stream is open and unused; the buffer lives until the stream is closed.
        match unsafe { setvbuf(self.stream.as_ptr(), buffer, mode, bytes) } {
            0 => Ok(()),
            _ => Err(failed_in_c("set the buffer of a stream")),
        }
    }

    /// Reads up to `block.len()` bytes (`fread` with items of 1 byte), fewer only at the end of the
    /// file.
    #[inline]
    pub fn read(&mut self, block: &mut [u8]) -> Result<usize> {
        let len = block.len();
        // SAFETY: `block` has room for `len` bytes, and the stream is open.
        let count = unsafe { fread(block.as_mut_ptr().cast(), 1, len, self.stream.as_ptr()) };
        if count < len && self.has_failed() {
            return Err(failed_in_c("read a stream"));
        }
        Ok(count)
    }

    /// Writes all of `block` (`fwrite` with items of 1 byte), first into the buffer.
    #[inline]
    pub fn write(&mut self, block: &[u8]) -> Result<()> {
        // SAFETY: the bytes are there, and the stream is open.
        let count = unsafe { fwrite(block.as_ptr().cast(), 1, block.len(), self.stream.as_ptr()) };
        if count < block.len() {
            return Err(failed_in_c("write a stream"));
        }
        Ok(())
    }

    /// Moves to `position`, in bytes from the start (`fseeko`), after writing the buffered bytes.
    /// This call is required between reading and writing.
    #[inline]
    pub fn seek(&mut self, position: u64) -> Result<()> {
        // SAFETY: the stream is open.
        match unsafe { seek_stream(self.stream.as_ptr(), position.cast_signed()) } {
            0 => Ok(()),
            _ => Err(failed_in_c("move the position of a stream")),
        }
    }

    /// Writes the buffered bytes to the system (`fflush`).
    pub fn flush(&mut self) -> Result<()> {
        // SAFETY: the stream is open.
        match unsafe { fflush(self.stream.as_ptr()) } {
            0 => Ok(()),
            _ => Err(failed_in_c("write out a stream")),
        }
    }

    /// Flushes and closes (`fclose`).
    pub fn close(self) -> Result<()> {
        ManuallyDrop::new(self).end()
    }

    fn has_failed(&self) -> bool {
        // SAFETY: the stream is open.
        unsafe { ferror(self.stream.as_ptr()) != 0 }
    }

    /// Must be called once, as the last call.
    fn end(&mut self) -> Result<()> {
        // SAFETY: the stream is open, and not used again.
        let outcome = unsafe { fclose(self.stream.as_ptr()) };
        let error = failed_in_c("close a stream");
        if let Some(buffer) = self.buffer.take() {
            // SAFETY: it came from a box, and the stream that used it is closed.
            drop(unsafe { Box::from_raw(buffer.as_ptr()) });
        }
        if outcome == 0 { Ok(()) } else { Err(error) }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // Callers that need the error call `close`.
        let _ = self.end();
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::file::{OpenMode, create_new, open_read, open_read_write};

    const ALL: [Buffering; 3] = [Buffering::Default, Buffering::None, Buffering::Bytes(7)];

    #[test]
    fn what_is_written_is_read_with_any_buffer() {
        let dir = tempfile::tempdir().unwrap();
        for (index, buffering) in ALL.into_iter().enumerate() {
            let path = dir.path().join(index.to_string());
            let file = create_new(&path, OpenMode::Plain).unwrap();
            let mut stream = Stream::over(file, buffering).unwrap();
            for byte in 0..100 {
                stream.write(&[byte; 5]).unwrap();
            }
            stream.close().unwrap();
            assert_eq!(fs::metadata(&path).unwrap().len(), 500);

            let file = open_read(&path, OpenMode::Plain).unwrap();
            let mut stream = Stream::over(file, buffering).unwrap();
            let mut block = [0; 300];
            assert_eq!(stream.read(&mut block).unwrap(), 300);
            assert_eq!(stream.read(&mut block).unwrap(), 200);
            assert_eq!(block[199], 99);
            assert_eq!(stream.read(&mut block).unwrap(), 0);
            stream.seek(5).unwrap();
            assert_eq!(stream.read(&mut block[..1]).unwrap(), 1);
            assert_eq!(block[0], 1);
        }
    }

    #[test]
    fn a_file_is_read_and_written_in_place() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        fs::write(&path, b"abcdef").unwrap();
        for buffering in ALL {
            let file = open_read_write(&path, OpenMode::Plain).unwrap();
            let mut stream = Stream::over(file, buffering).unwrap();
            let mut block = [0; 3];
            assert_eq!(stream.read(&mut block).unwrap(), 3);
            stream.seek(0).unwrap();
            stream.write(b"xyz").unwrap();
            stream.flush().unwrap();
            assert_eq!(fs::read(&path).unwrap(), b"xyzdef");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn refusals_are_errors() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        fs::write(&path, b"abc").unwrap();
        let file = open_read(&path, OpenMode::Plain).unwrap();
        let mut stream = Stream::over(file, Buffering::None).unwrap();
        stream.write(b"x").unwrap_err();
        let directory = fs::File::open(dir.path()).unwrap();
        let mut stream = Stream::over(directory, Buffering::Default).unwrap();
        stream.read(&mut [0; 8]).unwrap_err();
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_device_shows_at_the_end_at_the_latest() {
        let Ok(full) = fs::OpenOptions::new().write(true).open("/dev/full") else {
            return println!("skipped: there is no /dev/full");
        };
        let mut stream = Stream::over(full, Buffering::Bytes(4096)).unwrap();
        stream.write(b"abc").unwrap();
        stream.close().unwrap_err();
    }
}
