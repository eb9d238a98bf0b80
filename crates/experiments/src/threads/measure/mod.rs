//! The measurements of the experiments, where there are user threads.

mod async_io;
mod create;
mod inversion;
mod io;
mod lock;
mod monitor;
mod runtime;
mod slice;
mod switch;
mod two_locks;
