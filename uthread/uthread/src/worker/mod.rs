//! A worker is a kernel thread that runs user threads and carries out the scheduler's decisions.

#[macro_use]
mod symbol;

mod cancel;
mod cancellations;
mod errand;
mod finish;
mod fresh;
mod home;
mod idle;
mod inbox;
#[cfg(target_os = "linux")]
mod linux;
mod local;
mod number;
mod parking;
mod rank;
mod registry;
mod runner;
mod running;
mod shared;
mod slumber;
mod state;
mod ticks;
mod timers;
mod visit;
mod waits;
#[cfg(windows)]
mod windows;

#[cfg(target_os = "linux")]
use linux as system;
#[cfg(windows)]
use windows as system;

pub(crate) use errand::Errand;
pub(crate) use home::{Home, is_live, refuse};
pub(crate) use inbox::Inbox;
pub use local::is_tick_deferred;
pub(crate) use local::{
    Section, current_worker, depth, enter, leave, leave_allocator, leave_blocking, require_worker,
    set_depth,
};
pub(crate) use number::stayed_in_parent;
pub(crate) use registry::{add, remove};
pub(crate) use running::Running;
pub(crate) use shared::{Config, Counters, Mode, Shared};
pub(crate) use state::Worker;
pub(crate) use system::{Event, prepare_for_forks};
pub(crate) use visit::{Visit, visit};
