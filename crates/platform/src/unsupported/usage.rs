use crate::error::{Result, refuse};
pub(crate) use crate::usage::lacking::*;
use crate::usage::{Consumption, Usage};

pub(crate) fn of_process() -> Result<Usage> {
    refuse("the usage of a process")
}

pub(crate) fn of_thread() -> Result<Usage> {
    refuse("the usage of a thread")
}

pub(crate) fn consumption() -> Result<Consumption> {
    refuse("the usage of a process and its children")
}
