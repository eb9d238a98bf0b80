//! The handler of the timer signal.

use core::ffi::{c_int, c_void};
use core::mem;
use core::ops::Range;
use core::ptr;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::io;
use std::sync::OnceLock;

use super::errno::Errno;
use super::timer::TICK_SIGNAL;
use crate::context::program_counter;
use crate::thread::Control;
use crate::worker::{Running, Worker, current_worker, depth, enter};

static TEXT_START: AtomicUsize = AtomicUsize::new(0);
static TEXT_END: AtomicUsize = AtomicUsize::new(0);

/// Largest frame that the kernel may put on a stack for a signal, in bytes. It depends on the
/// processor's vector registers (getauxval(3), `AT_MINSIGSTKSZ`).
pub(crate) fn minimum_signal_stack() -> usize {
    // SAFETY: the query takes no pointers.
    let bytes = unsafe { libc::getauxval(libc::AT_MINSIGSTKSZ) } as usize;
    bytes.max(libc::MINSIGSTKSZ)
}

/// The signal is unblocked for this kernel thread; dropping this restores the previous mask.
pub(crate) struct TickSignal(libc::sigset_t);

impl TickSignal {
    /// Installs the handler once per process, and unblocks the signal.
    pub(crate) fn receive() -> io::Result<Self> {
        static INSTALLED: OnceLock<Result<(), i32>> = OnceLock::new();
        INSTALLED
            .get_or_init(install)
            .map_err(io::Error::from_raw_os_error)?;
        // SAFETY: plain data, for which zeros are valid; all pointers are to locals.
        unsafe {
            let mut before: libc::sigset_t = mem::zeroed();
            libc::pthread_sigmask(libc::SIG_UNBLOCK, &tick_set(), &raw mut before);
            Ok(Self(before))
        }
    }
}

impl Drop for TickSignal {
    fn drop(&mut self) {
        // SAFETY: the mask saved by `receive` on this kernel thread.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.0, ptr::null_mut()) };
    }
}

/// A signal set with only the timer signal.
pub(super) fn tick_set() -> libc::sigset_t {
    // SAFETY: plain data, for which zeros are valid.
    unsafe {
        let mut set: libc::sigset_t = mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, TICK_SIGNAL);
        set
    }
}

/// Sets the instructions that ticks may interrupt.
pub(crate) fn set_text(text: Range<usize>) {
    TEXT_START.store(text.start, Ordering::Relaxed);
    TEXT_END.store(text.end, Ordering::Relaxed);
}

fn install() -> Result<(), i32> {
    // SAFETY: plain data, for which zeros are valid. The signal is blocked while its handler
    // starts: on a busy machine, ticks would otherwise accumulate on the stack. `SA_ONSTACK` is not
    // set, because the frame must stay on the thread's own stack while others run.
    unsafe {
        let mut action: libc::sigaction = mem::zeroed();
        action.sa_sigaction = on_tick as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
        if libc::sigaction(TICK_SIGNAL, &raw const action, ptr::null_mut()) != 0 {
            return Err(io::Error::last_os_error()
                .raw_os_error()
                .unwrap_or(libc::EINVAL));
        }
    }
    Ok(())
}

/// The first instructions of the handler use no stack. They return at once if the signal is not
/// from the timer, or if the thread has less room than the handler needs. (If not even the kernel's
/// own frame fits, the kernel calls the handler in `overflow`.)
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
unsafe extern "C" fn on_tick(_: c_int, _: *mut libc::siginfo_t, _: *mut c_void) {
    core::arch::naked_asm!(
        "cmp dword ptr [rsi + {code}], {timer}",
        "jne 2f",
        "mov rax, [rsi + {value}]",
        "mov rcx, [rax + {current}]",
        "cmp rsp, [rcx + {limit}]",
        "jae {on_roomy_tick}",
        "mov rax, [rax + {deferred}]",
        "inc qword ptr [rax]",
        "2:",
        "ret",
        code = const SIGNAL_CODE,
        timer = const libc::SI_TIMER,
        value = const SIGNAL_VALUE,
        current = const mem::offset_of!(Running, current),
        deferred = const mem::offset_of!(Running, deferred),
        limit = const mem::offset_of!(Control, limit),
        on_roomy_tick = sym on_roomy_tick,
    )
}

/// Same as on x86-64.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
unsafe extern "C" fn on_tick(_: c_int, _: *mut libc::siginfo_t, _: *mut c_void) {
    core::arch::naked_asm!(
        "ldr w9, [x1, #{code}]",
        "cmn w9, #{timer}",
        "b.ne 2f",
        "ldr x10, [x1, #{value}]",
        "ldr x11, [x10, #{current}]",
        "ldr x12, [x11, #{limit}]",
        "mov x9, sp",
        "cmp x9, x12",
        "b.hs {on_roomy_tick}",
        "ldr x10, [x10, #{deferred}]",
        "ldr x9, [x10]",
        "add x9, x9, #1",
        "str x9, [x10]",
        "2:",
        "ret",
        code = const SIGNAL_CODE,
        timer = const -libc::SI_TIMER,
        value = const SIGNAL_VALUE,
        current = const mem::offset_of!(Running, current),
        deferred = const mem::offset_of!(Running, deferred),
        limit = const mem::offset_of!(Control, limit),
        on_roomy_tick = sym on_roomy_tick,
    )
}

/// Offsets of `si_code` and `si_value` in the kernel's structure (`asm-generic/siginfo.h`).
const SIGNAL_CODE: usize = 8;
const SIGNAL_VALUE: usize = 24;

unsafe extern "C" fn on_roomy_tick(_: c_int, _: *mut libc::siginfo_t, context: *mut c_void) {
    let Some(worker) = current_worker() else {
        return;
    };
    let _back_at_the_end = Errno::keep();
    // Check the counter first: while it is above zero, the handler must not read any other state of
    // the worker.
    if depth() > 0 {
        worker.defer_tick();
    } else {
        // SAFETY: the kernel passes it, and it stays valid while the handler runs.
        tick(worker, unsafe { &mut *context.cast::<libc::ucontext_t>() });
    }
}

fn tick(worker: &Worker, context: &mut libc::ucontext_t) {
    let text = TEXT_START.load(Ordering::Relaxed)..TEXT_END.load(Ordering::Relaxed);
    if !text.contains(&program_counter(context)) || std::thread::panicking() {
        worker.postpone_tick();
        return;
    }
    // Other threads need ticks as well.
    enter();
    // SAFETY: a valid set; unblocking cannot fail.
    unsafe { libc::pthread_sigmask(libc::SIG_UNBLOCK, &tick_set(), ptr::null_mut()) };
    worker.take_tick();
    keep_signal_state(context);
}

/// The return from the handler restores the mask and the alternate stack of the time of the tick. They belong to
/// the kernel thread, and other threads may have changed them: so those of now are put in their place. No tick
/// comes in between.
fn keep_signal_state(context: &mut libc::ucontext_t) {
    /// Size of the kernel's set. That of the C library is larger, and goes beyond the kernel's structure.
    const MASK_BYTES: usize = 8;
    // SAFETY: plain data, for which zeros are valid; the pointers are to locals and to the context, and both
    // sets have this size at least.
    unsafe {
        let mut mask: libc::sigset_t = mem::zeroed();
        libc::pthread_sigmask(libc::SIG_BLOCK, &tick_set(), &raw mut mask);
        let (now, saved) = (&raw const mask, &raw mut context.uc_sigmask);
        ptr::copy_nonoverlapping(now.cast::<u8>(), saved.cast::<u8>(), MASK_BYTES);
        libc::sigaltstack(ptr::null(), &raw mut context.uc_stack);
    }
}
