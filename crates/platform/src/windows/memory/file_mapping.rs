//! A view of a file.

use std::fs::File;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::ptr::{self, NonNull};
use std::thread;
use std::time::Duration;

use windows_sys::Win32::Foundation::ERROR_LOCK_VIOLATION;
use windows_sys::Win32::Storage::FileSystem::FlushFileBuffers;
use windows_sys::Win32::System::Memory::{
    CreateFileMappingW, FILE_MAP_READ, FILE_MAP_WRITE, FlushViewOfFile, MEMORY_MAPPED_VIEW_ADDRESS,
    MapViewOfFile, PAGE_READONLY, PAGE_READWRITE, UnmapViewOfFile,
};

use super::range::{prefetch, remove_from_working_set};
use crate::error::{Error, Result, refuse};
use crate::file::Access;
use crate::memory::Advice;
use crate::windows::machine::allocation_granularity;
use crate::windows::outcome::{check, code, failed};

const ACTION: &str = "map a file";

#[derive(Debug)]
pub(crate) struct FileMapping {
    /// The view starts where the system can map, at or before the first byte.
    view: NonNull<u8>,
    start: NonNull<u8>,
    len: usize,
    file: File,
}

// SAFETY: a mapping owns its view, as a Box does.
unsafe impl Send for FileMapping {}
// SAFETY: a shared reference only reads.
unsafe impl Sync for FileMapping {}

impl FileMapping {
    pub(crate) fn over(file: &File, offset: u64, len: usize, access: Access) -> Result<Self> {
        let (protection, rights) = match access {
            Access::Read => (PAGE_READONLY, FILE_MAP_READ),
            Access::Write => (PAGE_READWRITE, FILE_MAP_READ | FILE_MAP_WRITE),
        };
        let file = file.try_clone().map_err(Error::os(ACTION))?;
        // SAFETY: a section of the whole file, without a name and with default attributes.
        let section = unsafe {
            CreateFileMappingW(
                file.as_raw_handle(),
                ptr::null(),
                protection,
                0,
                0,
                ptr::null(),
            )
        };
        if section.is_null() {
            return Err(failed(ACTION));
        }
        // SAFETY: the handle is new, and nothing else has it. A view outlives its section's handle.
        let section = unsafe { OwnedHandle::from_raw_handle(section) };
        let before = offset % allocation_granularity() as u64;
        let view_offset = offset - before;
        let before = before as usize;
        // SAFETY: the system selects a free range, so no existing memory is touched.
        let view = unsafe {
            MapViewOfFile(
                section.as_raw_handle(),
                rights,
                (view_offset >> 32) as u32,
                view_offset as u32,
                before + len,
            )
        };
        let view = NonNull::new(view.Value.cast()).ok_or_else(|| failed(ACTION))?;
        Ok(Self {
            view,
            // SAFETY: the view has at least this length.
            start: unsafe { view.add(before) },
            len,
            file,
        })
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        // SAFETY: the memory is mapped readable for as long as `self` lives, and only `as_mut_slice`
        // changes it.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }

    /// Only for a file that is mapped writable.
    pub(crate) fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: as above; `&mut self` excludes every other slice.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }

    /// The system refuses to truncate a mapped file. A device that fails below a view ends the process.
    #[expect(clippy::unused_self, reason = "other systems lose pages")]
    pub(crate) fn has_lost(&self) -> bool {
        false
    }

    pub(crate) fn advise(&mut self, advice: Advice) -> Result<()> {
        match advice {
            Advice::Normal => Ok(()),
            Advice::Sequential | Advice::Random => refuse("advice on the order of access"),
            Advice::WillNeed => prefetch(self.as_slice()),
            Advice::DontNeed => remove_from_working_set(self.as_slice()),
        }
    }

    pub(crate) fn sync(&self) -> Result<()> {
        const ACTION: &str = "synchronise a mapping";
        // While the system writes pages of the view by itself, it refuses to.
        const ATTEMPTS: u32 = 300;
        const PAUSE: Duration = Duration::from_millis(1);
        let flush = || {
            // SAFETY: the range is mapped, and its contents stay.
            let outcome = unsafe { FlushViewOfFile(self.start.as_ptr().cast(), self.len) };
            check(outcome, ACTION)
        };
        let is_busy = |outcome: &Result<()>| {
            let error = outcome.as_ref().err().and_then(Error::io_error);
            error.and_then(code) == Some(ERROR_LOCK_VIOLATION)
        };
        let mut flushed = flush();
        for _ in 1..ATTEMPTS {
            if !is_busy(&flushed) {
                break;
            }
            thread::sleep(PAUSE);
            flushed = flush();
        }
        flushed?;
        // SAFETY: the file is open.
        let outcome = unsafe { FlushFileBuffers(self.file.as_raw_handle()) };
        check(outcome, ACTION)
    }
}

impl Drop for FileMapping {
    fn drop(&mut self) {
        let view = MEMORY_MAPPED_VIEW_ADDRESS {
            Value: self.view.as_ptr().cast(),
        };
        // SAFETY: the view belongs to this mapping, and no slice of it can outlive `self`.
        unsafe { UnmapViewOfFile(view) };
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Seek, Write};

    use super::*;

    #[test]
    fn writes_to_the_memory_change_the_file() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&[b'a'; 3 * 4096]).unwrap();
        let mut mapping = FileMapping::over(&file, 4096, 4096, Access::Write).unwrap();
        mapping.as_mut_slice()[..4].copy_from_slice(b"word");
        mapping.sync().unwrap();
        mapping.advise(Advice::DontNeed).unwrap();
        assert_eq!(&mapping.as_slice()[..5], b"worda");
        drop(mapping);
        let mut text = String::new();
        file.rewind().unwrap();
        file.read_to_string(&mut text).unwrap();
        assert_eq!(&text[4095..4101], "aworda");
    }

    #[test]
    fn what_the_file_does_not_have_cannot_be_mapped() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&[b'a'; 4096]).unwrap();
        FileMapping::over(&file, 1 << 20, 4096, Access::Read).unwrap_err();
    }
}
