//! `memory.subloop`: a block written many times over as a whole, or piece by piece.

use super::caches;
use crate::estimates::{WithEstimate, estimated, grade, ratio};
use crate::figures::{curves, logarithmic};
use crate::judging::{MARGIN, is_larger_by};
use instrument::claim::Claim;
use instrument::experiment::{Better, Definition, Experiment, Isolation, MeasureError, Metric};
use instrument::figure::Figure;
use instrument::finding::{Finding, Grade};
use instrument::need::Need;
use instrument::plan::{Profile, Setting};
use instrument::point::{Axis, Point};
use instrument::quantity::{Bytes, Unit};
use instrument::results::{Estimate, Results};
use instrument::sampler::Sampler;
use kernels::InstructionSet;
use platform::memory::{Mapping, PageSize};
use std::collections::BTreeSet;
use std::hint::black_box;

/// A block written many times over as a whole, or piece by piece.
pub(crate) struct Subloop;

const BLOCK_SIZE: &str = "block_size";
const PIECE_SIZE: &str = "piece_size";
const WRITE: &str = "write";

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
/// The blocks of the report.
const BLOCKS: [u64; 2] = [8 * MIB, 32 * MIB];
const SMALLEST_PIECE: u64 = KIB;
/// How often each byte is written.
const PASSES: u64 = 8;
/// No block takes more than this part of the memory available, nor of the time of a point.
const SHARE_OF_MEMORY: u64 = 4;
const LARGEST_BLOCK: u64 = 1024 * MIB;
/// A bandwidth known to this share of itself tells which pieces are good.
const KNOWN: f64 = 0.1;
/// Two registers of 64 bytes a cycle at 8 GHz: more than any core stores.
const MOST_BYTES_PER_SECOND: f64 = 128.0 * 8e9;

pub(crate) const CLAIMS: &[Claim] = &[Claim {
    key: "pieces_beyond_the_cache_take_three_times",
    says: "Work that is repeated over a block takes three times as long in pieces that no cache \
           holds.",
    source: "Report E, section 4.3: pieces of 64 KB are best",
    experiments: &["memory.subloop"],
    test: |evidence| {
        let results = evidence.of("memory.subloop")?;
        let block = *blocks(results).last()?;
        is_larger_by(
            3.0,
            (best(results, block)?.1, whole(results, block)?),
            Unit::BytesPerSecond,
            "In the best pieces: {one}; as a whole: {other}; {ratio}.",
        )
    },
}];

impl Experiment for Subloop {
    fn id(&self) -> &'static str {
        "memory.subloop"
    }

    fn definition(&self) -> Definition {
        Definition {
            id: self.id().into(),
            title: "Loops and sub-loops".into(),
            question:
                "Into pieces of what size should work be cut that goes over a block many times?"
                    .into(),
            method: format!(
                "A block is written {PASSES} times: as a whole, {PASSES} passes from its start to \
                 its end, or piece by piece, {PASSES} passes over each piece before the next. Either \
                 way each byte is written {PASSES} times, by the widest vector instructions there \
                 are, through the caches. The bandwidth counts all of them over the time of the \
                 whole, one untimed run of which went before. Memory is in base pages."
            ),
            source: "Report E, section 4.3".into(),
            axes: vec![
                Axis::bytes(BLOCK_SIZE, "block size"),
                Axis::bytes(PIECE_SIZE, "piece size"),
            ],
            metrics: vec![
                Metric::new(WRITE, "write", Unit::BytesPerSecond, Better::Higher)
                    .bounded(MOST_BYTES_PER_SECOND),
            ],
            isolation: Isolation::FreshProcess,
        }
    }

    fn needs(&self, _setting: &Setting) -> Vec<Need> {
        vec![Need::Memory(Bytes(BLOCKS[0] * SHARE_OF_MEMORY))]
    }

    fn points(&self, setting: &Setting) -> Vec<Point> {
        let most = (setting.available_bytes / SHARE_OF_MEMORY).min(LARGEST_BLOCK);
        let beyond = 2 * caches::last_bytes(&setting.machine) / MIB * MIB;
        // The quick profile has no time for so much.
        let beyond = (setting.profile != Profile::Quick).then_some(beyond);
        let blocks: BTreeSet<u64> = BLOCKS.into_iter().chain(beyond).collect();
        let blocks = blocks
            .into_iter()
            .filter(|block| (BLOCKS[0]..=most).contains(block));
        blocks
            .flat_map(|block| pieces(block, setting.profile).map(move |piece| point(block, piece)))
            .collect()
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let block_size = point.number(BLOCK_SIZE)?;
        let piece_size = point.number(PIECE_SIZE)?.max(1) as usize;
        let mut mapping = Mapping::anonymous(block_size as usize, PageSize::Base)?;
        let block = mapping.as_mut_slice();
        let (set, word) = (InstructionSet::best(), sampler.seed());
        let mut run = || {
            for piece in block.chunks_mut(piece_size) {
                for _ in 0..PASSES {
                    set.write(black_box(&mut *piece), word);
                }
            }
        };
        // Makes the pages, and leaves the caches as every run finds them.
        run();
        let work_bytes = (PASSES * block_size) as f64;
        sampler.once(
            WRITE,
            work_bytes,
            |_| Ok(()),
            || {
                run();
                Ok(())
            },
        )
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        let blocks = blocks(results).into_iter().rev();
        blocks
            .filter_map(|block| best_piece(results, block))
            .collect()
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        let series = blocks(results).into_iter().map(|block| {
            let label = format!("block of {}", Bytes(block));
            results.series(&label, WRITE, PIECE_SIZE, &[(BLOCK_SIZE, block.into())])
        });
        let axes = (
            logarithmic("piece size", Unit::Bytes),
            logarithmic("bandwidth", Unit::BytesPerSecond),
        );
        let title = format!("A block written {PASSES} times, piece by piece");
        let marks = caches::marks(&[], results.machine);
        vec![curves("write", &title, axes, series.collect(), marks)]
    }
}

fn point(block: u64, piece: u64) -> Point {
    Point::new().with(BLOCK_SIZE, block).with(PIECE_SIZE, piece)
}

/// Powers of two from 1 KiB on, in the shorter profiles one in three or two, and the whole block.
fn pieces(block: u64, profile: Profile) -> impl Iterator<Item = u64> {
    let step = match profile {
        Profile::Quick => 3,
        Profile::Standard => 2,
        Profile::Thorough => 1,
    };
    let powers = (SMALLEST_PIECE.ilog2()..block.ilog2())
        .step_by(step)
        .map(|power| 1 << power);
    let pieces: BTreeSet<u64> = powers
        .filter(|piece| *piece < block)
        .chain([block])
        .collect();
    pieces.into_iter()
}

/// The block sizes that were measured, in ascending order.
pub(super) fn blocks(results: &Results) -> BTreeSet<u64> {
    let points = results.points.iter();
    points
        .filter_map(|result| result.point.number(BLOCK_SIZE).ok())
        .collect()
}

pub(super) fn curve<'r>(results: &'r Results, block: u64) -> Vec<(u64, &'r Estimate)> {
    results.curve(WRITE, PIECE_SIZE, &[(BLOCK_SIZE, block.into())])
}

/// The block written as one piece.
pub(super) fn whole<'r>(results: &'r Results, block: u64) -> Option<&'r Estimate> {
    let curve = curve(results, block);
    curve
        .into_iter()
        .find_map(|(piece, write)| (piece == block).then_some(write))
}

/// The largest piece that is as good as any, and its bandwidth: the fewer pieces there are, the less a
/// program has to do between them.
pub(super) fn best<'r>(results: &'r Results, block: u64) -> Option<(u64, &'r Estimate)> {
    let curve = curve(results, block);
    let most = curve.iter().map(|(_, write)| write.centre);
    let as_good = (1.0 - MARGIN) * most.max_by(f64::total_cmp)?;
    curve
        .into_iter()
        .rfind(|(_, write)| write.centre >= as_good)
}

fn best_piece(results: &Results, block: u64) -> Option<Finding> {
    let (piece, write) = best(results, block)?;
    let gain = ratio(write, whole(results, block)?)?;
    let is_gain = piece < block && gain.centre > 1.0;
    // Where little is known of it, another piece may be as good.
    let certainty = if write.is_within(KNOWN) {
        Grade::Certain
    } else {
        Grade::Likely
    };
    let template = if is_gain {
        "Work that goes over {block} many times is best cut into pieces of {piece}: it runs at \
         {write}, {gain} as fast as over the whole, which saves {saved} of the time."
    } else {
        "Work that goes over {block} many times gains nothing from being cut into pieces: as a \
         whole it runs at {write}."
    };
    let finding = Finding::new(&format!("best_piece_{}", block / MIB), template)
        .given("block", block as f64, Unit::Bytes)
        .with("write", &estimated(write), Unit::BytesPerSecond);
    let finding = if is_gain {
        finding
            .given("piece", piece as f64, Unit::Bytes)
            .with("gain", &gain, Unit::Ratio)
            .given("saved", 1.0 - 1.0 / gain.centre, Unit::Share)
            .graded(grade(&gain, 1.0).max(certainty))
    } else {
        finding.graded(certainty)
    };
    Some(finding.weighing(0.55))
}

#[cfg(test)]
mod tests {
    use super::{BLOCKS, CLAIMS, MIB, PIECE_SIZE, Subloop, WRITE, point};
    use crate::made_up::{count, machine, measure, number, result, results, setting};
    use instrument::claim::{Evidence, Ruling};
    use instrument::experiment::Experiment;
    use instrument::plan::{Profile, Setting};
    use instrument::results::PointResult;
    use std::path::Path;

    /// Pieces up to `cache` bytes are written at 60 GB/s, others at `slow`.
    fn points(cache: u64, slow: f64) -> Vec<PointResult> {
        let points = Subloop.points(&setting(Profile::Thorough)).into_iter();
        let each = points.map(|point| {
            let piece = point.number(PIECE_SIZE).expect("all have one");
            // A short piece takes time to start.
            let start = 1.0 - 128.0 / piece as f64;
            let rate = if piece <= cache { 60e9 * start } else { slow };
            result(point, &[(WRITE, rate)])
        });
        each.collect()
    }

    #[test]
    fn quick_points_are_few_and_the_longer_profiles_go_beyond_the_last_cache() {
        let quick = Subloop.points(&setting(Profile::Quick));
        assert!(quick.len() <= 14, "{}", quick.len());
        for block in BLOCKS {
            assert!(quick.contains(&point(block, block)));
        }
        let standard = Subloop.points(&setting(Profile::Standard));
        assert!(
            standard.contains(&point(64 * MIB, 64 * MIB)),
            "twice the last cache"
        );
        let little = Setting {
            available_bytes: 40 * MIB,
            ..setting(Profile::Standard)
        };
        let most = Subloop.points(&little).into_iter();
        assert_eq!(
            most.filter_map(|point| point.number(super::BLOCK_SIZE).ok())
                .max(),
            Some(8 * MIB)
        );
    }

    #[test]
    fn the_best_piece_is_the_largest_that_gains_all() {
        let machine = machine();
        let definition = Subloop.definition();
        let results = results(&definition, &machine, points(MIB, 10e9));
        let found = Subloop.findings(&results);
        assert_eq!(found.len(), 3);
        let number = |name| number(&found[0], name).value;
        assert!((number("piece") - MIB as f64).abs() < 1.0, "{found:?}");
        assert!((number("gain") - 6.0).abs() < 0.1);
        assert!((number("saved") - 0.83).abs() < 0.01);
        let results = [results];
        assert_eq!(
            CLAIMS[0].judge(&Evidence::new(&results)).ruling,
            Ruling::Holds
        );
    }

    #[test]
    fn where_nothing_is_gained_nothing_is_recommended() {
        let machine = machine();
        let definition = Subloop.definition();
        let results = results(&definition, &machine, points(0, 10e9));
        let found = Subloop.findings(&results);
        assert!(
            found
                .iter()
                .all(|finding| !finding.template.contains("{piece}")
                    || finding.numbers.iter().any(|number| number.name == "gain"))
        );
        let results = [results];
        assert_eq!(
            CLAIMS[0].judge(&Evidence::new(&results)).ruling,
            Ruling::DoesNotHold
        );
    }

    #[test]
    fn a_block_is_measured_here_in_pieces_and_whole() {
        for piece in [3 << 10, MIB] {
            let (samples, _) =
                measure(&Subloop, &point(MIB, piece), Path::new("/")).expect("memory");
            assert!(count(&samples, WRITE) >= 1);
        }
    }
}
