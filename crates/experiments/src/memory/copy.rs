//! `memory.copy`: how fast one core copies memory, by size and by the way it does so.

use super::caches;
use crate::estimates::{WithEstimate, estimated, grade, ratio};
use instrument::experiment::{Better, Definition, Experiment, Isolation, MeasureError, Metric};
use instrument::figure::{Figure, FigureAxis, FigureKind, FigureScale};
use instrument::finding::Finding;
use instrument::need::Need;
use instrument::plan::{Profile, Setting};
use instrument::point::{Axis, Point};
use instrument::quantity::{Bytes, Unit};
use instrument::results::{Estimate, Results};
use instrument::sampler::Sampler;
use kernels::CopyMethod;
use platform::memory::{Mapping, PageSize};
use std::hint::black_box;

/// How fast one core copies memory, by size and by the way it does so.
pub(crate) struct Copy;

const BLOCK_SIZE: &str = "block_size";
const METHOD: &str = "method";
const COPY: &str = "copy";
/// What every processor has, and others are set against.
const USUAL: &str = "memcpy";

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
/// One register of 64 bytes loaded and one stored in a cycle at 8 GHz.
const MOST_BYTES_PER_SECOND: f64 = 64.0 * 8e9;
/// Source and target together take no more than this part of the memory available.
const SHARE_OF_MEMORY: u64 = 4;
const LEAST_MEMORY: u64 = 2 * MIB * SHARE_OF_MEMORY;

impl Experiment for Copy {
    fn id(&self) -> &'static str {
        "memory.copy"
    }

    fn definition(&self) -> Definition {
        Definition {
            id: self.id().into(),
            title: "Copying memory".into(),
            question: "How fast does one core copy memory, and which way of copying is best at \
                       which size?"
                .into(),
            method: "One core copies a block to another, again and again, both in base pages that \
                     were touched before. memcpy: the C library's, which chooses by length and \
                     processor. Non-temporal stores: the widest vector registers, whose stores go \
                     past the caches. rep movsb: the processor's own instruction for it. Each byte \
                     of the block counts once, though it is both read and written (STREAM counts \
                     it twice). The time is the difference of 2n and n copies."
                .into(),
            source: "common practice (lmbench's bw_mem bcopy, STREAM's copy)".into(),
            axes: vec![
                Axis::bytes(BLOCK_SIZE, "block size"),
                Axis::choice(METHOD, "method"),
            ],
            metrics: vec![
                Metric::new(COPY, "copy", Unit::BytesPerSecond, Better::Higher)
                    .bounded(MOST_BYTES_PER_SECOND),
            ],
            isolation: Isolation::FreshProcess,
        }
    }

    fn needs(&self, _setting: &Setting) -> Vec<Need> {
        vec![Need::Memory(Bytes(LEAST_MEMORY))]
    }

    fn points(&self, setting: &Setting) -> Vec<Point> {
        let last = caches::last_bytes(&setting.machine);
        let largest = (2 * last).clamp(128 * MIB, 512 * MIB);
        let largest = largest.min(setting.available_bytes / SHARE_OF_MEMORY / 2);
        let powers = || (KIB.ilog2()..=(64 * MIB).ilog2()).map(|exponent| 1 << exponent);
        let sizes: Vec<u64> = match setting.profile {
            Profile::Quick => vec![8 * KIB, 256 * KIB, 8 * MIB],
            Profile::Standard => powers().step_by(2).collect(),
            Profile::Thorough => powers().collect(),
        };
        let sizes = sizes.into_iter().filter(|size| *size < largest);
        let sizes = sizes.chain([largest / KIB * KIB]).filter(|size| *size > 0);
        let with_methods = |size| {
            CopyMethod::available().map(move |method| {
                Point::new()
                    .with(BLOCK_SIZE, size)
                    .with(METHOD, method.name())
            })
        };
        sizes.flat_map(with_methods).collect()
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let size = point.number(BLOCK_SIZE)? as usize;
        let name = point.choice(METHOD)?;
        let method = CopyMethod::called(name).ok_or_else(|| {
            MeasureError::Unsupported(format!("this processor cannot copy by {name}"))
        })?;
        let [mut source, mut target] = [
            Mapping::anonymous(size, PageSize::Base)?,
            Mapping::anonymous(size, PageSize::Base)?,
        ];
        // Pages that nobody wrote to are all the same one of zeros.
        source.populate()?;
        target.populate()?;
        kernels::write(source.as_mut_slice(), sampler.seed());
        sampler.repeat(COPY, size as f64, |copies| {
            for _ in 0..copies {
                method.copy(
                    black_box(target.as_mut_slice()),
                    black_box(source.as_slice()),
                );
            }
            Ok(())
        })
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        let usual = results.curve(COPY, BLOCK_SIZE, &[(METHOD, USUAL.into())]);
        let ends = match usual.as_slice() {
            [] => return Vec::new(),
            [only] => vec![("largest", only)],
            [first, .., last] => vec![("largest", last), ("smallest", first)],
        };
        let set_against = |(key, (size, usual)): (&str, &(u64, &Estimate))| {
            let others = results.points.iter().filter(|result| {
                result.point.number(BLOCK_SIZE) == Ok(*size)
                    && result.point.choice(METHOD) != Ok(USUAL)
            });
            let fastest = others
                .filter_map(|result| {
                    Some((result.point.choice(METHOD).ok()?, result.estimate(COPY)?))
                })
                .filter(|(_, estimate)| estimate.is_sound())
                .max_by(|(_, one), (_, other)| one.centre.total_cmp(&other.centre));
            comparison(key, *size, usual, fastest)
        };
        ends.into_iter().map(set_against).collect()
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        let mut methods: Vec<&str> = Vec::new();
        for result in &results.points {
            let method = result.point.choice(METHOD).unwrap_or(USUAL);
            if !methods.contains(&method) {
                methods.push(method);
            }
        }
        let series = methods
            .into_iter()
            .map(|method| results.series(method, COPY, BLOCK_SIZE, &[(METHOD, method.into())]));
        vec![Figure {
            key: COPY.into(),
            title: "Copying memory".into(),
            kind: FigureKind::Curve,
            x: FigureAxis {
                title: "block size".into(),
                unit: Some(Unit::Bytes),
                scale: FigureScale::Logarithmic,
            },
            y: FigureAxis {
                title: "bytes copied".into(),
                unit: Some(Unit::BytesPerSecond),
                scale: FigureScale::Logarithmic,
            },
            series: series.collect(),
            marks: caches::marks(&[], results.machine),
        }]
    }
}

/// The usual way at one size, and the fastest of the others beside it.
fn comparison(
    key: &str,
    size: u64,
    usual: &Estimate,
    fastest: Option<(&str, &Estimate)>,
) -> Finding {
    let alone = "Blocks of {size} are copied at {copy} by memcpy";
    let gain = fastest.and_then(|(name, other)| Some((name, ratio(other, usual)?)));
    let finding = match gain {
        Some((name, gain)) => {
            let template = format!("{alone}; by {name} it is {{gain}} as fast.");
            Finding::new(key, &template)
                .with("gain", &gain, Unit::Ratio)
                .graded(grade(&gain, 1.0))
        }
        None => Finding::new(key, &format!("{alone}.")),
    };
    finding
        .given("size", size as f64, Unit::Bytes)
        .with("copy", &estimated(usual), Unit::BytesPerSecond)
        .weighing(0.55)
}

#[cfg(test)]
mod tests {
    use super::{BLOCK_SIZE, COPY, Copy, METHOD, MIB, USUAL};
    use crate::made_up::{count, machine, measure, result, results, setting};
    use instrument::experiment::Experiment;
    use instrument::finding::Grade;
    use instrument::plan::{Profile, Setting};
    use instrument::point::Point;
    use kernels::CopyMethod;
    use std::path::Path;

    fn point(size: u64, method: &str) -> Point {
        Point::new().with(BLOCK_SIZE, size).with(METHOD, method)
    }

    #[test]
    fn every_way_is_measured_here() {
        for method in CopyMethod::available() {
            let point = point(64 << 10, method.name());
            let (samples, _) = measure(&Copy, &point, Path::new("/")).expect("memory works");
            assert!(count(&samples, COPY) >= 1, "{point}");
        }
        let unknown = measure(&Copy, &point(1024, "by hand"), Path::new("/"));
        assert!(unknown.is_err());
    }

    #[test]
    fn the_best_way_is_set_against_the_usual_one_at_either_end() {
        let points = [
            (1 << 10, USUAL, 100e9),
            (1 << 10, "rep movsb", 50e9),
            (128 << 20, USUAL, 8e9),
            (128 << 20, "non-temporal stores", 12e9),
            (128 << 20, "rep movsb", 9e9),
        ];
        let points =
            points.map(|(size, method, rate)| result(point(size, method), &[(COPY, rate)]));
        let (definition, machine) = (Copy.definition(), machine());
        let results = results(&definition, &machine, points.to_vec());
        let found = Copy.findings(&results);
        assert!(found[0].template.contains("non-temporal"), "{found:?}");
        let gain = &found[0].numbers[0];
        assert!((gain.value - 1.5).abs() < 0.01 && found[0].grade == Grade::Certain);
        assert!((found[1].numbers[0].value - 0.5).abs() < 0.01);
        assert_eq!(Copy.figures(&results)[0].series.len(), 3);
    }

    #[test]
    fn no_more_than_a_share_of_the_memory_is_taken() {
        let points = Copy.points(&setting(Profile::Quick));
        assert!(points.len() <= 12, "{} points", points.len());
        let little = Setting {
            available_bytes: 80 * MIB,
            ..setting(Profile::Standard)
        };
        let sizes = Copy.points(&little);
        let largest = sizes
            .iter()
            .filter_map(|point| point.number(BLOCK_SIZE).ok());
        assert_eq!(largest.max(), Some(10 * MIB));
    }
}
