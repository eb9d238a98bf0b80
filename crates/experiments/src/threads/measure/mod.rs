//! The measurements of the experiments, where there are user threads.

mod async_io;
mod create;
mod exclusive;
mod inversion;
mod io;
#[cfg(windows)]
mod lacking;
#[cfg(target_os = "linux")]
mod lock;
mod monitor;
mod runtime;
mod slice;
mod switch;
mod two_locks;
