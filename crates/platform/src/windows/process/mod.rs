mod job;
mod listen;
pub(crate) mod program;
mod worker;

use crate::error::refuse;

pub use worker::Worker;

pub(crate) fn signal_name(_signal: i32) -> Option<&'static str> {
    None
}

#[derive(Debug)]
pub enum Twin {}

impl Twin {
    pub fn fork() -> crate::Result<Self> {
        refuse("a copy of this process")
    }
}
