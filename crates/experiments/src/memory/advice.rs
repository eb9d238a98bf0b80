//! What programs should use that work on large blocks of memory.

use super::{bandwidth, caches, latency, subloop, tlb};
use crate::estimates::{WithEstimate, estimated, ratio};
use crate::judging::better;
use instrument::advice::{Advice, Rule};
use instrument::claim::Evidence;
use instrument::finding::Finding;
use instrument::quantity::Unit;
use instrument::results::{Estimate, Results};

const BANDWIDTH: &str = "memory.bandwidth";
const LATENCY: &str = "memory.latency";
const SUBLOOP: &str = "memory.subloop";
const TLB: &str = "memory.tlb";

const HUGE: &str = "huge";
const BASE: &str = "base";

pub(crate) const ALL: &[Rule] = &[
    Rule {
        setting: "loop_piece_size",
        title: "size of the pieces into which repeated work on a large block is cut",
        unit: Some(Unit::Bytes),
        experiments: &[SUBLOOP],
        find: best_piece,
    },
    Rule {
        setting: "loop_piece_size_l1",
        title: "size of the pieces of repeated work that stay in the level 1 cache",
        unit: Some(Unit::Bytes),
        experiments: &[LATENCY, SUBLOOP],
        find: |evidence| piece_in_cache(evidence, 1),
    },
    Rule {
        setting: "loop_piece_size_l2",
        title: "size of the pieces of repeated work that stay in the level 2 cache",
        unit: Some(Unit::Bytes),
        experiments: &[LATENCY, SUBLOOP],
        find: |evidence| piece_in_cache(evidence, 2),
    },
    Rule {
        setting: "loop_piece_size_l3",
        title: "size of the pieces of repeated work that stay in the level 3 cache",
        unit: Some(Unit::Bytes),
        experiments: &[LATENCY, SUBLOOP],
        find: |evidence| piece_in_cache(evidence, 3),
    },
    Rule {
        setting: "large_block_pages",
        title: "pages for large blocks of memory",
        unit: None,
        experiments: &[LATENCY, TLB, BANDWIDTH],
        find: pages,
    },
];

/// The best piece of the largest block.
fn best_piece(evidence: &Evidence<'_>) -> Option<Advice> {
    let results = evidence.of(SUBLOOP)?;
    let block = *subloop::blocks(results).last()?;
    let (piece, write) = subloop::best(results, block)?;
    let whole = subloop::whole(results, block)?;
    let (value, gain_over_usual) = better(&ratio(write, whole)?, piece, block)?;
    let sentence = if value == block {
        "Repeated work on a block of {block} writes {rate} in the best pieces, {whole} over the whole."
    } else {
        "Repeated work on a block of {block} writes {rate} in such pieces, {whole} over the whole; \
         smaller ones gain no more, larger ones less."
    };
    Some(Advice {
        value: value.into(),
        usual: block.into(),
        gain: gain_over_usual,
        because: over_block(sentence, block, (write, whole)),
    })
}

/// The largest piece that stays in the cache of this level, and in none before it.
fn piece_in_cache(evidence: &Evidence<'_>, number: u32) -> Option<Advice> {
    let results = evidence.of(SUBLOOP)?;
    let held = |number| held_bytes(evidence, results, number);
    let before = held(number - 1).map_or(0.0, |(bytes, _)| bytes);
    let (capacity, is_shown) = held(number)?;
    let block = *subloop::blocks(results).last()?;
    let stays = |piece: u64| (before..capacity).contains(&(piece as f64));
    let (piece, write) = subloop::curve(results, block)
        .into_iter()
        .rfind(|(piece, _)| *piece < block && stays(*piece))?;
    let whole = subloop::whole(results, block)?;
    let (value, gain_over_usual) = better(&ratio(write, whole)?, piece, block)?;
    let holds = if is_shown {
        "of {capacity} holds them"
    } else {
        "would hold them if it had the {capacity} that are documented, which loads do not show"
    };
    let sentence = format!(
        "The level {number} cache {holds}: repeated work on a block of {{block}} writes {{rate}} in \
         such pieces, {{whole}} over the whole."
    );
    let because =
        over_block(&sentence, block, (write, whole)).given("capacity", capacity, Unit::Bytes);
    Some(Advice {
        value: value.into(),
        usual: block.into(),
        gain: gain_over_usual,
        because,
    })
}

/// What the cache of this level surely holds, in bytes, as loads show it, or else as documented; and
/// whether loads show it.
fn held_bytes(evidence: &Evidence<'_>, results: &Results<'_>, number: u32) -> Option<(f64, bool)> {
    let shown = evidence
        .of(LATENCY)
        .map_or_else(Vec::new, latency::capacities);
    let shown = shown.into_iter().find_map(|cache| {
        let (level, _) = cache.documented?;
        let least = cache.interval.map_or(cache.capacity_bytes, |ends| ends.low);
        (level == number).then_some((least, true))
    });
    let mut documented = caches::documented(results.machine).into_iter();
    shown.or_else(|| {
        documented.find_map(|(level, size)| (level == number).then_some((size as f64, false)))
    })
}

/// What work on a block writes in pieces and as a whole.
fn over_block(sentence: &str, block: u64, (pieces, whole): (&Estimate, &Estimate)) -> Finding {
    Finding::new("because", sentence)
        .given("block", block as f64, Unit::Bytes)
        .with("rate", &estimated(pieces), Unit::BytesPerSecond)
        .with("whole", &estimated(whole), Unit::BytesPerSecond)
}

/// Huge pages or not: by loads that nothing foresees, which gain most by them, or else by reading in
/// order.
fn pages(evidence: &Evidence<'_>) -> Option<Advice> {
    let by_latency = || {
        let (size, base, huge) = latency::in_both_pages(evidence.of(LATENCY)?)?;
        let sentence = "A load from anywhere in a block of {size} takes {huge} in huge pages, {base} in \
                        base pages.";
        let because = Finding::new("because", sentence)
            .given("size", size as f64, Unit::Bytes)
            .with("huge", &estimated(huge), Unit::Nanoseconds)
            .with("base", &estimated(base), Unit::Nanoseconds);
        Some((ratio(base, huge)?, because))
    };
    let by_tlb = || {
        let (count, base, huge) = tlb::in_both_pages(evidence.of(TLB)?)?;
        let sentence = "A load from one of {count} places 4 KiB apart takes {huge} in huge pages, {base} \
                        in base pages.";
        let because = Finding::new("because", sentence)
            .given("count", count as f64, Unit::Count)
            .with("huge", &estimated(huge), Unit::Nanoseconds)
            .with("base", &estimated(base), Unit::Nanoseconds);
        Some((ratio(base, huge)?, because))
    };
    let by_bandwidth = || {
        let (size, base, huge) = bandwidth::in_both_pages(evidence.of(BANDWIDTH)?)?;
        let sentence = "A block of {size} is read in order at {huge} in huge pages, at {base} in base \
                        pages.";
        let because = Finding::new("because", sentence)
            .given("size", size as f64, Unit::Bytes)
            .with("huge", &estimated(huge), Unit::BytesPerSecond)
            .with("base", &estimated(base), Unit::BytesPerSecond);
        Some((ratio(huge, base)?, because))
    };
    let (gain, because) = by_latency().or_else(by_tlb).or_else(by_bandwidth)?;
    let (value, gain_over_usual) = better(&gain, HUGE, BASE)?;
    Some(Advice {
        value: value.into(),
        usual: BASE.into(),
        gain: gain_over_usual,
        because,
    })
}

#[cfg(test)]
mod tests {
    use super::ALL;
    use crate::find;
    use crate::made_up::{hierarchy_cost, machine, result, results, setting, spread};
    use instrument::advice::Advice;
    use instrument::claim::Evidence;
    use instrument::plan::Profile;
    use instrument::point::{Level, Point};
    use instrument::results::PointResult;

    const KIB: u64 = 1 << 10;
    const MIB: u64 = 1 << 20;
    const BLOCK: u64 = 64 * MIB;
    const BASE: &str = "4 KiB pages";
    const HUGE: &str = "2 MiB pages";

    /// What `name` is set to after experiments that gave these points.
    fn advised(name: &str, measured: Vec<(&str, Vec<PointResult>)>) -> Option<Advice> {
        let machine = machine();
        let definitions: Vec<_> = measured
            .iter()
            .map(|(id, _)| find(id).expect("it exists").definition())
            .collect();
        let points = measured.into_iter().map(|(_, points)| points);
        let results: Vec<_> = definitions
            .iter()
            .zip(points)
            .map(|(definition, points)| results(definition, &machine, points))
            .collect();
        let rule = ALL.iter().find(|rule| rule.setting == name).expect(name);
        (rule.find)(&Evidence::new(&results))
    }

    /// Pieces that a cache holds are written at its speed, in GB/s.
    fn written(speed: impl Fn(u64) -> f64) -> (&'static str, Vec<PointResult>) {
        let id = "memory.subloop";
        let points = find(id)
            .expect("it exists")
            .points(&setting(Profile::Thorough));
        let each = points.into_iter().map(|point| {
            let piece = point.number("piece_size").expect("all have one");
            result(point, &[("write", speed(piece) * 1e9)])
        });
        (id, each.collect())
    }

    fn by_level(piece: u64) -> f64 {
        match piece / KIB {
            0..40 => 120.0,
            40..1536 => 60.0,
            1536..24_576 => 30.0,
            _ => 10.0,
        }
    }

    /// Caches that hold 40 KiB, 1.5 MiB and 24 MiB; loads take `factor` as long in base pages.
    fn loads(factor: f64) -> (&'static str, Vec<PointResult>) {
        let levels = [
            (40.0 * KIB as f64, 4.0),
            (1.5 * MIB as f64, 20.0),
            (24.0 * MIB as f64, 80.0),
        ];
        let at = |size: f64, pages: &str, factor: f64| {
            let point = Point::new()
                .with("working_set", size as u64)
                .with("stride", 64)
                .with("pages", pages);
            result(
                point,
                &[("load", factor * hierarchy_cost(1.5, &levels, size))],
            )
        };
        let sizes = (26..=54).map(|step| 2_f64.powf(f64::from(step) / 2.0).round());
        let mut points: Vec<_> = sizes.map(|size| at(size, HUGE, 1.0)).collect();
        points.push(at(128.0 * MIB as f64, BASE, factor));
        ("memory.latency", points)
    }

    #[test]
    fn each_cache_has_pieces_of_its_own() {
        for (name, piece, gain) in [
            ("loop_piece_size_l1", 32 * KIB, 12.0),
            ("loop_piece_size_l2", MIB, 6.0),
            ("loop_piece_size_l3", 16 * MIB, 3.0),
        ] {
            let advice = advised(name, vec![loads(1.0), written(by_level)]).expect(name);
            assert_eq!((advice.value, advice.usual), (piece.into(), BLOCK.into()));
            let found = advice.gain.expect("it gains").centre;
            assert!((found / gain - 1.0).abs() < 0.01, "{name}: {found}");
        }
    }

    #[test]
    fn where_pieces_gain_nothing_the_whole_is_advised() {
        for name in [
            "loop_piece_size",
            "loop_piece_size_l1",
            "loop_piece_size_l3",
        ] {
            let advice = advised(name, vec![loads(1.0), written(|_| 10.0)]).expect(name);
            assert_eq!((&advice.value, &advice.gain), (&BLOCK.into(), &None));
            assert_eq!(advice.usual, advice.value);
        }
    }

    #[test]
    fn the_best_piece_is_the_largest_that_is_as_good_as_any() {
        let advice = advised("loop_piece_size", vec![written(by_level)]).expect("it gains");
        assert_eq!(advice.value, Level::from(32 * KIB));
    }

    #[test]
    fn caches_that_loads_do_not_show_are_as_documented() {
        let name = "loop_piece_size_l2";
        let advice = advised(name, vec![written(by_level)]).expect("2 MiB are documented");
        assert_eq!(advice.value, MIB.into());
        assert!(advice.because.template.contains("which loads do not show"));
        let shown = advised(name, vec![loads(1.0), written(by_level)]).expect("shown");
        assert!(shown.because.template.contains("of {capacity} holds them"));
        assert_eq!(advised(name, vec![loads(1.0)]), None);
    }

    #[test]
    fn pages_are_huge_where_that_surely_gains_and_base_where_it_surely_does_not() {
        let name = "large_block_pages";
        let huge = advised(name, vec![loads(1.4)]).expect("told");
        assert_eq!((huge.value, huge.usual), ("huge".into(), "base".into()));
        assert!((huge.gain.expect("it gains").centre - 1.4).abs() < 0.01);
        let base = advised(name, vec![loads(0.9)]).expect("told");
        assert_eq!((base.value, base.gain), ("base".into(), None));
    }

    #[test]
    fn pages_are_told_by_places_or_by_reading_in_order_where_loads_were_not_measured() {
        let places = |pages: &str, load: f64| {
            let point = Point::new().with("strides", 1 << 14).with("pages", pages);
            result(point, &[("load", load)])
        };
        let tlb = ("memory.tlb", vec![places(BASE, 6.0), places(HUGE, 4.0)]);
        let block = |pages: &str, read: f64| {
            let point = Point::new()
                .with("block_size", 256 * MIB)
                .with("pages", pages);
            result(point, &[("read", read)])
        };
        let bandwidth = (
            "memory.bandwidth",
            vec![block(BASE, 9e9), block(HUGE, 18e9)],
        );
        let gain = |measured| {
            let advice = advised("large_block_pages", measured).expect("told");
            assert_eq!(advice.value, "huge".into());
            advice.gain.expect("it gains").centre
        };
        assert!((gain(vec![tlb, bandwidth.clone()]) - 1.5).abs() < 0.01);
        assert!((gain(vec![bandwidth]) - 2.0).abs() < 0.01);
    }

    #[test]
    fn pages_whose_loads_differ_by_chance_are_not_advised() {
        let (id, mut points) = loads(1.0);
        let last = points.pop().expect("that in base pages");
        let load = last.estimates[0].centre;
        points.push(spread(last.point, &[("load", load)], 0.1));
        assert_eq!(advised("large_block_pages", vec![(id, points)]), None);
    }
}
