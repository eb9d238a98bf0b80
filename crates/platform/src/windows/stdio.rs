use std::ffi::{c_char, c_int, c_void};
use std::fs::File;
use std::mem::ManuallyDrop;
use std::os::windows::io::{AsRawHandle, IntoRawHandle};
use std::ptr::{self, NonNull};

use windows_sys::Wdk::Storage::FileSystem::{
    FILE_ACCESS_INFORMATION, FileAccessInformation, NtQueryInformationFile,
};
use windows_sys::Win32::Storage::FileSystem::{FILE_READ_DATA, FILE_WRITE_DATA};
use windows_sys::Win32::System::IO::IO_STATUS_BLOCK;

use super::errno::failed;
use crate::Result;
use crate::error::refuse;
use crate::stdio::Buffering;

/// A stream of the C library.
#[repr(C)]
pub(super) struct Opaque {
    _private: [u8; 0],
}

// Names and constants of Microsoft's C library.
const IOFBF: c_int = 0;
const IONBF: c_int = 4;
const SEEK_SET: c_int = 0;
const O_RDONLY: c_int = 0;
const O_WRONLY: c_int = 1;
const O_RDWR: c_int = 2;
const O_BINARY: c_int = 0x8000;

// SAFETY: the C library declares them so.
unsafe extern "C" {
    fn _open_osfhandle(handle: isize, flags: c_int) -> c_int;
    fn _close(descriptor: c_int) -> c_int;
    fn _fdopen(descriptor: c_int, mode: *const c_char) -> *mut Opaque;
    fn setvbuf(stream: *mut Opaque, buffer: *mut c_char, mode: c_int, len: usize) -> c_int;
    fn fread(block: *mut c_void, item_len: usize, count: usize, stream: *mut Opaque) -> usize;
    fn fwrite(block: *const c_void, item_len: usize, count: usize, stream: *mut Opaque) -> usize;
    fn _fseeki64(stream: *mut Opaque, offset: i64, origin: c_int) -> c_int;
    fn fflush(stream: *mut Opaque) -> c_int;
    fn fclose(stream: *mut Opaque) -> c_int;
    fn ferror(stream: *mut Opaque) -> c_int;
}

#[derive(Debug)]
pub struct Stream {
    stream: NonNull<Opaque>,
    /// The buffer given to `setvbuf`. The C library writes to it until the stream is closed, so
    /// Rust code must not access it.
    buffer: Option<NonNull<[u8]>>,
}

// SAFETY: any thread may use a stream, and nothing else has this one.
unsafe impl Send for Stream {}

impl Stream {
    pub fn over(file: File, buffering: Buffering) -> Result<Self> {
        let access = access(&file)?;
        let (flags, mode) = match (access & FILE_READ_DATA, access & FILE_WRITE_DATA) {
            (_, 0) => (O_RDONLY, c"rb"),
            (0, _) => (O_WRONLY, c"wb"),
            _ => (O_RDWR, c"r+b"),
        };
        // SAFETY: the handle is open.
        let descriptor =
            unsafe { _open_osfhandle(file.as_raw_handle() as isize, flags | O_BINARY) };
        if descriptor == -1 {
            return Err(failed("open a stream"));
        }
        // From here on, the descriptor owns the handle.
        let _ = file.into_raw_handle();
        // SAFETY: the descriptor is open and the mode ends with a zero byte.
        let stream = unsafe { _fdopen(descriptor, mode.as_ptr()) };
        let Some(stream) = NonNull::new(stream) else {
            let error = failed("open a stream");
            // SAFETY: the descriptor is open, and no stream has it.
            unsafe { _close(descriptor) };
            return Err(error);
        };
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
            Buffering::None => (ptr::null_mut(), IONBF, 0),
            Buffering::Bytes(bytes) if !(2..=i32::MAX as usize).contains(&bytes) => {
                return refuse("a stream's buffer of this size");
            }
            Buffering::Bytes(bytes) => {
                let buffer: *mut [u8] = Box::into_raw(vec![0; bytes].into_boxed_slice());
                self.buffer = NonNull::new(buffer);
                (buffer.cast(), IOFBF, bytes)
            }
        };
        // SAFETY: the stream is open and unused; the buffer lives until the stream is closed.
        match unsafe { setvbuf(self.stream.as_ptr(), buffer, mode, bytes) } {
            0 => Ok(()),
            _ => Err(failed("set the buffer of a stream")),
        }
    }

    #[inline]
    pub fn read(&mut self, block: &mut [u8]) -> Result<usize> {
        let len = block.len();
        // SAFETY: `block` has room for `len` bytes, and the stream is open.
        let count = unsafe { fread(block.as_mut_ptr().cast(), 1, len, self.stream.as_ptr()) };
        // SAFETY: the stream is open.
        if count < len && unsafe { ferror(self.stream.as_ptr()) } != 0 {
            return Err(failed("read a stream"));
        }
        Ok(count)
    }

    #[inline]
    pub fn write(&mut self, block: &[u8]) -> Result<()> {
        // SAFETY: the bytes are there, and the stream is open.
        let count = unsafe { fwrite(block.as_ptr().cast(), 1, block.len(), self.stream.as_ptr()) };
        if count < block.len() {
            return Err(failed("write a stream"));
        }
        Ok(())
    }

    #[inline]
    pub fn seek(&mut self, position: u64) -> Result<()> {
        // SAFETY: the stream is open.
        match unsafe { _fseeki64(self.stream.as_ptr(), position.cast_signed(), SEEK_SET) } {
            0 => Ok(()),
            _ => Err(failed("move within a stream")),
        }
    }

    pub fn flush(&mut self) -> Result<()> {
        // SAFETY: the stream is open.
        match unsafe { fflush(self.stream.as_ptr()) } {
            0 => Ok(()),
            _ => Err(failed("flush a stream")),
        }
    }

    pub fn close(self) -> Result<()> {
        ManuallyDrop::new(self).close_once()
    }

    /// Only once: afterwards, the stream is gone.
    fn close_once(&mut self) -> Result<()> {
        // SAFETY: the stream is open, and is not used again.
        let outcome = unsafe { fclose(self.stream.as_ptr()) };
        if let Some(buffer) = self.buffer.take() {
            // SAFETY: it came from a Box, and the stream no longer uses it.
            drop(unsafe { Box::from_raw(buffer.as_ptr()) });
        }
        match outcome {
            0 => Ok(()),
            _ => Err(failed("close a stream")),
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // No caller is left to get the error.
        let _ = self.close_once();
    }
}

/// The access for which a file is open.
fn access(file: &File) -> Result<u32> {
    let mut block = IO_STATUS_BLOCK::default();
    let mut access = FILE_ACCESS_INFORMATION::default();
    // SAFETY: the result has the given length, and the file is open.
    let status = unsafe {
        NtQueryInformationFile(
            file.as_raw_handle(),
            &raw mut block,
            (&raw mut access).cast(),
            size_of_val(&access) as u32,
            FileAccessInformation,
        )
    };
    match status {
        0 => Ok(access.AccessFlags),
        _ => refuse("asking how a file was opened"),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Seek, SeekFrom};

    use super::*;

    #[test]
    fn what_is_written_is_read_again_whatever_the_buffer() {
        for buffering in [Buffering::Default, Buffering::None, Buffering::Bytes(100)] {
            let mut file = tempfile::tempfile().unwrap();
            let mut stream = Stream::over(file.try_clone().unwrap(), buffering).unwrap();
            // Text would grow by a byte for each line feed.
            stream.write(&[b'\n'; 1000]).unwrap();
            stream.seek(990).unwrap();
            let mut block = [0; 20];
            assert_eq!(stream.read(&mut block).unwrap(), 10);
            stream.close().unwrap();
            assert_eq!(file.seek(SeekFrom::End(0)).unwrap(), 1000);
        }
    }
}
