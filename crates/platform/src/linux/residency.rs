//! The resident part of a file: from `cachestat`, or from `mincore` if `cachestat` does not know it.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;

use rustix::fs::{AtFlags, CWD, accessat};
use rustix::process::geteuid;

use super::check;
use super::memory::{Mapping, base_page_bytes};
use crate::error::{Error, Result};
use crate::file::{Access, Residency, ResidencyMethod};

/// The same on every architecture, as all system calls since number 424; `libc` does not define it
/// everywhere yet.
const SYS_CACHESTAT: libc::c_long = 451;

/// Part of a file that is mapped at once: a multiple of all page sizes.
const PIECE_BYTES: usize = 1 << 30;

/// Reports the part of a file that is in the page cache.
///
/// Uses `cachestat`, which needs no mapping. If that is missing or refused, it uses `mincore`, but
/// only for a file that this process owns or may write: for any other file, Linux since 5.2 reports
/// every page as resident, to hide other users' reads (CVE-2019-5489).
///
/// # Errors
/// [`Error::NotPermitted`] if the result could not be trusted.
pub fn residency(file: &File) -> Result<Residency> {
    let total_bytes = file
        .metadata()
        .map_err(Error::os("ask for the size of a file"))?
        .len();
    match by_cachestat(file, total_bytes) {
        Ok(found) if found.resident_bytes > 0 || total_bytes == 0 => Ok(found),
        // No page is resident, or none that the call sees: overlayfs and FUSE passthrough keep the
        // pages with the lower file, which only a mapping shows.
        Ok(nothing) => match by_mincore(file, total_bytes) {
            Err(error) if !matches!(error, Error::NotPermitted { .. }) => Ok(nothing),
            mapped => mapped,
        },
        // An older kernel, a sandbox that does not know the call, or a file system without support,
        // such as hugetlbfs.
        Err(error)
            if matches!(
                error.raw_os_error(),
                Some(libc::ENOSYS | libc::EPERM | libc::EOPNOTSUPP)
            ) =>
        {
            by_mincore(file, total_bytes)
        }
        Err(error) => Err(Error::os("ask for the residency of a file")(error)),
    }
}

/// `struct cachestat_range` of the kernel.
#[repr(C)]
struct Range {
    offset: u64,
    /// 0 means to the end of the file.
    len: u64,
}

/// `struct cachestat` of the kernel, in pages.
#[repr(C)]
#[derive(Default)]
struct Counts {
    cached: u64,
    dirty: u64,
    writeback: u64,
    evicted: u64,
    recently_evicted: u64,
}

fn by_cachestat(file: &File, total_bytes: u64) -> io::Result<Residency> {
    let range = Range { offset: 0, len: 0 };
    let mut counts = Counts::default();
    // SAFETY: both structures have the kernel's layout, and live through the call.
    let outcome = unsafe {
        libc::syscall(
            SYS_CACHESTAT,
            file.as_raw_fd(),
            &raw const range,
            &raw mut counts,
            0,
        )
    };
    check(outcome)?;
    Ok(Residency {
        resident_bytes: (counts.cached * base_page_bytes() as u64).min(total_bytes),
        total_bytes,
        method: ResidencyMethod::Cachestat,
    })
}

fn by_mincore(file: &File, total_bytes: u64) -> Result<Residency> {
    if !mincore_is_truthful(file)? {
        return Err(Error::NotPermitted {
            what: "asking for the residency of a file",
            needs: "a file that this user owns or may write",
        });
    }
    Ok(Residency {
        resident_bytes: mapped_bytes(file, total_bytes, PIECE_BYTES)?.min(total_bytes),
        total_bytes,
        method: ResidencyMethod::Mincore,
    })
}

/// The kernel's own rule (`can_do_mincore` in `mm/mincore.c`).
fn mincore_is_truthful(file: &File) -> Result<bool> {
    let owner = file
        .metadata()
        .map_err(Error::os("ask for the owner of a file"))?
        .uid();
    let user = geteuid();
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    let may_write = rustix::fs::Access::WRITE_OK;
    let writable = || accessat(CWD, path, may_write, AtFlags::EACCESS).is_ok();
    Ok(user.is_root() || user.as_raw() == owner || writable())
}

/// Maps the file piece by piece without touching it, and counts its resident pages. A byte for each
/// page of a huge file would take much memory.
fn mapped_bytes(file: &File, len: u64, piece_bytes: usize) -> Result<u64> {
    let piece = |offset: u64| {
        let piece = (len - offset).min(piece_bytes as u64) as usize;
        Mapping::over(file, offset, piece, Access::Read)?.resident_bytes()
    };
    (0..len).step_by(piece_bytes).map(piece).sum()
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn both_methods_agree_and_count_the_last_page_by_what_fills_it() {
        let mut file = tempfile::tempfile().unwrap();
        assert_eq!(residency(&file).unwrap().total_bytes, 0);
        file.write_all(&vec![1; 100_001]).unwrap();
        let mincore = by_mincore(&file, 100_001).unwrap();
        assert_eq!(mincore.resident_bytes, 100_001);
        let page = base_page_bytes();
        for pages in [1, 2, 7, 100] {
            let counted = mapped_bytes(&file, 100_001, pages * page).unwrap();
            assert_eq!(counted, 100_001_u64.next_multiple_of(page as u64));
        }
        match by_cachestat(&file, 100_001) {
            Ok(cachestat) => assert_eq!(cachestat.resident_bytes, 100_001),
            Err(error) => println!("skipped: no cachestat here: {error}"),
        }
    }

    #[test]
    fn a_foreign_file_is_not_trusted_to_mincore() {
        if geteuid().is_root() {
            println!("skipped: root may ask about every file");
            return;
        }
        let file = File::open("/proc/self/exe").unwrap();
        let trusted = mincore_is_truthful(&File::open("/etc/passwd").unwrap()).unwrap();
        assert!(!trusted);
        assert!(mincore_is_truthful(&file).is_ok());
    }
}
