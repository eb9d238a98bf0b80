//! Transfers of handles that were opened for overlapped ones.
#![cfg(windows)]
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]
#![expect(unsafe_code, reason = "pipes of Windows have no other interface")]

mod common;

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::windows::ffi::OsStrExt;
use std::os::windows::fs::OpenOptionsExt;
use std::os::windows::io::{AsRawHandle, FromRawHandle};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use uthread::io::{Backend, read_at, read_at_timeout, sleep, write_at};
use uthread::{Cancelled, Runtime, RuntimeBuilder, spawn, yield_now};
use windows_sys::Win32::Foundation::INVALID_HANDLE_VALUE;
use windows_sys::Win32::Storage::FileSystem::{
    FILE_FLAG_DELETE_ON_CLOSE, FILE_FLAG_OVERLAPPED, PIPE_ACCESS_INBOUND,
};
use windows_sys::Win32::System::IO::{CreateIoCompletionPort, GetQueuedCompletionStatus};
use windows_sys::Win32::System::Pipes::CreateNamedPipeW;

use common::{MINUTE, writes_and_reads_back};

/// Runtimes that make overlapped transfers on the worker, by helper threads, and at once.
fn runtimes() -> Vec<Runtime> {
    let builders: [fn() -> RuntimeBuilder; 5] = [
        Runtime::builder,
        || Runtime::builder().io(Backend::Kernel),
        || Runtime::builder().workers(2),
        || Runtime::builder().io(Backend::Threads),
        || Runtime::builder().deterministic(3),
    ];
    builders.map(|builder| builder().build().unwrap()).into()
}

/// A name that no other test uses.
fn name(directory: &str) -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("{directory}uthread-{}-{count}", std::process::id()).into()
}

fn overlapped_file() -> File {
    let directory = std::env::temp_dir();
    OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .custom_flags(FILE_FLAG_OVERLAPPED | FILE_FLAG_DELETE_ON_CLOSE)
        .open(directory.join(name("")))
        .unwrap()
}

/// A pipe whose reader was opened for overlapped transfers.
fn pipe() -> (File, File) {
    const ACCESS: u32 = PIPE_ACCESS_INBOUND | FILE_FLAG_OVERLAPPED;
    let path = name(r"\\.\pipe\");
    let wide: Vec<u16> = path.as_os_str().encode_wide().chain([0]).collect();
    // SAFETY: the name ends with a zero.
    let reader =
        unsafe { CreateNamedPipeW(wide.as_ptr(), ACCESS, 0, 1, 4096, 4096, 0, std::ptr::null()) };
    assert_ne!(reader, INVALID_HANDLE_VALUE);
    // SAFETY: a new handle without another owner.
    let reader = unsafe { File::from_raw_handle(reader) };
    (reader, OpenOptions::new().write(true).open(path).unwrap())
}

#[test]
fn what_is_written_is_read() {
    for runtime in runtimes() {
        writes_and_reads_back(&runtime, overlapped_file());
    }
}

#[test]
fn errors_come_back() {
    let path = std::env::current_exe().unwrap();
    for runtime in runtimes() {
        let mut options = OpenOptions::new();
        let read_only = options.read(true).custom_flags(FILE_FLAG_OVERLAPPED);
        let read_only = read_only.open(&path).unwrap();
        let error = runtime.run(|| write_at(&read_only, b"x", 0)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::PermissionDenied);
    }
}

#[test]
fn others_run_until_the_data_has_come() {
    for builder in [Runtime::builder, || Runtime::builder().workers(2)] {
        let (reader, mut writer) = pipe();
        builder().build().unwrap().run(|| {
            let read = spawn(move || {
                let mut buffer = [0; 10];
                let bytes = read_at(&reader, &mut buffer, 0).unwrap();
                assert_eq!(&buffer[..bytes], b"late");
            });
            for _ in 0..1000 {
                yield_now();
            }
            sleep(Duration::from_millis(2));
            writer.write_all(b"late").unwrap();
            // The worker is busy: its thread asks for the answer.
            while !read.is_finished() {
                yield_now();
            }
            read.join().unwrap();
        });
    }
}

/// Helper threads cannot end a read that has begun.
#[test]
fn a_cancelled_read_does_not_write_into_its_buffer() {
    let (reader, mut writer) = pipe();
    Runtime::builder().build().unwrap().run(|| {
        let mut buffer = [0u8; 64];
        for _ in 0..50 {
            let read = read_at_timeout(&reader, &mut buffer, 0, Duration::from_micros(200));
            assert_eq!(read.unwrap_err().kind(), ErrorKind::TimedOut);
        }
        writer.write_all(b"late").unwrap();
        sleep(Duration::from_millis(1));
        assert_eq!(buffer, [0; 64]);
        let read = read_at_timeout(&reader, &mut buffer, 0, MINUTE).unwrap();
        assert_eq!(&buffer[..read], b"late");
    });
}

#[test]
fn a_transfer_in_the_kernel_is_cancelled() {
    let (reader, _writer) = pipe();
    Runtime::builder().build().unwrap().run(|| {
        let thread = spawn(move || read_at(&reader, &mut [0; 64], 0));
        sleep(Duration::from_millis(1));
        thread.cancel();
        let error = thread.join().unwrap().unwrap_err();
        assert!(error.get_ref().unwrap().is::<Cancelled>());
    });
}

#[test]
fn a_completion_port_of_the_owner_hears_nothing() {
    for runtime in runtimes() {
        let file = overlapped_file();
        // SAFETY: the handle is open, and no pointer is given.
        let port =
            unsafe { CreateIoCompletionPort(file.as_raw_handle(), std::ptr::null_mut(), 1, 0) };
        assert!(!port.is_null());
        runtime.run(|| {
            assert_eq!(write_at(&file, b"hello", 0).unwrap(), 5);
            let mut back = [0; 10];
            assert_eq!(read_at(&file, &mut back, 0).unwrap(), 5);
            assert_eq!(&back[..5], b"hello");
        });
        let (mut bytes, mut key, mut request) = (0, 0, std::ptr::null_mut());
        // SAFETY: the port is open, and all results have room.
        let heard = unsafe {
            let (bytes, key, request) = (&raw mut bytes, &raw mut key, &raw mut request);
            GetQueuedCompletionStatus(port, bytes, key, request, 0)
        };
        assert_eq!(heard, 0);
        // SAFETY: the port has no other owner.
        drop(unsafe { File::from_raw_handle(port) });
    }
}
