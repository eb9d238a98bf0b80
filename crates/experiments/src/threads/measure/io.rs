//! Threads that read, and threads that compute.

use super::super::io::{
    ASYNCHRONOUS, BESIDE, CACHED, COMPUTING, DEVICE, IO_THREADS, LENGTH, LENGTHS, MODE, RUN, STEPS,
    SWEEP, SYNCHRONOUS, file_bytes,
};
use super::{run, unknown};
use crate::file::scratch_file::ScratchFile;
use instrument::experiment::MeasureError;
use instrument::point::Point;
use instrument::sampler::Sampler;
use platform::file::{OpenMode, open_read};
use platform::memory::{Mapping, PageSize};
use std::fs::File;
use std::hint::black_box;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use uthread::workload::compute;
use uthread::{Runtime, spawn};

/// A thread reads in pieces of at most this size, which one buffer holds.
const PIECE_BYTES: u64 = 256 << 10;
/// A device keeps single rounds waiting now and then: runs last so many ns at least.
const DEVICE_RUN_NS: u64 = 10_000_000;

pub(in super::super) fn io(point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
    let read: ReadAt = match point.choice(MODE)? {
        SYNCHRONOUS => |file, buffer, offset| file.read_at(buffer, offset),
        ASYNCHRONOUS => |file, buffer, offset| uthread::io::read_at(file, buffer, offset),
        other => return Err(unknown("mode", other)),
    };
    let length = point.number(LENGTH)?;
    let work = Work {
        io_threads: point.number(IO_THREADS)?,
        length,
        file_bytes: file_bytes(length),
        computing_threads: point.number(COMPUTING)?,
        read,
    };
    let path = sampler
        .scratch()
        .join(format!("threads.io {}", work.file_bytes));
    let scratch = ScratchFile::open_or_make(&path, work.file_bytes, sampler.seed())?;
    let (file, from_device) = match point.choice(SWEEP)? {
        LENGTHS | CACHED => {
            scratch.read_in()?;
            (open_read(&path, OpenMode::Plain)?, false)
        }
        DEVICE | BESIDE => (open_read(&path, OpenMode::Direct)?, true),
        other => return Err(unknown("sweep", other)),
    };
    let file = Arc::new(file);
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
        outcome?.map_err(MeasureError::system("read the scratch file"))
    };
    if from_device {
        sampler.long_runs(RUN, 1.0, DEVICE_RUN_NS, rounds)
    } else {
        sampler.repeat(RUN, 1.0, rounds)
    }
}

type ReadAt = fn(&File, &mut [u8], u64) -> io::Result<usize>;

#[derive(Clone, Copy)]
struct Work {
    io_threads: u64,
    length: u64,
    file_bytes: u64,
    computing_threads: u64,
    read: ReadAt,
}

impl Work {
    /// Starts all threads, those that read first, and waits for them; the buffers come back.
    fn round(&self, file: &Arc<File>, buffers: &mut Vec<Mapping>) -> io::Result<()> {
        let readers: Vec<_> = buffers
            .drain(..)
            .zip(0..)
            .map(|(mut buffer, index)| {
                let (work, file) = (*self, Arc::clone(file));
                spawn(move || (work.read_part(&file, index, buffer.as_mut_slice()), buffer))
            })
            .collect();
        let computing: Vec<_> = (0..self.computing_threads)
            .map(|seed| spawn(move || black_box(compute(seed + 1, STEPS))))
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

    /// Reads the part of one thread, piece by piece.
    fn read_part(&self, file: &File, index: u64, buffer: &mut [u8]) -> io::Result<()> {
        let start = index * self.length % self.file_bytes;
        let mut done = 0;
        while done < self.length {
            let piece = (self.length - done).min(PIECE_BYTES) as usize;
            match (self.read)(file, &mut buffer[..piece], start + done)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                bytes => done += bytes as u64,
            }
        }
        Ok(())
    }
}
