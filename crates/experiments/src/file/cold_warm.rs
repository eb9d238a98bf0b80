//! `file.cold_warm`: what a cold page cache costs, block size by block size.

use super::page_cache::{self, Chiller, Evidence};
use super::scratch_file::ScratchFile;
use super::sizes::{self, KIB, MIB, by_profile, powers};
use super::{BLOCK_SIZE, FILE_SIZE, MOST_BYTES_PER_SECOND};
use crate::estimates::{WithEstimate, estimated, grade, ratio_within, ratios_within};
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
use platform::memory::{Mapping, PageSize};

/// What a cold page cache costs, block size by block size.
pub(crate) struct ColdWarm;

const COLD: &str = "cold";
const WARM: &str = "warm";
const COLD_AGAIN: &str = "cold_again";

const OF_COLD: Evidence = Evidence {
    resident: "cold_resident",
    from_storage: "cold_from_storage",
};
const OF_WARM: Evidence = Evidence {
    resident: "warm_resident",
    from_storage: "warm_from_storage",
};

/// Ratios within this of each other count as stable.
const STABLE: f64 = 0.10;
/// A cold read of which less than this share was seen to come from storage proves little.
const NEARLY_ALL: f64 = 0.9;

impl Experiment for ColdWarm {
    fn id(&self) -> &'static str {
        "file.cold_warm"
    }

    fn definition(&self) -> Definition {
        let throughput = |name: &str, title: &str| {
            Metric::new(name, title, Unit::BytesPerSecond, Better::Higher)
                .bounded(MOST_BYTES_PER_SECOND)
        };
        let metrics = [
            throughput(COLD, "read cold"),
            throughput(WARM, "read warm"),
            throughput(COLD_AGAIN, "read cold again"),
        ];
        Definition {
            id: self.id().into(),
            title: "Cold and warm reads".into(),
            question: "What does it cost to read a file that is not in memory, and from which \
                       block size on is that price stable?"
                .into(),
            method: "One process reads a scratch file from its start to its end by calls of one \
                     block: cold, then warm, then cold again. No reboot is needed for cold: the \
                     file is synchronised, so that its pages are clean, and evicted by advice on \
                     it alone (POSIX_FADV_DONTNEED). Only where that leaves pages, as root, the \
                     caches of the machine are dropped by writing to /proc/sys/vm/drop_caches: 1 \
                     drops the pages of files, 2 directory entries, inodes and other kernel \
                     objects, 3 both; 1 is what is used. It never drops what is changed and not \
                     written back, and every other program on the machine reads cold afterwards. \
                     Before each pass the kernel is asked what of the file is resident; a pass in \
                     the wrong state is not timed. `cold_from_storage` is the share of the file \
                     that the kernel says this process had read from a block device meanwhile; \
                     where less than all is seen, something above the device answered. What a \
                     disk, or the host of a virtual one, has in memory of its own cannot be seen; \
                     a second cold read that is faster than the first hints at it. Opening and \
                     closing are left out."
                .into(),
            source: "Reports A and B, section 4".into(),
            axes: vec![
                Axis::bytes(BLOCK_SIZE, "block size"),
                Axis::bytes(FILE_SIZE, "file size"),
            ],
            metrics: metrics
                .into_iter()
                .chain(OF_COLD.metrics(", cold"))
                .chain(OF_WARM.metrics(", warm"))
                .collect(),
            isolation: Isolation::FreshProcess,
        }
    }

    fn needs(&self, setting: &Setting) -> Vec<Need> {
        let file = Bytes(file_size(setting));
        vec![Need::Space(file), Need::Memory(file)]
    }

    fn points(&self, setting: &Setting) -> Vec<Point> {
        let file_size = file_size(setting);
        let sizes = match setting.profile {
            Profile::Quick => powers(512, 16 * KIB)
                .chain([64 * KIB, 256 * KIB, MIB, 4 * MIB])
                .collect::<Vec<_>>(),
            Profile::Standard => powers(512, 4 * MIB).collect(),
            Profile::Thorough => powers(512, 16 * MIB).collect(),
        };
        sizes
            .into_iter()
            .filter(|size| *size <= file_size)
            .map(|size| {
                Point::new()
                    .with(BLOCK_SIZE, size)
                    .with(FILE_SIZE, file_size)
            })
            .collect()
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let len = point.number(FILE_SIZE)?;
        let block_size = point.number(BLOCK_SIZE)? as usize;
        let path = sampler.scratch().join(self.id());
        let file = ScratchFile::open_or_make(&path, len, sampler.seed())?;
        let mut buffer = Mapping::anonymous(block_size, PageSize::Base)?;
        buffer.populate()?;
        let block = buffer.as_mut_slice();
        let mut chiller = Chiller::new(&file.file, &file.path)?;
        let bytes = len as f64;

        for (metric, evidence) in [(COLD, &OF_COLD), (WARM, &OF_WARM), (COLD_AGAIN, &OF_COLD)] {
            let prepare = || {
                let resident = if metric == WARM {
                    page_cache::warm(&file)
                } else {
                    chiller.chill()
                }?;
                file.wind_back()?;
                Ok(resident)
            };
            let body = || file.read_through(block);
            evidence.of_passes(sampler, metric, bytes, prepare, body)?;
        }
        match chiller.remark() {
            Some(remark) => sampler.remark(remark),
            None => Ok(()),
        }
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        [cold_over_warm(results), again(results)]
            .into_iter()
            .flatten()
            .collect()
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        let lines = [(COLD, "cold"), (WARM, "warm"), (COLD_AGAIN, "cold again")];
        let lines = lines.map(|(metric, label)| results.series(label, metric, BLOCK_SIZE, &[]));
        let stable = stable_from(&ratios(results)).map(|from| Mark {
            label: "ratio stable".into(),
            at: from as f64,
            interval: None,
            origin: MarkOrigin::Found,
        });
        vec![curves(
            "throughput",
            "Reading a file, cold and warm",
            (
                logarithmic("block size", Unit::Bytes),
                logarithmic("throughput", Unit::BytesPerSecond),
            ),
            lines.into(),
            stable.into_iter().collect(),
        )]
    }
}

fn file_size(setting: &Setting) -> u64 {
    let wanted = by_profile(setting.profile, [16 * MIB, 128 * MIB, 512 * MIB]);
    sizes::file_size(setting, 1, wanted)
}

fn curve<'r>(results: &'r Results, metric: &str) -> Vec<(u64, &'r Estimate)> {
    results.curve(metric, BLOCK_SIZE, &[])
}

/// How many times as long a cold read takes as a warm one, by block size.
pub(super) fn ratios(results: &Results) -> Vec<(u64, Estimated)> {
    ratios_within(&curve(results, WARM), &curve(results, COLD))
}

fn cold_over_warm(results: &Results) -> Option<Finding> {
    let ratios = ratios(results);
    let (_, last) = ratios.last()?;
    let from = stable_from(&ratios)?;
    let from_storage = curve(results, OF_COLD.from_storage);
    let (is_from_storage, evidence) = match from_storage.last() {
        Some((_, share)) => (
            share.centre >= NEARLY_ALL,
            " {share} of it was seen to come from storage.",
        ),
        None => (false, " Whether it came from storage cannot be seen here."),
    };
    let caveat = if results.machine.hypervisor.is_some() {
        " What the host of this virtual machine had in its own memory is not known."
    } else {
        ""
    };
    let template = format!(
        "A file that is not in memory takes {{ratio}} as long to read as one that is; from blocks \
         of {{from}} on this ratio is stable.{evidence}{caveat}"
    );
    let finding = Finding::new("cold_over_warm", &template)
        .with("ratio", last, Unit::Ratio)
        .given("from", from as f64, Unit::Bytes);
    let finding = match from_storage.last() {
        Some((_, share)) => finding.with("share", &estimated(share), Unit::Share),
        None => finding,
    };
    let grade = match grade(last, 1.0) {
        Grade::Certain if !is_from_storage => Grade::Likely,
        grade => grade,
    };
    Some(finding.graded(grade).weighing(0.75))
}

/// The smallest size from which on every ratio, or its interval, stays close to the last.
fn stable_from(ratios: &[(u64, Estimated)]) -> Option<u64> {
    let (_, last) = ratios.last()?;
    let band = Interval::new(last.centre / (1.0 + STABLE), last.centre * (1.0 + STABLE))?;
    let stable = ratios
        .iter()
        .rev()
        .take_while(|(_, ratio)| ratio.extent().overlaps(&band));
    stable.last().map(|(size, _)| *size)
}

/// Whether something behind the page cache remembers the file.
fn again(results: &Results) -> Option<Finding> {
    let (_, first) = curve(results, COLD).pop()?;
    let (_, second) = curve(results, COLD_AGAIN).pop()?;
    let gain = ratio_within(second, first)?;
    let grade = grade(&gain, 1.0);
    let remembers = grade == Grade::Certain && gain.centre > 1.0;
    let template = if remembers {
        "Made cold again, the file is read {gain} as fast as the first time: something behind the \
         page cache, in the device or the host, remembers it."
    } else {
        "Made cold again, the file is read {gain} as fast as the first time: nothing shows that \
         anything behind the page cache remembers it better."
    };
    let finding = Finding::new("cold_again", template).with("gain", &gain, Unit::Ratio);
    let grade = if remembers {
        Grade::Likely
    } else {
        Grade::CannotBeTold
    };
    Some(finding.graded(grade).weighing(0.35))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::testing::{can_be_cold, scratch};
    use crate::made_up::{count, machine, measure, number, result, results, setting, values};
    use instrument::results::PointResult;

    fn point(size: u64) -> Point {
        Point::new().with(BLOCK_SIZE, size).with(FILE_SIZE, MIB)
    }

    /// Warm reads are bound by calls up to 4 KiB, cold ones by the device from 16 KiB on.
    fn points(again: f64) -> Vec<PointResult> {
        let at = |size: u64| {
            let warm = 8e9 * size.min(4 * KIB) as f64 / (4 * KIB) as f64;
            let cold = 1e9 * size.min(16 * KIB) as f64 / (16 * KIB) as f64;
            let rates = [(COLD, cold), (WARM, warm), (COLD_AGAIN, cold * again)];
            result(point(size), &rates)
        };
        powers(512, 4 * MIB).map(at).collect()
    }

    fn findings(points: Vec<PointResult>) -> Vec<Finding> {
        ColdWarm.findings(&results(&ColdWarm.definition(), &machine(), points))
    }

    #[test]
    fn the_ratio_is_told_with_the_block_size_from_which_it_holds() {
        let found = findings(points(1.0));
        let number = |name| number(&found[0], name).value;
        assert!((number("ratio") / 8.0 - 1.0).abs() < 0.01);
        assert!((number("from") - 16384.0).abs() < 1.0);
        // Nothing was seen to come from storage.
        assert_eq!(found[0].grade, Grade::Likely);
        assert_eq!(findings(Vec::new()), []);
    }

    #[test]
    fn a_faster_second_read_hints_at_a_cache_behind() {
        assert!(findings(points(1.5))[1].template.contains("remembers it."));
        assert_eq!(findings(points(1.0))[1].grade, Grade::CannotBeTold);
    }

    #[test]
    fn each_pass_starts_in_its_state() {
        let scratch = scratch();
        if !can_be_cold(scratch.path()) {
            return;
        }
        let (samples, remarks) = measure(&ColdWarm, &point(4096), scratch.path()).expect("a disk");
        for metric in [COLD, WARM, COLD_AGAIN] {
            assert!(count(&samples, metric) >= 1, "{metric}");
        }
        let cold = values(&samples, OF_COLD.resident);
        assert!(cold.iter().all(|share| *share < 0.001), "{cold:?}");
        let warm = values(&samples, OF_WARM.resident);
        assert!(warm.iter().all(|share| *share >= 1.0), "{warm:?}");
        let read = values(&samples, OF_WARM.from_storage);
        assert!(read.iter().all(|share| *share <= 0.0), "{read:?}");
        assert!(remarks[0].contains("evicted"), "{remarks:?}");
    }

    #[test]
    fn the_quick_profile_is_small() {
        let points = ColdWarm.points(&setting(Profile::Quick));
        assert_eq!(points.len(), 10);
    }
}
