//! The signal handler for stack overflows.

use core::ffi::{c_int, c_void};
use core::fmt::{self, Write as _};
use core::mem;
use core::ptr;
use std::io;
use std::sync::OnceLock;

use super::tick::{minimum_signal_stack, tick_set};
use crate::context::{may_have_faulted, program_counter, stack_pointer};
use crate::worker::{Worker, current_worker};

/// Stack that the handler needs besides the kernel's frame, in bytes.
const HANDLER_BYTES: usize = 32 << 10;

/// `si_code` of a signal that the kernel forces (sigaction(2)).
const SI_KERNEL: c_int = 0x80;

static PREVIOUS: OnceLock<libc::sigaction> = OnceLock::new();

/// The handler's alternate stack, for as long as a kernel thread is a worker.
pub(crate) struct OverflowWatch {
    memory: Vec<u8>,
    before: libc::stack_t,
}

impl OverflowWatch {
    /// Installs the handler once per process, and the alternate stack for this kernel thread.
    pub(crate) fn install() -> io::Result<Self> {
        PREVIOUS.get_or_init(install_handler);
        let mut memory = vec![0u8; minimum_signal_stack() + HANDLER_BYTES];
        let stack = libc::stack_t {
            ss_sp: memory.as_mut_ptr().cast(),
            ss_flags: 0,
            ss_size: memory.len(),
        };
        // SAFETY: plain data, for which zeros are valid; the memory lives until `drop` restores the
        // previous stack.
        unsafe {
            let mut before: libc::stack_t = mem::zeroed();
            if libc::sigaltstack(&raw const stack, &raw mut before) != 0 {
                return Err(io::Error::last_os_error());
            }
            Ok(Self { memory, before })
        }
    }
}

impl Drop for OverflowWatch {
    fn drop(&mut self) {
        debug_assert!(!self.memory.is_empty());
        // SAFETY: the value that sigaltstack(2) returned before on this kernel thread.
        unsafe { libc::sigaltstack(&raw const self.before, ptr::null_mut()) };
    }
}

fn install_handler() -> libc::sigaction {
    // SAFETY: plain data, for which zeros are valid; setting an existing signal cannot fail.
    unsafe {
        let mut action: libc::sigaction = mem::zeroed();
        let mut previous: libc::sigaction = mem::zeroed();
        action.sa_sigaction = on_fault as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
        // A tick must not switch threads on the alternate stack.
        action.sa_mask = tick_set();
        libc::sigaction(libc::SIGSEGV, &raw const action, &raw mut previous);
        previous
    }
}

unsafe extern "C" fn on_fault(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    if let Some(worker) = current_worker() {
        // SAFETY: the kernel passes both, and they stay valid while the handler runs.
        let (info, context) = unsafe { (&*info, &*context.cast::<libc::ucontext_t>()) };
        if tick_without_room(worker, info, context) {
            worker.defer_tick();
            return;
        }
        // SAFETY: `SIGSEGV` carries an address.
        let address = unsafe { info.si_addr() }.addr();
        let [guard, stack] = worker.current().guard_and_stack();
        if !worker.is_in_loop() && guard.contains(&address) {
            report(worker, stack.len());
        }
    }
    // SAFETY: the arguments are passed on unchanged.
    unsafe { chain(signal, info, context) };
}

/// True for a tick whose frame did not fit on a nearly full stack: the kernel forced this signal
/// instead. The thread is unharmed.
///
/// The kernel reports some faults of the processor in the same way, as that of a pointer that cannot be an
/// address. A thread that continues after such a fault faults again at the same place at once.
fn tick_without_room(worker: &Worker, info: &libc::siginfo_t, context: &libc::ucontext_t) -> bool {
    if info.si_code != SI_KERNEL || worker.is_in_loop() || !worker.may_tick() {
        return false;
    }
    let stack_pointer = stack_pointer(context);
    let room = stack_pointer.checked_sub(worker.current().stack_bottom());
    let needed = minimum_signal_stack() + crate::stack::HANDLER_BYTES;
    if room.is_none_or(|room| room > needed) {
        return false;
    }
    let place = (program_counter(context), stack_pointer);
    !may_have_faulted(context) || worker.fault_place.replace(place) != place
}

/// Writes without allocating, as a signal handler must.
struct StandardError;

impl fmt::Write for StandardError {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        // SAFETY: the bytes are initialized.
        unsafe { libc::write(libc::STDERR_FILENO, text.as_ptr().cast(), text.len()) };
        Ok(())
    }
}

fn report(worker: &Worker, stack_bytes: usize) -> ! {
    let thread = worker.current().label();
    let kib = stack_bytes >> 10;
    let _ = writeln!(
        StandardError,
        "\n{thread} has overflowed its stack of {kib} KiB: give it a larger one with \
         uthread::Builder::stack_size, or in C with stack_size of uthread_attr_t\n\
         fatal runtime error: stack overflow"
    );
    // SAFETY: the call only ends the process.
    unsafe { libc::abort() }
}

/// Runs the handler that was installed before this one.
///
/// # Safety
/// The arguments must be those of a signal handler.
unsafe fn chain(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let previous = PREVIOUS.get();
    let handler = previous.map_or(libc::SIG_DFL, |previous| previous.sa_sigaction);
    let has_information = previous.is_some_and(|p| p.sa_flags & libc::SA_SIGINFO != 0);
    // SAFETY: sigaction(2) returned the previous action, whose handler has the type that the flag says, and the arguments
    // are those of a handler.
    unsafe {
        let was_sent = (*info).si_code <= 0;
        if handler == libc::SIG_IGN && was_sent {
            return;
        }
        if handler == libc::SIG_DFL || handler == libc::SIG_IGN {
            libc::signal(signal, libc::SIG_DFL);
            // A fault occurs again when this handler returns, and ends the process. A signal of kill(2) does not.
            if was_sent {
                libc::raise(signal);
            }
        } else if has_information {
            type Handler = unsafe extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);
            mem::transmute::<libc::sighandler_t, Handler>(handler)(signal, info, context);
        } else {
            type Handler = unsafe extern "C" fn(c_int);
            mem::transmute::<libc::sighandler_t, Handler>(handler)(signal);
        }
    }
}
