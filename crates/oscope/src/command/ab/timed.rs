//! One timed run of a program, with the load around it.

use super::launch::Launcher;
use super::programs::Program;
use anyhow::Result;
use platform::clock::now_ns;
use platform::program::Ran;

/// One timed run of a program.
#[derive(Clone, Debug)]
pub struct Timed {
    pub ran: Ran,
    pub is_success: bool,
    /// Its end in monotonic ns.
    pub at_ns: u64,
    /// A smaller peak of the program's memory cannot be seen.
    pub floor_bytes: u64,
    /// Number of processes that the program left behind.
    pub leftovers: usize,
}

impl Timed {
    /// The program's peak memory; `None` if it is below what can be seen.
    pub fn peak_bytes(&self) -> Option<u64> {
        (self.ran.peak_bytes > self.floor_bytes).then_some(self.ran.peak_bytes)
    }
}

/// Runs a program once, with the commands around it, and ends what it left behind; `None` if the user
/// asked to stop. Repeats all of it if the program was stopped in between, as by Ctrl-Z.
pub fn measure(launcher: &Launcher, program: &Program) -> Result<Option<Timed>> {
    loop {
        if !beside(launcher, program.prepare.as_deref())? {
            return Ok(None);
        }
        let Some((ran, is_success)) = launcher.run(&program.command)? else {
            return Ok(None);
        };
        let at_ns = now_ns();
        if !beside(launcher, program.conclude.as_deref())? {
            return Ok(None);
        }
        let leftovers = launcher.end_leftovers();
        if !ran.was_stopped {
            return Ok(Some(Timed {
                ran,
                is_success,
                at_ns,
                floor_bytes: launcher.floor_bytes(),
                leftovers,
            }));
        }
    }
}

/// Runs a command beside the measurement, if there is one; false if the user asked to stop.
pub fn beside(launcher: &Launcher, text: Option<&str>) -> Result<bool> {
    text.map_or(Ok(true), |text| launcher.beside(text))
}
