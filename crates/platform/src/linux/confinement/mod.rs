//! Control groups with a limit and temporary swap, and their removal.

mod group;

use std::ffi::CString;
use std::fs::{self, OpenOptions};
use std::io::{self, BufWriter, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::check;
use super::memory::{SystemMemory, base_page_bytes};
use crate::error::{Error, Result};

pub use group::{MemoryGroup, can_limit_memory};

/// Free swap space, in bytes.
pub fn free_swap_bytes() -> u64 {
    SystemMemory::read().swap_free.unwrap_or(0)
}

/// True for the names of the files from which [`undo`] knows what to undo.
pub(crate) fn is_record(name: &str) -> bool {
    [group::RECORD, NAME].contains(&name)
}

/// Undoes everything created for a scratch directory.
// The order matters: a running process would read its pages back from swap, the limit would prevent the
// kernel from reading them back, and an active swap file cannot be removed.
pub(crate) fn undo(scratch: &Path, exit_wait: Duration) -> Result<()> {
    let group = group::recorded(scratch)?;
    if let Some(group) = &group {
        group.empty(exit_wait)?;
    }
    remove(scratch)?;
    group.map_or(Ok(()), |group| group.remove(scratch, exit_wait))
}

/// Accepts the error for an object that is gone already.
fn unless_missing(outcome: io::Result<()>) -> io::Result<()> {
    match outcome {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Its name in a scratch directory, by which cleanup finds it.
const NAME: &str = "swap";

/// A temporary swap file. Dropping it switches it off and removes it.
#[derive(Debug)]
pub struct SwapFile {
    scratch: PathBuf,
}

impl SwapFile {
    /// Creates a swap file of `len_bytes` in a scratch directory, one per directory, and switches
    /// it on ([swapon(2)](https://man7.org/linux/man-pages/man2/swapon.2.html)).
    ///
    /// # Errors
    /// [`crate::Error::NotPermitted`] without the right, [`crate::Error::NotSupported`] if the file
    /// system does not support swap files, [`crate::Error::Path`] if no space is left.
    pub fn create(len_bytes: u64, scratch: &Path) -> Result<Self> {
        let path = scratch.join(NAME);
        // From here on, a failure drops this value, which removes the file.
        let file = Self {
            scratch: scratch.to_owned(),
        };
        fill(&path, len_bytes).map_err(Error::path("make the swap file", &path))?;
        switch_on(&path)?;
        Ok(file)
    }
}

impl Drop for SwapFile {
    fn drop(&mut self) {
        // The removal of the scratch directory undoes the rest.
        let _ = remove(&self.scratch);
    }
}

/// Switches a scratch directory's swap file off and removes it, if it exists.
fn remove(scratch: &Path) -> Result<()> {
    let path = scratch.join(NAME);
    // SAFETY: the path is a C string that is valid during the call.
    match with_path(&path, |path| unsafe { libc::swapoff(path) }) {
        Ok(()) => {}
        Err(error) => match error.raw_os_error() {
            // The file does not exist, or was never switched on. Without the right to switch it
            // off, this user had no right to switch it on. The kernel does not let any user remove
            // an active swap file.
            Some(libc::ENOENT | libc::EINVAL | libc::EPERM | libc::ENOSYS) => {}
            _ => return Err(Error::path("switch off the swap file", &path)(error)),
        },
    }
    unless_missing(fs::remove_file(&path)).map_err(Error::path("remove the swap file", &path))
}

/// Creates a file without holes, since the kernel writes to its blocks without the file system, and
/// writes the header of a swap area (`union swap_header` of the kernel's `include/linux/swap.h`).
fn fill(path: &Path, len_bytes: u64) -> io::Result<()> {
    const VERSION_AT: u64 = 1024;
    const SIGNATURE: &[u8; 10] = b"SWAPSPACE2";
    let page = base_page_bytes() as u64;
    let pages = len_bytes.div_ceil(page).max(10);
    let file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    let mut zeros = io::repeat(0).take(pages * page);
    let mut writer = BufWriter::with_capacity(1 << 20, &file);
    io::copy(&mut zeros, &mut writer)?;
    writer.flush()?;
    let last_page = u32::try_from(pages - 1).map_err(|_| io::ErrorKind::FileTooLarge)?;
    let header: Vec<u8> = [1_u32, last_page, 0].map(u32::to_ne_bytes).concat();
    file.write_all_at(&header, VERSION_AT)?;
    file.write_all_at(SIGNATURE, page - SIGNATURE.len() as u64)?;
    file.sync_all()
}

fn switch_on(path: &Path) -> Result<()> {
    // SAFETY: the path is a C string that is valid during the call.
    let outcome = with_path(path, |path| unsafe { libc::swapon(path, 0) });
    outcome.map_err(|error| match error.raw_os_error() {
        Some(libc::EPERM) => Error::NotPermitted {
            what: "a temporary swap file",
            needs: "root (CAP_SYS_ADMIN)",
        },
        Some(libc::EINVAL | libc::ENOSYS) => {
            Error::NotSupported("swap in a file on this file system")
        }
        _ => Error::path("switch on the swap file", path)(error),
    })
}

fn with_path(path: &Path, call: impl Fn(*const libc::c_char) -> libc::c_int) -> io::Result<()> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    check(call(path.as_ptr()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_swap_file_is_swap_while_it_lives_and_can_be_undone_after_it_was_forgotten() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join(NAME);
        let is_on = || {
            let swaps = fs::read_to_string("/proc/swaps").unwrap_or_default();
            swaps.contains(path.to_str().unwrap())
        };
        let file = match SwapFile::create(1 << 20, scratch.path()) {
            Ok(file) => file,
            Err(error) => {
                assert!(!path.exists(), "a failure leaves nothing");
                return println!("skipped: {error}");
            }
        };
        assert!(is_on() && free_swap_bytes() > 0);
        fs::remove_file(&path).unwrap_err();
        drop(file);
        assert!(!is_on() && !path.exists());

        std::mem::forget(SwapFile::create(1 << 20, scratch.path()).unwrap());
        assert!(is_on());
        undo(scratch.path(), Duration::ZERO).unwrap();
        assert!(!is_on() && !path.exists());
    }

    #[test]
    fn a_directory_that_is_not_there_is_an_error() {
        let scratch = tempfile::tempdir().unwrap();
        let missing = scratch.path().join("missing");
        SwapFile::create(1 << 20, &missing).unwrap_err();
        assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 0);
    }
}
