//! `file.read_ahead`: how far the kernel reads ahead of a program.

use super::FILE_SIZE;
use super::order::{self, CHUNK_SIZE, RANDOM, SEQUENTIAL};
use super::page_cache::Chiller;
use super::scratch_file::ScratchFile;
use super::sizes::{self, KIB, MIB, by_profile, powers};
use crate::estimates::{WithEstimate, estimated, grade, known};
use crate::figures::{curves, logarithmic};
use instrument::experiment::{Better, Definition, Experiment, Isolation, MeasureError, Metric};
use instrument::figure::{Figure, Mark, MarkOrigin};
use instrument::finding::{Finding, Grade};
use instrument::need::Need;
use instrument::plan::{Profile, Setting};
use instrument::point::{Axis, Point};
use instrument::quantity::{Bytes, Unit};
use instrument::results::{Estimate, Results};
use instrument::sampler::Sampler;
use instrument::statistics::{Estimated, Interval};
use platform::block_io::read_exact_at;
use platform::file::residency;
use platform::storage::Storage;

/// How far the kernel reads ahead of a program.
pub(crate) struct ReadAhead;

pub(super) const AHEAD: &str = "ahead";
const FIRST: &str = "first";
const LONE: &str = "lone";
const STATED: &str = "stated";

/// The file in which pages are counted holds the window and what it takes to grow to it.
const WINDOWS_IN_FILE: u64 = 6;
/// Where the kernel does not state its window, one is looked for up to this size.
const UNSTATED_WINDOW: u64 = 4 * MIB;

impl Experiment for ReadAhead {
    fn id(&self) -> &'static str {
        "file.read_ahead"
    }

    fn definition(&self) -> Definition {
        let bytes = |name, title| Metric::new(name, title, Unit::Bytes, Better::Neither);
        let counted = [
            bytes(AHEAD, "furthest ahead of a reader in order"),
            bytes(FIRST, "in memory after one read at the start"),
            bytes(LONE, "in memory after one read in the middle"),
            bytes(STATED, "window as the kernel states it"),
        ];
        Definition {
            id: self.id().into(),
            title: "Reading ahead".into(),
            question: "How much of a file does the kernel read before a program asks for it?".into(),
            method: "Two ways. By time: a cold scratch file is read in fine chunks, in order and in \
                     random order, as in file.random; the window is estimated as the chunk size at \
                     which reading in random order, which has to ask for each chunk, gets as fast \
                     as reading in order, where the kernel fetches a window at a time. By counting: \
                     of a second cold file, the kernel is asked what is in the page cache after a \
                     single small read at its start, after a single one in its middle, and after \
                     each read of a pass in order, whose furthest distance from the reader to the \
                     last page in memory is taken. While a window is read the next is already under \
                     way, so that this distance is up to two windows. Beside them stands what the \
                     kernel says in read_ahead_kb. Counting is not timed."
                .into(),
            source: "Report E, section 4.2.2".into(),
            axes: vec![
                Axis::bytes(CHUNK_SIZE, "chunk size"),
                Axis::bytes(FILE_SIZE, "file size"),
            ],
            metrics: order::metrics().chain(counted).collect(),
            isolation: Isolation::FreshProcess,
        }
    }

    fn needs(&self, setting: &Setting) -> Vec<Need> {
        let files = Bytes(file_size(setting) + counted_size(stated_bytes(&setting.directory)));
        vec![Need::Space(files), Need::Memory(files)]
    }

    fn points(&self, setting: &Setting) -> Vec<Point> {
        let file_size = file_size(setting);
        let is_fine = setting.profile != Profile::Quick;
        let largest = by_profile(setting.profile, [128 * KIB, 128 * KIB, 512 * KIB]);
        let between = |size: u64| (is_fine && size > KIB && size < largest).then_some(size / 2 * 3);
        powers(KIB, largest)
            .flat_map(|size| [Some(size), between(size)])
            .flatten()
            .map(|size| {
                Point::new()
                    .with(CHUNK_SIZE, size)
                    .with(FILE_SIZE, file_size)
            })
            .collect()
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let chunk_size = point.number(CHUNK_SIZE)?;
        let path = sampler.scratch().join(self.id());
        let file = ScratchFile::open_or_make(&path, point.number(FILE_SIZE)?, sampler.seed())?;
        order::measure(sampler, &file, chunk_size)?;

        let stated = stated_bytes(sampler.scratch());
        let path = sampler.scratch().join(format!("{} counted", self.id()));
        let file = ScratchFile::open_or_make(&path, counted_size(stated), sampler.seed())?;
        let counted = count(&file, chunk_size)?;
        sampler.value(AHEAD, counted.ahead as f64)?;
        sampler.value(FIRST, counted.first as f64)?;
        sampler.value(LONE, counted.lone as f64)?;
        match stated {
            Some(stated) => sampler.value(STATED, stated as f64),
            None => Ok(()),
        }
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        [ahead(results), by_time(results), lone(results)]
            .into_iter()
            .flatten()
            .collect()
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        let line = |metric, label| results.series(label, metric, CHUNK_SIZE, &[]);
        let met = crossing(results).map(|(at, interval)| Mark {
            label: "window, by time".into(),
            at,
            interval,
            origin: MarkOrigin::Found,
        });
        vec![
            curves(
                "throughput",
                "Reading a cold file in fine chunks",
                (
                    logarithmic("chunk size", Unit::Bytes),
                    logarithmic("throughput", Unit::BytesPerSecond),
                ),
                vec![line(SEQUENTIAL, "in order"), line(RANDOM, "random")],
                met.into_iter().collect(),
            ),
            curves(
                "pages",
                "What the kernel brings into memory",
                (
                    logarithmic("chunk size", Unit::Bytes),
                    logarithmic("in memory", Unit::Bytes),
                ),
                vec![
                    line(AHEAD, "ahead of a reader in order"),
                    line(FIRST, "by one read at the start"),
                    line(LONE, "by one read in the middle"),
                    line(STATED, "window, as stated"),
                ],
                Vec::new(),
            ),
        ]
    }
}

fn file_size(setting: &Setting) -> u64 {
    let wanted = by_profile(setting.profile, [4 * MIB, 32 * MIB, 128 * MIB]);
    sizes::cold_file_size(setting, 2, wanted)
}

/// The window as the kernel states it, if it does.
fn stated_bytes(directory: &std::path::Path) -> Option<u64> {
    Storage::behind(directory).ok()?.read_ahead_bytes
}

/// The size of the file in which pages are counted.
fn counted_size(stated: Option<u64>) -> u64 {
    let window = stated.unwrap_or(UNSTATED_WINDOW);
    let wanted = (window * WINDOWS_IN_FILE).max(1).next_power_of_two();
    wanted.clamp(4 * MIB, 64 * MIB)
}

/// What was found in the page cache, in bytes.
struct Counted {
    ahead: u64,
    first: u64,
    lone: u64,
}

fn count(file: &ScratchFile, chunk_size: u64) -> Result<Counted, MeasureError> {
    let mut chunk = vec![0; chunk_size as usize];
    let mut chiller = Chiller::new(&file.file, &file.path)?;
    let mut after_one = |offset: u64, chunk: &mut [u8]| {
        chiller.chill()?;
        read_exact_at(&file.file, chunk, offset)?;
        Ok::<_, MeasureError>(residency(&file.file)?.resident_bytes)
    };
    let first = after_one(0, &mut chunk)?;
    let lone = after_one(file.len / 2, &mut chunk)?;
    chiller.chill()?;
    let mut ahead = 0;
    // No further than to where a whole window still has room before the end.
    for start in (0..file.len / 2).step_by(chunk_size as usize) {
        read_exact_at(&file.file, &mut chunk, start)?;
        let resident = residency(&file.file)?.resident_bytes;
        ahead = ahead.max(resident.saturating_sub(start + chunk_size));
    }
    Ok(Counted { ahead, first, lone })
}

/// What was counted of `metric`, at the smallest chunk.
fn smallest<'r>(results: &'r Results, metric: &str) -> Option<&'r Estimate> {
    Some(results.curve(metric, CHUNK_SIZE, &[]).first()?.1)
}

fn ahead(results: &Results) -> Option<Finding> {
    let ahead = smallest(results, AHEAD)?;
    let page = results.machine.page_bytes? as f64;
    let (template, stated) = match smallest(results, STATED) {
        Some(stated) => (
            "The kernel gets up to {ahead} ahead of a program that reads in order, {pages} pages: \
             {windows} the window that it states, {stated}.",
            Some(stated.centre),
        ),
        None => (
            "The kernel gets up to {ahead} ahead of a program that reads in order, {pages} pages; \
             it states no window here.",
            None,
        ),
    };
    let mut finding = Finding::new("ahead", template)
        .with("ahead", &estimated(ahead), Unit::Bytes)
        .given("pages", ahead.centre / page, Unit::Count);
    if let Some(stated) = stated.filter(|stated| *stated > 0.0) {
        finding = finding
            .given("windows", ahead.centre / stated, Unit::Ratio)
            .given("stated", stated, Unit::Bytes);
    }
    Some(finding.graded(known(&[&estimated(ahead)])).weighing(0.6))
}

/// The chunk size at which reading in random order gets as fast as in order, between the sizes
/// measured, with where the ends of the ratio's intervals say so.
fn crossing(results: &Results) -> Option<(f64, Option<Interval>)> {
    let ratios = order::ratios(results);
    // Where they cross for good: noise may make them touch before.
    let at = |pick: fn(&Estimated) -> f64| {
        let (_, last) = ratios.last()?;
        let pairs = ratios.windows(2).rev().take_while(|_| pick(last) <= 1.0);
        { pairs }.find_map(|pair| {
            let [(small, above), (large, below)] = pair else {
                return None;
            };
            let (above, below) = (pick(above).ln(), pick(below).ln());
            (above > 0.0 && below <= 0.0).then(|| {
                let (small, large) = (*small as f64, *large as f64);
                small * (large / small).powf(above / (above - below))
            })
        })
    };
    let met = at(|ratio| ratio.centre)?;
    let earliest = at(|ratio| ratio.extent().low);
    let latest = at(|ratio| ratio.extent().high);
    let interval = earliest
        .zip(latest)
        .and_then(|(low, high)| Interval::new(low.min(met), high.max(met)));
    Some((met, interval))
}

fn by_time(results: &Results) -> Option<Finding> {
    let ratios = order::ratios(results);
    let (largest, last) = ratios.last()?;
    if let Some((met, interval)) = crossing(results) {
        let template = "Judged by time, the window is {window}: in chunks of that size, reading in \
                        random order is as fast as in order.";
        let grade = interval.map_or(Grade::Likely, |_| Grade::Certain);
        let finding = Finding::new("by_time", template);
        let finding = finding.estimated("window", met, interval, Unit::Bytes);
        return Some(finding.graded(grade).weighing(0.5));
    }
    let (_, first) = ratios.first()?;
    let grade = grade(last, 1.0);
    let (template, grade) = if grade == Grade::Certain && last.centre > 1.0 {
        (
            "Judged by time, the window is larger than {largest}, the largest chunk measured: \
             reading in order is still {times} as fast there as in random order.",
            grade,
        )
    } else if first.centre <= 1.0 {
        (
            "Judged by time, no window shows: already the smallest chunks are read as fast in \
             random order as in order; chunks of {largest} are read {times} as fast in order.",
            Grade::Likely,
        )
    } else {
        (
            "Judged by time, the window cannot be told: in chunks of {largest}, reading in order \
             is {times} as fast as in random order.",
            Grade::CannotBeTold,
        )
    };
    let finding = Finding::new("by_time", template)
        .given("largest", *largest as f64, Unit::Bytes)
        .with("times", last, Unit::Ratio);
    Some(finding.graded(grade).weighing(0.5))
}

fn lone(results: &Results) -> Option<Finding> {
    let (chunk, lone) = results.curve(LONE, CHUNK_SIZE, &[]).into_iter().next()?;
    let first = smallest(results, FIRST)?;
    let template = "A single read of {chunk} brings {first} into memory at the start of a file, \
                    where the kernel expects more of the kind, and {lone} in the middle of it.";
    let finding = Finding::new("lone", template)
        .given("chunk", chunk as f64, Unit::Bytes)
        .with("first", &estimated(first), Unit::Bytes)
        .with("lone", &estimated(lone), Unit::Bytes);
    let grade = known(&[&estimated(first), &estimated(lone)]);
    Some(finding.graded(grade).weighing(0.4))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::testing::{can_be_cold, scratch};
    use crate::made_up::{finding, machine, measure, number, result, results, setting, values};
    use instrument::results::PointResult;

    fn point(chunk: u64) -> Point {
        Point::new().with(CHUNK_SIZE, chunk).with(FILE_SIZE, MIB)
    }

    /// Random chunks reach the speed of reading in order at `window`.
    fn points(window: u64) -> Vec<PointResult> {
        let at = |size: u64| {
            let random = 1e9 * (size as f64 / window as f64).sqrt();
            result(point(size), &[(SEQUENTIAL, 1e9), (RANDOM, random)])
        };
        powers(KIB, 128 * KIB).map(at).collect()
    }

    fn findings(points: Vec<PointResult>) -> Vec<Finding> {
        ReadAhead.findings(&results(&ReadAhead.definition(), &machine(), points))
    }

    #[test]
    fn the_window_is_where_the_curves_cross() {
        let found = findings(points(48 * KIB));
        let window = number(finding(&found, "by_time"), "window");
        assert!((window.value / 49_152.0 - 1.0).abs() < 0.02, "{window:?}");
        let interval = window.interval.expect("five processes");
        assert!(interval.contains(window.value) && interval.half_width() > 0.0);
    }

    #[test]
    fn a_window_beyond_the_chunks_is_said_to_be_there() {
        let found = findings(points(8 * MIB));
        assert!(found[0].template.contains("larger than {largest}"));
        assert_eq!(found[0].grade, Grade::Certain);
        assert_eq!(findings(Vec::new()), []);
    }

    #[test]
    fn the_kernel_is_seen_to_read_ahead() {
        let scratch = scratch();
        if !can_be_cold(scratch.path()) {
            return;
        }
        let (samples, _) = measure(&ReadAhead, &point(4096), scratch.path()).expect("a disk");
        let stated = values(&samples, STATED);
        let ahead = values(&samples, AHEAD);
        if stated.first().is_some_and(|stated| *stated > 0.0) {
            assert!(ahead[0] > 0.0, "{ahead:?}");
            assert!(ahead[0] <= 2.5 * stated[0], "{ahead:?} {stated:?}");
        }
        assert!(values(&samples, LONE)[0] >= 4096.0);
    }

    #[test]
    fn the_quick_profile_is_small() {
        assert_eq!(ReadAhead.points(&setting(Profile::Quick)).len(), 8);
    }
}
