//! `file.cold_warm`: what a cold page cache costs, block size by block size.

use super::definition::{BLOCK_SIZE, FILE_SIZE, MOST_BYTES_PER_SECOND, room};
use super::page_cache::{self, Chiller, Evidence};
use super::scratch_file::ScratchFile;
use super::sizes::{self, KIB, MIB, by_profile, powers};
use crate::estimates::{grade, ratio_within, ratios_within};
use crate::figures::{axis_of, curves, logarithmic};
use crate::prelude::*;
use instrument::figure::{Mark, MarkOrigin};
use instrument::statistics::Interval;
use platform::memory::{Mapping, PageSize};

/// The experiment `file.cold_warm`.
pub(crate) struct ColdWarm;

const COLD: Metric<&str> = Metric::bandwidth("cold", "read cold").bounded(MOST_BYTES_PER_SECOND);
const WARM: Metric<&str> = Metric::bandwidth("warm", "read warm").bounded(MOST_BYTES_PER_SECOND);
const COLD_AGAIN: Metric<&str> =
    Metric::bandwidth("cold_again", "read cold again").bounded(MOST_BYTES_PER_SECOND);

const OF_COLD: Evidence = Evidence {
    resident: Metric::fact(
        "cold_resident",
        "in the page cache before, cold",
        Unit::Share,
    ),
    from_storage: Metric::fact("cold_from_storage", "read from storage, cold", Unit::Share),
};
const OF_WARM: Evidence = Evidence {
    resident: Metric::fact(
        "warm_resident",
        "in the page cache before, warm",
        Unit::Share,
    ),
    from_storage: Metric::fact("warm_from_storage", "read from storage, warm", Unit::Share),
};

/// Ratios within this of each other count as stable.
const STABLE: f64 = 0.10;
/// A cold read of which less than this share was seen to come from storage proves little.
const NEARLY_ALL: f64 = 0.9;

pub(super) const DESIGN: Design = Design {
    id: "file.cold_warm",
    title: "Cold and warm reads",
    question: "How much longer does it take to read a file that is not in memory, and from which \
               block size on is that ratio stable?",
    method: "One process reads a scratch file from start to end by calls of one block: cold, \
             then warm, then cold again. Opening and closing are not timed. A cold read needs no \
             reboot: the file is synced, so that its pages are clean, and then evicted by advice \
             on it alone (POSIX_FADV_DONTNEED). Only where that leaves pages, and only as root, \
             are the caches of the whole machine dropped, by writing to \
             /proc/sys/vm/drop_caches: 1 drops the pages of files, 2 directory entries, inodes \
             and other kernel objects, 3 both; oscope writes 1. That never drops dirty pages, \
             and every other program on the machine reads cold afterwards. The kernel is asked \
             before each pass how much of the file is resident; a pass in the wrong state is not \
             timed. `cold_from_storage` is the share of the file that the kernel says this \
             process read from a block device during the pass. Where that is less than all of \
             it, a cache above the device answered. The caches of a disk, or of the host of a \
             virtual one, cannot be seen; a second cold read that is faster than the first hints \
             at one.",
    source: "Reports A and B, section 4",
    axes: &[BLOCK_SIZE.axis(), FILE_SIZE.axis()],
    metrics: &[
        COLD,
        WARM,
        COLD_AGAIN,
        OF_COLD.resident,
        OF_COLD.from_storage,
        OF_WARM.resident,
        OF_WARM.from_storage,
    ],
};

impl Experiment for ColdWarm {
    fn design(&self) -> &'static Design {
        &DESIGN
    }

    fn needs(&self, setting: &Setting) -> Vec<Need> {
        room(file_size(setting))
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
                    .at(BLOCK_SIZE, Bytes(size))
                    .at(FILE_SIZE, Bytes(file_size))
            })
            .collect()
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let Bytes(len) = point.level(FILE_SIZE)?;
        let block_size = point.level(BLOCK_SIZE)?.0 as usize;
        let path = sampler.scratch().join(self.id());
        let file = ScratchFile::open_or_make(&path, len, sampler.seed())?;
        let mut buffer = Mapping::anonymous(block_size, PageSize::Base)?;
        buffer.populate()?;
        let block = buffer.as_mut_slice();
        let mut chiller = Chiller::new(&file.file, &file.path)?;
        let bytes = len as f64;

        for (metric, evidence) in [(COLD, OF_COLD), (WARM, OF_WARM), (COLD_AGAIN, OF_COLD)] {
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
        chiller.remark_on(sampler)
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
            at: from.0 as f64,
            interval: None,
            origin: MarkOrigin::Found,
        });
        vec![curves(
            "throughput",
            "Reading a file, cold and warm",
            (
                axis_of(BLOCK_SIZE),
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

fn curve<'r>(results: &'r Results, metric: Metric<&'static str>) -> Vec<(Bytes, &'r Estimate)> {
    results.along(BLOCK_SIZE, metric, &[])
}

/// Time of a cold read over that of a warm one, by block size.
pub(super) fn ratios(results: &Results) -> Vec<(Bytes, Quantity)> {
    ratios_within(&curve(results, WARM), &curve(results, COLD))
}

fn cold_over_warm(results: &Results) -> Option<Finding> {
    let ratios = ratios(results);
    let ratio = ratios.last()?.1;
    let from = stable_from(&ratios)?;
    let share = curve(results, OF_COLD.from_storage).pop();
    let evidence = if let Some((_, share)) = share {
        sentence!(" The kernel saw {share} of it come from storage.")
    } else {
        sentence!(" This system does not show if it came from storage.")
    };
    let caveat = if results.machine.hypervisor.is_some() {
        " The host of this virtual machine may have held a part of it in its own memory."
    } else {
        ""
    };
    let said = sentence!(
        "A file that is not in memory takes {ratio} as long to read as one that is; from blocks \
         of {from} on this ratio is stable.{evidence}{caveat}"
    );
    let is_from_storage = share.is_some_and(|(_, share)| share.centre >= NEARLY_ALL);
    let grade = match grade(&ratio, 1.0) {
        Grade::Certain if !is_from_storage => Grade::Likely,
        grade => grade,
    };
    let finding = Finding::new("cold_over_warm", said).graded(grade);
    Some(finding.weighing(0.75))
}

/// The smallest size from which on every ratio, or its interval, stays close to the last.
fn stable_from(ratios: &[(Bytes, Quantity)]) -> Option<Bytes> {
    let (_, last) = ratios.last()?;
    let band = Interval::new(last.value / (1.0 + STABLE), last.value * (1.0 + STABLE))?;
    let stable = ratios
        .iter()
        .rev()
        .take_while(|(_, ratio)| ratio.extent().overlaps(&band));
    stable.last().map(|(size, _)| *size)
}

/// Evidence for a cache behind the page cache.
fn again(results: &Results) -> Option<Finding> {
    let (_, first) = curve(results, COLD).pop()?;
    let (_, second) = curve(results, COLD_AGAIN).pop()?;
    let gain = ratio_within(second, first)?;
    let is_held = grade(&gain, 1.0) == Grade::Certain && gain.value > 1.0;
    let (said, grade) = if is_held {
        let said = sentence!(
            "Evicted and read again, the file is {gain} as fast as the first time: a cache \
             behind the page cache, in the device or the host, holds it."
        );
        (said, Grade::Likely)
    } else {
        let said = sentence!(
            "Evicted and read again, the file is {gain} as fast as the first time: nothing shows \
             that a cache behind the page cache holds it."
        );
        (said, Grade::CannotBeTold)
    };
    let finding = Finding::new("cold_again", said).graded(grade);
    Some(finding.weighing(0.35))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::testing::{can_be_cold, scratch};
    use crate::made_up::{self, count, measure, measured, number, setting, values};
    use instrument::results::PointResult;

    fn point(size: u64) -> Point {
        Point::new()
            .at(BLOCK_SIZE, Bytes(size))
            .at(FILE_SIZE, Bytes(MIB))
    }

    /// Warm reads are bound by calls up to 4 KiB, cold ones by the device from 16 KiB on.
    fn points(again: f64) -> Vec<PointResult> {
        let at = |size: u64| {
            let warm = 8e9 * size.min(4 * KIB) as f64 / (4 * KIB) as f64;
            let cold = 1e9 * size.min(16 * KIB) as f64 / (16 * KIB) as f64;
            let rates = [(COLD, cold), (WARM, warm), (COLD_AGAIN, cold * again)];
            measured(point(size), &rates)
        };
        powers(512, 4 * MIB).map(at).collect()
    }

    fn findings(points: Vec<PointResult>) -> Vec<Finding> {
        made_up::findings(&ColdWarm, points)
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
        let said = findings(points(1.5))[1].sentence.to_string();
        assert!(said.contains("the device or the host, holds it."), "{said}");
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
            assert!(count(&samples, metric) >= 1, "{metric:?}");
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
