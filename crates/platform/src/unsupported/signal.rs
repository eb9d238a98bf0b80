use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::error::{Result, refuse};
use crate::signal::Signal;
pub(crate) use crate::signal::lacking::*;

static NEVER: AtomicBool = AtomicBool::new(false);

pub(crate) fn install() -> Result<()> {
    refuse("catching signals")
}

pub(crate) fn lose_patience_after(_patience: Duration) -> Result<()> {
    refuse("catching signals")
}

pub(crate) fn received() -> Option<Signal> {
    None
}

pub(crate) fn flag() -> &'static AtomicBool {
    &NEVER
}
