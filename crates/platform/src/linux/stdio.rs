use std::fs::File;
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd, IntoRawFd};
use std::ptr::{self, NonNull};

use rustix::fs::{OFlags, fcntl_getfl};

use crate::error::{Error, Result};
use crate::stdio::Buffering;

/// A stream over an open file. It starts at the file's position. Dropping it closes the file; call
/// [`Stream::close`] to see errors of the final write.
#[derive(Debug)]
pub struct Stream {
    stream: NonNull<libc::FILE>,
    /// The buffer given to `setvbuf`. The C library writes to it until the stream is closed, so
    /// Rust code must not access it.
    buffer: Option<NonNull<[u8]>>,
}

// SAFETY: any thread may use a stream, and nothing else has this one.
unsafe impl Send for Stream {}

impl Stream {
    /// A stream over `file`, with the access for which the file is open (`fdopen`, then `setvbuf`).
    ///
    /// # Errors
    /// If the C library refuses the buffer or has no memory for the stream.
    pub fn over(file: File, buffering: Buffering) -> Result<Self> {
        let flags = fcntl_getfl(&file).map_err(Error::os("ask how a file was opened"))?;
        // fdopen never truncates the file, whatever its mode.
        let mode = match flags & OFlags::RWMODE {
            OFlags::WRONLY => c"w",
            OFlags::RDWR => c"r+",
            _ => c"r",
        };
        // SAFETY: the descriptor is open and the mode ends with a zero byte.
        let stream = unsafe { libc::fdopen(file.as_raw_fd(), mode.as_ptr()) };
        let stream = NonNull::new(stream).ok_or_else(|| failed("open a stream"))?;
        // From here on, the stream owns the descriptor.
        let _ = file.into_raw_fd();
        let mut opened = Self {
            stream,
            buffer: None,
        };
        opened.set_buffer(buffering)?;
        Ok(opened)
    }

    fn set_buffer(&mut self, buffering: Buffering) -> Result<()> {
        let (buffer, mode, bytes) = match buffering {
            Buffering::Default => return Ok(()),
            Buffering::None => (ptr::null_mut(), libc::_IONBF, 0),
            Buffering::Bytes(bytes) => {
                // With a null buffer, glibc would ignore the size.
                let buffer: *mut [u8] = Box::into_raw(vec![0; bytes.max(1)].into_boxed_slice());
                self.buffer = NonNull::new(buffer);
                (buffer.cast(), libc::_IOFBF, bytes.max(1))
            }
        };
        // SAFETY: the stream is open and unused; the buffer lives until the stream is closed.
        match unsafe { libc::setvbuf(self.stream.as_ptr(), buffer, mode, bytes) } {
            0 => Ok(()),
            _ => Err(failed("set the buffer of a stream")),
        }
    }

    /// Reads up to `block.len()` bytes (`fread` with items of 1 byte), fewer only at the end of the
    /// file.
    ///
    /// # Errors
    /// If the system cannot read.
    #[inline]
    pub fn read(&mut self, block: &mut [u8]) -> Result<usize> {
        let len = block.len();
        // SAFETY: `block` has room for `len` bytes, and the stream is open.
        let count = unsafe { libc::fread(block.as_mut_ptr().cast(), 1, len, self.stream.as_ptr()) };
        if count < len && self.has_failed() {
            return Err(failed("read a stream"));
        }
        Ok(count)
    }

    /// Writes all of `block` (`fwrite` with items of 1 byte), first into the buffer.
    ///
    /// # Errors
    /// If the system cannot write the bytes that leave the buffer.
    #[inline]
    pub fn write(&mut self, block: &[u8]) -> Result<()> {
        // SAFETY: the bytes are there, and the stream is open.
        let count =
            unsafe { libc::fwrite(block.as_ptr().cast(), 1, block.len(), self.stream.as_ptr()) };
        if count < block.len() {
            return Err(failed("write a stream"));
        }
        Ok(())
    }

    /// Moves to `position`, in bytes from the start (`fseeko`), after writing the buffered bytes.
    /// This call is required between reading and writing.
    ///
    /// # Errors
    /// If the system cannot write, or the file has no position.
    #[inline]
    pub fn seek(&mut self, position: u64) -> Result<()> {
        let offset = position.cast_signed();
        // SAFETY: the stream is open.
        match unsafe { libc::fseeko64(self.stream.as_ptr(), offset, libc::SEEK_SET) } {
            0 => Ok(()),
            _ => Err(failed("move the position of a stream")),
        }
    }

    /// Writes the buffered bytes to the system (`fflush`).
    ///
    /// # Errors
    /// If the system cannot write.
    pub fn flush(&mut self) -> Result<()> {
        // SAFETY: the stream is open.
        match unsafe { libc::fflush(self.stream.as_ptr()) } {
            0 => Ok(()),
            _ => Err(failed("write out a stream")),
        }
    }

    /// Flushes and closes (`fclose`).
    ///
    /// # Errors
    /// If the system cannot write the buffered bytes.
    pub fn close(self) -> Result<()> {
        ManuallyDrop::new(self).end()
    }

    fn has_failed(&self) -> bool {
        // SAFETY: the stream is open.
        unsafe { libc::ferror(self.stream.as_ptr()) != 0 }
    }

    /// Must be called once, as the last call.
    fn end(&mut self) -> Result<()> {
        // SAFETY: the stream is open, and not used again.
        let outcome = unsafe { libc::fclose(self.stream.as_ptr()) };
        let error = failed("close a stream");
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

#[cold]
fn failed(action: &'static str) -> Error {
    Error::os(action)(io::Error::last_os_error())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use crate::file::{OpenMode, create_new, open_read, open_read_write};
    use crate::stdio::{Buffering, Stream};

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
