//! External faults: each leads to a clear error or a recorded reason.

mod directories;
mod signals;
mod stores;
mod streams;
