//! Amounts of memory, and mapped memory.

mod mapping;

use std::fs::File;
use std::os::windows::io::AsRawHandle;
use std::ptr::{self, NonNull};
use std::sync::LazyLock;
use std::thread;
use std::time::Duration;

use windows_sys::Win32::Foundation::{
    ERROR_LOCK_VIOLATION, ERROR_NOT_LOCKED, INVALID_HANDLE_VALUE,
};
use windows_sys::Win32::Storage::FileSystem::FlushFileBuffers;
use windows_sys::Win32::System::Memory::{
    CreateFileMappingW, FILE_MAP_READ, FILE_MAP_WRITE, FlushViewOfFile, GetLargePageMinimum,
    MEMORY_MAPPED_VIEW_ADDRESS, MapViewOfFile, PAGE_READONLY, PAGE_READWRITE, UnmapViewOfFile,
    VirtualUnlock,
};
use windows_sys::Win32::System::ProcessStatus::{
    K32QueryWorkingSetEx, PSAPI_WORKING_SET_EX_INFORMATION,
};
use windows_sys::Win32::System::SystemInformation::{
    GetSystemInfo, GlobalMemoryStatusEx, MEMORYSTATUSEX, SYSTEM_INFO,
};
use windows_sys::Win32::System::Threading::GetCurrentProcess;

use super::outcome::{check, code, failed, owned};
use super::usage;
use crate::error::{Error, Result, absent, refuse};
use crate::file::Access;
use crate::memory::{Advice, GroupRoom};

pub use mapping::{Mapping, page_size_bytes as page_bytes};

pub(super) fn base_page_bytes() -> usize {
    SYSTEM[0]
}

/// The unit of the addresses at which memory and files can be mapped.
pub(super) fn allocation_granularity() -> usize {
    SYSTEM[1]
}

/// `None` if the processor has no large pages.
pub(super) fn large_page_bytes() -> Option<usize> {
    // SAFETY: the call has no arguments.
    Some(unsafe { GetLargePageMinimum() }).filter(|bytes| *bytes > 0)
}

/// The size of a page and the allocation granularity.
static SYSTEM: LazyLock<[usize; 2]> = LazyLock::new(|| {
    let mut info = SYSTEM_INFO::default();
    // SAFETY: there is room for the result.
    unsafe { GetSystemInfo(&raw mut info) };
    [info.dwPageSize, info.dwAllocationGranularity].map(|bytes| bytes as usize)
});

/// The memory of the system.
pub(super) fn status() -> Option<MEMORYSTATUSEX> {
    let mut status = MEMORYSTATUSEX {
        dwLength: size_of::<MEMORYSTATUSEX>() as u32,
        ..MEMORYSTATUSEX::default()
    };
    // SAFETY: the result has the size that it names.
    (unsafe { GlobalMemoryStatusEx(&raw mut status) } != 0).then_some(status)
}

/// Committed memory must fit into the memory and the page file together, whatever is used of it.
pub fn available_bytes() -> Option<u64> {
    let status = status()?;
    Some(status.ullAvailPhys.min(status.ullAvailPageFile))
}

pub fn footprint_bytes() -> Option<u64> {
    usage::resident_bytes().ok()
}

absent! {
    fn group_room() -> Option<GroupRoom> = None;
    fn reports_free_pages() -> Option<bool> = None;
    fn compaction_stalls() -> Option<u64> = None;
}

/// Pages per query.
const PAGES_AT_ONCE: usize = 4096;

/// State of a resident page
/// ([PSAPI_WORKING_SET_EX_BLOCK](https://learn.microsoft.com/en-us/windows/win32/api/psapi/ns-psapi-psapi_working_set_ex_block)).
#[derive(Clone, Copy)]
struct Page(usize);

impl Page {
    fn is_resident(self) -> bool {
        self.0 & 1 == 1
    }

    fn is_large(self) -> bool {
        self.is_resident() && self.0 >> 23 & 1 == 1
    }

    fn is_on_node(self, node: usize) -> bool {
        self.is_resident() && self.0 >> 16 & 0x3f == node
    }
}

/// Bytes of the pages of a range for which `counts` is true.
fn bytes_of(range: &[u8], counts: impl Fn(Page) -> bool) -> Result<u64> {
    let mut found = 0;
    for part in range.chunks(PAGES_AT_ONCE * base_page_bytes()) {
        let mut pages: Vec<PSAPI_WORKING_SET_EX_INFORMATION> = part
            .chunks(base_page_bytes())
            .map(|page| PSAPI_WORKING_SET_EX_INFORMATION {
                VirtualAddress: page.as_ptr().cast_mut().cast(),
                ..PSAPI_WORKING_SET_EX_INFORMATION::default()
            })
            .collect();
        // SAFETY: the buffer has the given length.
        let outcome = unsafe {
            K32QueryWorkingSetEx(
                GetCurrentProcess(),
                pages.as_mut_ptr().cast(),
                size_of_val(&pages[..]) as u32,
            )
        };
        check(outcome, "ask for the residency of memory")?;
        found += pages
            .iter()
            // SAFETY: both variants of the union are one number.
            .filter(|page| counts(Page(unsafe { page.VirtualAttributes.Flags })))
            .count();
    }
    Ok((found * base_page_bytes()) as u64)
}

/// Removes a range from the working set. The contents stay.
fn remove_from_working_set(range: &[u8]) -> Result<()> {
    // SAFETY: the contents of the range stay.
    let outcome = unsafe { VirtualUnlock(range.as_ptr().cast(), range.len()) };
    match check(outcome, "remove memory from the working set") {
        // That is what the call reports after it removed pages that were not locked.
        Err(Error::Os { source, .. }) if code(&source) == Some(ERROR_NOT_LOCKED) => Ok(()),
        other => other,
    }
}

/// Mapped bytes of a section, which a file or the paging file backs.
#[derive(Debug)]
pub(super) struct View(pub(super) NonNull<u8>);

impl View {
    /// Maps `len` bytes from `offset` on, of a file, or of a new section of this length.
    pub(super) fn new(
        file: Option<&File>,
        offset: u64,
        len: usize,
        access: Access,
        action: &'static str,
    ) -> Result<Self> {
        let (protection, rights) = match access {
            Access::Read => (PAGE_READONLY, FILE_MAP_READ),
            Access::Write => (PAGE_READWRITE, FILE_MAP_READ | FILE_MAP_WRITE),
        };
        // A section of a file has the length of the file.
        let (backing, section_len) = match file {
            Some(file) => (file.as_raw_handle(), 0),
            None => (INVALID_HANDLE_VALUE, len as u64),
        };
        let (high, low) = ((section_len >> 32) as u32, section_len as u32);
        let (usual, no_name) = (ptr::null(), ptr::null());
        // SAFETY: a section without a name and with default attributes, and the handle is new. A view outlives its
        // section's handle.
        let section = unsafe {
            let section = CreateFileMappingW(backing, usual, protection, high, low, no_name);
            owned(section, action)?
        };
        let (high, low) = ((offset >> 32) as u32, offset as u32);
        // SAFETY: the system selects a free range, so no existing memory is touched.
        let view = unsafe { MapViewOfFile(section.as_raw_handle(), rights, high, low, len) };
        let start = NonNull::new(view.Value.cast()).ok_or_else(|| failed(action))?;
        Ok(Self(start))
    }
}

impl Drop for View {
    fn drop(&mut self) {
        let view = MEMORY_MAPPED_VIEW_ADDRESS {
            Value: self.0.as_ptr().cast(),
        };
        // SAFETY: the view belongs to this value, and every borrow of it has ended.
        unsafe { UnmapViewOfFile(view) };
    }
}

#[derive(Debug)]
pub(crate) struct FileMapping {
    /// The view starts where the system can map, at or before the first byte.
    _view: View,
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
        const ACTION: &str = "map a file";
        let file = file.try_clone().map_err(Error::os(ACTION))?;
        let before = offset % allocation_granularity() as u64;
        let view_len = before as usize + len;
        let view = View::new(Some(&file), offset - before, view_len, access, ACTION)?;
        Ok(Self {
            // SAFETY: the view has at least this length.
            start: unsafe { view.0.add(before as usize) },
            _view: view,
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
            Advice::Sequential | Advice::Random => refuse("advice on the order of access"),
            Advice::DontNeed => remove_from_working_set(self.as_slice()),
        }
    }

    pub(crate) fn sync(&self) -> Result<()> {
        const ACTION: &str = "synchronise a mapping";
        // While the system writes pages of the view by itself, it refuses to.
        const ATTEMPTS: u32 = 300;
        const PAUSE: Duration = Duration::from_millis(1);
        let is_busy = |error: &Error| error.io_error().and_then(code) == Some(ERROR_LOCK_VIOLATION);
        let mut retries = 1..ATTEMPTS;
        loop {
            // SAFETY: the range is mapped, and its contents stay.
            let outcome = unsafe { FlushViewOfFile(self.start.as_ptr().cast(), self.len) };
            match check(outcome, ACTION) {
                Err(error) if is_busy(&error) && retries.next().is_some() => thread::sleep(PAUSE),
                flushed => break flushed?,
            }
        }
        // SAFETY: the file is open.
        let outcome = unsafe { FlushFileBuffers(self.file.as_raw_handle()) };
        check(outcome, ACTION)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn the_parts_of_a_state_differ() {
        let (valid, locked, large) = (1, 1 << 22, 1 << 23);
        assert!(Page(valid | large).is_large() && !Page(large).is_large());
        assert!(!Page(valid | locked).is_large());
        let on_five = Page(valid | 5 << 16 | locked);
        assert!(on_five.is_on_node(5) && !on_five.is_on_node(0));
        assert!(Page(valid).is_on_node(0) && !Page(0).is_on_node(0));
    }

    #[test]
    fn what_the_file_does_not_have_cannot_be_mapped() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&[b'a'; 4096]).unwrap();
        FileMapping::over(&file, 1 << 20, 4096, Access::Read).unwrap_err();
    }
}
