//! Advice for programs that work on large blocks of memory.

use super::{bandwidth, hierarchy, latency, subloop, tlb};
use crate::advising::{Ways, bytes};
use crate::estimates::ratio;
use crate::judging::{MARGIN, exceeds};
use crate::prelude::*;
use crate::subjects::GAIN_FROM_HUGE_PAGES;
use instrument::advice::{Action, Advice, Audience, Rule};
use instrument::claim::{Evidence, Ruling};
use instrument::point::LevelOf;

const BANDWIDTH: &str = "memory.bandwidth";
const LATENCY: &str = "memory.latency";
const SUBLOOP: &str = "memory.subloop";
const TLB: &str = "memory.tlb";

#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
enum PagesFor {
    Huge,
    Base,
}

pub(crate) const ALL: &[Rule] = &[
    Rule {
        setting: "loop_piece_size",
        title: "size of the pieces into which repeated work on a large block is cut",
        audience: Audience::Programs,
        unit: Some(Unit::Bytes),
        experiments: &[SUBLOOP],
        find: piece_that_fits,
        act: |value, _| {
            let piece = bytes(value);
            Action::Code(sentence!(
                "Cut repeated work on a large block into pieces of {piece}, and finish each before the next."
            ))
        },
    },
    Rule {
        setting: "large_block_pages",
        title: "pages for large blocks of memory",
        audience: Audience::Services,
        unit: None,
        experiments: &[LATENCY, TLB, BANDWIDTH],
        find: pages,
        act: |_, system| match system {
            System::Linux => {
                Action::Command("env GLIBC_TUNABLES=glibc.malloc.hugetlb=1 PROGRAM".into())
            }
            System::Windows => Action::Code(sentence!(
                "Allocate large blocks by VirtualAlloc with MEM_LARGE_PAGES."
            )),
            System::Other => Action::Code(sentence!("Allocate large blocks in huge pages.")),
        },
    },
];

/// The largest measured piece that fits the first cache, or the second where pieces of that size are
/// shown to be no slower. Larger pieces are fewer, and leave a program less to do between them.
fn piece_that_fits(evidence: &Evidence<'_>) -> Option<Advice> {
    let results = evidence.of(SUBLOOP)?;
    let block = *subloop::blocks(results).last()?;
    let whole = subloop::whole(results, block)?;
    let curve = subloop::curve(results, block);
    let caches = hierarchy::documented(results.machine);
    let in_cache = |level: u32| {
        let cache = caches.iter().find(|cache| cache.level == level)?;
        let mut pieces = curve.iter().rev();
        let fits = |(piece, _): &&(Bytes, &_)| *piece < block && *piece < cache.size;
        pieces
            .find(fits)
            .map(|(piece, rate)| (level, *piece, *rate))
    };
    let first = in_cache(1)?;
    let is_as_fast = |second: &(u32, Bytes, &Estimate)| {
        let ratio = ratio(second.2, first.2);
        ratio.is_some_and(|ratio| exceeds(&ratio, 1.0 - MARGIN) == Ruling::Holds)
    };
    let (level, piece, rate) = in_cache(2).filter(is_as_fast).unwrap_or(first);
    let said = sentence!(
        "Pieces of {piece} fit the level {level} cache: repeated work on a block of {block} writes {rate} in \
         them and {whole} over the whole block.",
        level = level.to_string(),
    );
    Ways::new(results, whole, rate).advised(piece.level(), block.level(), said)
}

/// Huge pages or base pages. Random loads decide, which gain most by huge pages; without them, reading
/// in order.
fn pages(evidence: &Evidence<'_>) -> Option<Advice> {
    let by_latency = || {
        let results = evidence.of(LATENCY)?;
        let (size, base, huge) = latency::in_both_pages(results)?;
        let said = sentence!(
            "A random load from a block of {size} takes {huge} in huge pages and {base} in base pages."
        );
        let conditions = format!("random loads from a block of {size}");
        Some((results, [base, huge], said, conditions))
    };
    let by_tlb = || {
        let results = evidence.of(TLB)?;
        let (count, base, huge) = tlb::in_both_pages(results)?;
        let said = sentence!(
            "A random load from {count} places 4 KiB apart takes {huge} in huge pages and {base} in base \
             pages."
        );
        let conditions = format!("random loads from {count} places 4 KiB apart");
        Some((results, [base, huge], said, conditions))
    };
    let by_bandwidth = || {
        let results = evidence.of(BANDWIDTH)?;
        let (size, base, huge) = bandwidth::in_both_pages(results)?;
        let said = sentence!(
            "A block of {size} is read in order at {huge} in huge pages and at {base} in base pages."
        );
        let conditions = format!("reads in order of a block of {size}");
        Some((results, [base, huge], said, conditions))
    };
    let (results, [usual, other], said, conditions) =
        by_latency().or_else(by_tlb).or_else(by_bandwidth)?;
    let ways = Ways::new(results, usual, other);
    let advice = ways.advised(PagesFor::Huge.level(), PagesFor::Base.level(), said)?;
    let because = advice.because.clone();
    Some(Advice {
        because: because.about(GAIN_FROM_HUGE_PAGES, ways.gain()?, conditions),
        ..advice
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::find;
    use crate::made_up::{machine, measured, measured_apart, results, setting};
    use crate::memory::bandwidth::{self, Backing};
    use crate::memory::pages::Pages;
    use crate::memory::pages::made_up::{BASE, HUGE};
    use crate::memory::{KIB, MIB, latency, subloop, tlb};
    use instrument::results::PointResult;

    /// An experiment, and what it gave.
    type Gave = (&'static str, Vec<PointResult>);

    fn advised(name: &str, gave: Vec<Gave>) -> Option<Advice> {
        let machine = machine();
        let definition = |(id, _): &Gave| find(id).expect("it exists").definition();
        let definitions: Vec<_> = gave.iter().map(definition).collect();
        let points = gave.into_iter().map(|(_, points)| points);
        let results: Vec<_> = definitions
            .iter()
            .zip(points)
            .map(|(definition, points)| results(definition, &machine, points))
            .collect();
        let rule = ALL.iter().find(|rule| rule.setting == name).expect(name);
        (rule.find)(&Evidence::new(&results))
    }

    /// Pieces that a cache holds are written at its speed, in GB/s.
    fn written(speed: impl Fn(u64) -> f64) -> Gave {
        let points = subloop::Subloop.points(&setting(Profile::Thorough));
        let each = points.into_iter().map(|point| {
            let Bytes(piece) = point.level(subloop::PIECE_SIZE).expect("all have one");
            measured(point, &[(subloop::WRITE, speed(piece) * 1e9)])
        });
        ("memory.subloop", each.collect())
    }

    fn by_level(piece: u64) -> f64 {
        match piece / KIB {
            0..40 => 120.0,
            40..1536 => 60.0,
            1536..24_576 => 30.0,
            _ => 10.0,
        }
    }

    fn loads(factor: f64) -> Gave {
        ("memory.latency", latency::tests::points(factor))
    }

    #[test]
    fn pieces_fit_the_first_cache_or_the_second_where_that_is_no_slower() {
        const BLOCK: u64 = 64 * MIB;
        let flat_to_the_second = |piece: u64| by_level(piece).min(60.0);
        for (gave, piece, gain) in [
            (written(by_level), 32 * KIB, Some(12.0)),
            (written(flat_to_the_second), MIB, Some(6.0)),
            (written(|_| 10.0), BLOCK, None),
        ] {
            let advice = advised("loop_piece_size", vec![gave]).expect("it is decided");
            let expected = (Bytes(piece).level(), Bytes(BLOCK).level());
            assert_eq!((advice.value, advice.usual), expected);
            assert_eq!(advice.gain.map(|gain| gain.value.round()), gain);
            assert_eq!(advice.trial.is_some(), gain.is_some());
        }
    }

    #[test]
    fn pages_are_huge_where_that_surely_gains_and_base_where_it_surely_does_not() {
        let places = |pages: Pages, load: f64| {
            let point = Point::new().at(tlb::STRIDES, Count(1 << 14));
            measured(point.at(tlb::PAGES, pages), &[(tlb::LOAD, load)])
        };
        let block = |pages: Pages, read: f64| {
            let point = Point::new()
                .at(bandwidth::BLOCK_SIZE, Bytes(256 * MIB))
                .at(bandwidth::PAGES, Backing::Pages(pages));
            measured(point, &[(bandwidth::READ, read)])
        };
        let tlb = ("memory.tlb", vec![places(BASE, 6.0), places(HUGE, 4.0)]);
        let bandwidth = (
            "memory.bandwidth",
            vec![block(BASE, 9e9), block(HUGE, 18e9)],
        );
        let (id, mut by_chance) = loads(1.0);
        let last = by_chance.pop().expect("that in base pages");
        let load = last.estimates[0].centre;
        by_chance.push(measured_apart(last.point, &[(latency::LOAD, load)], 0.1));
        for (gave, expected) in [
            (vec![loads(1.4)], Some((PagesFor::Huge, Some(14.0)))),
            (vec![loads(0.9)], Some((PagesFor::Base, None))),
            (vec![(id, by_chance)], None),
            // Where loads were not measured.
            (
                vec![tlb, bandwidth.clone()],
                Some((PagesFor::Huge, Some(15.0))),
            ),
            (vec![bandwidth], Some((PagesFor::Huge, Some(20.0)))),
        ] {
            let advice = advised("large_block_pages", gave);
            let tenths = |gain: Quantity| (gain.value * 10.0).round();
            let found = advice.map(|it| (it.value, it.gain.map(tenths)));
            assert_eq!(found, expected.map(|(pages, gain)| (pages.level(), gain)));
        }
    }
}
