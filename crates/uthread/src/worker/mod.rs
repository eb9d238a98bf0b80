//! A worker is a kernel thread that runs user threads and carries out the scheduler's decisions.

mod address;
mod fresh;
mod idle;
mod inbox;
mod local;
mod parking;
mod runner;
mod shared;
mod ticks;

pub(crate) use inbox::Inbox;
pub(crate) use local::{
    current_worker, depth, enter, leave, leave_allocator, require_worker, set_depth,
};
pub(crate) use runner::{Running, Worker};
pub(crate) use shared::{Config, Counters, Home, Mode, Shared, is_live};
