//! All runs of one program: a few numbers of each, and the rest in sum.

use super::timed::Timed;
use crate::exit::code_of;
use platform::process::Exit;

/// The numbers of one run that the exports list.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    pub wall_ns: u64,
    pub peak_bytes: u64,
    pub exit: Exit,
}

/// All runs of one program. Some comparisons have millions of them, so little of each is kept.
#[derive(Clone, Debug, Default)]
pub struct Runs {
    pub each: Vec<Run>,
    /// Number of runs that failed.
    pub failures: usize,
    /// The ends of these runs, each once, in order of their codes.
    pub failed_with: Vec<Exit>,
    /// CPU time of all runs in user mode.
    pub user_ns: u64,
    /// CPU time of all runs in the kernel.
    pub system_ns: u64,
    /// Largest peak of memory; `None` if it is below `floor_bytes`.
    pub peak_bytes: Option<u64>,
    /// A smaller peak cannot be seen; `None` without runs.
    pub floor_bytes: Option<u64>,
    /// Number of processes that the runs left behind.
    pub leftovers: usize,
}

impl Runs {
    pub fn add(&mut self, timed: &Timed) {
        let finished = &timed.ran.finished;
        self.each.push(Run {
            wall_ns: timed.ran.wall_ns,
            peak_bytes: timed.ran.peak_bytes,
            exit: finished.exit,
        });
        if !timed.is_success {
            self.failures += 1;
            let code = code_of(finished.exit);
            let place = self
                .failed_with
                .binary_search_by_key(&code, |exit| code_of(*exit));
            if let Err(place) = place {
                self.failed_with.insert(place, finished.exit);
            }
        }
        self.user_ns += finished.usage.user_ns;
        self.system_ns += finished.usage.system_ns;
        self.peak_bytes = self.peak_bytes.max(timed.peak_bytes());
        self.floor_bytes = self.floor_bytes.max(Some(timed.floor_bytes));
        self.leftovers += timed.leftovers;
    }
}

#[cfg(test)]
mod tests {
    use super::{Run, Runs};
    use crate::command::ab::timed::Timed;
    use platform::process::{Exit, Finished};
    use platform::program::Ran;
    use platform::usage::Usage;

    fn timed(exit: Exit, peak_bytes: u64) -> Timed {
        Timed {
            ran: Ran {
                wall_ns: 5,
                finished: Finished {
                    exit,
                    usage: Usage {
                        user_ns: 2,
                        system_ns: 1,
                        ..Usage::default()
                    },
                },
                peak_bytes,
                stderr: String::new(),
                was_stopped: false,
            },
            is_success: exit.is_success(),
            at_ns: 0,
            floor_bytes: 10,
            leftovers: 1,
        }
    }

    #[test]
    fn a_run_leaves_24_bytes() {
        assert_eq!(size_of::<Run>(), 24);
        let mut runs = Runs::default();
        for number in 0..1000 {
            // Alternate failures, of which only the kinds are kept.
            runs.add(&timed(Exit::Code(number % 2), 8));
        }
        assert_eq!(runs.each.len(), 1000);
        assert_eq!(
            (runs.failures, &runs.failed_with[..]),
            (500, &[Exit::Code(1)][..])
        );
    }

    #[test]
    fn sums_and_extremes_are_those_of_all_runs() {
        let mut runs = Runs::default();
        assert_eq!((runs.peak_bytes, runs.floor_bytes), (None, None));
        runs.add(&timed(Exit::Code(0), 9));
        assert_eq!((runs.peak_bytes, runs.floor_bytes), (None, Some(10)));
        for (exit, peak_bytes) in [(Exit::Signal(9), 30), (Exit::Code(2), 20)] {
            runs.add(&timed(exit, peak_bytes));
        }
        assert_eq!(runs.peak_bytes, Some(30));
        assert_eq!((runs.user_ns, runs.system_ns, runs.leftovers), (6, 3, 3));
        assert_eq!(runs.failed_with, [Exit::Code(2), Exit::Signal(9)]);
    }
}
