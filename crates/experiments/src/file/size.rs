//! `file.size`: how large a file is that takes a given time to read, by the size of its blocks.

use super::page_cache::{Evidence, warm};
use super::scratch_file::ScratchFile;
use super::sizes::{KIB, MIB, by_profile};
use super::{BLOCK_SIZE, FILE_SIZE, MOST_BYTES_PER_SECOND, not_done};
use crate::estimates::{WithEstimate, grade, time_ns};
use crate::figures::{curves, logarithmic};
use files::lane::Lane;
use files::{Method, Source, Watch};
use instrument::experiment::{Better, Definition, Experiment, Isolation, MeasureError, Metric};
use instrument::figure::Figure;
use instrument::finding::{Finding, Grade};
use instrument::need::Need;
use instrument::plan::Setting;
use instrument::point::{Axis, Point};
use instrument::quantity::{Bytes, Unit};
use instrument::results::Results;
use instrument::sampler::Sampler;
use instrument::statistics::linear::{Line, weighted_line};
use instrument::statistics::{Confidence, Estimated, Interval, Scale};
use std::collections::BTreeSet;
use std::hint::black_box;

/// How large a file is that takes a given time to read.
pub(crate) struct SizeForATime;

const THROUGHPUT: &str = "throughput";

/// The middle of the 5 to 15 s that the reports call reasonable, in ns.
const REASONABLE_NS: f64 = 10e9;
/// How much of the variance a line must explain to be gone along further.
const STRAIGHT: f64 = 0.99;

impl Experiment for SizeForATime {
    fn id(&self) -> &'static str {
        "file.size"
    }

    fn definition(&self) -> Definition {
        let [resident, from_storage] = Evidence::PLAIN.metrics("");
        Definition {
            id: self.id().into(),
            title: "The size that takes a while".into(),
            question: "How large is a file that takes 10 s to read, by the size of its blocks?".into(),
            method: "Ever longer scratch files that are in the page cache are read, each twice or \
                     four times as long as the one before, by read calls of one block each. A \
                     straight line through their times, each weighed by its relative error, \
                     gives the time of a byte; the size for 10 s, the middle of what the reports call \
                     a reasonable time, follows from it and is not itself read: `oscope file size` \
                     reads it in full. Opening the file is in what the line takes off."
                .into(),
            source: "Reports A and B, section 2".into(),
            axes: vec![
                Axis::bytes(BLOCK_SIZE, "block size"),
                Axis::bytes(FILE_SIZE, "file size"),
            ],
            metrics: vec![
                Metric::new(THROUGHPUT, "throughput", Unit::BytesPerSecond, Better::Higher)
                    .bounded(MOST_BYTES_PER_SECOND),
                resident,
                from_storage,
            ],
            isolation: Isolation::FreshProcess,
        }
    }

    fn needs(&self, setting: &Setting) -> Vec<Need> {
        let file = Bytes(2 * largest(setting));
        vec![Need::Space(file), Need::Memory(file)]
    }

    fn points(&self, setting: &Setting) -> Vec<Point> {
        let blocks: &[u64] = by_profile(
            setting.profile,
            [
                &[128, 4 * KIB, 128 * KIB],
                &[1 << 7, 512, 4 * KIB, 32 * KIB, 128 * KIB, MIB],
                &[1 << 6, 1 << 7, 512, KIB, 4 * KIB, 32 * KIB, 128 * KIB, MIB],
            ],
        );
        let step = by_profile(setting.profile, [4, 2, 2]);
        let steps = by_profile(setting.profile, [3, 5, 6]);
        let at = |block: u64| {
            let point = Point::new().with(BLOCK_SIZE, block);
            let sizes = (0..steps)
                .rev()
                .map(|exponent| largest(setting) / u64::pow(step, exponent));
            sizes.map(move |size| point.clone().with(FILE_SIZE, size))
        };
        blocks.iter().copied().flat_map(at).collect()
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let len = point.number(FILE_SIZE)?;
        let lane = Lane::whole(0, len, point.number(BLOCK_SIZE)? as usize);
        let path = sampler.scratch().join(format!("{} {len}", self.id()));
        let file = ScratchFile::open_or_make(&path, len, sampler.seed())?;
        let source = Source::open(&path).map_err(not_done)?;
        Evidence::PLAIN.of_passes(
            sampler,
            THROUGHPUT,
            len as f64,
            || warm(&file),
            || {
                let look = |_: u64, block: &[u8]| {
                    black_box(block);
                };
                files::read(&source, Method::Read, &lane, &Watch::default(), look).map_err(not_done)
            },
        )
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        blocks(results)
            .into_iter()
            .filter_map(|block| size_finding(results, block))
            .collect()
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        let line = |block: u64| {
            let label = format!("blocks of {}", Bytes(block));
            results.series(&label, THROUGHPUT, FILE_SIZE, &[(BLOCK_SIZE, block.into())])
        };
        vec![curves(
            THROUGHPUT,
            "Reading files of growing size",
            (
                logarithmic("file size", Unit::Bytes),
                logarithmic("throughput", Unit::BytesPerSecond),
            ),
            blocks(results).into_iter().map(line).collect(),
            Vec::new(),
        )]
    }
}

fn largest(setting: &Setting) -> u64 {
    let wanted = by_profile(setting.profile, [32 * MIB, 256 * MIB, 1024 * MIB]);
    super::sizes::file_size(setting, 2, wanted)
}

fn blocks(results: &Results) -> BTreeSet<u64> {
    let points = results.points.iter();
    points
        .filter_map(|result| result.point.number(BLOCK_SIZE).ok())
        .collect()
}

/// Time against size.
fn fit(results: &Results, block: u64) -> Option<Line> {
    let rates = results.curve(THROUGHPUT, FILE_SIZE, &[(BLOCK_SIZE, block.into())]);
    let sizes: Vec<f64> = rates.iter().map(|(size, _)| *size as f64).collect();
    let times = rates.iter().map(|(size, rate)| time_ns(rate, *size as f64));
    let times: Vec<f64> = times
        .map(|time| Some(time?.centre))
        .collect::<Option<_>>()?;
    let weights: Vec<f64> = times.iter().map(|time| time.powi(-2)).collect();
    weighted_line(&sizes, &times, &weights, Confidence::NINETY_FIVE)
}

fn size_finding(results: &Results, block: u64) -> Option<Finding> {
    let line = fit(results, block)?;
    let size = |slope_ns: f64| REASONABLE_NS / slope_ns;
    let slope = &line.slope;
    let found = Estimated {
        centre: size(slope.centre),
        interval: slope
            .interval
            .filter(|slope| slope.low > 0.0)
            .and_then(|slope| Interval::new(size(slope.high), size(slope.low))),
        n: slope.n,
        scale: Scale::Linear,
    };
    let template = "In blocks of {block}, {time} would do to read {size} out of a page cache that holds as \
                    much, by the line through the sizes measured.";
    let finding = Finding::new(&format!("size_{block}"), template)
        .with("size", &found, Unit::Bytes)
        .given("block", block as f64, Unit::Bytes)
        .given("time", REASONABLE_NS, Unit::Nanoseconds);
    let grade = if line.explained < STRAIGHT {
        Grade::CannotBeTold
    } else {
        // It is no measurement but goes on along a line.
        grade(&found, 0.0).max(Grade::Likely)
    };
    Some(finding.graded(grade).weighing(0.35))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::testing::scratch;
    use crate::made_up::{cost_result, count, machine, measure, results, setting, value};
    use instrument::plan::Profile;
    use instrument::results::PointResult;

    fn point(block: u64, size: u64) -> Point {
        Point::new().with(BLOCK_SIZE, block).with(FILE_SIZE, size)
    }

    #[test]
    fn the_size_follows_from_the_line() {
        let at = |size: u64| -> PointResult {
            let wall_ns = 5000.0 + size as f64 * 2.0;
            cost_result(
                &SizeForATime,
                &point(128, size),
                &[(THROUGHPUT, wall_ns, size as f64)],
            )
        };
        let (definition, machine) = (SizeForATime.definition(), machine());
        let points = [MIB, 4 * MIB, 16 * MIB, 32 * MIB].map(at).into();
        let found = SizeForATime.findings(&results(&definition, &machine, points));
        let size = value(&found, "size_128", "size");
        assert!((size / 5e9 - 1.0).abs() < 0.01, "{size}");
        assert_eq!(found[0].grade, Grade::Likely);
    }

    #[test]
    fn beginnings_are_measured() {
        let scratch = scratch();
        for block in [128, 128 * KIB] {
            let (samples, _) =
                measure(&SizeForATime, &point(block, MIB), scratch.path()).expect("it is there");
            assert!(count(&samples, THROUGHPUT) >= 1);
        }
        assert_eq!(SizeForATime.points(&setting(Profile::Quick)).len(), 9);
    }
}
