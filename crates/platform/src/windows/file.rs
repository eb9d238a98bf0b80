use std::ffi::{OsString, c_void};
use std::fs::{self, File, Metadata, OpenOptions};
use std::os::windows::ffi::OsStringExt;
use std::os::windows::fs::OpenOptionsExt;
use std::os::windows::io::{AsHandle, AsRawHandle};
use std::path::{Path, PathBuf};
use std::{io, ptr};

use windows_sys::Wdk::System::SystemInformation::SystemPerformanceInformation;
use windows_sys::Win32::Foundation::{
    ERROR_CALL_NOT_IMPLEMENTED, ERROR_INVALID_FUNCTION, ERROR_INVALID_PARAMETER,
    ERROR_LOCK_VIOLATION, ERROR_MORE_DATA, ERROR_NOT_SUPPORTED, NTSTATUS,
};
use windows_sys::Win32::Storage::FileSystem::{
    FILE_ALLOCATION_INFO, FILE_FLAG_BACKUP_SEMANTICS, FILE_FLAG_NO_BUFFERING,
    FILE_FLAG_OPEN_REPARSE_POINT, FILE_FLAG_WRITE_THROUGH, FILE_NAME_NORMALIZED, FILE_TYPE_DISK,
    FileAllocationInfo, GetFileType, GetFinalPathNameByHandleW, LOCKFILE_EXCLUSIVE_LOCK,
    LOCKFILE_FAIL_IMMEDIATELY, LockFileEx, READ_CONTROL, SetFileInformationByHandle, UnlockFileEx,
};
use windows_sys::Win32::System::IO::{DeviceIoControl, OVERLAPPED};
use windows_sys::Win32::System::Ioctl::{
    FILE_ALLOCATED_RANGE_BUFFER, FSCTL_QUERY_ALLOCATED_RANGES, FSCTL_SET_SPARSE,
};
use windows_sys::Win32::System::Memory::SetSystemFileCacheSize;
use windows_sys::Win32::System::WindowsProgramming::SYSTEM_PERFORMANCE_INFORMATION;

use super::block_io::{positioned, reopen};
use super::machine;
use super::outcome::{check, check_status, code};
use super::private::{self, INCREASE_QUOTA, PROFILE_PROCESS, has};
use super::query::query;
use crate::error::{Error, Result, absent, refuse};
use crate::file::{Access, OpenMode, Residency};

/// Write-through on NTFS also waits for the metadata that the write changed
/// ([File caching](https://learn.microsoft.com/en-us/windows/win32/fileio/file-caching)), so no flag
/// is as weak as `O_DSYNC`.
pub(crate) fn set_mode(options: &mut OpenOptions, mode: OpenMode) -> Result<()> {
    let flags = match mode {
        OpenMode::Plain => 0,
        OpenMode::Direct => FILE_FLAG_NO_BUFFERING,
        OpenMode::Synchronous => FILE_FLAG_WRITE_THROUGH,
        OpenMode::DataSynchronous => {
            return refuse("writing that waits for data without metadata");
        }
    };
    options.custom_flags(flags);
    Ok(())
}

pub fn allow_holes(file: &File) -> Result<()> {
    let mut written = 0;
    // SAFETY: without input, the request is to allow them; there is no output.
    let outcome = unsafe {
        DeviceIoControl(
            file.as_raw_handle(),
            FSCTL_SET_SPARSE,
            ptr::null(),
            0,
            ptr::null_mut(),
            0,
            &raw mut written,
            ptr::null_mut(),
        )
    };
    match check(outcome, "allow a file to have holes") {
        Err(error) if is_missing(error.io_error()) => Ok(()),
        outcome => outcome,
    }
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "the other handle takes its place"
)]
pub fn overlapped(file: File) -> Result<File> {
    reopen(&file)
}

absent! {
    fn allocate_open_file(&Path, u64) -> Result<()> = Ok(());
    fn evict(&File) -> Result<()> = refuse(
        "evicting an open file from the cache (without rights, Windows only drops a closed file, \
         when it is opened unbuffered)"
    );
    fn residency(&File) -> Result<Residency> =
        refuse("asking for the part of a file in the cache, which Windows does not report,");
    fn reports_residency() -> bool = false;
    fn open_write_without_waiting(&Path, OpenMode) -> Result<Option<File>> = refuse("opening a pipe without waiting");
    fn let_reads_wait(&File) -> io::Result<()> = Ok(());
    fn is_named_pipe(&Metadata) -> bool = false;
    fn is_character_device(&Metadata) -> bool = false;
    fn is_socket(&Metadata) -> bool = false;
    fn set_permissions(&mut OpenOptions, &Metadata) -> () = ();
    fn allocated_bytes(&Metadata) -> Option<u64> = None;
    fn zero_device() -> Result<&'static Path> = refuse("a device that gives zeros");
    fn finds_room_by_page(&File) -> bool = false;
}

/// The system keeps all others from reading and writing what is locked. So the lock is on a byte that no file
/// has.
fn lock_place() -> OVERLAPPED {
    positioned(i64::MAX as u64 - 1)
}

pub(crate) fn try_lock(file: &File, access: Access) -> io::Result<()> {
    let exclusive = match access {
        Access::Read => 0,
        Access::Write => LOCKFILE_EXCLUSIVE_LOCK,
    };
    lock_at(file, exclusive, lock_place())
}

/// Locks one byte, without waiting.
fn lock_at(file: &File, exclusive: u32, mut place: OVERLAPPED) -> io::Result<()> {
    let flags = LOCKFILE_FAIL_IMMEDIATELY | exclusive;
    // SAFETY: the handle is open, and the call does not wait.
    let outcome = unsafe { LockFileEx(file.as_raw_handle(), flags, 0, 1, 0, &raw mut place) };
    match check(outcome, "lock a file").map_err(io::Error::from) {
        Err(error) if code(&error) == Some(ERROR_LOCK_VIOLATION) => {
            Err(io::ErrorKind::WouldBlock.into())
        }
        outcome => outcome,
    }
}

/// Another lock of the same byte by this opening fails too, unlike on Linux.
pub fn try_lock_byte(file: &File, at: u64) -> io::Result<bool> {
    match lock_at(file, LOCKFILE_EXCLUSIVE_LOCK, positioned(at)) {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
        outcome => outcome.map(|()| true),
    }
}

pub(crate) fn unlock(file: &File) -> io::Result<()> {
    let mut place = lock_place();
    // SAFETY: the handle is open.
    let outcome = unsafe { UnlockFileEx(file.as_raw_handle(), 0, 1, 0, &raw mut place) };
    check(outcome, "unlock a file").map_err(io::Error::from)
}

pub fn open_without_waiting(path: &Path) -> io::Result<(File, Metadata)> {
    let mut options = OpenOptions::new();
    // A directory opens with this flag only.
    let options = options.read(true).custom_flags(FILE_FLAG_BACKUP_SEMANTICS);
    let file = options.open(path)?;
    let metadata = file.metadata()?;
    Ok((file, metadata))
}

pub fn is_on_disk(file: &File) -> bool {
    // SAFETY: the handle is open.
    (unsafe { GetFileType(file.as_raw_handle()) }) == FILE_TYPE_DISK
}

/// The path by which the file is found now. Wine reports the one by which it was opened.
pub(crate) fn path_of_descriptor(file: &File) -> Option<PathBuf> {
    // As long as a path can be.
    let mut path = vec![0; 1 << 15];
    // SAFETY: the handle is open, and the buffer has the given length.
    let len = unsafe {
        GetFinalPathNameByHandleW(
            file.as_raw_handle(),
            path.as_mut_ptr(),
            path.len() as u32,
            FILE_NAME_NORMALIZED,
        )
    };
    let path = path.get(..len as usize).filter(|path| !path.is_empty())?;
    let path = PathBuf::from(OsString::from_wide(path));
    is_at(file, &path).then_some(path)
}

pub fn become_like(file: &File, model: &Metadata) -> Result<()> {
    file.set_permissions(model.permissions())
        .map_err(Error::os("set the permissions of a file"))
}

pub fn create_secret(path: &Path) -> io::Result<File> {
    private::create_file(path)
}

pub(crate) fn duplicate(stream: impl AsHandle) -> io::Result<File> {
    stream.as_handle().try_clone_to_owned().map(File::from)
}

pub fn is_at(file: &File, path: &Path) -> bool {
    let mut options = OpenOptions::new();
    // No access is needed to learn the identity, so other programs' locks do not matter.
    let options = options
        .access_mode(0)
        .custom_flags(FILE_FLAG_BACKUP_SEMANTICS);
    let found = options.open(path);
    found.is_ok_and(|found| is_same_file(&found, file))
}

pub fn is_same_file(one: &File, other: &File) -> bool {
    private::is_same(one, other).unwrap_or(false)
}

pub fn null_device() -> Result<&'static Path> {
    Ok(Path::new("NUL"))
}

pub fn allocate_range(file: &File, offset: u64, len: u64) -> Result<()> {
    const ACTION: &str = "allocate room for a file";
    let end = offset
        .checked_add(len)
        .ok_or_else(|| Error::os(ACTION)(io::ErrorKind::FileTooLarge))?;
    reserve(file, offset, len)?;
    if private::standard(file)?.EndOfFile.cast_unsigned() < end {
        file.set_len(end).map_err(Error::os(ACTION))?;
    }
    Ok(())
}

/// The system allocates from the start of the file on.
pub fn reserve(file: &File, offset: u64, len: u64) -> Result<()> {
    let wanted = offset
        .saturating_add(len)
        .min(i64::MAX as u64)
        .cast_signed();
    let now = private::standard(file)?;
    // A compressed file has less room than bytes, and less room than bytes would cut it.
    let wanted = wanted.max(now.EndOfFile);
    if now.AllocationSize >= wanted {
        return Ok(());
    }
    let room = FILE_ALLOCATION_INFO {
        AllocationSize: wanted,
    };
    // SAFETY: the class has this type, and its size is given.
    let outcome = unsafe {
        SetFileInformationByHandle(
            file.as_raw_handle(),
            FileAllocationInfo,
            (&raw const room).cast(),
            size_of_val(&room) as u32,
        )
    };
    check(outcome, "allocate room for a file").map_err(|error| {
        if is_missing(error.io_error()) {
            Error::NotSupported("allocating room for a file")
        } else {
            error
        }
    })
}

pub fn next_data(file: &File, offset: u64, len: u64) -> io::Result<Option<(u64, u64)>> {
    if offset >= len {
        return Ok(None);
    }
    let asked = FILE_ALLOCATED_RANGE_BUFFER {
        FileOffset: offset.cast_signed(),
        Length: (len - offset).cast_signed(),
    };
    let mut found = FILE_ALLOCATED_RANGE_BUFFER::default();
    let mut written = 0;
    // SAFETY: both buffers have the given sizes.
    let outcome = unsafe {
        DeviceIoControl(
            file.as_raw_handle(),
            FSCTL_QUERY_ALLOCATED_RANGES,
            (&raw const asked).cast(),
            size_of_val(&asked) as u32,
            (&raw mut found).cast(),
            size_of_val(&found) as u32,
            &raw mut written,
            ptr::null_mut(),
        )
    };
    if outcome == 0 {
        let refusal = io::Error::last_os_error();
        if is_missing(Some(&refusal)) {
            return Ok(Some((offset, len)));
        }
        // There is room for the first range only, which is all that is asked for.
        if code(&refusal) != Some(ERROR_MORE_DATA) {
            return Err(refusal);
        }
    } else if written == 0 {
        return Ok(None);
    }
    let start = found.FileOffset.cast_unsigned().max(offset);
    let end = (found.FileOffset + found.Length).cast_unsigned().min(len);
    Ok((start < end).then_some((start, end)))
}

/// True for a request that a file system does not know.
fn is_missing(refusal: Option<&io::Error>) -> bool {
    const MISSING: [u32; 4] = [
        ERROR_CALL_NOT_IMPLEMENTED,
        ERROR_INVALID_FUNCTION,
        ERROR_INVALID_PARAMETER,
        ERROR_NOT_SUPPORTED,
    ];
    refusal
        .and_then(code)
        .is_some_and(|code| MISSING.contains(&code))
}

pub fn believable_size(_file: &File, metadata: &Metadata) -> Option<u64> {
    metadata.is_file().then_some(metadata.len())
}

// The names and numbers of the kernel's own headers, which Microsoft does not document; those of System Informer
// (phnt, `ntexapi.h`).
const SYSTEM_MEMORY_LIST_INFORMATION: i32 = 80;
const MEMORY_PURGE_STANDBY_LIST: i32 = 4;
/// Offset of `PageReadCount`: pages that were read from storage to serve page faults. It is what the counter
/// `Pages Input/sec` counts, and reads of files through the cache are such faults.
const PAGE_READ_COUNT: usize = 80;
const PAGE_BYTES: u64 = 4096;

#[link(name = "ntdll", kind = "raw-dylib")]
unsafe extern "system" {
    fn NtSetSystemInformation(class: i32, information: *mut c_void, len: u32) -> NTSTATUS;
}

/// Moves the pages of the cache from the system's working set to the standby list, and empties that list.
pub fn drop_page_cache() -> Result<()> {
    if !(has(INCREASE_QUOTA)? && has(PROFILE_PROCESS)?) {
        return Err(Error::NotPermitted {
            what: "dropping the caches of the machine",
            needs: "an administrator",
        });
    }
    // SAFETY: the call reads numbers only; the largest ones stand for an empty working set.
    let outcome = unsafe { SetSystemFileCacheSize(usize::MAX, usize::MAX, 0) };
    check(outcome, "empty the working set of the file cache")?;
    let mut command = MEMORY_PURGE_STANDBY_LIST;
    // SAFETY: the class takes a command of this size.
    let status = unsafe {
        NtSetSystemInformation(
            SYSTEM_MEMORY_LIST_INFORMATION,
            (&raw mut command).cast(),
            size_of_val(&command) as u32,
        )
    };
    check_status(status, "purge the standby list")
}

/// Windows counts them for the whole system, Wine not at all.
pub fn storage_read_bytes() -> Option<u64> {
    if machine::wine_version().is_some() {
        return None;
    }
    // Words, since the system wants them aligned.
    let mut counts =
        [0_u64; size_of::<SYSTEM_PERFORMANCE_INFORMATION>().div_ceil(size_of::<u64>())];
    // SAFETY: any bits are a valid word.
    let (status, _) = unsafe { query(SystemPerformanceInformation, &mut counts) };
    check_status(status, "ask for the counts of the system").ok()?;
    let pages = counts[PAGE_READ_COUNT / size_of::<u64>()] as u32;
    Some(u64::from(pages) * PAGE_BYTES)
}

pub(crate) fn is_own(path: &Path, _metadata: &Metadata) -> bool {
    let mut options = OpenOptions::new();
    let options = options
        .access_mode(READ_CONTROL)
        .custom_flags(FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT);
    let found = options.open(path);
    found.is_ok_and(|found| private::has_own_owner(&found).unwrap_or(false))
}

/// Also opened for writing, which a lock takes. A link is opened itself, and is no file.
pub(crate) fn open_existing(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(FILE_FLAG_OPEN_REPARSE_POINT)
        .open(path)
}

pub(crate) fn create_private_dir(path: &Path) -> io::Result<()> {
    fs::create_dir(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::windows::machine;

    #[test]
    fn wine_neither_counts_pages_nor_purges_them() {
        if machine::wine_version().is_none() {
            println!("skipped: this is Windows itself");
            return;
        }
        assert_eq!(storage_read_bytes(), None);
        assert!(drop_page_cache().is_err());
    }

    #[test]
    fn a_new_file_is_own() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let metadata = file.path().metadata().unwrap();
        assert!(is_own(file.path(), &metadata));
        assert!(!is_own(Path::new("C:\\no such file"), &metadata));
    }
}
