mod job;
mod listen;
pub(crate) mod program;
mod worker;

pub(crate) use crate::process::lacking::{Twin, signal_name};
pub(crate) use worker::Worker;
