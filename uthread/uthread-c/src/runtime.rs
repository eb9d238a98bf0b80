//! Both ways into a runtime.

use core::cell::Cell;
use core::ffi::{c_int, c_uint, c_void};
use core::time::Duration;
use std::io;
use std::panic::resume_unwind;
use std::sync::OnceLock;

use uthread::{BuildError, InPlace, Runtime, io::Backend};

use crate::call::caught;
use crate::error::Errno;
use crate::record::{self, Pointer};
use crate::thread::{Exit, call};
use crate::unwind::Function;

/// `uthread_config_t`.
#[repr(C)]
pub struct Configuration {
    pub(crate) slice_us: c_uint,
    pub(crate) workers: c_uint,
    pub(crate) stack_size: usize,
    pub(crate) main_stack_size: usize,
    pub(crate) keep_priority: c_int,
    pub(crate) io: c_int,
    pub(crate) cpu_time_slices: c_int,
}

/// `uthread_statistics_t`.
#[repr(C)]
pub struct Statistics {
    pub(crate) ticks_taken: u64,
    pub(crate) ticks_deferred: u64,
    pub(crate) preemptions: u64,
}

thread_local! {
    /// The runtime of `uthread_init`, which belongs to the kernel thread.
    static IN_PLACE: Cell<Option<InPlace>> = const { Cell::new(None) };
}

fn errno(error: &io::Error) -> Errno {
    error.raw_os_error().unwrap_or(match error.kind() {
        io::ErrorKind::Deadlock => libc::EDEADLK,
        _ => libc::ENOMEM,
    })
}

/// Makes the child of a fork find no lock of this library that another kernel thread held.
fn prepare_for_forks() -> Result<(), Errno> {
    unsafe extern "C" fn in_child() {
        // SAFETY: the child has one kernel thread, which is in a call of fork.
        unsafe { record::leave_to_parent() };
    }
    static PREPARED: OnceLock<Errno> = OnceLock::new();
    // SAFETY: the handler has this type, and stays.
    let prepare = || unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    match *PREPARED.get_or_init(prepare) {
        0 => Ok(()),
        error => Err(error),
    }
}

/// # Safety
/// The pointer must be null or valid, and the program's threads as `uthread.h` asks.
unsafe fn build(configuration: *const Configuration) -> Result<Runtime, Errno> {
    prepare_for_forks()?;
    let mut builder = Runtime::builder();
    // SAFETY: the caller's contract.
    if let Some(configuration) = unsafe { configuration.as_ref() } {
        let slice = Duration::from_micros(configuration.slice_us.into());
        // SAFETY: the header passes these rules on to the program.
        builder = unsafe { builder.slice(slice) }
            .workers(configuration.workers as usize)
            .decay(configuration.keep_priority == 0)
            .cpu_time_slices(configuration.cpu_time_slices != 0)
            .io(match configuration.io {
                0 => Backend::Auto,
                1 => Backend::Kernel,
                2 => Backend::Threads,
                _ => return Err(libc::EINVAL),
            });
        if configuration.stack_size > 0 {
            builder = builder.stack_size(configuration.stack_size);
        }
        if configuration.main_stack_size > 0 {
            builder = builder.main_stack_size(configuration.main_stack_size);
        }
    }
    // Ticks may interrupt the program, also where this is a shared library next to it.
    // SAFETY: the query takes no pointers.
    let entry = unsafe { libc::getauxval(libc::AT_ENTRY) } as usize;
    let builder = builder.text(core::ptr::without_provenance(entry));
    builder.build().map_err(|error| match error {
        BuildError::StaticLibrary => libc::ENOEXEC,
        BuildError::NoPreemption => libc::ENOTSUP,
        BuildError::Timer(error) => errno(&error),
        BuildError::SliceTooShort(_)
        | BuildError::StackTooLarge { .. }
        | BuildError::SeveralDeterministic(_) => libc::EINVAL,
    })
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_run(main: Option<Function>, argument: *mut c_void) -> c_int {
    // SAFETY: as the header asks.
    unsafe { uthread_run_with(core::ptr::null(), main, argument, core::ptr::null_mut()) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_run_with(
    configuration: *const Configuration,
    main: Option<Function>,
    argument: *mut c_void,
    value: *mut *mut c_void,
) -> c_int {
    caught(|| {
        let main = main.ok_or(libc::EINVAL)?;
        // SAFETY: as the header asks.
        let runtime = unsafe { build(configuration) }?;
        // SAFETY: the header asks for a function that takes this argument.
        let run = || unsafe { call(main, Pointer(argument)) };
        // SAFETY: the header asks that what stuck threads use stays.
        let result = unsafe { runtime.try_run_and_leave(run) };
        let result = result.map_err(|error| errno(&error))??;
        if !value.is_null() {
            // SAFETY: the header asks for null or a place for a pointer.
            unsafe { value.write(result.0) };
        }
        Ok(0)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_init(slice_us: c_uint) -> c_int {
    let configuration = Configuration {
        slice_us,
        workers: 1,
        stack_size: 0,
        main_stack_size: 0,
        keep_priority: 0,
        io: 0,
        cpu_time_slices: 0,
    };
    // SAFETY: as the header asks.
    unsafe { uthread_init_with(&raw const configuration) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_init_with(configuration: *const Configuration) -> c_int {
    caught(|| {
        // SAFETY: as the header asks.
        let runtime = unsafe { build(configuration) }?;
        // SAFETY: the header asks that the kernel thread does not end before `uthread_end`.
        let first = unsafe { runtime.begin() }.map_err(|error| errno(&error))?;
        IN_PLACE.set(Some(first));
        Ok(0)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_end() -> c_int {
    caught(|| {
        if !uthread::is_user_thread() || uthread::current().id().number() != 1 {
            return Err(libc::EPERM);
        }
        let first = IN_PLACE.take().ok_or(libc::EPERM)?;
        if !first.may_end() {
            IN_PLACE.set(Some(first));
            return Err(libc::EPERM);
        }
        first.end().map_err(|error| errno(&error))?;
        Ok(0)
    })
}

/// The first thread of `uthread_init` has no caller to unwind to: its exit waits for all others and
/// ends the process, as `pthread_exit` does in `main`.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_exit(value: *mut c_void) -> ! {
    // SAFETY: it has no preconditions.
    if unsafe { uthread_end() } == 0 {
        std::process::exit(0);
    }
    resume_unwind(Box::new(Exit(Pointer(value))));
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_statistics(statistics: *mut Statistics) -> c_int {
    caught(|| {
        if statistics.is_null() {
            return Err(libc::EINVAL);
        }
        let now = uthread::statistics();
        // SAFETY: the header asks for a place for them.
        unsafe {
            statistics.write(Statistics {
                ticks_taken: now.ticks_taken,
                ticks_deferred: now.ticks_deferred,
                preemptions: now.preemptions,
            });
        }
        Ok(0)
    })
}
