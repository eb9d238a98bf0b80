//! Threads that read, and threads that compute.

use super::refused;
use crate::file::page_cache::warm;
use crate::file::scratch_file::ScratchFile;
use crate::prelude::*;
use crate::threads::io::{
    COMPUTING, FILE_BYTES, IO_THREADS, Io, LENGTH, MANY, MODE, Mode, REPORTED_SLICE, RUN, STEPS,
    SWEEP, Sweep, WORKLOAD,
};
use crate::threads::kind::UserThreads;
use platform::file::{OpenMode, open_read, open_read_write, overlapped};
use std::sync::Arc;
use std::time::Duration;
use uthread_workload::Transfers;

/// A device delays single rounds now and then: runs last at least this long.
const DEVICE_RUN_NS: u64 = 10_000_000;

impl UserThreads for Io {
    fn take(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let (mode, sweep) = (point.level(MODE)?, point.level(SWEEP)?);
        let Bytes(length) = point.level(LENGTH)?;
        let steps = match point.get(WORKLOAD.name()) {
            Some(_) => point.level(WORKLOAD)?.0,
            None => steps(sweep),
        };
        let work = Transfers {
            slice: if sweep.is_reported() {
                REPORTED_SLICE
            } else {
                Duration::ZERO
            },
            io_threads: point.level(IO_THREADS)?.0 as usize,
            length,
            file_bytes: file_bytes(length),
            writes: sweep.is_reported(),
            is_asynchronous: mode == Mode::Asynchronous,
            computing_threads: point.level(COMPUTING)?.0 as usize,
            steps,
        };
        let name = if sweep.is_reported() {
            "threads.io as reported"
        } else {
            "threads.io"
        };
        let path = sampler
            .scratch()
            .join(format!("{name} {}", work.file_bytes));
        let scratch = ScratchFile::open_or_make(&path, work.file_bytes, sampler.seed())?;
        let from_device = matches!(sweep, Sweep::Device | Sweep::WhileComputing);
        let file = if from_device {
            open_read(&path, OpenMode::Direct)?
        } else {
            warm(&scratch)?;
            let open = if sweep.is_reported() {
                open_read_write
            } else {
                open_read
            };
            open(&path, OpenMode::Plain)?
        };
        let file = Arc::new(match mode {
            Mode::Synchronous => file,
            Mode::Asynchronous => overlapped(file)?,
        });
        let mut buffers = work.buffers();
        let rounds = |rounds| work.run(&file, &mut buffers, rounds).map_err(refused);
        if from_device {
            sampler.long_runs(RUN, 1.0, DEVICE_RUN_NS, rounds)
        } else {
            sampler.repeat(RUN, 1.0, rounds)
        }
    }
}

/// The size of the file where each thread reads `length` bytes of it: a number of whole parts.
fn file_bytes(length: u64) -> u64 {
    length * (FILE_BYTES / length).clamp(1, MANY)
}

/// The steps that a computing thread computes, where they were not chosen.
fn steps(sweep: Sweep) -> u64 {
    match sweep {
        Sweep::ReportedLengths | Sweep::ReportedThreads => 1,
        _ => STEPS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up::sampled;

    #[test]
    fn every_thread_has_a_whole_part_of_the_file() {
        for length in [1, 4096, 65_536, 1_000_000, 10_000_000, 100_000_000] {
            let bytes = file_bytes(length);
            let is_whole = bytes >= length && bytes.is_multiple_of(length);
            assert!(is_whole, "{length}: {bytes}");
        }
    }

    #[test]
    fn both_modes_are_measured_here_with_any_work_next_to_them() {
        // Windows has no ticks.
        let is_preemptive = cfg!(target_os = "linux");
        for sweep in [Sweep::Cached, Sweep::ReportedThreads] {
            for mode in Mode::ALL {
                let point = Point::new()
                    .at(MODE, *mode)
                    .at(SWEEP, sweep)
                    .at(IO_THREADS, Count(3))
                    .at(LENGTH, Bytes(300_000))
                    .at(COMPUTING, Count(2));
                if is_preemptive || !sweep.is_reported() {
                    sampled(&Io, &point, &[RUN]);
                    sampled(&Io, &point.at(WORKLOAD, Count(1000)), &[RUN]);
                }
            }
        }
    }
}
