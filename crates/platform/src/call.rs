//! The calls whose cost is measured. Each function does one operation, through the C library or on Windows
//! through the system's libraries, and nothing else of any cost. The caller repeats and times it.
//!
//! The functions have the names of POSIX. Windows makes its own call for the same purpose, which each
//! function names: what is measured there must go by that name.

use std::ffi::{CStr, CString};
use std::fs::File;
use std::path::Path;

use crate::{Result, os};

/// A handler of a signal (SIGUSR1) that only counts, and the thread that installed it. The handler
/// stays until this value is dropped.
pub struct SignalProbe(os::call::SignalProbe);

/// A path as the system's calls take it. It is made beforehand, so that calls which are measured convert
/// nothing.
pub struct CallPath(pub(crate) os::call::CallPath);

face! {
    os::call;

    /// Reads the monotonic clock as programs do: through the C library, which uses the kernel's vDSO
    /// and does not enter the kernel if the clock source allows it. On Windows `QueryPerformanceCounter`,
    /// of which the same is true.
    ///
    /// # Errors
    /// Only if the system has no such call.
    #[inline]
    pub fn clock_gettime() -> Result<()> = refuse("clock_gettime");

    /// Reads the same clock with a system call: `clock_gettime`, on Windows `NtQueryPerformanceCounter`.
    ///
    /// # Errors
    /// Only if the system has no such call.
    #[inline]
    pub fn clock_gettime_syscall() -> Result<()> = refuse("clock_gettime");

    /// Asks the kernel for the process id. On Linux that is the cheapest system call; it goes through
    /// `syscall(2)`, so that no library can return a cached value. On Windows it is
    /// `NtQueryInformationProcess`, which tells five other facts as well.
    ///
    /// # Errors
    /// Only if the system has no such call.
    #[inline]
    pub fn getpid_syscall() -> Result<u32> = refuse("getpid");

    /// Reads 1 byte at the file's position, which advances: one `read` or `ReadFile`. `None` at
    /// the end of the file.
    ///
    /// # Errors
    /// If the file cannot be read.
    #[inline]
    pub fn read_byte(file: &File) -> Result<Option<u8>> = refuse("read");

    /// Writes 1 byte at the file's position: one `write` or `WriteFile`.
    ///
    /// # Errors
    /// If the file cannot be written.
    #[inline]
    pub fn write_byte(file: &File) -> Result<()> = refuse("write");

    /// Reads the size, times and permissions of a file: one `stat`, on Windows one
    /// `GetFileAttributesEx`, which opens and closes the file.
    ///
    /// # Errors
    /// If the file does not exist.
    #[inline]
    pub fn stat(path: &crate::call::CallPath) -> Result<()> = refuse("stat");

    /// Moves the file's position forward by 1 byte: one `lseek` or `SetFilePointerEx`. Returns the
    /// new position.
    ///
    /// # Errors
    /// If the file has no position.
    #[inline]
    pub fn seek(file: &File) -> Result<u64> = refuse("lseek");

    /// Opens a file for reading and closes it: one `open` and `close`, or `CreateFile` and
    /// `CloseHandle`.
    ///
    /// # Errors
    /// If the file cannot be opened.
    #[inline]
    pub fn open_close(path: &crate::call::CallPath) -> Result<()> = refuse("open");

    /// Opens a stream for reading and closes it: one `fopen`, on Windows one `_wfopen`, which takes any path,
    /// and one `fclose`. That is the opening
    /// and closing of a file and the allocation of the stream. The buffer is not allocated, since nothing is read.
    ///
    /// # Errors
    /// If the file cannot be opened.
    #[inline]
    pub fn fopen_fclose(path: &crate::call::CallPath) -> Result<()> = refuse("fopen");

    /// Opens a stream for writing, which cuts the file to nothing, and closes it.
    ///
    /// # Errors
    /// If the file cannot be opened.
    #[inline]
    pub fn fopen_write_fclose(path: &crate::call::CallPath) -> Result<()> = refuse("fopen");

    /// Opens a file for reading and for writing that waits for the device, which makes it if it does not
    /// exist, and closes it: `O_RDWR`, `O_SYNC` and `O_CREAT`, or `FILE_FLAG_WRITE_THROUGH` with
    /// `OPEN_ALWAYS`.
    ///
    /// # Errors
    /// If the file cannot be opened.
    #[inline]
    pub fn open_sync_close(path: &crate::call::CallPath) -> Result<()> = refuse("open");

    /// As [`open_sync_close`], and deletes the file.
    ///
    /// # Errors
    /// If the file cannot be created.
    #[inline]
    pub fn create_sync_delete(path: &crate::call::CallPath) -> Result<()> = refuse("open");

    /// Creates an empty file that must not exist, closes it, and deletes it: one `open`, `close` and
    /// `unlink`, or `CreateFile`, `CloseHandle` and `DeleteFile`. It does not wait for the device.
    ///
    /// # Errors
    /// If the file exists or cannot be created.
    #[inline]
    pub fn create_delete(path: &crate::call::CallPath) -> Result<()> = refuse("unlink");

    /// Allocates memory from the C library and frees it: one `malloc`, one `free`. The memory is not
    /// touched; small sizes come from the allocator's cache, which on Linux belongs to the thread.
    ///
    /// # Errors
    /// If there is no memory.
    #[inline]
    pub fn malloc_free(bytes: usize) -> Result<()> = refuse("malloc");

    /// Maps private memory and unmaps it: one `mmap` and `munmap`, or `VirtualAlloc` and `VirtualFree`. The memory is not touched, so no
    /// page is allocated.
    ///
    /// # Errors
    /// If the address space is full, or `bytes` is 0.
    #[inline]
    pub fn map_unmap(bytes: usize) -> Result<()> = refuse("mmap");

    /// Creates a thread that exits at once, and joins it: one `pthread_create` and `pthread_join`, or
    /// `CreateThread` and a wait for its end.
    ///
    /// # Errors
    /// If no thread can be created.
    #[inline]
    pub fn thread_create_join() -> Result<()> = refuse("pthread_create");

    /// Creates a process that exits at once, and waits for it: one `fork`, `_exit` in the child,
    /// `waitpid` in the parent. Forks are serial: the next one starts after this child is gone. The
    /// cost of a fork grows with the memory that the parent has mapped and touched.
    ///
    /// # Errors
    /// If no process can be created.
    #[inline]
    pub fn fork_exit_wait() -> Result<()> = refuse("fork");

    /// As [`fork_exit_wait`], but the child shares the memory of its parent, which sleeps until the
    /// child exits, as with `vfork`.
    ///
    /// # Errors
    /// If no process can be created.
    #[inline]
    pub fn vfork_exit_wait() -> Result<()> = refuse("vfork");

    /// Starts a program without arguments and environment, and waits for its exit: one `fork`, `execve`
    /// in the child, `waitpid` in the parent. The time includes the run time of the program itself.
    ///
    /// # Errors
    /// If no process can be created, or the program cannot be started or fails.
    #[inline]
    pub fn fork_exec_wait(program: &CStr) -> Result<()> = refuse("fork");

    /// The program that does nothing, for [`fork_exec_wait`] and [`spawn_wait`]: `true`. On Windows a
    /// command line: the command interpreter, which ends at once.
    ///
    /// # Errors
    /// If none is where systems keep it.
    pub fn program_that_does_nothing() -> Result<CString> = refuse("a program that does nothing");

    /// As [`fork_exec_wait`] through `posix_spawn`, which need not copy the parent's address space. On
    /// Windows one `CreateProcess` with this process's environment, and a wait for its end.
    ///
    /// # Errors
    /// As [`fork_exec_wait`].
    #[inline]
    pub fn spawn_wait(program: &CStr) -> Result<()> = refuse("posix_spawn");

    impl CallPath {
        /// Converts a path.
        ///
        /// # Errors
        /// If it contains a zero.
        pub fn new(path: &Path) -> Result<Self> = refuse("calls with paths");
    }

    impl SignalProbe {
        /// Installs the handler.
        ///
        /// # Errors
        /// If the system does not allow it.
        pub fn new() -> Result<Self> = refuse("sigaction");

        /// Installs the same handler again: one `sigaction`.
        ///
        /// # Errors
        /// If the system does not allow it.
        #[inline]
        pub fn install(&self) -> Result<()>;

        /// Sends the signal to this thread, which handles it before this call returns: one `tgkill`,
        /// the handler, and the return from it.
        ///
        /// # Errors
        /// If the system does not allow it.
        #[inline]
        pub fn deliver(&self) -> Result<()>;
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::io::Write;

    use super::*;

    fn c_path(path: &Path) -> CallPath {
        CallPath::new(path).unwrap()
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
    fn a_path_may_have_the_letters_of_any_language_but_no_zero() {
        let dir = tempfile::tempdir().unwrap();
        let path = c_path(&dir.path().join("Ærø Ωμέγα 日本"));
        create_delete(&path).unwrap();
        fopen_write_fclose(&path).unwrap();
        stat(&path).unwrap();
        open_sync_close(&path).unwrap();
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        assert!(CallPath::new(Path::new("a\0b")).is_err());
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
    fn the_null_device_takes_bytes_and_a_file_for_reading_does_not() {
        let device = crate::file::null_device().unwrap();
        let null = File::options().write(true).open(device).unwrap();
        write_byte(&null).unwrap();
        write_byte(&File::open(device).unwrap()).unwrap_err();
    }

    #[test]
    fn only_what_is_there_has_a_status() {
        stat(&c_path(&std::env::temp_dir())).unwrap();
        stat(&c_path(Path::new("/nothing/is/there"))).unwrap_err();
    }

    #[test]
    fn the_clock_can_be_read_both_ways() {
        clock_gettime().unwrap();
        clock_gettime_syscall().unwrap();
    }

    #[test]
    fn threads_can_be_made_again_and_again() {
        for _ in 0..100 {
            thread_create_join().unwrap();
        }
    }

    #[test]
    fn memory_can_be_had_again_and_again_but_not_all_there_is() {
        for _ in 0..100 {
            malloc_free(4).unwrap();
            map_unmap(4096).unwrap();
        }
        malloc_free(usize::MAX).unwrap_err();
        map_unmap(usize::MAX).unwrap_err();
        map_unmap(0).unwrap_err();
    }
}
