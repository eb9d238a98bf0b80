//! Threads that read, and threads that compute.

use super::run;
use crate::file::page_cache::warm;
use crate::file::scratch_file::ScratchFile;
use crate::prelude::*;
use crate::threads::io::{
    COMPUTING, FILE_BYTES, IO_THREADS, Io, LENGTH, MANY, MODE, Mode, RUN, STEPS, SWEEP, Sweep,
};
use crate::threads::kind::UserThreads;
use platform::block_io;
use platform::file::{OpenMode, open_read, open_read_write, overlapped};
use platform::memory::{Mapping, PageSize};
use std::fs::File;
use std::hint::black_box;
use std::io;
use std::sync::Arc;
use uthread::{Runtime, spawn};
use uthread_workload::compute;

/// The size of a read, and of each thread's buffer.
const PIECE_BYTES: u64 = 256 << 10;
const READ: &str = "read the scratch file";
const WRITE: &str = "write the scratch file";
/// A device delays single rounds now and then: runs last at least this long.
const DEVICE_RUN_NS: u64 = 10_000_000;

impl UserThreads for Io {
    fn take(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let (read, write): (ReadAt, WriteAt) = match point.level(MODE)? {
            Mode::Synchronous => (
                |file, buffer, offset| Ok(block_io::read_at(file, buffer, offset)?),
                |file, buffer, offset| {
                    block_io::write_at(file, buffer, offset)?;
                    Ok(buffer.len())
                },
            ),
            Mode::Asynchronous => (
                |file, buffer, offset| {
                    uthread::io::read_at(file, buffer, offset).map_err(MeasureError::system(READ))
                },
                |file, buffer, offset| {
                    uthread::io::write_at(file, buffer, offset).map_err(MeasureError::system(WRITE))
                },
            ),
        };
        let sweep = point.level(SWEEP)?;
        let is_reported = matches!(
            sweep,
            Sweep::ReportedLengths | Sweep::ReportedThreads | Sweep::ReportedComputing
        );
        let Bytes(length) = point.level(LENGTH)?;
        let work = Work {
            io_threads: point.level(IO_THREADS)?.0,
            length,
            file_bytes: file_bytes(length),
            computing_threads: point.level(COMPUTING)?.0,
            steps: steps(sweep),
            read,
            write: is_reported.then_some(write),
        };
        let name = if is_reported {
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
            let open = if is_reported {
                open_read_write
            } else {
                open_read
            };
            open(&path, OpenMode::Plain)?
        };
        let file = Arc::new(match point.level(MODE)? {
            Mode::Synchronous => file,
            Mode::Asynchronous => overlapped(file)?,
        });
        let buffers = (0..work.io_threads)
            .map(|_| Mapping::anonymous(length.min(PIECE_BYTES) as usize, PageSize::Base))
            .collect::<Result<Vec<_>, _>>()?;
        let mut buffers = Some(buffers);
        let rounds = |rounds| {
            let mut kept = buffers.take().expect("given back below");
            let outcome = run(Runtime::builder(), || {
                (0..rounds).try_for_each(|_| work.round(&file, &mut kept))
            });
            buffers = Some(kept);
            outcome?
        };
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

/// The steps that a computing thread computes.
fn steps(sweep: Sweep) -> u64 {
    match sweep {
        Sweep::ReportedLengths | Sweep::ReportedThreads => 1,
        _ => STEPS,
    }
}

type ReadAt = fn(&File, &mut [u8], u64) -> Result<usize, MeasureError>;
type WriteAt = fn(&File, &[u8], u64) -> Result<usize, MeasureError>;

#[derive(Clone, Copy)]
struct Work {
    io_threads: u64,
    length: u64,
    file_bytes: u64,
    computing_threads: u64,
    /// The steps that each of them computes.
    steps: u64,
    read: ReadAt,
    /// Writes the part before it is read.
    write: Option<WriteAt>,
}

impl Work {
    /// Starts all threads, those that read first, and waits for them; the buffers come back.
    fn round(&self, file: &Arc<File>, buffers: &mut Vec<Mapping>) -> Result<(), MeasureError> {
        let readers: Vec<_> = buffers
            .drain(..)
            .zip(0..)
            .map(|(mut buffer, index)| {
                let (work, file) = (*self, Arc::clone(file));
                spawn(move || (work.transfer(&file, index, buffer.as_mut_slice()), buffer))
            })
            .collect();
        let computing: Vec<_> = (0..self.computing_threads)
            .map(|seed| {
                let steps = self.steps;
                spawn(move || black_box(compute(seed + 1, steps)))
            })
            .collect();
        let mut outcome = Ok(());
        for reader in readers {
            let (read, buffer) = reader.join().expect("it does not panic");
            outcome = outcome.and(read);
            buffers.push(buffer);
        }
        for thread in computing {
            thread.join().expect("it does not panic");
        }
        outcome
    }

    /// Writes the part of one thread if that is wanted, and reads it.
    fn transfer(&self, file: &File, index: u64, buffer: &mut [u8]) -> Result<(), MeasureError> {
        let start = index * self.length % self.file_bytes;
        if let Some(write) = self.write {
            self.by_pieces(start, |offset, piece| write(file, &buffer[..piece], offset))?;
        }
        self.by_pieces(start, |offset, piece| {
            (self.read)(file, &mut buffer[..piece], offset)
        })
    }

    /// Goes through the part that begins at `start`, piece by piece.
    fn by_pieces(
        &self,
        start: u64,
        mut act: impl FnMut(u64, usize) -> Result<usize, MeasureError>,
    ) -> Result<(), MeasureError> {
        let mut done = 0;
        while done < self.length {
            let piece = (self.length - done).min(PIECE_BYTES) as usize;
            match act(start + done, piece)? {
                0 => return Err(MeasureError::system(READ)(io::ErrorKind::UnexpectedEof)),
                bytes => done += bytes as u64,
            }
        }
        Ok(())
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
    fn both_modes_are_measured_here() {
        for sweep in [Sweep::Cached, Sweep::ReportedThreads] {
            for mode in Mode::ALL {
                let point = Point::new()
                    .at(MODE, *mode)
                    .at(SWEEP, sweep)
                    .at(IO_THREADS, Count(3))
                    .at(LENGTH, Bytes(300_000))
                    .at(COMPUTING, Count(2));
                sampled(&Io, &point, &[RUN]);
            }
        }
    }
}
