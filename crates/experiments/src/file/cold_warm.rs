//! `file.cold_warm`: the cost of a cold page cache, by block size.

use super::page_cache::{CacheMetrics, Chiller};
use super::scratch_file::{ScratchFile, Walk};
use super::{
    BLOCK_SIZE, By, FILE_SIZE, MOST_BYTES_PER_SECOND, like, of_file, powers, room, whole_blocks,
};
use crate::estimates::{found, grade, ratio_within, ratios_within, side_by_side};
use crate::figures::{curves, lines_of, logarithmic};
use crate::file;
use crate::prelude::*;
use instrument::curve::crossover;
use instrument::figure::Mark;
use instrument::statistics::Interval;

pub(crate) struct ColdWarm;

pub(super) const COLD: Metric =
    Metric::bandwidth("cold", "read cold").bounded(MOST_BYTES_PER_SECOND);
pub(super) const WARM: Metric = Metric::bandwidth("warm", "read warm")
    .bounded(MOST_BYTES_PER_SECOND)
    .in_version(2);
const COLD_AGAIN: Metric =
    Metric::bandwidth("cold_again", "read cold again").bounded(MOST_BYTES_PER_SECOND);

const OF_COLD: CacheMetrics = CacheMetrics::new(
    ["cold_resident", "in the page cache before, cold"],
    ["cold_from_storage", "read from storage, cold"],
);
const OF_WARM: CacheMetrics = CacheMetrics::new(
    ["warm_resident", "in the page cache before, warm"],
    ["warm_from_storage", "read from storage, warm"],
);

/// Ratios within this of each other count as stable.
const STABLE: f64 = 0.10;
/// Fewer sizes do not show that a ratio is stable.
const FEWEST_STABLE: usize = 3;
/// Least share of a cold read that comes from storage, for a finding that is certain.
const NEARLY_ALL: f64 = 0.9;

pub(super) const DESIGN: Design = Design {
    id: "file.cold_warm",
    title: "Cold and warm reads",
    question: "How much longer does it take to read a file that is not in memory, and from which \
               block size on is that ratio stable?",
    method: "One process reads a scratch file from start to end by calls of one block: cold, then \
             warm, then cold again. Opening and closing are not timed. The warm file is timed in \
             short pieces, one after the other. If any of it is missing, all of it is evicted and \
             read in again first. A cold read needs no reboot: the file is synced, so that its \
             pages are clean, and then evicted by advice on it alone (POSIX_FADV_DONTNEED). Only \
             where that leaves pages, and only as root, are the pages of all files of the machine \
             dropped, by writing 1 to /proc/sys/vm/drop_caches. (2 drops directory entries, inodes \
             and other kernel objects, 3 both.) That never drops dirty pages, and every other \
             program on the machine reads cold afterwards. The kernel is asked before each pass \
             how much of the file is resident; a pass in the wrong state is not timed. \
             `cold_from_storage` is the share of the file that the kernel says this process read \
             from a block device during the pass. Where that is less than all of it, a cache above \
             the device answered. The caches of a disk, or of the host of a virtual one, cannot be \
             seen; a second cold read that is faster than the first hints at one.",
    source: "Reports A and B, section 4",
    axes: &[BLOCK_SIZE.open(1, 1 << 30), FILE_SIZE.open(1, 1 << 40)],
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
            Profile::Quick => vec![512, 4 * KIB, 8 * KIB, 32 * KIB, 256 * KIB, MIB],
            Profile::Standard => powers(512, 4 * MIB).collect(),
            Profile::Thorough => powers(512, 16 * MIB).collect(),
        };
        sizes
            .into_iter()
            .filter(|size| *size <= file_size)
            .map(|size| of_file(BLOCK_SIZE, size, file_size))
            .collect()
    }

    fn component(&self, _point: &Point, metric: &str) -> Option<Component> {
        let is_cold = [COLD.name, COLD_AGAIN.name].contains(&metric);
        is_cold.then_some(Component::Disk)
    }

    fn counterpart(&self, point: &Point, metric: &str, _other: System) -> Option<Counterpart> {
        let is_warm = metric == WARM.name;
        Some(like(point, if is_warm { By::OWN_CALLS } else { By::COLD }))
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let Bytes(len) = point.level(FILE_SIZE)?;
        let block_size = point.level(BLOCK_SIZE)?.0 as usize;
        whole_blocks(len, block_size as u64)?;
        let path = sampler.scratch().join(self.id());
        let mut file = ScratchFile::open_or_make(&path, len, sampler.seed())?;
        let mut buffer = super::buffer(block_size)?;
        let block = buffer.as_mut_slice();
        let mut chiller = Chiller::new(&file)?;
        let can_be_cold = chiller.can_chill(&mut file)?;
        for metric in [COLD, WARM, COLD_AGAIN] {
            if metric == WARM {
                let mut walk = Walk::new(&file);
                let metrics = [(WARM, block_size as f64)];
                OF_WARM.of_legs(sampler, &metrics, &file, |blocks| walk.read(blocks, block))?;
            } else if can_be_cold {
                let (pass, cold) = ((metric, len as f64), (&mut chiller, &mut file));
                OF_COLD.of_cold_passes(sampler, pass, cold, |file| file.read_through(block))?;
            }
        }
        chiller.remark_on(sampler)
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        found([cold_over_warm(results), again(results)])
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        let lines = [(COLD, "cold"), (WARM, "warm"), (COLD_AGAIN, "cold again")];
        let stable = stable_from(&ratios(results));
        let stable = stable.map(|onset| Mark::found("ratio stable", onset));
        let axes = (BLOCK_SIZE, logarithmic("throughput", Unit::BytesPerSecond));
        let lines = lines_of(results, BLOCK_SIZE, lines);
        vec![Figure {
            marks: stable.into_iter().collect(),
            ..curves("throughput", "Reading a file, cold and warm", axes, lines)
        }]
    }
}

fn file_size(setting: &Setting) -> u64 {
    file::file_size(setting, 1, [16 * MIB, 128 * MIB, 512 * MIB])
}

fn curve<'r>(results: &'r Results, metric: Metric) -> Vec<(Bytes, &'r Estimate)> {
    results.along(BLOCK_SIZE, metric, &[])
}

/// Time of a cold read over that of a warm one, by block size.
pub(super) fn ratios(results: &Results) -> Vec<(Bytes, Quantity)> {
    ratios_within(&curve(results, WARM), &curve(results, COLD))
}

/// Throughput of a warm read less that of a cold one, by block size.
pub(super) fn differences(results: &Results) -> Vec<(Bytes, Quantity)> {
    let both = side_by_side(&curve(results, WARM), &curve(results, COLD)).into_iter();
    both.map(|(block, warm, cold)| (block, warm.quantity().minus(cold.quantity())))
        .collect()
}

fn cold_over_warm(results: &Results) -> Option<Finding> {
    let ratios = ratios(results);
    let &(block, ratio) = ratios.last()?;
    let stable = match stable_from(&ratios) {
        Some(Onset { from, .. }) => {
            sentence!("; from blocks of {from} on, the ratio is about the same")
        }
        None => Sentence::default(),
    };
    let share = curve(results, OF_COLD.from_storage).pop();
    let evidence = if let Some((_, share)) = share {
        sentence!(" The kernel read {share} of it from the device.")
    } else {
        sentence!(" This system does not report whether it came from the device.")
    };
    let caveat = if results.machine.hypervisor.is_some() {
        " The host of this virtual machine may still have cached a part of it."
    } else {
        ""
    };
    let said = sentence!(
        "A file that is not in the page cache takes {ratio} as long to read as a cached one in blocks \
         of {block}{stable}.{evidence}{caveat}"
    );
    let is_from_storage = share.is_some_and(|(_, share)| share.centre >= NEARLY_ALL);
    let grade = match grade(&ratio, 1.0) {
        Grade::Certain if !is_from_storage => Grade::Likely,
        grade => grade,
    };
    let finding = Finding::new("cold_over_warm", said).graded(grade);
    Some(finding.weighing(0.75))
}

/// The size from which on every ratio stays close to the last; `None` where fewer than [`FEWEST_STABLE`] sizes
/// show it, or one of them is known too badly to show anything.
fn stable_from(ratios: &[(Bytes, Quantity)]) -> Option<Onset<Bytes>> {
    let (_, last) = ratios.last()?;
    let around = |share: f64| Interval::new(last.value / (1.0 + share), last.value * (1.0 + share));
    let (band, room) = (around(STABLE)?, around(2.0 * STABLE)?);
    let is_near = |(size, ratio): &(Bytes, Quantity)| {
        let extent = ratio.extent();
        let is_inside = room.low <= extent.low && extent.high <= room.high;
        let ruling = match () {
            () if band.contains(ratio.value) && is_inside => Ruling::Holds,
            () if !extent.overlaps(&band) => Ruling::DoesNotHold,
            () => Ruling::Undecided,
        };
        (*size, ruling)
    };
    let onset = crossover(&ratios.iter().map(is_near).collect::<Vec<_>>()).ok()?;
    let stable = ratios.iter().filter(|(size, _)| *size >= onset.from);
    (stable.count() >= FEWEST_STABLE).then_some(onset)
}

/// Evidence for a cache behind the page cache.
fn again(results: &Results) -> Option<Finding> {
    let (_, first) = curve(results, COLD).pop()?;
    let (_, second) = curve(results, COLD_AGAIN).pop()?;
    let gain = ratio_within(second, first)?;
    let said = sentence!(
        "Evicted from the page cache and read again, a file is read {gain} as fast as the first time: \
         a cache of the device or the host has it."
    );
    let is_cached = grade(&gain, 1.0) == Grade::Certain && gain.value > 1.0;
    let finding = Finding::new("cold_again", said).graded(Grade::Likely);
    is_cached.then(|| finding.weighing(0.5))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::testing::{can_be_cold, scratch};
    use crate::made_up::{count, measure, values};

    #[test]
    fn each_pass_starts_in_its_state() {
        let scratch = scratch();
        if !can_be_cold(scratch.path()) {
            return;
        }
        let point = of_file(BLOCK_SIZE, 4096, MIB);
        let measure = || measure(&ColdWarm, &point, scratch.path()).expect("a disk");
        // Another program may empty the page cache, and then the warm file is read from storage.
        let is_warm = |samples: &[instrument::sample::Sample]| {
            let read = values(samples, OF_WARM.from_storage);
            read.iter().all(|share| *share <= 0.0)
        };
        let mut measured = (0..10).map(|_| measure());
        let measured = measured.find(|(samples, _)| is_warm(samples));
        let (samples, remarks) = measured.expect("a warm file is in memory");
        for metric in [COLD, WARM, COLD_AGAIN] {
            assert!(count(&samples, metric) >= 1, "{metric:?}");
        }
        let cold = values(&samples, OF_COLD.resident);
        assert!(cold.iter().all(|share| *share < 0.001), "{cold:?}");
        let warm = values(&samples, OF_WARM.resident);
        assert!(warm.iter().all(|share| *share >= 1.0), "{warm:?}");
        assert!(remarks[0].contains("evicted"), "{remarks:?}");
    }
}
