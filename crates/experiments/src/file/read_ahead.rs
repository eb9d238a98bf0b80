//! `file.read_ahead`: how far the kernel reads ahead of a program.

use super::page_cache::Chiller;
use super::random::{self, OF_RANDOM, OF_SEQUENTIAL, RANDOM, SEQUENTIAL};
use super::scratch_file::ScratchFile;
use super::{By, CHUNK_SIZE, FILE_SIZE, by_profile, like, of_file, powers, room};
use crate::estimates::{found, of_values};
use crate::figures::{curves, lines_of, logarithmic};
use crate::file;
use crate::judging::{MARGIN, below_from};
use crate::prelude::*;
use instrument::figure::Mark;
use platform::block_io::read_exact_at;
use platform::file::{reports_residency, residency};
use platform::storage::Storage;
use std::path::Path;

pub(crate) struct ReadAhead;

pub(super) const AHEAD: Metric =
    Metric::fact("ahead", "furthest ahead of a reader in order", Unit::Bytes);
pub(super) const WINDOW: Metric =
    Metric::fact("window", "window, half of how far it reads", Unit::Bytes);
const FIRST: Metric = Metric::fact(
    "first",
    "in memory after one read at the start",
    Unit::Bytes,
);
const LONE: Metric = Metric::fact(
    "lone",
    "in memory after one read in the middle",
    Unit::Bytes,
);
const STATED: Metric = Metric::fact("stated", "window as the kernel states it", Unit::Bytes);

pub(super) const DESIGN: Design = Design {
    id: "file.read_ahead",
    title: "Reading ahead",
    question: "How much of a file does the kernel read before a program asks for it?",
    method: "By time: a cold scratch file is read in small chunks, in order and at random, as in \
             file.random. In order, the kernel fetches a window at a time; at random, it has to \
             fetch each chunk by itself. The window is estimated as the chunk size at which \
             reading at random gets as fast as reading in order. By counting: in a second cold \
             file, the kernel is asked which pages are in the page cache. It is asked after a \
             single small read at its start, after a single one in its middle, and after each \
             read of a pass in order. Of that pass, the largest distance from the reader to the \
             last page in memory is taken. The kernel fetches the next window when the program \
             has read the first chunk of one, so this distance and that chunk are two windows. `window` is \
             half of them. The window that the \
             kernel states in read_ahead_kb is recorded next to these. Counting is not timed.",
    source: "Report E, section 4.2.2",
    axes: &[CHUNK_SIZE.axis(), FILE_SIZE.axis()],
    metrics: &[
        SEQUENTIAL,
        RANDOM,
        OF_SEQUENTIAL.resident,
        OF_SEQUENTIAL.from_storage,
        OF_RANDOM.resident,
        OF_RANDOM.from_storage,
        AHEAD,
        WINDOW,
        FIRST,
        LONE,
        STATED,
    ],
};

impl Experiment for ReadAhead {
    fn design(&self) -> &'static Design {
        &DESIGN
    }

    fn needs(&self, setting: &Setting) -> Vec<Need> {
        room(file_size(setting) + counted_size(stated_bytes(&setting.directory)))
    }

    fn points(&self, setting: &Setting) -> Vec<Point> {
        let file_size = file_size(setting);
        let is_fine = setting.profile != Profile::Quick;
        let largest = by_profile(setting.profile, [128 * KIB, 128 * KIB, 512 * KIB]);
        let between = |size: u64| (is_fine && size > KIB && size < largest).then_some(size / 2 * 3);
        powers(KIB, largest)
            .flat_map(|size| [Some(size), between(size)])
            .flatten()
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
        let chunk_size = point.level(CHUNK_SIZE)?;
        let path = sampler.scratch().join(self.id());
        let file = ScratchFile::open_or_make(&path, point.level(FILE_SIZE)?.0, sampler.seed())?;
        random::measure(sampler, file, chunk_size, false)?;

        let stated = stated_bytes(sampler.scratch());
        let path = sampler.scratch().join(format!("{} counted", self.id()));
        let mut file = ScratchFile::open_or_make(&path, counted_size(stated), sampler.seed())?;
        if reports_residency() {
            let counted = count(&mut file, chunk_size.0)?;
            sampler.value(AHEAD, counted.ahead as f64);
            sampler.value(WINDOW, window(counted.ahead, chunk_size.0));
            sampler.value(FIRST, counted.first as f64);
            sampler.value(LONE, counted.lone as f64);
        }
        if let Some(stated) = stated {
            sampler.value(STATED, stated as f64);
        }
        Ok(())
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        found([ahead(results), lone(results)])
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        // Where reading in random order is as fast as in order.
        let met = below_from(&random::ratios(results), 1.0 + MARGIN);
        let met = met.map(|onset| Mark::found("window, by time", onset));
        let title = "Reading a cold file in fine chunks";
        let axes = (CHUNK_SIZE, logarithmic("in memory", Unit::Bytes));
        let pages = [
            (AHEAD, "ahead of a reader in order"),
            (FIRST, "by one read at the start"),
            (LONE, "by one read in the middle"),
            (STATED, "window, as stated"),
        ];
        let pages = lines_of(results, CHUNK_SIZE, pages);
        vec![
            random::both_orders(results, title, met.ok()),
            curves("pages", "What the kernel brings into memory", axes, pages),
        ]
    }
}

fn file_size(setting: &Setting) -> u64 {
    file::cold_file_size(setting, 2, [4 * MIB, 32 * MIB, 128 * MIB])
}

/// The count of `metric` at the smallest chunk, with that chunk.
fn smallest<'r>(results: &'r Results, metric: Metric) -> Option<(Bytes, &'r Estimate)> {
    results.along(CHUNK_SIZE, metric, &[]).into_iter().next()
}

fn ahead(results: &Results) -> Option<Finding> {
    let (_, ahead) = smallest(results, AHEAD)?;
    let stated = smallest(results, STATED).map(|(_, stated)| stated.centre);
    let window = match stated {
        Some(stated) if stated > 0.0 => sentence!(
            ", {windows} its window (read_ahead_kb: {stated})",
            windows = Quantity::exact(ahead.centre / stated, Unit::Ratio),
            stated = Quantity::exact(stated, Unit::Bytes),
        ),
        Some(_) => sentence!(", although read_ahead_kb is 0"),
        None => Sentence::default(),
    };
    let said = sentence!(
        "The kernel reads up to {ahead} ahead of a program that reads a file in order{window}."
    );
    Some(of_values("ahead", said, [ahead]).weighing(0.85))
}

fn lone(results: &Results) -> Option<Finding> {
    let (chunk, lone) = smallest(results, LONE)?;
    let (_, first) = smallest(results, FIRST)?;
    let said = sentence!(
        "A single read of {chunk} brings {first} into the page cache at the start of a file and {lone} \
         in its middle."
    );
    let reads_more = first.centre > lone.centre;
    reads_more.then(|| of_values("lone", said, [first, lone]).weighing(0.4))
}

/// The file in which pages are counted holds this many windows: the kernel grows to its full window
/// in steps.
const WINDOWS_IN_FILE: u64 = 6;
/// The largest window that is looked for if the kernel states none.
const UNSTATED_WINDOW: u64 = 4 * MIB;

/// The window as the kernel states it, if it does.
fn stated_bytes(directory: &Path) -> Option<u64> {
    Storage::behind(directory).ok()?.read_ahead_bytes
}

/// The size of the file in which pages are counted.
fn counted_size(stated: Option<u64>) -> u64 {
    let window = stated.unwrap_or(UNSTATED_WINDOW);
    let wanted = (window * WINDOWS_IN_FILE).max(1).next_power_of_two();
    wanted.clamp(4 * MIB, 64 * MIB)
}

/// The window of a kernel that was `ahead` of a reader who had read one chunk of a window.
fn window(ahead: u64, chunk: u64) -> f64 {
    (ahead + chunk) as f64 / 2.0
}

/// Bytes found in the page cache.
struct Counted {
    ahead: u64,
    first: u64,
    lone: u64,
}

fn count(file: &mut ScratchFile, chunk_size: u64) -> Result<Counted, MeasureError> {
    let mut chunk = vec![0; chunk_size as usize];
    let mut chiller = Chiller::new(file)?;
    let mut after_one = |file: &mut ScratchFile, offset: u64, chunk: &mut [u8]| {
        chiller.chill(file)?;
        read_exact_at(&file.file, chunk, offset)?;
        Ok::<_, MeasureError>(residency(&file.file)?.resident_bytes)
    };
    let first = after_one(file, 0, &mut chunk)?;
    let middle = file.len / 2;
    let lone = after_one(file, middle, &mut chunk)?;
    chiller.chill(file)?;
    let mut ahead = 0;
    // No further than to where a whole window still has room before the end.
    for start in (0..file.len / 2).step_by(chunk_size as usize) {
        read_exact_at(&file.file, &mut chunk, start)?;
        let resident = residency(&file.file)?.resident_bytes;
        ahead = ahead.max(resident.saturating_sub(start + chunk_size));
    }
    Ok(Counted { ahead, first, lone })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::testing::{can_be_cold, scratch};
    use crate::made_up::{measure, values};

    #[test]
    fn the_kernel_reads_ahead_of_a_reader_in_order() {
        let scratch = scratch();
        if !can_be_cold(scratch.path()) {
            return;
        }
        let point = of_file(CHUNK_SIZE, 4096, MIB);
        let (samples, _) = measure(&ReadAhead, &point, scratch.path()).expect("a disk");
        let stated = values(&samples, STATED);
        let ahead = values(&samples, AHEAD);
        let expected = window(ahead[0] as u64, 4096);
        assert!((values(&samples, WINDOW)[0] - expected).abs() < 1.0);
        if stated.first().is_some_and(|stated| *stated > 0.0) {
            assert!(ahead[0] > 0.0, "{ahead:?}");
            assert!(ahead[0] <= 2.5 * stated[0], "{ahead:?} {stated:?}");
        }
        assert!(values(&samples, LONE)[0] >= 4096.0);
    }
}
