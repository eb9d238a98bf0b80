//! `file.sync`: the cost of a write that waits until it is on the device.

use super::{By, like};
use crate::estimates::{by_ratio, found, grade, of_values, ratio};
use crate::figures::{bars, lines, logarithmic};
use crate::prelude::*;
use platform::file::{OpenMode, create, open_read_write};
use platform::storage::Storage;
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

pub(crate) struct WaitingWrites;

pub(super) const METHOD: AxisOf<Method> = AxisOf::new("method", "way of waiting");
pub(super) const PLACE: AxisOf<WriteKind> = AxisOf::new("place", "place");
pub(super) const LATENCY: Metric = Metric::time("latency", "time of a write");

/// A way of waiting until a write is on the device.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    #[choice("write+fsync")]
    Fsync,
    #[choice("write+fdatasync")]
    Fdatasync,
    #[choice("O_SYNC write")]
    Sync,
    #[choice("O_DSYNC write")]
    DataSync,
}

/// A write over blocks that exist, or one that makes the file longer.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WriteKind {
    Overwrite,
    Append,
}

pub(super) const DESIGN: Design = Design {
    id: "file.sync",
    title: "Writes that wait for the device",
    question: "How long does a write take that waits until its data is safe, and which way of \
               waiting is the cheapest?",
    method: formatcp!(
        "Single operations are timed, each less the cost of reading the clock, and reported by \
         their percentiles. An operation is a write of {} KiB and the wait for it: fsync or \
         fdatasync after it, or a file opened with O_SYNC or O_DSYNC. Overwrite goes over blocks \
         that are already on the device. Append makes the file longer, so its size and the place \
         of the new block have to be safe too. At {} MiB the file is emptied, which is not timed \
         apart and happens once in {} writes. The answer of the device is trusted: one that \
         answers before the data is safe looks fast here.",
        BLOCK_BYTES >> 10,
        FILE_BYTES >> 20,
        FILE_BYTES / BLOCK_BYTES
    ),
    source: "common practice",
    axes: &[METHOD.axis(), PLACE.axis()],
    metrics: &[LATENCY],
};

impl Experiment for WaitingWrites {
    fn design(&self) -> &'static Design {
        &DESIGN
    }

    fn needs(&self, _setting: &Setting) -> Vec<Need> {
        vec![Need::Space(Bytes(
            Method::ALL.len() as u64 * 2 * FILE_BYTES,
        ))]
    }

    fn points(&self, _setting: &Setting) -> Vec<Point> {
        let methods = [Point::new()].by(METHOD, Method::ALL);
        methods.by(PLACE, WriteKind::ALL)
    }

    fn component(&self, _point: &Point, _metric: &str) -> Option<Component> {
        Some(Component::Disk)
    }

    fn counterpart(&self, point: &Point, _metric: &str, _other: System) -> Option<Counterpart> {
        Some(like(point, By::WAITING))
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let storage = device_behind(sampler.scratch())?;
        let (method, place) = (point.level(METHOD)?, point.level(PLACE)?);
        let path = sampler
            .scratch()
            .join(format!("{} {method} {place}", self.id()));
        let mut target = Target::make(&path, method, place)?;
        if let Some(device) = &storage.block_device {
            sampler.remark(format!("{} on {device}", storage.file_system));
        }
        sampler.latencies(LATENCY, || target.write())
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        found([safe_write(results), cheapest(results), append(results)])
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        let title = "Time of a write of 4 KiB that waits for the device";
        let axes = (METHOD, logarithmic("median", Unit::Nanoseconds));
        let lines = lines(results, LATENCY, METHOD, PLACE, &[]);
        vec![bars(LATENCY, title, axes, lines)]
    }
}

/// The file and how it is written.
struct Target {
    file: File,
    wait: fn(&File) -> std::io::Result<()>,
    is_appending: bool,
    position: u64,
    block: Vec<u8>,
}

impl Target {
    fn make(path: &Path, method: Method, place: WriteKind) -> Result<Self, MeasureError> {
        let (mode, wait): (_, fn(&File) -> std::io::Result<()>) = match method {
            Method::Fsync => (OpenMode::Plain, File::sync_all),
            Method::Fdatasync => (OpenMode::Plain, File::sync_data),
            Method::Sync => (OpenMode::Synchronous, |_| Ok(())),
            Method::DataSync => (OpenMode::DataSynchronous, |_| Ok(())),
        };
        let is_appending = place == WriteKind::Append;
        let blocks = if is_appending {
            0
        } else {
            FILE_BYTES / BLOCK_BYTES
        };
        make(path, blocks)?;
        Ok(Self {
            file: open_read_write(path, mode)?,
            wait,
            is_appending,
            position: 0,
            block: block(),
        })
    }

    /// Writes the next block and waits for it.
    fn write(&mut self) -> Result<(), MeasureError> {
        let written = self.file.write_all(&self.block);
        written
            .and_then(|()| (self.wait)(&self.file))
            .map_err(MeasureError::system("write the scratch file"))?;
        self.position += BLOCK_BYTES;
        if self.position < FILE_BYTES {
            return Ok(());
        }
        self.position = 0;
        let emptied = if self.is_appending {
            self.file.set_len(0)
        } else {
            Ok(())
        };
        emptied
            .and_then(|()| self.file.seek(SeekFrom::Start(0)))
            .map(drop)
            .map_err(MeasureError::system("wind back the scratch file"))
    }
}

pub(super) fn latency<'r>(
    results: &'r Results,
    method: Method,
    place: WriteKind,
) -> Option<&'r Estimate> {
    results.sound(LATENCY, &[METHOD.at(method), PLACE.at(place)])
}

fn safe_write(results: &Results) -> Option<Finding> {
    let median = latency(results, Method::Fsync, WriteKind::Overwrite)?;
    let p99 = Quantity::nanoseconds(median.percentiles?.p99_ns);
    let rare = if p99.value > median.centre {
        sentence!(", and one time in a hundred {p99} or more")
    } else {
        Sentence::default()
    };
    let said = sentence!("A write of 4 KiB and its fsync take {median}{rare}.");
    let finding = of_values("safe_write", said, [median]).with_number("p99", p99);
    Some(finding.weighing(0.75))
}

/// The fastest way for blocks that exist, if it is faster than fsync.
fn cheapest(results: &Results) -> Option<Finding> {
    let over = |method| latency(results, method, WriteKind::Overwrite);
    let others = Method::ALL
        .iter()
        .filter(|method| **method != Method::Fsync);
    let known = others.filter_map(|method| Some((method.name(), over(*method)?)));
    let known: Vec<_> = known.collect();
    let (method, time) = Curve::of(&known, Better::Lower).best().ok()?;
    let times = ratio(over(Method::Fsync)?, time)?;
    let said = sentence!(
        "The fastest way to put 4 KiB of an existing block on the device is {method}: {time}; \
         write+fsync takes {times} as long."
    );
    let is_faster = grade(&times, 1.0) == Grade::Certain && times.value > 1.0;
    is_faster.then(|| Finding::new("cheapest", said).weighing(0.55))
}

fn append(results: &Results) -> Option<Finding> {
    let append = latency(results, Method::Fdatasync, WriteKind::Append)?;
    let times = ratio(
        append,
        latency(results, Method::Fdatasync, WriteKind::Overwrite)?,
    )?;
    let said = sentence!(
        "A write of 4 KiB and its fdatasync take {append} if they make the file longer, {times} as \
         long as over an existing block: fill a log file before its first use."
    );
    let finding = by_ratio("append", said, &times);
    (times.value > 1.0).then(|| finding.weighing(0.5))
}

/// The size of each write.
pub(super) const BLOCK_BYTES: u64 = 4 << 10;
/// The size at which a file begins anew.
pub(super) const FILE_BYTES: u64 = 4 << 20;

/// The content of a block.
pub(super) fn block() -> Vec<u8> {
    vec![0x5a; BLOCK_BYTES as usize]
}

/// The storage behind a directory, which must be a device.
pub(super) fn device_behind(directory: &Path) -> Result<Storage, MeasureError> {
    let storage = Storage::behind(directory)?;
    if storage.is_memory() {
        return Err(MeasureError::Unsupported(format!(
            "there is no device to wait for: {} is memory; name a directory on a disk",
            storage.file_system
        )));
    }
    Ok(storage)
}

/// A new file of `blocks` blocks, which are on the device.
pub(super) fn make(path: &Path, blocks: u64) -> Result<File, MeasureError> {
    let mut file = create(path, OpenMode::Plain)?;
    let block = block();
    (0..blocks)
        .try_for_each(|_| file.write_all(&block))
        .map_err(MeasureError::system("make the scratch file"))?;
    file.sync_all()
        .map_err(MeasureError::system("put the scratch file on the device"))?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::testing::scratch;

    #[test]
    fn an_appended_file_is_emptied_at_its_end() {
        let scratch = scratch();
        let path = scratch.path().join("file");
        let mut target =
            Target::make(&path, Method::Fdatasync, WriteKind::Append).expect("there is room");
        target.position = FILE_BYTES - BLOCK_BYTES;
        target.write().expect("there is room");
        assert_eq!(target.file.metadata().expect("open").len(), 0);
        target.write().expect("there is room");
        assert_eq!(target.file.metadata().expect("open").len(), BLOCK_BYTES);
    }
}
