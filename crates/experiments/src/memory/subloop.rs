//! `memory.subloop`: repeated writes to a block, as a whole or piece by piece.

use super::{MOST_BYTES_PER_SECOND, SHARE_OF_MEMORY, hierarchy, of_block};
use crate::estimates::{by_ratio, highest, pooled, ratio, value_at};
use crate::figures::{curves, logarithmic};
use crate::judging::{ALMOST, NEAR_BEST, about, larger_along};
use crate::planning::{by_profile, powers};
use crate::prelude::*;
use kernels::InstructionSet;
use platform::memory::{Mapping, PageSize};
use std::collections::BTreeSet;
use std::hint::black_box;

pub(crate) struct Subloop;

pub(super) const BLOCK_SIZE: AxisOf<Bytes> = AxisOf::new("block_size", "block size");
pub(super) const PIECE_SIZE: AxisOf<Bytes> = AxisOf::new("piece_size", "piece size");
/// Passes over each piece, where they are not the usual ones.
pub(super) const CHOSEN_PASSES: AxisOf<Count> = AxisOf::new("passes", "passes");
pub(super) const WRITE: Metric = Metric::bandwidth("write", "write").bounded(MOST_BYTES_PER_SECOND);

/// The blocks of the report, in bytes.
const BLOCKS: [u64; 2] = [8 * MIB, 32 * MIB];
/// Below this, starting a piece takes more time than writing it.
const SMALLEST_PIECE: u64 = 128;
const PASSES: u64 = 8;
/// A larger one takes longer than a point may.
const LARGEST_BLOCK: u64 = 1024 * MIB;

const DESIGN: Design = Design {
    id: "memory.subloop",
    title: "Loops and sub-loops",
    question: "How large should the pieces be into which repeated work on a block is cut?",
    method: formatcp!(
        "A block is written {PASSES} times: as a whole, in {PASSES} passes from start to end, or piece \
         by piece, with {PASSES} passes over each piece before the next. In both cases each byte is \
         written {PASSES} times through the caches, with the widest vector instructions. The bandwidth \
         counts all of these bytes over the time of the whole run. An untimed run goes before. Memory \
         is in base pages. `--at passes=1000` makes as many passes as the report."
    ),
    source: "Report E, section 3.3",
    axes: &[
        BLOCK_SIZE.axis(),
        PIECE_SIZE.axis(),
        CHOSEN_PASSES.open(1, 1_000_000).only_if_chosen(),
    ],
    metrics: &[WRITE],
};

const REPORTED_PIECE: Bytes = Bytes(64 << 10);

pub(crate) const CLAIMS: &[Claim] = &[
    Claim {
        key: "pieces_beyond_the_cache_take_three_times",
        says: "Repeated work on a block takes about three times as long in pieces that no cache holds.",
        source: "Report E, section 3.3.2",
        basis: Basis::One("memory.subloop", |results| {
            let results = &results.without(CHOSEN_PASSES);
            let block = *results.levels(BLOCK_SIZE).last()?;
            // This can be decided only for a block that no cache holds.
            if block.0 < 2 * hierarchy::last_bytes(results.machine) {
                return None;
            }
            let (best, whole) = (fastest(results, block)?, whole(results, block)?);
            about(3.0, ALMOST, best, whole, |ratio| {
                sentence!(
                    "The best pieces are written at {one} and the whole block at {other}: {ratio} as fast.",
                    one = best,
                    other = whole,
                )
            })
        }),
    },
    Claim {
        key: "pieces_below_64_kib_take_longer",
        says: "Repeated work on a block takes longer in pieces below 64 KB than in pieces of 64 KB.",
        source: "Report E, section 3.3.2",
        basis: Basis::One("memory.subloop", |results| {
            let results = &results.without(CHOSEN_PASSES);
            let of = |block: Bytes| {
                let curve = curve(results, block);
                let best = value_at(&curve, REPORTED_PIECE);
                let smaller = curve.iter().filter(|(piece, _)| *piece < REPORTED_PIECE);
                let gain =
                    |(piece, write): &(Bytes, &Estimate)| Some((*piece, ratio(best?, write)?));
                smaller.filter_map(gain).collect()
            };
            let ratios = pooled(results.levels(BLOCK_SIZE).into_iter().map(of));
            larger_along("pieces of ", &ratios, |[least, most]| {
                sentence!("Pieces of 64 KiB are written {least} to {most} as fast as smaller ones.")
            })
        }),
    },
    Claim {
        key: "the_best_piece_is_as_fast_in_8_and_32_mib",
        says: "Cut into the best pieces, blocks of 8 and of 32 MB are written alike.",
        source: "Report E, section 3.3.2",
        basis: Basis::One("memory.subloop", |results| {
            let results = &results.without(CHOSEN_PASSES);
            let [one, other] = BLOCKS.map(|block| fastest(results, Bytes(block)));
            let (one, other) = (one?, other?);
            about(1.0, ALMOST, one, other, |ratio| {
                sentence!(
                    "The best pieces are written at {one} in 8 MiB and {other} in 32 MiB: {ratio}."
                )
            })
        }),
    },
];

impl Experiment for Subloop {
    fn design(&self) -> &'static Design {
        &DESIGN
    }

    fn needs(&self, _setting: &Setting) -> Vec<Need> {
        vec![Need::Memory(Bytes(BLOCKS[0] * SHARE_OF_MEMORY))]
    }

    fn points(&self, setting: &Setting) -> Vec<Point> {
        let most = (setting.available_bytes / SHARE_OF_MEMORY).min(LARGEST_BLOCK);
        let beyond = 2 * hierarchy::last_bytes(&setting.machine) / MIB * MIB;
        // Too much for the quick profile.
        let beyond = (setting.profile != Profile::Quick).then_some(beyond);
        let blocks: BTreeSet<u64> = BLOCKS.into_iter().chain(beyond).collect();
        let blocks = blocks
            .into_iter()
            .filter(|block| (BLOCKS[0]..=most).contains(block));
        blocks
            .flat_map(|block| pieces(block, setting.profile).map(move |piece| point(block, piece)))
            .collect()
    }

    fn shares_process(&self, _point: &Point) -> bool {
        true
    }

    fn component(&self, point: &Point, _metric: &str) -> Option<Component> {
        Some(of_block(point.level(PIECE_SIZE).ok()?, None))
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let Bytes(block_size) = point.level(BLOCK_SIZE)?;
        let piece_size = point.level(PIECE_SIZE)?.0.max(1) as usize;
        let mut mapping = Mapping::anonymous(block_size as usize, PageSize::Base)?;
        let block = mapping.as_mut_slice();
        let (set, word) = (InstructionSet::best(), sampler.seed());
        let chosen = point.get(CHOSEN_PASSES.name());
        let chosen = chosen.map(|_| point.level(CHOSEN_PASSES)).transpose()?;
        let passes = chosen.map_or(PASSES, |Count(passes)| passes);
        let mut run = || {
            for piece in block.chunks_mut(piece_size) {
                for _ in 0..passes {
                    set.write(black_box(&mut *piece), word);
                }
            }
            Ok(())
        };
        // Takes the page faults, and puts the caches into the state that every timed run starts from.
        run()?;
        sampler.once(WRITE, (passes * block_size) as f64, |_| Ok(()), run)
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        let results = &results.without(CHOSEN_PASSES);
        let largest = results.levels(BLOCK_SIZE).into_iter().next_back();
        let found = largest.and_then(|block| best_piece(results, block));
        found.into_iter().collect()
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        let results = &results.without(CHOSEN_PASSES);
        let series = results.levels(BLOCK_SIZE).into_iter().map(|block| {
            let label = format!("block of {block}");
            results.series(&label, WRITE, PIECE_SIZE, &[BLOCK_SIZE.at(block)])
        });
        let axes = (PIECE_SIZE, logarithmic("bandwidth", Unit::BytesPerSecond));
        let title = format!("A block written {PASSES} times, piece by piece");
        vec![Figure {
            marks: hierarchy::marks(&[], results.machine),
            ..curves(WRITE, &title, axes, series.collect())
        }]
    }
}

fn point(block: u64, piece: u64) -> Point {
    Point::new()
        .at(BLOCK_SIZE, Bytes(block))
        .at(PIECE_SIZE, Bytes(piece))
}

/// Powers of two from 128 B, and the whole block. The shorter profiles take every third or second.
fn pieces(block: u64, profile: Profile) -> impl Iterator<Item = u64> {
    let step = by_profile(profile, [3, 2, 1]);
    let powers = powers(SMALLEST_PIECE, block / 2).step_by(step);
    powers.chain([block])
}

pub(super) fn curve<'r>(results: &'r Results, block: Bytes) -> Vec<(Bytes, &'r Estimate)> {
    results.along(PIECE_SIZE, WRITE, &[BLOCK_SIZE.at(block)])
}

pub(super) fn whole<'r>(results: &'r Results, block: Bytes) -> Option<&'r Estimate> {
    results.sound(WRITE, &[BLOCK_SIZE.at(block), PIECE_SIZE.at(block)])
}

/// The highest bandwidth of any pieces.
fn fastest<'r>(results: &'r Results, block: Bytes) -> Option<&'r Estimate> {
    highest(curve(results, block)).map(|(_, write)| write)
}

/// The largest piece over which no other gains more than [`NEAR_BEST`], and its bandwidth. Larger pieces are fewer, and leave a
/// program less to do between them.
pub(super) fn best<'r>(results: &'r Results, block: Bytes) -> Option<(Bytes, &'r Estimate)> {
    let curve = curve(results, block);
    Curve::within(NEAR_BEST, &curve, Better::Higher)
        .good()
        .next_back()
}

fn best_piece(results: &Results, block: Bytes) -> Option<Finding> {
    let (piece, write) = best(results, block)?;
    let gain = ratio(write, whole(results, block)?)?;
    let said = sentence!(
        "Work that passes {passes} times over {block} runs at {write} if it finishes pieces of {piece} \
         one by one, {gain} as fast as over the whole block.",
        passes = PASSES.to_string(),
    );
    let gains = piece < block && gain.value > 1.0;
    let finding = by_ratio("best_piece", said, &gain);
    gains.then(|| finding.weighing(0.55))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up::setting;

    #[test]
    fn quick_points_are_few_and_the_longer_profiles_go_beyond_the_last_cache() {
        let quick = Subloop.points(&setting(Profile::Quick));
        assert!(quick.len() <= 16, "{}", quick.len());
        let has_whole = |block: &u64| quick.contains(&point(*block, *block));
        assert!(BLOCKS.iter().all(has_whole));
        let standard = Subloop.points(&setting(Profile::Standard));
        // Twice the last cache.
        assert!(standard.contains(&point(64 * MIB, 64 * MIB)));
    }
}
