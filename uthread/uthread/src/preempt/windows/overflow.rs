//! The exception handler for stack overflows.

use core::fmt::{self, Write as _};
use core::ptr;
use std::io;
use std::sync::OnceLock;

use windows_sys::Win32::Foundation::{
    EXCEPTION_ACCESS_VIOLATION, EXCEPTION_GUARD_PAGE, EXCEPTION_STACK_OVERFLOW,
};
use windows_sys::Win32::Storage::FileSystem::WriteFile;
use windows_sys::Win32::System::Console::{GetStdHandle, STD_ERROR_HANDLE};
use windows_sys::Win32::System::Diagnostics::Debug::{
    AddVectoredExceptionHandler, EXCEPTION_CONTINUE_SEARCH, EXCEPTION_POINTERS,
};
use windows_sys::Win32::System::Threading::SetThreadStackGuarantee;

use crate::stack::REPORT_BYTES;
use crate::worker::{Worker, current_worker};

/// The handler is installed, and the system leaves it room on the stacks of this kernel thread.
pub(crate) struct OverflowWatch;

impl OverflowWatch {
    /// Installs the handler once per process.
    pub(crate) fn install() -> io::Result<Self> {
        /// Before all others: that of the standard library names the kernel thread.
        const FIRST: u32 = 1;
        static INSTALLED: OnceLock<bool> = OnceLock::new();
        // SAFETY: a handler of this type, which stays.
        let install =
            || !unsafe { AddVectoredExceptionHandler(FIRST, Some(on_exception)) }.is_null();
        let mut room = REPORT_BYTES as u32;
        // SAFETY: the pointer is to a local.
        let guaranteed = unsafe { SetThreadStackGuarantee(&raw mut room) } != 0;
        if INSTALLED.get_or_init(install) & guaranteed {
            Ok(Self)
        } else {
            Err(io::Error::last_os_error())
        }
    }
}

unsafe extern "system" fn on_exception(exception: *mut EXCEPTION_POINTERS) -> i32 {
    // SAFETY: the system passes both, and they stay valid while the handler runs.
    let (record, context) =
        unsafe { (&*(*exception).ExceptionRecord, &*(*exception).ContextRecord) };
    let may_be_overflow = matches!(
        record.ExceptionCode,
        EXCEPTION_STACK_OVERFLOW | EXCEPTION_ACCESS_VIOLATION | EXCEPTION_GUARD_PAGE
    );
    // The handler also runs for threads of the system, some of which have no thread-local variables.
    if may_be_overflow
        && let Some(worker) = current_worker()
        && !worker.is_in_loop()
    {
        let [guard, stack] = worker.current().guard_and_stack();
        let slot = guard.start..stack.end;
        let overflow = match record.ExceptionCode {
            EXCEPTION_STACK_OVERFLOW => slot.contains(&(context.Rsp as usize)),
            _ => guard.contains(&record.ExceptionInformation[1]),
        };
        if overflow {
            report(worker, slot.len());
        }
    }
    EXCEPTION_CONTINUE_SEARCH
}

/// Writes without allocating: the thread may hold the allocator's lock.
struct StandardError;

impl fmt::Write for StandardError {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let bytes = text.len() as u32;
        let mut written = 0;
        // SAFETY: the bytes are initialized.
        unsafe {
            let error = GetStdHandle(STD_ERROR_HANDLE);
            WriteFile(
                error,
                text.as_ptr(),
                bytes,
                &raw mut written,
                ptr::null_mut(),
            );
        }
        Ok(())
    }
}

fn report(worker: &Worker, stack_bytes: usize) -> ! {
    let thread = worker.current().label();
    let kib = stack_bytes >> 10;
    let _ = writeln!(
        StandardError,
        "\n{thread} has overflowed its stack of {kib} KiB: give it a larger one with \
         uthread::Builder::stack_size\nfatal runtime error: stack overflow"
    );
    std::process::abort()
}
