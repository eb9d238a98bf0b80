//! `file.size`: how large a file is that takes a given time to read, by the size of its blocks.

use super::page_cache::CacheMetrics;
use super::scratch_file::{ScratchFile, Walk};
use super::{
    BLOCK_SIZE, By, FILE_SIZE, THROUGHPUT_OF_PIECES as THROUGHPUT, by_profile, like, room,
};
use crate::estimates::{grade, time_ns};
use crate::figures::curves;
use crate::file;
use crate::lines::{bytes_in, line_through};
use crate::prelude::*;

pub(crate) struct SizeForATime;

/// The middle of the 5 to 15 s that the reports call reasonable, in ns.
const REASONABLE_NS: f64 = 10e9;
/// The part of the variance that a line must explain before it is followed beyond the data.
const STRAIGHT: f64 = 0.99;

const DESIGN: Design = Design {
    id: "file.size",
    title: "File size for 10 s of reading",
    question: "How large a file can be read in 10 s, by block size?",
    method: "Scratch files in the page cache are read by read calls of one block each, in short \
             pieces, one after the other, each timed by itself. Each file is twice or four times \
             as long as the one before. A file that is partly missing from the page cache is read \
             in again as a whole first. A straight line through their times, each weighted by its \
             relative error, gives the time of a byte. The size for 10 s, the middle of the time \
             that the reports call reasonable, follows from the line and is not itself read: \
             `oscope file size` reads it in full. Opening the file is left out.",
    source: "Reports A and B, section 2",
    axes: &[BLOCK_SIZE.axis(), FILE_SIZE.axis()],
    metrics: &[
        THROUGHPUT,
        CacheMetrics::PLAIN.resident,
        CacheMetrics::PLAIN.from_storage,
    ],
};

impl Experiment for SizeForATime {
    fn design(&self) -> &'static Design {
        &DESIGN
    }

    fn needs(&self, setting: &Setting) -> Vec<Need> {
        room(2 * largest(setting))
    }

    fn points(&self, setting: &Setting) -> Vec<Point> {
        let blocks: &[u64] = match setting.profile {
            Profile::Quick => &[128, 4 * KIB, 128 * KIB],
            Profile::Standard => &[128, 512, 4 * KIB, 32 * KIB, 128 * KIB, MIB],
            Profile::Thorough => &[64, 128, 512, KIB, 4 * KIB, 32 * KIB, 128 * KIB, MIB],
        };
        let (step, steps) = by_profile(setting.profile, [(4, 3), (2, 5), (2, 6)]);
        let sizes = (0..steps).rev();
        let sizes = sizes.map(|exponent| Bytes(largest(setting) / u64::pow(step, exponent)));
        let blocks = [Point::new()].by(BLOCK_SIZE, blocks.iter().copied().map(Bytes));
        blocks.by(FILE_SIZE, sizes)
    }

    fn shares_process(&self, _point: &Point) -> bool {
        true
    }

    fn counterpart(&self, point: &Point, _metric: &str, _other: System) -> Option<Counterpart> {
        Some(like(point, By::OWN_CALLS))
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let Bytes(len) = point.level(FILE_SIZE)?;
        let block_size = point.level(BLOCK_SIZE)?.0 as usize;
        let path = sampler.scratch().join(format!("{} {len}", self.id()));
        let file = ScratchFile::open_or_make(&path, len, sampler.seed())?;
        let mut buffer = super::buffer(block_size)?;
        let mut walk = Walk::new(&file);
        let metrics = [(THROUGHPUT, block_size as f64)];
        CacheMetrics::PLAIN.of_legs(sampler, &metrics, &file, |blocks| {
            walk.read(blocks, buffer.as_mut_slice())
        })
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        let largest = results.levels(BLOCK_SIZE).into_iter().next_back();
        largest
            .and_then(|block| size_finding(results, block))
            .into_iter()
            .collect()
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        let line = |block: Bytes| {
            let label = format!("blocks of {block}");
            results.series(&label, THROUGHPUT, FILE_SIZE, &[BLOCK_SIZE.at(block)])
        };
        let lines = results.levels(BLOCK_SIZE).into_iter().map(line).collect();
        let title = "Reading files of growing size";
        vec![curves(THROUGHPUT, title, (FILE_SIZE, THROUGHPUT), lines)]
    }
}

fn largest(setting: &Setting) -> u64 {
    file::file_size(setting, 2, [32 * MIB, 256 * MIB, 1024 * MIB])
}

fn size_finding(results: &Results, block: Bytes) -> Option<Finding> {
    let rates = results.along(FILE_SIZE, THROUGHPUT, &[BLOCK_SIZE.at(block)]);
    let time = |(size, rate): &(Bytes, &Estimate)| Some((*size, time_ns(rate, size.0 as f64)?));
    let times: Vec<_> = rates.iter().map(time).collect::<Option<_>>()?;
    let line = line_through(&times)?;
    let size = bytes_in(REASONABLE_NS, &line.slope, Unit::Bytes)?;
    // No page cache holds more than there is memory.
    let memory = results.machine.memory_bytes;
    if memory.is_some_and(|memory| size.value >= memory as f64) {
        return None;
    }
    let said = sentence!(
        "In {time}, a program reads about {size} of a cached file in blocks of {block}; the largest \
         file measured has {largest}.",
        time = Quantity::nanoseconds(REASONABLE_NS),
        largest = rates.last()?.0,
    );
    let grade = if line.explained < STRAIGHT {
        Grade::Undecided
    } else {
        // The size is an extrapolation along the line and no measurement.
        grade(&size, 0.0).max(Grade::Likely)
    };
    let finding = Finding::new(&format!("size_{}", block.0), said);
    Some(finding.graded(grade).weighing(0.2))
}
