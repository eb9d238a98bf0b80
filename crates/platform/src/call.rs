//! The calls whose cost is measured. Each function does one operation, through the C library or on Windows
//! through the system's libraries, and nothing else of any cost. The caller repeats and times it.
//!
//! The functions have the names of POSIX. Windows makes its own call for the same purpose, which each
//! function names: what is measured there must go by that name.

pub use crate::os::call::{
    CallPath, SignalProbe, clock_gettime, clock_gettime_syscall, create_delete, create_sync_delete,
    fopen_fclose, fopen_write_fclose, fork_exec_wait, fork_exit_wait, getpid_syscall, malloc_free,
    map_unmap, open_close, open_sync_close, program_that_does_nothing, read_byte, seek, spawn_wait,
    stat, thread_create_join, vfork_exit_wait, write_byte,
};

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::io::Write;
    use std::path::Path;

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

    #[test]
    fn the_id_is_of_this_process() {
        assert_eq!(getpid_syscall().unwrap(), std::process::id());
    }
}
