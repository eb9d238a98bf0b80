//! The group `transfer`.

pub(crate) mod claims;
mod endpoint;
mod figures;
mod findings;
mod growth;
mod levels;
mod points;

pub use endpoint::{Link, link};

use crate::file::page_cache;
use crate::file::scratch_file::ScratchFile;
use crate::prelude::*;
use ::transfer::Timing;
use ::transfer::method::SendMethod;
use ::transfer::sender::Contents;
use endpoint::{Connection, Endpoint, failed};
use levels::{
    PLAIN_TIME, Pair, READING, RECEIVED_TIME, RECEIVER, RECEIVER_TIME, Reading, SENDER, SIZE, TIME,
    TO,
};
use platform::file::{Access, LockedFile};
use platform::memory::FileMapping;
use std::cell::{Cell, RefCell};
use std::fs::File;
use std::path::{Path, PathBuf};

/// The experiments of the group, in the order in which they run.
pub(crate) const ALL: &[&dyn Experiment] = &[&TransferOfFiles, &growth::Growth];

/// The cost of sending a file from one program to another.
struct TransferOfFiles;

const DESIGN: Design = Design {
    id: "transfer.file",
    title: "Transfer of a file",
    question: "Should the sender of a file read it or map it, and should the receiver write it or map \
               it?",
    method: "One file goes over an open TCP connection: over loopback, from one core to another \
             if there are two, or with --to to another machine, on which `oscope receive \
             --measure` runs. The time runs from before the file is opened until the sender has \
             heard that the receiver has the complete file under its name, in the page cache. The \
             bytes go in frames of 512 KiB, each with an XXH3 checksum. If the peers share a \
             token, each frame is sealed with AES-256-GCM instead, and methods in which the \
             kernel moves the bytes cannot be measured. To another machine, sizes that would not \
             go often enough in the time available are left out. The target is a new file each \
             time; the source is in the page cache. Sender: file reads the file into a buffer of \
             512 KiB. mmap maps 16 MiB of it at a time. sendfile and splice let the kernel move \
             it, and read it for the checksum only. zerocopy sends the buffers without a copy if \
             the network allows that; loopback copies. uring reads up to three blocks ahead \
             through io_uring while one is sent. Receiver: file receives into a buffer and writes \
             the buffer. mmap grows and maps the file and receives into it. splice lets the \
             kernel move the bytes, and reads them again for the checksum. uring writes up to \
             three blocks through io_uring while the next arrives. Reading: first opens and maps \
             the file each time. again finds it open, and mapped with its pages present. random \
             order does so too, and reads blocks of 4 KiB, each once, in an order drawn before. \
             Over loopback, all other methods take turns with read and write on both sides, in \
             the order ABBA. \
             They use one connection, so that its speed cancels in the ratio. \
             The receiver's own times run from the announcement of the file until its last byte \
             has arrived, and until it has its name.",
    source: "Report C",
    axes: &[
        TO.axis(),
        SENDER.axis(),
        RECEIVER.axis(),
        READING.axis(),
        SIZE.axis(),
    ],
    metrics: &[TIME, PLAIN_TIME, RECEIVED_TIME, RECEIVER_TIME],
};

impl Experiment for TransferOfFiles {
    fn design(&self) -> &'static Design {
        &DESIGN
    }

    fn needs(&self, setting: &Setting) -> Vec<Need> {
        let files = Bytes(points::room(setting));
        vec![Need::Space(files), Need::Memory(files)]
    }

    fn takes(&self) -> &'static [Taken] {
        const { &[Link::TAKEN] }
    }

    fn points(&self, setting: &Setting) -> Vec<Point> {
        points::all(setting)
    }

    fn shares_process(&self, _point: &Point) -> bool {
        true
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let pair = Pair::of(point)?;
        let allowed = pair.sender.check();
        allowed.map_err(|error| MeasureError::Unsupported(error.to_string()))?;
        let reading = point.level(READING)?;
        let Bytes(size) = point.level(SIZE)?;
        let path = sampler.scratch().join(format!("{} {size}", self.id()));
        let source = ScratchFile::open_or_make(&path, size, sampler.seed())?;
        page_cache::warm(&source)?;
        let endpoint = Endpoint::start(sampler)?;
        let connection = RefCell::new(endpoint.connect().map_err(failed)?);
        let ways = if point.level(TO).is_ok() {
            // On a slow line, files that go twice as often would have to be smaller.
            vec![pair]
        } else {
            pair.in_turn()
        };
        let prepare = |way: &Pair| {
            let file = File::open(&path).map_err(MeasureError::system("open the source"))?;
            reading.prepare(way.sender, file, &path, sampler.seed())
        };
        let prepared = ways.iter().map(prepare);
        let prepared: Vec<Prepared> = prepared.collect::<Result<_, _>>()?;
        let transfer = |way: usize| prepared[way].transfer(&mut connection.borrow_mut(), size);
        let timing = Cell::new(None);
        let report = |sampler: &mut Sampler<'_>| -> Result<(), MeasureError> {
            if let Some(Timing { received, stored }) = timing.take() {
                sampler.value(RECEIVED_TIME, received.as_nanos() as f64);
                sampler.value(RECEIVER_TIME, stored.as_nanos() as f64);
            }
            Ok(())
        };
        let prepare = |sampler: &mut Sampler<'_>, way: usize| {
            report(sampler)?;
            let room = connection.borrow_mut().prepare(ways[way]);
            match room.map_err(failed)? {
                room if room < size => Err(MeasureError::Unsupported(format!(
                    "the receiver has room for a file of {:.3}",
                    Bytes(room)
                ))),
                _ => Ok(()),
            }
        };
        // Warm-up: the first transfer finds the network's windows small.
        for way in (0..ways.len()).rev() {
            prepare(sampler, way)?;
            transfer(way)?;
        }
        let metrics = [(TIME, 1.0), (PLAIN_TIME, 1.0)];
        sampler.in_turn(&metrics[..ways.len()], prepare, |way| {
            let timed = transfer(way)?;
            // The receiver's times are those of the point's own methods.
            timing.set((way == 0).then_some(timed));
            Ok(())
        })?;
        report(sampler)?;
        connection.into_inner().close();
        Ok(())
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        findings::all(results)
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        figures::all(results)
    }
}

/// Bytes that are read at a time in random order.
const BLOCK: usize = 4096;

/// A file that is ready to be sent.
struct Prepared {
    source: Source,
    /// The start of each block, if they go in random order.
    order: Option<Vec<u64>>,
}

enum Source {
    Closed(PathBuf),
    Open(File),
    Mapped(FileMapping<'static>),
}

impl Reading {
    /// Prepares the file for it.
    fn prepare(
        self,
        method: SendMethod,
        file: File,
        path: &Path,
        seed: u64,
    ) -> Result<Prepared, MeasureError> {
        let metadata = file.metadata();
        let metadata = metadata.map_err(MeasureError::system("look at the source"))?;
        let order = (self == Self::RandomOrder).then(|| {
            let mut offsets: Vec<u64> = (0..metadata.len()).step_by(BLOCK).collect();
            Random::new(seed).shuffle(&mut offsets);
            offsets
        });
        let source = match (self, method) {
            (Self::First, _) => Source::Closed(path.to_owned()),
            (_, SendMethod::Mmap) => Source::Mapped(map(file, metadata.len())?),
            _ => Source::Open(file),
        };
        Ok(Prepared { source, order })
    }
}

/// Maps a file for as long as the process lives, which ends after the measurement: the mapping borrows the lock.
fn map(file: File, len: u64) -> Result<FileMapping<'static>, MeasureError> {
    let locked = Box::leak(Box::new(LockedFile::lock(file, Access::Read)?));
    let mapping = FileMapping::new(locked, 0, len as usize)?;
    // Touches every page, so that all are present.
    let bytes = mapping.as_slice().iter();
    std::hint::black_box(bytes.fold(0, |sum: u8, byte| sum ^ byte));
    Ok(mapping)
}

impl Prepared {
    /// Sends the file, all of it, and waits until it is there.
    fn transfer(&self, connection: &mut Connection, size: u64) -> Result<Timing, MeasureError> {
        match (&self.source, &self.order) {
            (Source::Closed(path), _) => {
                let file = File::open(path).map_err(MeasureError::system("open the source"))?;
                connection.transfer(size, Contents::File(&file))
            }
            (Source::Open(file), None) => connection.transfer(size, Contents::File(file)),
            (Source::Open(file), Some(order)) => {
                let scattered = Contents::Scattered {
                    file,
                    block: BLOCK,
                    offsets: &mut order.iter().copied(),
                };
                connection.transfer(size, scattered)
            }
            (Source::Mapped(mapping), None) => {
                connection.transfer(size, Contents::Memory(mapping.as_slice()))
            }
            (Source::Mapped(mapping), Some(order)) => {
                let bytes = mapping.as_slice();
                let mut blocks = order.iter().map(|offset| {
                    let start = *offset as usize;
                    (*offset, &bytes[start..(start + BLOCK).min(bytes.len())])
                });
                connection.transfer(size, Contents::Blocks(&mut blocks))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::levels::{PAIRS, PLAIN, Pair, Reading};
    use super::*;
    use crate::made_up::{count, measure};

    #[test]
    fn every_pair_is_measured_and_leaves_only_its_sources() {
        let scratch = tempfile::tempdir().expect("a directory for temporary files");
        for pair in PAIRS {
            if let Err(error) = pair.sender.check() {
                println!("skipped: {error}");
                continue;
            }
            let point = pair.point(&Point::new(), Reading::First, Bytes(70_000));
            let (samples, _) = measure(&TransferOfFiles, &point, scratch.path()).expect("loopback");
            assert!(count(&samples, TIME) >= 1);
            assert_eq!(count(&samples, TIME), count(&samples, RECEIVER_TIME));
            let plain = if pair == PLAIN {
                0
            } else {
                count(&samples, TIME)
            };
            assert_eq!(count(&samples, PLAIN_TIME), plain);
        }
        let left = std::fs::read_dir(scratch.path()).expect("it is there");
        assert_eq!(left.count(), 1);
    }

    #[test]
    fn every_reading_works_at_any_size() {
        let scratch = tempfile::tempdir().expect("a directory for temporary files");
        for reading in Reading::ALL {
            for sender in [SendMethod::File, SendMethod::Mmap] {
                for size in [1, 4097, 1 << 20].map(Bytes) {
                    let pair = Pair { sender, ..PLAIN };
                    let point = pair.point(&Point::new(), *reading, size);
                    let measured = measure(&TransferOfFiles, &point, scratch.path());
                    let (samples, _) = measured.expect("loopback");
                    assert!(count(&samples, TIME) >= 1);
                }
            }
        }
    }
}
