//! A cache of descriptors that are not open for direct transfers.

use core::cell::Cell;
use std::os::fd::RawFd;

/// The worker asks the kernel again after this many reads: the program may have closed the
/// descriptor, and its number may belong to another file.
const TRUSTED_READS: u8 = 32;
const PLACES: usize = 64;

/// The kernel's answers about the descriptors that a worker used last. Asking takes a system call,
/// and a cached read costs hardly more than one.
///
/// A stale answer costs only time: the worker itself waits for the device, as in pread(2), for at
/// most [`TRUSTED_READS`] reads.
pub(super) struct Plain([Cell<Known>; PLACES]);

#[derive(Clone, Copy)]
struct Known {
    fd: RawFd,
    reads_left: u8,
}

impl Known {
    const NOTHING: Self = Self {
        fd: -1,
        reads_left: 0,
    };
}

impl Plain {
    pub(super) const fn new() -> Self {
        Self([const { Cell::new(Known::NOTHING) }; PLACES])
    }

    /// True if a read of `fd` goes through the page cache.
    #[inline]
    pub(super) fn contains(&self, fd: RawFd) -> bool {
        let place = &self.0[fd as usize % PLACES];
        let known = place.get();
        if known.fd == fd && known.reads_left > 0 {
            let reads_left = known.reads_left - 1;
            place.set(Known { fd, reads_left });
            return true;
        }
        // SAFETY: the query takes no pointers.
        let flags = unsafe { libc::fcntl(fd, libc::F_GETFL) };
        let is_plain = flags & libc::O_DIRECT == 0;
        if is_plain {
            let reads_left = TRUSTED_READS;
            place.set(Known { fd, reads_left });
        }
        is_plain
    }
}

#[cfg(test)]
mod tests {
    use super::{Plain, TRUSTED_READS};
    use std::fs::{File, OpenOptions};
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::OpenOptionsExt;

    #[test]
    fn an_answer_is_trusted_for_a_while_only() {
        let path = std::env::temp_dir().join(format!("uthread-plain-{}", std::process::id()));
        let file = File::create(&path).expect("a file");
        let direct = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_DIRECT)
            .open(&path);
        std::fs::remove_file(&path).expect("it is there");
        let Ok(direct) = direct else {
            eprintln!("skipped: the file system has no direct transfers");
            return;
        };
        let plain = Plain::new();
        assert!(!plain.contains(direct.as_raw_fd()));
        assert!(plain.contains(file.as_raw_fd()));
        // From here on, the number belongs to another file.
        // SAFETY: both descriptors are open and owned here.
        let moved = unsafe { libc::dup2(direct.as_raw_fd(), file.as_raw_fd()) };
        assert_eq!(moved, file.as_raw_fd());
        let trusted = (0..100).take_while(|_| plain.contains(file.as_raw_fd()));
        assert_eq!(trusted.count(), TRUSTED_READS.into());
        assert!(!plain.contains(file.as_raw_fd()));
    }
}
