//! User-level threads: preemptive on Linux (x86-64 and aarch64), cooperative on Windows (x86-64).
//!
//! A switch costs a few nanoseconds, and an idle thread takes one page of memory. The crate offers
//! the usual parts of a thread library: values and panics that reach [`join`](JoinHandle::join),
//! priorities, time slices, locks with protocols against priority inversion, Hoare and Mesa
//! monitors, semaphores, channels, barriers, thread-local values, input and output that block only
//! the caller, and a trace of all events.
//!
//! ```
//! use std::sync::Arc;
//! use uthread::{Lock, Runtime};
//!
//! let runtime = Runtime::builder().build().unwrap();
//! let sum = runtime.run(|| {
//!     let sum = Arc::new(Lock::new(0));
//!     let add = |i| {
//!         let sum = Arc::clone(&sum);
//!         uthread::spawn(move || *sum.lock().unwrap() += i)
//!     };
//!     let threads: Vec<_> = (1..=100).map(add).collect();
//!     threads.into_iter().for_each(|thread| thread.join().unwrap());
//!     *sum.lock().unwrap()
//! });
//! assert_eq!(sum, 5050);
//! ```
//!
//! # What is safe inside a thread
//!
//! In a *cooperative* runtime (the default), threads switch only inside operations of this crate.
//! In a *preemptive* one ([`RuntimeBuilder::slice`], which is `unsafe` because of rule 1), a timer
//! signal can preempt a thread between any two instructions of the program's own text. It never
//! does so inside a shared library (the C library with its allocator, the unwinder), while the
//! thread unwinds, while its stack is nearly full, inside this crate, or while a [`no_preempt`]
//! guard exists. Such ticks take effect as soon as that ends; [`Statistics`] counts them. A
//! preemption preserves `errno` and the floating-point and vector registers. The signal mask and the alternate
//! signal stack belong to the kernel thread: all its user threads share them.
//!
//! The way a thread rounds is its own only with the feature `float-control`. Rust requires all its code to keep
//! the default way, so a program needs the feature only if its threads call C code that changes it.
//!
//! 1. All user threads of a worker share one kernel thread, and with it every `std::thread_local!`.
//!    In a preemptive runtime, hold a [`no_preempt`] guard around each use of such a value that
//!    another thread may also use. This includes values hidden inside libraries. For values of each
//!    user thread, use [`thread_local!`].
//! 2. Do not hold a lock of the standard library (`Mutex`, `RwLock`, `Once`, `LazyLock` during its
//!    initialization, the one inside `println!`) across a switch. Another user thread that waits
//!    for it would block the kernel thread that must release it. Hold a guard, or use [`Lock`] and
//!    [`println!`].
//! 3. Wrap a global allocator that is part of the program in [`GuardedAlloc`].
//! 4. Stacks are small: 64 KiB of address space by default. A stack overflow ends the process with
//!    a message that names the thread, since nothing may touch the 64 KiB below. A preemptive runtime needs about 4 to 12 KiB of the stack
//!    for the frame of a tick; with less room, ticks are deferred.
//! 5. System calls block the whole worker, except those in [`io`]. While other threads are ready, a tick
//!    may interrupt them. The kernel restarts most of them, but never polls, sleeps and calls with a time
//!    limit of their own, which end early with `EINTR`. The header `uthread.h` has the list. With
//!    [`RuntimeBuilder::cpu_time_slices`], no tick interrupts a call that waits.
//! 6. A thread that blocks in a destructor while it unwinds makes `std::thread::panicking` true for
//!    the other threads of its worker until it continues. Locks that they release meanwhile become
//!    poisoned, and waits that they begin meanwhile cannot be cancelled.
//! 7. [`join`](JoinHandle::join) and [`catch_unwind`] catch panics. In a preemptive runtime, hold a
//!    guard around `catch_unwind` of the standard library.
//!
//! # From outside
//!
//! Kernel threads that are not workers of a runtime may wake its threads once it is open: see [`external`]. A signal
//! handler may only use [`Poster::post`]. In a preemptive runtime, a handler with an alternate stack (`SA_ONSTACK`) must
//! block `SIGURG` (`sa_mask`): a thread that is preempted would leave its frame on a stack that others use.
//! [`block_on`] waits for futures. It polls them on the running thread, so rules 1 and 2 hold for them too.
//!
//! ```
//! use std::sync::Arc;
//! use uthread::Semaphore;
//!
//! uthread::run(|| {
//!     let done = Arc::new(Semaphore::new(0));
//!     let (other, external) = (Arc::clone(&done), uthread::external());
//!     std::thread::spawn(move || {
//!         other.release(1);
//!         drop(external);
//!     });
//!     done.acquire(); // other user threads run
//! });
//! ```
//!
//! # Forks
//!
//! The child of a fork has the calling user thread only, and the runtime goes on with it, also if it had several
//! workers: the thread may wait, start threads, and end as in the parent. What the library has from the kernel (the
//! ring, helper threads, timers) is made anew at its first use. All other threads are *gone*:
//! [`join`](JoinHandle::join) returns [`Gone`], and a [`scope`] does not wait for them. Locks that they held stay
//! locked, as in POSIX; a child whose threads all wait for them ends with the message of a deadlock. A gone thread
//! gets nothing of what it was waiting for. The time limit of a scope that was entered before does not apply.
//!
//! To other kernel threads, the child is closed until it calls [`external`]. Handles and wakers from before have no
//! effect there, and [`Poster::post`] returns [`RuntimeEnded`]. A future that forks is polled again in the child, with a
//! new waker.
//!
//! If `main` forks, [`Runtime::run`] returns in the child as well, after the last thread there. If another thread
//! forks, the child ends with its last thread, by `exit(0)`. If a kernel thread forks that is no worker, the child has
//! no runtime. It can start one; the threads of the parent are those of another runtime then, and `join` returns
//! [`Gone`].
//!
//! While other workers or kernel threads run, a child is in the state in which they were: values that a channel held
//! while another worker was using it are lost there. `vfork` and `posix_spawn` work as everywhere. A child by other
//! ways (`clone`, `_Fork`) may only execute another program.
//!
//! # Windows
//!
//! No signal interrupts a thread there, so [`RuntimeBuilder::build`] refuses time slices with
//! [`BuildError::NoPreemption`]; all else is the same, also the virtual ticks of
//! [`RuntimeBuilder::deterministic`]. A transfer of a handle that was opened with `FILE_FLAG_OVERLAPPED` is a
//! request of the worker itself, whose end the system reports there; a completion port that the handle's owner
//! has given it hears nothing of it. Other handles are served by helper threads; the position of a file moves
//! with them, as Windows has it. There are no polls of descriptors. A stack is committed whole, with 24 KiB more
//! for the report of its overflow.
//!
//! # Misuse
//!
//! These errors are panics that name the threads: locking twice, a cycle of threads that wait for
//! each other, and blocking while preemption is disabled. If all threads that are left can never run
//! again, a message names them and the process is aborted: a panic would free what they borrow.
//! Unlocking from a thread other than the owner does not compile.
//!
//! # Structure
//!
//! | module | purpose |
//! | --- | --- |
//! | `context` | the switch, in inline assembly for each architecture |
//! | `stack` | slabs of stacks with guard pages, and their reuse |
//! | `scheduler` | run queues and scheduling rules, without a clock or system calls |
//! | `worker` | kernel threads that run user threads; idling, wake-ups and work stealing |
//! | `preempt` | the timer, the signal handlers, and the rules for deferring a tick |
//! | `thread` | starting, joining, handles, thread-local values |
//! | `scope` | threads that do not outlive a function, with a deadline for all of them |
//! | `sync` | locks, condition variables, semaphores, channels, barriers, functions that run once |
//! | `select` | waiting for the first of several channels, times and descriptors |
//! | `outside` | wake-ups from kernel threads, signal handlers and wakers of futures |
//! | `net` | sockets of Linux, names that are resolved off the workers |
//! | `io` | transfers through the kernel's own requests or helper threads, and sleep |
//! | `trace` | recording, Chrome JSON, the timeline |
//! | `debugger` | a table for `gdb/uthread.py`, which lists the stacks of all threads |
//! | `runtime` | the builder, starting and stopping, also in place |
//!
//! The crate uses the kernel through `libc` and `io-uring`, or on Windows through `windows-sys`, and nothing
//! else of this workspace. What belongs to one system is in a folder `linux` or `windows` of its module.
//!
//! A thread that has started stays on its worker: compilers keep addresses of thread-local values
//! in registers across calls, so moving it to another kernel thread is not sound.

#![expect(
    unsafe_code,
    reason = "switching stacks and handling signals is what this crate is for"
)]

#[cfg(not(any(
    all(
        target_os = "linux",
        any(target_arch = "x86_64", target_arch = "aarch64")
    ),
    all(windows, target_arch = "x86_64")
)))]
compile_error!(
    "uthread needs Linux on x86-64 or aarch64, or Windows on x86-64: it has no backend for this target"
);

#[cfg(test)]
use testing as _;

mod atomic;
mod build_error;
mod context;
#[cfg(target_os = "linux")]
mod debugger;
pub mod io;
#[cfg(target_os = "linux")]
pub mod net;
mod outside;
mod panic_message;
mod preempt;
pub mod prelude;
mod print;
#[cfg(target_os = "linux")]
mod renew;
mod runtime;
mod scheduler;
mod scope;
mod select;
mod spin;
mod stack;
mod sync;
mod thread;
mod trace;
#[cfg(target_os = "linux")]
mod weak;
mod worker;

pub use build_error::BuildError;
pub use outside::{External, Poster, RuntimeEnded, block_on, external};
#[doc(hidden)]
pub use preempt::{Errno, Exceptions};
pub use preempt::{GuardedAlloc, NoPreempt, no_preempt};
#[doc(hidden)]
pub use print::{print_error_line, print_line};
pub use runtime::{InPlace, Runtime, RuntimeBuilder, Statistics, run, statistics};
pub use scheduler::Priority;
pub use scope::{Scope, ScopedJoinHandle, TimedOut, scope, scope_timeout};
pub use select::Select;
pub use sync::{
    Barrier, BarrierWaitResult, Condvar, Lock, LockGuard, LockResult, MappedLockGuard, Once,
    Protocol, Receiver, RecursiveLock, RecursiveLockGuard, RecvError, RecvTimeoutError, RwLock,
    RwLockReadGuard, RwLockWriteGuard, Semaphore, SendError, SendTimeoutError, Sender, SpinGuard,
    SpinLock, TryLockResult, TryRecvError, TrySendError, WaitTimeoutResult, bounded, unbounded,
};
pub use thread::{
    Builder, Cancelled, Exited, Gone, JoinHandle, LocalKey, SpawnError, Thread, ThreadId, Wait,
    catch_unwind, current, exit, is_user_thread, may_wait, spawn, suspend, suspend_timeout,
    take_cancel, yield_now,
};
#[doc(hidden)]
pub use thread::{current_key, own_value, set_own_value, yield_quickly};
pub use trace::{Event, Kind, Trace};
#[doc(hidden)]
pub use worker::is_tick_deferred;
