//! One timed run of a program, with the load around it.

use super::launch::Launcher;
use super::programs::Program;
use anyhow::Result;
use platform::clock::now_ns;
use platform::program::{COUNTS_FROM_PARENT, Ran};
use platform::usage::Consumption;

/// The kernel sums the memory of a process over its processors, and lags behind by so much.
const KERNEL_ERROR_BYTES: u64 = 2 << 20;

/// One timed run of a program.
#[derive(Clone, Debug)]
pub struct Timed {
    pub ran: Ran,
    pub is_success: bool,
    /// Its end in monotonic ns.
    pub at_ns: u64,
    /// Peak memory of oscope itself, where a smaller peak of the program cannot be seen.
    pub floor_bytes: u64,
}

impl Timed {
    /// The program's peak memory; `None` if it is below that of oscope.
    pub fn peak_bytes(&self) -> Option<u64> {
        (self.ran.peak_bytes > self.floor_bytes).then_some(self.ran.peak_bytes)
    }
}

/// Runs a program once and records the load around it; `None` if the user asked to stop.
pub fn measure(launcher: &Launcher, program: &Program) -> Result<Option<Timed>> {
    if !beside(launcher, program.prepare.as_deref())? {
        return Ok(None);
    }
    let floor_bytes = if COUNTS_FROM_PARENT {
        Consumption::read()?.own_peak_bytes + KERNEL_ERROR_BYTES
    } else {
        0
    };
    let Some((ran, is_success)) = launcher.run(&program.command)? else {
        return Ok(None);
    };
    let timed = Timed {
        ran,
        is_success,
        at_ns: now_ns(),
        floor_bytes,
    };
    if !beside(launcher, program.conclude.as_deref())? {
        return Ok(None);
    }
    Ok(Some(timed))
}

/// Runs a command beside the measurement, if there is one; false if the user asked to stop.
pub fn beside(launcher: &Launcher, text: Option<&str>) -> Result<bool> {
    text.map_or(Ok(true), |text| launcher.beside(text))
}
