use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::refuse;
use crate::Result;
use crate::signal::Signal;

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

pub(crate) fn restore_default_sigpipe() {
    // This system has no such signal.
}

pub(crate) fn ignore_sigpipe() {
    // This system has no such signal.
}

pub(crate) fn ignore_sigxfsz() {
    // This system has no such signal.
}
