//! Advice for programs that work on large blocks of memory.

use super::{bandwidth, hierarchy, latency, subloop, tlb};
use crate::estimates::ratio;
use crate::judging::{advice, better};
use crate::prelude::*;
use crate::subjects::GAIN_FROM_HUGE_PAGES;
use instrument::advice::{Advice, Audience, Rule};
use instrument::claim::Evidence;
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
        find: best_piece,
    },
    Rule {
        setting: "loop_piece_size_l1",
        title: "size of the pieces of repeated work that stay in the level 1 cache",
        audience: Audience::Programs,
        unit: Some(Unit::Bytes),
        experiments: &[LATENCY, SUBLOOP],
        find: |evidence| piece_in_cache(evidence, 1),
    },
    Rule {
        setting: "loop_piece_size_l2",
        title: "size of the pieces of repeated work that stay in the level 2 cache",
        audience: Audience::Programs,
        unit: Some(Unit::Bytes),
        experiments: &[LATENCY, SUBLOOP],
        find: |evidence| piece_in_cache(evidence, 2),
    },
    Rule {
        setting: "loop_piece_size_l3",
        title: "size of the pieces of repeated work that stay in the level 3 cache",
        audience: Audience::Programs,
        unit: Some(Unit::Bytes),
        experiments: &[LATENCY, SUBLOOP],
        find: |evidence| piece_in_cache(evidence, 3),
    },
    Rule {
        setting: "large_block_pages",
        title: "pages for large blocks of memory",
        audience: Audience::Services,
        unit: None,
        experiments: &[LATENCY, TLB, BANDWIDTH],
        find: pages,
    },
];

/// The best piece of the largest block.
fn best_piece(evidence: &Evidence<'_>) -> Option<Advice> {
    let results = evidence.of(SUBLOOP)?;
    let block = *subloop::blocks(results).last()?;
    let (piece, rate) = subloop::best(results, block)?;
    let whole = subloop::whole(results, block)?;
    let (value, gain) = better(&ratio(rate, whole)?, piece, block)?;
    let said = if value == block {
        sentence!(
            "Repeated work on a block of {block} writes {rate} in the best pieces and {whole} over \
             the whole block."
        )
    } else {
        let smaller = if subloop::is_smallest(results, block, piece) {
            "smaller pieces were not measured"
        } else {
            "smaller pieces gain no more"
        };
        sentence!(
            "Repeated work on a block of {block} writes {rate} in these pieces and {whole} over the \
             whole block; larger pieces gain less, {smaller}."
        )
    };
    Some(advice((value.level(), block.level()), gain, said))
}

/// The largest piece that stays in the cache of this level, and in none before it.
fn piece_in_cache(evidence: &Evidence<'_>, level: u32) -> Option<Advice> {
    let results = evidence.of(SUBLOOP)?;
    let held = |level| held_bytes(evidence, results, level);
    let before = held(level - 1).map_or(0.0, |(bytes, _)| bytes);
    let (capacity, is_shown) = held(level)?;
    let block = *subloop::blocks(results).last()?;
    let stays = |piece: Bytes| (before..capacity).contains(&(piece.0 as f64));
    let (piece, rate) = subloop::curve(results, block)
        .into_iter()
        .rfind(|(piece, _)| *piece < block && stays(*piece))?;
    let whole = subloop::whole(results, block)?;
    let (value, gain) = better(&ratio(rate, whole)?, piece, block)?;
    let capacity = Quantity::exact(capacity, Unit::Bytes);
    let holds = if is_shown {
        sentence!("of {capacity} holds these pieces")
    } else {
        sentence!("holds these pieces if it has the documented {capacity}")
    };
    let said = sentence!(
        "The level {level} cache {holds}: repeated work on a block of {block} writes {rate} in \
         them and {whole} over the whole block.",
        level = level.to_string(),
    );
    Some(advice((value.level(), block.level()), gain, said))
}

/// The bytes that surely fit the cache of this level, as loads show it, or else as documented; and
/// whether loads show it.
fn held_bytes(evidence: &Evidence<'_>, results: &Results<'_>, level: u32) -> Option<(f64, bool)> {
    let shown = evidence
        .of(LATENCY)
        .map_or_else(Vec::new, latency::capacities);
    let is_meant = |cache: &hierarchy::DataCache| cache.level == level;
    let shown = shown
        .iter()
        .find(|cache| cache.documented.as_ref().is_some_and(is_meant));
    let shown = shown.map(|cache| (cache.capacity.extent().low, true));
    shown.or_else(|| {
        let documented = hierarchy::documented(results.machine);
        let cache = documented.into_iter().find(is_meant)?;
        Some((cache.size.0 as f64, false))
    })
}

/// Huge pages or base pages. Random loads decide, which gain most by huge pages; without them, reading
/// in order.
fn pages(evidence: &Evidence<'_>) -> Option<Advice> {
    let by_latency = || {
        let (size, base, huge) = latency::in_both_pages(evidence.of(LATENCY)?)?;
        let said = sentence!(
            "A random load from a block of {size} takes {huge} in huge pages and {base} in base pages."
        );
        let conditions = format!("random loads from a block of {size}");
        Some((ratio(base, huge)?, said, conditions))
    };
    let by_tlb = || {
        let (count, base, huge) = tlb::in_both_pages(evidence.of(TLB)?)?;
        let said = sentence!(
            "A random load from {count} places 4 KiB apart takes {huge} in huge pages and {base} in base \
             pages."
        );
        let conditions = format!("random loads from {count} places 4 KiB apart");
        Some((ratio(base, huge)?, said, conditions))
    };
    let by_bandwidth = || {
        let (size, base, huge) = bandwidth::in_both_pages(evidence.of(BANDWIDTH)?)?;
        let said = sentence!(
            "A block of {size} is read in order at {huge} in huge pages and at {base} in base pages."
        );
        let conditions = format!("reads in order of a block of {size}");
        Some((ratio(huge, base)?, said, conditions))
    };
    let (ratio, said, conditions) = by_latency().or_else(by_tlb).or_else(by_bandwidth)?;
    let (value, gain) = better(&ratio, PagesFor::Huge, PagesFor::Base)?;
    let advice = advice((value.level(), PagesFor::Base.level()), gain, said);
    Some(Advice {
        because: advice
            .because
            .about(GAIN_FROM_HUGE_PAGES, ratio, conditions),
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
    fn pieces_are_those_that_gain_most_in_each_cache_or_the_whole() {
        const BLOCK: u64 = 64 * MIB;
        let shown = || vec![loads(1.0), written(by_level)];
        let same = || vec![loads(1.0), written(|_| 10.0)];
        let documented = || vec![written(by_level)];
        for (name, gave, piece, gain) in [
            ("loop_piece_size", documented(), 32 * KIB, Some(12.0)),
            ("loop_piece_size_l1", shown(), 32 * KIB, Some(12.0)),
            ("loop_piece_size_l2", shown(), MIB, Some(6.0)),
            ("loop_piece_size_l3", shown(), 16 * MIB, Some(3.0)),
            ("loop_piece_size_l2", documented(), MIB, Some(6.0)),
            ("loop_piece_size", same(), BLOCK, None),
            ("loop_piece_size_l1", same(), BLOCK, None),
            ("loop_piece_size_l3", same(), BLOCK, None),
        ] {
            let advice = advised(name, gave).expect(name);
            let expected = (Bytes(piece).level(), Bytes(BLOCK).level());
            assert_eq!((advice.value, advice.usual), expected, "{name}");
            assert_eq!(advice.gain.map(|gain| gain.value.round()), gain, "{name}");
        }
        let l2 =
            |gave| advised("loop_piece_size_l2", gave).map(|it| it.because.sentence.to_string());
        let says = |gave, part| l2(gave).is_some_and(|said| said.contains(part));
        assert!(says(documented(), "if it has the documented 2 MiB"));
        assert!(says(shown(), "holds these pieces: "));
        assert_eq!(l2(vec![loads(1.0)]), None);
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
