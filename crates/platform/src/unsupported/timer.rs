use super::refuse;
use crate::Result;

pub(crate) fn sleep_until(_moment_ns: u64) -> Result<()> {
    refuse("sleeping until a moment")
}

pub(crate) fn slack_ns() -> Result<u64> {
    refuse("the slack of timers")
}

#[derive(Debug)]
pub(crate) enum Timer {}

impl Timer {
    pub(crate) fn new() -> Result<Self> {
        refuse("a timer to wait for")
    }

    pub(crate) fn wait_until(&mut self, _moment_ns: u64) -> Result<()> {
        match *self {}
    }
}
