//! The names that most programs use.
//!
//! No macro is among them: after `use uthread::*`, the compiler refuses `println!`, since it could be this crate's or
//! that of the standard library.
//!
//! ```
//! use uthread::prelude::*;
//!
//! run(|| {
//!     let total = Lock::new(0);
//!     scope(|scope| {
//!         scope.spawn(|| *total.lock().unwrap() += 1);
//!     });
//!     println!("{total:?}");
//!     uthread::println!("{total:?}");
//! });
//! ```

pub use crate::{
    Barrier, Builder, Condvar, JoinHandle, Lock, LockGuard, Priority, Protocol, Runtime, Semaphore,
    bounded, run, scope, spawn, unbounded, yield_now,
};
