//! Preemptive user-level threads for Linux on x86-64 and aarch64.
//!
//! Threads that cost a few nanoseconds to switch and a page of memory to keep, with everything that
//! threads usually have: values and panics that reach [`join`](JoinHandle::join), priorities, time
//! slices, locks with protocols against priority inversion, monitors after Hoare and Mesa,
//! semaphores, channels, barriers, thread-locals, input and output that block only the caller, and
//! a record of all that happened.
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
//! In a *cooperative* runtime (the default) a switch happens only inside operations of this crate.
//! In a *preemptive* one ([`RuntimeBuilder::slice`], which is `unsafe` for the first reason below) a
//! timer's signal takes the turn from a thread between any two instructions of the program's own
//! text. It never does so inside a shared library (the C library with its allocator, the unwinder),
//! while the thread unwinds, while its stack is nearly full, inside this crate, or while a
//! [`no_preempt`] guard is held; such ticks take effect as soon as that is over, and are counted in
//! [`Statistics`]. `errno`, floating-point and vector registers are kept.
//!
//! 1. All user threads of a worker share one kernel thread, and with it every `std::thread_local!`.
//!    In a preemptive runtime, hold a [`no_preempt`] guard around each use of one that another
//!    thread might use as well, including hidden ones of libraries. For values of a thread's own
//!    use [`thread_local!`].
//! 2. A lock of the standard library (`Mutex`, `RwLock`, `Once`, `LazyLock` being initialized, the
//!    one inside `println!`) must not be held across a switch: another user thread that wants it
//!    would block the very kernel thread that must release it. Hold a guard, or use [`Lock`] and
//!    [`println!`].
//! 3. A global allocator that is part of the program must be wrapped in [`GuardedAlloc`].
//! 4. Stacks are small: 64 KiB of address space by default. Overflowing one ends the process with a
//!    message that names the thread. A preemptive runtime needs some 4 to 12 KiB of it for the
//!    frame of a tick; while there is less room, ticks wait.
//! 5. System calls block the whole worker, except those in [`io`]. They may be interrupted by ticks
//!    (`EINTR`), though most are restarted.
//! 6. A thread that blocks in a destructor while it unwinds makes `std::thread::panicking` true for
//!    the other threads of its worker meanwhile, so that locks which they release are poisoned.
//! 7. Panics are caught by [`join`](JoinHandle::join) or by [`catch_unwind`]; around that of the
//!    standard library in a preemptive runtime, hold a guard.
//!
//! # Misuse
//!
//! Locking twice, closing a circle of threads that wait for each other, blocking while preemption
//! is held off, and leaving threads that can never run again are panics that name the threads.
//! Unlocking by another thread than the owner does not compile.
//!
//! # How it is made
//!
//! | module | what it does |
//! | --- | --- |
//! | `context` | the switch, in inline assembly for each architecture |
//! | `stack` | slabs of stacks with guard pages, and their reuse |
//! | `scheduler` | who runs next: queues and rules, without clock or system calls |
//! | `worker` | a kernel thread that carries that out; idling, waking and stealing |
//! | `preempt` | the timer, the handlers, and when a tick has to wait |
//! | `thread` | starting, joining, handles, thread-locals |
//! | `sync` | locks, conditions and the rest |
//! | `io` | transfers through `io_uring(7)` or helping threads, and sleep |
//! | `trace` | recording, Chrome JSON, the timeline |
//! | `runtime` | the builder, starting and ending |
//! | `workload` | programs that are known to bear preemption, for safe code to run |
//!
//! The crate uses the kernel through `libc` and `io-uring`, and nothing else of this workspace.
//!
//! A thread that has started stays on its worker: compilers keep addresses of thread-locals in
//! registers across calls, so that moving it to another kernel thread is not sound.

#![expect(
    unsafe_code,
    reason = "switching stacks and handling signals is what this crate is for"
)]
#![cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]

mod atomic;
mod context;
pub mod io;
mod preempt;
mod print;
mod runtime;
mod scheduler;
mod spin;
mod stack;
mod sync;
mod thread;
mod trace;
mod worker;
pub mod workload;

pub use preempt::{GuardedAlloc, NoPreempt, no_preempt};
#[doc(hidden)]
pub use print::{print_error_line, print_line};
pub use runtime::{BuildError, Runtime, RuntimeBuilder, Statistics, run, statistics};
pub use scheduler::Priority;
pub use sync::{
    Barrier, BarrierWaitResult, Condvar, Lock, LockGuard, LockResult, Protocol, Receiver,
    RecvError, Semaphore, SendError, Sender, SpinGuard, SpinLock, TryLockResult, TryRecvError,
    bounded, unbounded,
};
pub use thread::{
    Builder, Exited, JoinHandle, LocalKey, SpawnError, Thread, ThreadId, Wait, catch_unwind,
    current, exit, spawn, suspend, yield_now,
};
pub use trace::{Event, Kind, Trace};
