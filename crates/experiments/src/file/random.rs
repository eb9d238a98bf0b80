//! `file.random`: reading in order against reading in random order.

use super::page_cache::{CacheMetrics, Chiller};
use super::scratch_file::ScratchFile;
use super::{By, CHUNK_SIZE, FILE_SIZE, MOST_BYTES_PER_SECOND, like, of_file, powers, room};
use crate::estimates::{by_ratio, found, grade, ratios_within, time_ns};
use crate::figures::{curves, lines_of, logarithmic};
use crate::file;
use crate::judging::below_from;
use crate::listing::{LISTING, NAMED, is_listed};
use crate::prelude::*;
use instrument::figure::Mark;
use platform::block_io::read_exact_at;
use platform::file::{OpenMode, open_read_write};
use std::io::{Read, Seek, SeekFrom};

/// The experiment `file.random`.
pub(crate) struct InRandomOrder;

/// The order no longer matters where reading in order gains at most this factor.
pub(super) const MET: f64 = 1.1;

pub(super) const DESIGN: Design = Design {
    id: "file.random",
    title: "Sequential against random reads",
    question: "How much slower are random reads than sequential ones, and from which chunk size \
               on does the order no longer matter?",
    method: "A scratch file that is not in memory is read whole by pread, in chunks of one size, \
             each exactly once. It is read in order, and in a random order that is drawn before \
             the clock starts. Both orders make the same calls. The file is evicted before each \
             pass, and the eviction is verified. `from_storage` is the share that the kernel then \
             says was read from a block device. Chunks smaller than a page find pages that \
             another chunk of the same page brought in. Read-ahead stays on in both orders. Where \
             neighbours of a chunk are in memory, the kernel takes even a random order for a \
             stream. Later chunks are then often there already, and the average is less than the \
             device takes for one chunk. `file.engine` measures that by direct reads. Opening and \
             closing are not timed. A part of a chunk at the end of the file is not read. With `--at 'listing=as \
             printed'` it is the report's listing: as many chunks at random offsets, which need \
             not be aligned and may come twice, by lseek and read of a file opened with O_SYNC.",
    source: "Report E, section 4.2.1",
    axes: &[CHUNK_SIZE.axis(), FILE_SIZE.axis(), NAMED],
    metrics: &[
        SEQUENTIAL,
        RANDOM,
        OF_SEQUENTIAL.resident,
        OF_SEQUENTIAL.from_storage,
        OF_RANDOM.resident,
        OF_RANDOM.from_storage,
    ],
};

impl Experiment for InRandomOrder {
    fn design(&self) -> &'static Design {
        &DESIGN
    }

    fn needs(&self, setting: &Setting) -> Vec<Need> {
        room(file_size(setting))
    }

    fn points(&self, setting: &Setting) -> Vec<Point> {
        let file_size = file_size(setting);
        let sizes: Vec<u64> = match setting.profile {
            Profile::Quick => vec![4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, MIB, 4 * MIB],
            Profile::Standard | Profile::Thorough => powers(KIB, file_size / 2).collect(),
        };
        sizes
            .into_iter()
            // In a single chunk there is no order.
            .filter(|size| *size < file_size)
            .map(|size| of_file(CHUNK_SIZE, size, file_size))
            .collect()
    }

    fn component(&self, _point: &Point, _metric: &str) -> Option<Component> {
        Some(Component::Disk)
    }

    fn counterpart(&self, point: &Point, _metric: &str, _other: System) -> Option<Counterpart> {
        Some(like(point, By::COLD))
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let path = sampler.scratch().join(self.id());
        let file = ScratchFile::open_or_make(&path, point.level(FILE_SIZE)?.0, sampler.seed())?;
        measure(sampler, file, point.level(CHUNK_SIZE)?, is_listed(point))
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        let results = &results.without(LISTING);
        found([smallest_chunk(results), meeting(results)])
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        let results = &results.without(LISTING);
        let met = below_from(&ratios(results), MET);
        let met = met.map(|onset| Mark::found("order no longer matters", onset));
        let title = "Reading a cold file in order and in random order";
        vec![both_orders(results, title, met.ok())]
    }
}

/// Reading in order and in random order, by chunk size, and the mark of the size at which they meet.
pub(super) fn both_orders(results: &Results, title: &str, met: Option<Mark>) -> Figure {
    let axes = (CHUNK_SIZE, logarithmic("throughput", Unit::BytesPerSecond));
    let orders = [(SEQUENTIAL, "in order"), (RANDOM, "random")];
    Figure {
        marks: met.into_iter().collect(),
        ..curves(
            "throughput",
            title,
            axes,
            lines_of(results, CHUNK_SIZE, orders),
        )
    }
}

fn file_size(setting: &Setting) -> u64 {
    file::cold_file_size(setting, 1, [16 * MIB, 128 * MIB, 512 * MIB])
}

/// The price of random order in chunks of a page.
fn smallest_chunk(results: &Results) -> Option<Finding> {
    let ratios = ratios(results);
    let (chunk, times) = *ratios.iter().find(|(size, _)| *size >= Bytes(4 * KIB))?;
    let random = results.sound(RANDOM, &[CHUNK_SIZE.at(chunk)])?;
    let each = time_ns(random, chunk.0 as f64)?;
    let said = sentence!(
        "Reading an uncached file of {file} in chunks of {chunk} takes {times} as long at random as in \
         order: {each} a chunk, on average and with read-ahead.",
        file = results.points.first()?.point.level(FILE_SIZE).ok()?,
    );
    Some(by_ratio("order", said, &times).weighing(0.65))
}

/// The chunk size from which on the order no longer matters, if that is decided.
fn meeting(results: &Results) -> Option<Finding> {
    let ratios = ratios(results);
    let (largest, times) = *ratios.last()?;
    let (said, grade) = match (below_from(&ratios, MET), grade(&times, MET)) {
        (Ok(onset), _) => (
            sentence!(
                "From chunks of {met} on, the order in which an uncached file is read hardly matters: in \
                 chunks of {largest}, reading at random takes {times} as long as in order.",
                met = onset.from,
            ),
            Grade::Certain,
        ),
        (Err(_), Grade::Undecided) => return None,
        (Err(_), grade) => (
            sentence!(
                "The order in which an uncached file is read matters in all chunks measured: in chunks of \
                 {largest}, reading at random still takes {times} as long as in order."
            ),
            grade,
        ),
    };
    Some(Finding::new("meeting", said).graded(grade).weighing(0.5))
}

pub(super) const SEQUENTIAL: Metric =
    Metric::bandwidth("sequential", "read in order").bounded(MOST_BYTES_PER_SECOND);
pub(super) const RANDOM: Metric =
    Metric::bandwidth("random", "read in random order").bounded(MOST_BYTES_PER_SECOND);

pub(super) const OF_SEQUENTIAL: CacheMetrics = CacheMetrics::new(
    ["sequential_resident", "in the page cache before, in order"],
    ["sequential_from_storage", "read from storage, in order"],
);
pub(super) const OF_RANDOM: CacheMetrics = CacheMetrics::new(
    ["random_resident", "in the page cache before, random"],
    ["random_from_storage", "read from storage, random"],
);

/// Reads the whole cold file in chunks, in order and then, cold again, in random order.
pub(super) fn measure(
    sampler: &mut Sampler<'_>,
    mut file: ScratchFile,
    Bytes(chunk_size): Bytes,
    is_listed: bool,
) -> Result<(), MeasureError> {
    let mut buffer = super::buffer(chunk_size as usize)?;
    let chunk = buffer.as_mut_slice();
    let mut chiller = Chiller::new(&file)?;
    let in_order: Vec<u64> = (0..file.len / chunk_size).map(|n| n * chunk_size).collect();
    let mut shuffled = in_order.clone();
    let mut random = Random::new(sampler.seed());
    if is_listed {
        let last = in_order.last().copied().unwrap_or_default() as usize;
        shuffled.fill_with(|| random.below(last + 1) as u64);
    } else {
        random.shuffle(&mut shuffled);
    }

    let passes = [
        (SEQUENTIAL, OF_SEQUENTIAL, &in_order),
        (RANDOM, OF_RANDOM, &shuffled),
    ];
    for (metric, evidence, offsets) in passes {
        let bytes = (offsets.len() as u64 * chunk_size) as f64;
        let cold = (&mut chiller, &mut file);
        evidence.of_cold_passes(sampler, (metric, bytes), cold, |file| {
            let mut offsets = offsets.iter();
            if !is_listed {
                return offsets.try_for_each(|at| Ok(read_exact_at(&file.file, chunk, *at)?));
            }
            let mut opened = open_read_write(&file.path, OpenMode::Synchronous)?;
            let read = offsets.try_for_each(|at| {
                opened.seek(SeekFrom::Start(*at))?;
                opened.read_exact(chunk)
            });
            read.map_err(MeasureError::system("read the scratch file"))
        })?;
    }
    chiller.remark_on(sampler)
}

/// Throughput in order over that in random order, by chunk size.
pub(super) fn ratios(results: &Results) -> Vec<(Bytes, Quantity)> {
    let results = results.without(LISTING);
    let curve = |metric| results.along(CHUNK_SIZE, metric, &[]);
    ratios_within(&curve(SEQUENTIAL), &curve(RANDOM))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::testing::{can_be_cold, scratch};
    use crate::listing::Listing;
    use crate::made_up::{count, measure, values};

    #[test]
    fn each_byte_is_read_once_each_way() {
        let scratch = scratch();
        if !can_be_cold(scratch.path()) {
            return;
        }
        let point = of_file(CHUNK_SIZE, 8192, MIB);
        let (samples, _) = measure(&InRandomOrder, &point, scratch.path()).expect("a disk");
        assert!(count(&samples, SEQUENTIAL) >= 1 && count(&samples, RANDOM) >= 1);
        for share in values(&samples, OF_RANDOM.from_storage) {
            assert!(share >= 0.99, "{share}");
        }
        let printed = point.at(LISTING, Listing::AsPrinted);
        let (samples, _) = measure(&InRandomOrder, &printed, scratch.path()).expect("a disk");
        assert!(count(&samples, SEQUENTIAL) >= 1 && count(&samples, RANDOM) >= 1);
    }
}
