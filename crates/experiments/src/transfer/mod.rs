//! The group `transfer`.

pub(crate) mod claims;
mod endpoint;
mod figures;
mod findings;
mod link;
mod points;
mod reading;

use crate::file::scratch_file::ScratchFile;
use ::transfer::Timing;
use endpoint::{Endpoint, failed};
use instrument::experiment::{Better, Definition, Experiment, Isolation, MeasureError, Metric};
use instrument::figure::Figure;
use instrument::finding::Finding;
use instrument::need::Need;
use instrument::plan::Setting;
use instrument::point::{Axis, Point};
use instrument::quantity::{Bytes, Unit};
use instrument::results::Results;
use instrument::sampler::Sampler;
use points::Pair;
use reading::Reading;
use std::cell::{Cell, RefCell};

pub use link::link;

/// The experiments of the group, in the order in which they run.
pub(crate) const ALL: &[&dyn Experiment] = &[&TransferOfFiles];

/// What it costs to send a file from one program to another.
struct TransferOfFiles;

const SENDER: &str = "sender";
const RECEIVER: &str = "receiver";
const READING: &str = "reading";
const SIZE: &str = "size";
/// Where the receiver on another machine listens; points with one on this have no level here.
const TO: &str = "to";

/// In version 1 contents were summed as a whole, and never encrypted.
const VERSION: u32 = 2;

const TIME: &str = "time";
const RECEIVED_TIME: &str = "received_time";
const RECEIVER_TIME: &str = "receiver_time";

impl Experiment for TransferOfFiles {
    fn id(&self) -> &'static str {
        "transfer.file"
    }

    fn definition(&self) -> Definition {
        Definition {
            id: self.id().into(),
            title: "Transfer of a file".into(),
            question: "How should a file be read that is sent to another program, and how written \
                       there: by calls or by mapping it?"
                .into(),
            method: "One file goes over a connection that is open already, through TCP: over \
                     loopback, from one core to another where there are two, or to another \
                     machine with --to, where `oscope receive --measure` runs. The time runs from \
                     before the file is opened until the sender has heard that it is complete \
                     under its name at the receiver, in the page cache. Its bytes go in frames of \
                     512 KiB, each with a sum by XXH3; where the peers share a token, each is \
                     sealed by AES-256-GCM, and methods by which the kernel moves bytes cannot be \
                     measured. To another machine files are left out that would not go often enough in the time there \
                     is. The target is a new file each time; the source is in the \
                     page cache. Sender: file reads it into a buffer of 512 KiB, mmap maps 16 MiB of \
                     it at a time, sendfile and splice let the kernel move it and read it for the \
                     sum only, zerocopy sends the buffers without a copy, where the network \
                     allows that; loopback copies; uring reads up to three blocks ahead through \
                     io_uring while one is sent. Receiver: file receives into a buffer and writes \
                     that, mmap grows and maps the file and receives into it, splice lets the \
                     kernel move it and reads it again for the sum, uring writes up to three \
                     blocks through io_uring while the next arrives. Reading: first opens and \
                     maps the file each time; again finds it open, and mapped with its pages there; \
                     random order does so too and takes blocks of 4 KiB, each once, in an order \
                     drawn before. The receiver's own times run from the announcement of the file \
                     until its last byte has come, and until it has its name."
                .into(),
            source: "Report C".into(),
            axes: vec![
                Axis::choice(TO, "receiver at"),
                Axis::choice(SENDER, "sender"),
                Axis::choice(RECEIVER, "receiver"),
                Axis::choice(READING, "reading"),
                Axis::bytes(SIZE, "file size"),
            ],
            metrics: [
                Metric::new(TIME, "time of a file", Unit::Nanoseconds, Better::Lower),
                Metric::new(
                    RECEIVED_TIME,
                    "receiver's time to the last byte",
                    Unit::Nanoseconds,
                    Better::Neither,
                ),
                Metric::new(RECEIVER_TIME, "receiver's time", Unit::Nanoseconds, Better::Lower),
            ]
            .map(|metric| Metric {
                version: VERSION,
                ..metric
            })
            .to_vec(),
            isolation: Isolation::FreshProcess,
        }
    }

    fn needs(&self, setting: &Setting) -> Vec<Need> {
        let files = Bytes(points::room(setting));
        vec![Need::Space(files), Need::Memory(files), Need::Link]
    }

    fn points(&self, setting: &Setting) -> Vec<Point> {
        points::all(setting)
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let pair = Pair::of(point)?;
        let allowed = pair.sender.check();
        allowed.map_err(|error| MeasureError::Unsupported(error.to_string()))?;
        let reading = Reading::named(point.choice(READING)?)?;
        let size = point.number(SIZE)?;
        let path = sampler.scratch().join(format!("{} {size}", self.id()));
        let source = ScratchFile::open_or_make(&path, size, sampler.seed())?;
        source.read_in()?;
        let endpoint = Endpoint::start(sampler)?;
        let connection = RefCell::new(endpoint.connect(pair.sender).map_err(failed)?);
        let mut prepared = reading.prepare(pair.sender, source.file, &path, sampler.seed())?;
        let mut transfer = || prepared.transfer(&mut connection.borrow_mut(), size);
        let timing = Cell::new(None);
        let tell = |sampler: &mut Sampler<'_>| -> Result<(), MeasureError> {
            if let Some(Timing { received, stored }) = timing.take() {
                sampler.value(RECEIVED_TIME, received.as_nanos() as f64)?;
                sampler.value(RECEIVER_TIME, stored.as_nanos() as f64)?;
            }
            Ok(())
        };
        let prepare = |sampler: &mut Sampler<'_>| {
            tell(sampler)?;
            let room = connection.borrow_mut().prepare(pair.receiver);
            match room.map_err(failed)? {
                room if room < size => Err(MeasureError::Unsupported(format!(
                    "the receiver has room for a file of {:.3}",
                    Bytes(room)
                ))),
                _ => Ok(()),
            }
        };
        // The first transfer of a connection finds the network's windows small.
        prepare(sampler)?;
        transfer()?;
        sampler.once(TIME, 1.0, prepare, || {
            timing.set(Some(transfer()?));
            Ok(())
        })?;
        tell(sampler)?;
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

#[cfg(test)]
mod tests {
    use super::points::PAIRS;
    use super::{READING, RECEIVER, RECEIVER_TIME, SENDER, SIZE, TIME, TransferOfFiles};
    use crate::made_up::{count, measure};
    use instrument::point::Point;

    fn point(sender: &str, receiver: &str, reading: &str, size: u64) -> Point {
        Point::new()
            .with(SENDER, sender)
            .with(RECEIVER, receiver)
            .with(READING, reading)
            .with(SIZE, size)
    }

    #[test]
    fn every_pair_is_measured_and_leaves_only_its_sources() {
        let scratch = tempfile::tempdir().expect("a directory for temporary files");
        for pair in PAIRS {
            if let Err(error) = pair.sender.check() {
                println!("skipped: {error}");
                continue;
            }
            let point = point(pair.sender.name(), pair.receiver.name(), "first", 70_000);
            let (samples, _) = measure(&TransferOfFiles, &point, scratch.path()).expect("loopback");
            assert!(count(&samples, TIME) >= 1);
            assert_eq!(count(&samples, TIME), count(&samples, RECEIVER_TIME));
        }
        let left = std::fs::read_dir(scratch.path()).expect("it is there");
        assert_eq!(left.count(), 1);
    }

    #[test]
    fn every_reading_works_at_sizes_that_are_no_round_number() {
        let scratch = tempfile::tempdir().expect("a directory for temporary files");
        for reading in ["first", "again", "random order"] {
            for sender in ["file", "mmap"] {
                for size in [1, 4097, 1 << 20] {
                    let point = point(sender, "file", reading, size);
                    let measured = measure(&TransferOfFiles, &point, scratch.path());
                    let (samples, _) = measured.expect(reading);
                    assert!(count(&samples, TIME) >= 1);
                }
            }
        }
    }

    #[test]
    fn levels_of_another_version_are_refused() {
        let scratch = tempfile::tempdir().expect("a directory for temporary files");
        for point in [
            point("pigeon", "file", "first", 1),
            point("file", "pigeon", "first", 1),
            point("file", "file", "backwards", 1),
        ] {
            measure(&TransferOfFiles, &point, scratch.path()).expect_err("there is no such thing");
        }
    }
}
