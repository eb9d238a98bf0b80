//! Claims about Linux and Windows, judged by a run on each.
//!
//! On two machines, or under a program that stands in for Windows, two runs compare more than the systems. A caution
//! in the output says so.

use crate::judging::{ALMOST, MARGIN, about_along, decided, larger_among, throughout};
use crate::listing::LISTING;
use crate::prelude::*;

const BANDWIDTH: &str = "memory.bandwidth";
const FOOTPRINT: &str = "memory.footprint";
const SUBLOOP: &str = "memory.subloop";
const PASSES: &str = "file.rewrite_passes";
const RANDOM: &str = "file.random";
const STYLES: &str = "process.call_styles";
const ARITHMETIC: &str = "compute.arithmetic";

/// Metrics of a file that is read twice, of ways to call, and of arithmetic.
const READS: [&str; 2] = ["read", "read_again"];
const CALLS: [&str; 2] = ["unoptimised", "optimised"];
const OPERATIONS: [&str; 2] = ["latency", "throughput"];

const BLOCK: AxisOf<Bytes> = AxisOf::new("block_size", "block size");
const CHUNK: AxisOf<Bytes> = AxisOf::new("chunk_size", "chunk size");
/// Levels that follow from the memory and the disk of a machine.
const OF_THE_MACHINE: [&str; 2] = ["memory", "file_size"];
/// The chunk at which the report's two systems change places.
const CHANGE: Bytes = Bytes(64 << 10);

pub(crate) const CLAIMS: &[Claim] = &[
    Claim {
        key: "memory_drops_earlier_on_windows",
        says: "The bandwidth of memory, read and written, drops at smaller blocks on Windows than on Linux.",
        source: "Report E, section 7.1",
        basis: Basis::Several(&[BANDWIDTH], |evidence| {
            drops_earlier(evidence, BANDWIDTH, &["read", "write"], [1, 0])
        }),
    },
    Claim {
        key: "optimised_loops_drop_later_on_windows",
        says: "The bandwidth of an optimised loop drops at smaller blocks on Linux than on Windows.",
        source: "Report E, section 7.1",
        basis: Basis::Several(&[FOOTPRINT], |evidence| {
            drops_earlier(evidence, FOOTPRINT, &["optimisation_3"], [0, 1])
        }),
    },
    Claim {
        key: "pieces_are_alike_on_both_systems",
        says: "Loops over pieces of a block are about as fast on Linux and on Windows.",
        source: "Report E, section 7.1",
        basis: Basis::Several(&[SUBLOOP], |evidence| {
            compared(evidence, SUBLOOP, &["write"], |_| true, alike)
        }),
    },
    Claim {
        key: "linux_is_faster_in_synchronous_reads",
        says: "With O_SYNC, Linux reads faster than Windows.",
        source: "Report E, section 7.2",
        basis: Basis::Several(&[PASSES], |evidence| {
            compared(evidence, PASSES, &READS, waits, faster_on_linux)
        }),
    },
    Claim {
        key: "windows_is_faster_in_asynchronous_reads",
        says: "Without O_SYNC, Windows reads faster than Linux.",
        source: "Report E, section 7.2",
        basis: Basis::Several(&[PASSES], |evidence| {
            compared(evidence, PASSES, &READS, waits_not, faster_on_windows)
        }),
    },
    Claim {
        key: "windows_is_faster_in_synchronous_writes",
        says: "With O_SYNC, Windows writes faster than Linux, at any size.",
        source: "Report E, section 7.2",
        basis: Basis::Several(&[PASSES], |evidence| {
            compared(evidence, PASSES, &["rewrite"], waits, faster_on_windows)
        }),
    },
    Claim {
        key: "asynchronous_writes_are_alike_on_both_systems",
        says: "Without O_SYNC, Linux and Windows write about as fast.",
        source: "Report E, section 7.2",
        basis: Basis::Several(&[PASSES], |evidence| {
            compared(evidence, PASSES, &["rewrite"], waits_not, alike)
        }),
    },
    Claim {
        key: "linux_is_faster_in_order_in_small_chunks",
        says: "In order, in chunks below 64 KiB, Linux reads faster than Windows.",
        source: "Report E, section 7.2",
        basis: Basis::Several(&[RANDOM], |evidence| {
            compared(evidence, RANDOM, &["sequential"], is_small, faster_on_linux)
        }),
    },
    Claim {
        key: "large_chunks_in_order_are_alike_on_both_systems",
        says: "In order, in chunks above 64 KiB, Linux and Windows read about as fast.",
        source: "Report E, section 7.2",
        basis: Basis::Several(&[RANDOM], |evidence| {
            compared(evidence, RANDOM, &["sequential"], is_large, alike)
        }),
    },
    Claim {
        key: "random_order_is_alike_on_both_systems",
        says: "In random order, Linux and Windows read about as fast, in chunks of all sizes.",
        source: "Report E, section 7.2",
        basis: Basis::Several(&[RANDOM], |evidence| {
            compared(evidence, RANDOM, &["random"], |_| true, alike)
        }),
    },
    Claim {
        key: "linux_is_faster_in_random_order_in_small_chunks",
        says: "In random order, in chunks below 64 KiB, Linux reads faster than Windows.",
        source: "Report E, section 7.2",
        basis: Basis::Several(&[RANDOM], |evidence| {
            compared(evidence, RANDOM, &["random"], is_small, faster_on_linux)
        }),
    },
    Claim {
        key: "windows_is_faster_in_random_order_in_large_chunks",
        says: "In random order, in chunks above 64 KiB, Windows reads faster than Linux.",
        source: "Report E, section 7.2",
        basis: Basis::Several(&[RANDOM], |evidence| {
            compared(evidence, RANDOM, &["random"], is_large, faster_on_windows)
        }),
    },
    Claim {
        key: "linux_is_faster_in_all_ways_to_call",
        says: "Linux is faster than Windows in all ways to call.",
        source: "Report E, section 7.3",
        basis: Basis::Several(&[STYLES], |evidence| {
            compared(evidence, STYLES, &CALLS, |_| true, faster_on_linux)
        }),
    },
    Claim {
        key: "arithmetic_is_alike_on_both_systems",
        says: "Arithmetic is about as fast on Linux and on Windows.",
        source: "Report E, section 6.1.2",
        basis: Basis::Several(&[ARITHMETIC], |evidence| {
            compared(evidence, ARITHMETIC, &OPERATIONS, |_| true, alike)
        }),
    },
];

/// How many times as fast Linux is at each point that both runs have.
type Gains = [((), Quantity)];

/// Judges these metrics at the points that are meant, if both runs have the experiment called `id`.
fn compared(
    evidence: &Evidence<'_>,
    id: &str,
    metrics: &[&str],
    is_meant: fn(&Point) -> bool,
    judge: fn(&Gains) -> Option<Judgement>,
) -> Option<Judgement> {
    let linux = evidence.of(id)?;
    let Some(windows) = evidence.on_windows(id) else {
        return Some(no_windows());
    };
    let mut gains = Vec::new();
    for here in linux.points.iter().filter(|it| is_meant(&it.point)) {
        let mut there = windows.points.iter();
        let Some(there) = there.find(|it| is_alike(&here.point, &it.point)) else {
            continue;
        };
        for metric in metrics {
            let values = [here, there].map(|it| it.sound(metric).map(Estimate::quantity));
            let better = linux.definition.metric(metric).map(|metric| metric.better);
            let gain = match (values, better) {
                ([Some(linux), Some(windows)], Some(Better::Lower)) => windows.over(linux),
                ([Some(linux), Some(windows)], _) => linux.over(windows),
                _ => None,
            };
            gains.extend(gain.map(|gain| ((), gain)));
        }
    }
    judge(&gains)
}

/// True if both points are the same but for what follows from the machine.
fn is_alike(one: &Point, other: &Point) -> bool {
    let levels = |point: &'_ Point| -> Vec<(String, Level)> {
        let levels = point
            .levels()
            .filter(|(axis, _)| !OF_THE_MACHINE.contains(axis));
        levels
            .map(|(axis, level)| (axis.to_owned(), level.clone()))
            .collect()
    };
    levels(one) == levels(other)
}

fn waits(point: &Point) -> bool {
    point.matches(&[("way", "read, write O_SYNC".into())])
}

fn waits_not(point: &Point) -> bool {
    point.matches(&[("way", "read, write".into())])
}

fn is_small(point: &Point) -> bool {
    point.level(CHUNK).is_ok_and(|chunk| chunk < CHANGE)
}

fn is_large(point: &Point) -> bool {
    point.level(CHUNK).is_ok_and(|chunk| chunk > CHANGE)
}

/// The judgement without a run on Windows.
fn no_windows() -> Judgement {
    let said = sentence!(
        "It needs two runs, one of them made on Windows and the other on Linux: name them by \
         `oscope reproduce --of RUN --of RUN`."
    );
    decided(Ruling::Undecided, said)
}

fn faster_on_linux(gains: &Gains) -> Option<Judgement> {
    larger_among(1.0 + MARGIN, gains, |[((), least), ((), most)]| {
        sentence!("Linux is {least} to {most} as fast as Windows.")
    })
}

fn faster_on_windows(gains: &Gains) -> Option<Judgement> {
    let turned = gains.iter().map(|((), gain)| {
        let turned = Quantity {
            value: 1.0 / gain.value,
            interval: gain.interval.and_then(|interval| interval.map(f64::recip)),
            ..*gain
        };
        ((), turned)
    });
    let turned: Vec<_> = turned.collect();
    larger_among(1.0 + MARGIN, &turned, |[((), least), ((), most)]| {
        sentence!("Windows is {least} to {most} as fast as Linux.")
    })
}

fn alike(gains: &Gains) -> Option<Judgement> {
    about_along(1.0, ALMOST, gains, |[least, most]| {
        sentence!("Linux is {least} to {most} as fast as Windows.")
    })
}

/// Judges "the curve of one system drops at smaller blocks than that of the other", for each metric. The `order`
/// has the indices of Linux (0) and Windows (1), the one that drops first in front.
fn drops_earlier(
    evidence: &Evidence<'_>,
    id: &str,
    metrics: &[&str],
    order: [usize; 2],
) -> Option<Judgement> {
    let linux = evidence.of(id)?;
    let Some(windows) = evidence.on_windows(id) else {
        return Some(no_windows());
    };
    // Other pages, and swap, are other curves.
    let pages = linux.points.first()?.point.get("pages").cloned();
    let levels: Vec<(&str, Level)> = pages.into_iter().map(|pages| ("pages", pages)).collect();
    let mut rulings = Vec::new();
    let mut ends = None;
    for metric in metrics {
        let end = |results: &Results<'_>| {
            let curve = results.without(LISTING);
            Curve::of(&curve.along(BLOCK, metric, &levels), Better::Higher)
                .end()
                .ok()
        };
        let both = [end(linux)?, end(windows)?];
        ends = ends.or(Some(both.map(|it| it.from)));
        rulings.push(is_before(order.map(|index| both[index])));
    }
    let [linux, windows] = ends?;
    let said =
        sentence!("It stays at its best up to {linux} on Linux, and up to {windows} on Windows.");
    Some(decided(throughout(rulings), said))
}

/// Decides whether one plateau surely ends before another. It ends between its last good place and the next.
fn is_before([one, other]: [Onset<Bytes>; 2]) -> Ruling {
    if one.after <= other.from && one.from < other.from {
        Ruling::Holds
    } else if one.from >= other.from {
        Ruling::DoesNotHold
    } else {
        Ruling::Undecided
    }
}

#[cfg(test)]
mod tests {
    use super::CLAIMS;
    use crate::find;
    use crate::made_up::{machine, measured, results};
    use crate::prelude::*;

    #[test]
    fn without_a_run_on_windows_each_says_that_it_needs_one() {
        let machine = machine();
        for claim in CLAIMS {
            let definition = find(claim.basis.experiments()[0])
                .expect(claim.key)
                .definition();
            let point = measured(Point::new(), &[(Metric::time("read", "read"), 1.0)]);
            let linux = [results(&definition, &machine, vec![point])];
            let judgement = claim.judge(&Evidence::new(&linux));
            assert_eq!(judgement.ruling, Ruling::Undecided);
            let said = judgement.because.sentence.to_string();
            assert!(
                said.contains("two runs, one of them made on Windows"),
                "{}: {said}",
                claim.key
            );
        }
    }
}
