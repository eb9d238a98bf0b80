//! `file.random`: reading in order against reading in random order.

use super::FILE_SIZE;
use super::order::{self, CHUNK_SIZE, RANDOM, SEQUENTIAL};
use super::scratch_file::ScratchFile;
use super::sizes::{self, KIB, MIB, by_profile, powers};
use crate::estimates::{WithEstimate, grade, time_ns};
use crate::figures::{curves, logarithmic};
use instrument::experiment::{Definition, Experiment, Isolation, MeasureError};
use instrument::figure::{Figure, Mark, MarkOrigin};
use instrument::finding::{Finding, Grade};
use instrument::need::Need;
use instrument::plan::{Profile, Setting};
use instrument::point::{Axis, Point};
use instrument::quantity::{Bytes, Unit};
use instrument::results::Results;
use instrument::sampler::Sampler;
use instrument::statistics::Estimated;

/// Reading in order against reading in random order.
pub(crate) struct InRandomOrder;

/// The curves have met where reading in order gains no more than this.
pub(super) const MET: f64 = 1.1;

impl Experiment for InRandomOrder {
    fn id(&self) -> &'static str {
        "file.random"
    }

    fn definition(&self) -> Definition {
        Definition {
            id: self.id().into(),
            title: "Sequential against random reads".into(),
            question: "How much slower is a file read in random order, and in chunks of what size \
                       does the order no longer matter?"
                .into(),
            method: "The whole of a scratch file that is not in memory is read by pread in chunks \
                     of one size, each exactly once: in order, and in an order that was drawn \
                     before the clock started. Both ways do the same calls. The file is evicted \
                     before each pass and its absence verified; `from_storage` is the share that \
                     the kernel then says was read from a block device. Chunks smaller than a page \
                     meet pages that another chunk of the same page brought in. Reading ahead \
                     stays on in both: where neighbours of a chunk are in memory the kernel takes \
                     even a random order for a stream, so that later chunks are often there \
                     already, and the average is less than the device takes for one; `file.engine` \
                     measures that by direct reads. Opening and closing are left out."
                .into(),
            source: "Report E, section 4.2.1".into(),
            axes: vec![
                Axis::bytes(CHUNK_SIZE, "chunk size"),
                Axis::bytes(FILE_SIZE, "file size"),
            ],
            metrics: order::metrics().collect(),
            isolation: Isolation::FreshProcess,
        }
    }

    fn needs(&self, setting: &Setting) -> Vec<Need> {
        let file = Bytes(file_size(setting));
        vec![Need::Space(file), Need::Memory(file)]
    }

    fn points(&self, setting: &Setting) -> Vec<Point> {
        let file_size = file_size(setting);
        let sizes: Vec<u64> = match setting.profile {
            Profile::Quick => powers(4 * KIB, 64 * KIB)
                .chain([256 * KIB, MIB, 4 * MIB])
                .collect(),
            Profile::Standard | Profile::Thorough => powers(KIB, file_size / 2).collect(),
        };
        sizes
            .into_iter()
            // In a single chunk there is no order.
            .filter(|size| *size < file_size)
            .map(|size| {
                Point::new()
                    .with(CHUNK_SIZE, size)
                    .with(FILE_SIZE, file_size)
            })
            .collect()
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let path = sampler.scratch().join(self.id());
        let file = ScratchFile::open_or_make(&path, point.number(FILE_SIZE)?, sampler.seed())?;
        order::measure(sampler, &file, point.number(CHUNK_SIZE)?)
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        [smallest_chunk(results), meeting(results)]
            .into_iter()
            .flatten()
            .collect()
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        let line = |metric, label| results.series(label, metric, CHUNK_SIZE, &[]);
        let met = met_from(&order::ratios(results)).map(|at| Mark {
            label: "order no longer matters".into(),
            at: at as f64,
            interval: None,
            origin: MarkOrigin::Found,
        });
        vec![curves(
            "throughput",
            "Reading a cold file in order and in random order",
            (
                logarithmic("chunk size", Unit::Bytes),
                logarithmic("throughput", Unit::BytesPerSecond),
            ),
            vec![line(SEQUENTIAL, "in order"), line(RANDOM, "random")],
            met.into_iter().collect(),
        )]
    }
}

fn file_size(setting: &Setting) -> u64 {
    let wanted = by_profile(setting.profile, [16 * MIB, 128 * MIB, 512 * MIB]);
    sizes::cold_file_size(setting, 1, wanted)
}

/// What the order costs in chunks of a page.
fn smallest_chunk(results: &Results) -> Option<Finding> {
    let ratios = order::ratios(results);
    let (chunk, times) = ratios.iter().find(|(size, _)| *size >= 4 * KIB)?;
    let random = results.curve(RANDOM, CHUNK_SIZE, &[]);
    let (_, random) = random.iter().find(|(size, _)| size == chunk)?;
    let each = time_ns(random, *chunk as f64)?;
    let template = "Chunks of {chunk} are read {times} as fast in order as in random order, in \
                    which each takes {each} on the average of a whole file, with what the kernel \
                    reads ahead.";
    let finding = Finding::new("order", template)
        .given("chunk", *chunk as f64, Unit::Bytes)
        .with("times", times, Unit::Ratio)
        .with("each", &each, Unit::Nanoseconds);
    Some(finding.graded(grade(times, 1.0)).weighing(0.65))
}

fn meeting(results: &Results) -> Option<Finding> {
    let ratios = order::ratios(results);
    let (largest, last) = ratios.last()?;
    let met = met_from(&ratios);
    let (template, grade) = match (met, grade(last, MET)) {
        (Some(_), _) => (
            "In chunks of {met} and more the order no longer matters: in chunks of {largest}, \
             reading in order is {times} as fast as in random order.",
            Grade::Likely,
        ),
        (None, Grade::CannotBeTold) => (
            "Whether the order still matters in chunks of {largest} cannot be told: reading in \
             order is {times} as fast there as in random order.",
            Grade::CannotBeTold,
        ),
        (None, grade) => (
            "The order matters at every size measured: even in chunks of {largest}, reading in \
             order is {times} as fast as in random order.",
            grade,
        ),
    };
    let mut finding = Finding::new("meeting", template).graded(grade);
    if let Some(met) = met {
        finding = finding.given("met", met as f64, Unit::Bytes);
    }
    let finding = finding.given("largest", *largest as f64, Unit::Bytes);
    Some(finding.with("times", last, Unit::Ratio).weighing(0.6))
}

/// The smallest size from which on reading in order gains next to nothing.
fn met_from(ratios: &[(u64, Estimated)]) -> Option<u64> {
    let met = ratios
        .iter()
        .rev()
        .take_while(|(_, ratio)| ratio.centre <= MET);
    met.last().map(|(size, _)| *size)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::testing::{can_be_cold, scratch};
    use crate::made_up::{count, machine, measure, result, results, setting, value, values};
    use instrument::results::PointResult;

    fn point(chunk: u64) -> Point {
        Point::new().with(CHUNK_SIZE, chunk).with(FILE_SIZE, MIB)
    }

    /// Reading in order at 1 GB/s; in random order each chunk waits 64 µs first.
    fn points(largest: u64) -> Vec<PointResult> {
        let at = |size: u64| {
            let random = size as f64 / (64e-6 + size as f64 / 1e9);
            result(point(size), &[(SEQUENTIAL, 1e9), (RANDOM, random)])
        };
        powers(4 * KIB, largest).map(at).collect()
    }

    fn findings(points: Vec<PointResult>) -> Vec<Finding> {
        InRandomOrder.findings(&results(&InRandomOrder.definition(), &machine(), points))
    }

    #[test]
    fn the_curves_meet_where_waiting_is_a_tenth() {
        let found = findings(points(8 * MIB));
        let met = value(&found, "meeting", "met");
        assert!((met - MIB as f64).abs() < 1.0, "{met}");
        let each = value(&found, "order", "each");
        assert!((each - 68_096.0).abs() < 100.0, "{each}");
    }

    #[test]
    fn curves_that_do_not_meet_are_said_not_to() {
        let found = findings(points(64 * KIB));
        assert!(found[1].template.contains("every size"));
        assert_eq!(found[1].grade, Grade::Certain);
        assert_eq!(findings(Vec::new()), []);
    }

    #[test]
    fn each_byte_is_read_once_each_way() {
        let scratch = scratch();
        if !can_be_cold(scratch.path()) {
            return;
        }
        let (samples, _) = measure(&InRandomOrder, &point(8192), scratch.path()).expect("a disk");
        assert!(count(&samples, SEQUENTIAL) >= 1 && count(&samples, RANDOM) >= 1);
        for share in values(&samples, "random_from_storage") {
            assert!(share >= 0.99, "{share}");
        }
    }

    #[test]
    fn the_quick_profile_is_small() {
        let points = InRandomOrder.points(&setting(Profile::Quick));
        assert!((7..=8).contains(&points.len()));
    }
}
