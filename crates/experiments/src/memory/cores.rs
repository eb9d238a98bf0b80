//! `memory.cores`: the time that a cache line takes from core to core.

use super::SHORTEST_LOAD_NS;
use crate::estimates::{by_ratio, found, of_values, ratio};
use crate::figures::{bars, names};
use crate::judging::exceeds;
use crate::planning::by_profile;
use crate::prelude::*;
use crate::together::{on_cpus, several_cpus, usable_cpus};
use instrument::figure::{FigureKind, FigurePoint, Series};
use platform::placement::shared_cache_level;
use std::collections::BTreeSet;
use std::hint::spin_loop;
use std::sync::atomic::{AtomicU64, Ordering};

pub(crate) struct Cores;

const ONE: AxisOf<Count> = AxisOf::new("one", "processor");
const OTHER: AxisOf<Count> = AxisOf::new("other", "and processor");
const ONE_WAY: Metric = Metric::time("one_way", "time one way").bounded(SHORTEST_LOAD_NS);
/// Only where the two share a cache and the system reports it.
const SHARED: Metric = Metric::fact("shared_cache", "level of the shared cache", Unit::Count);

/// Enough that no single home of a line, such as a slice of the last-level cache, decides the time;
/// few enough for the first-level cache.
const LINES: usize = 64;
/// Of many pairs, the extremes lie this far apart by chance.
const CHANCE: f64 = 1.1;

/// A cache line and the adjacent one, which a prefetcher takes with it.
#[derive(Default)]
#[repr(align(128))]
struct Line(AtomicU64);

const DESIGN: Design = Design {
    id: "memory.cores",
    title: "From core to core",
    question: "How long does a cache line take from one core to another, and which cores are near to \
               each other?",
    method: formatcp!(
        "Two threads, each pinned to a processor, pass messages back and forth. The first writes to a \
         cache line that the second polls, and the second writes its answer to the same line. \
         Each round trip takes the next of {LINES} lines, which were last used {LINES} round \
         trips ago and are allocated anew in each process. The time is half that of a round trip: \
         a store that takes the line from the other core, and the load that fetches it back. Each \
         pair is measured in one order. On machines with many processors, pairs are those among \
         neighbours at evenly spaced places in the list of processors. A quick run takes 4 \
         processors, a standard run 8, a thorough one 12. The level of the innermost cache that \
         both share is what the system states."
    ),
    source: "common practice",
    axes: &[ONE.axis(), OTHER.axis()],
    metrics: &[ONE_WAY, SHARED],
};

impl Experiment for Cores {
    fn design(&self) -> &'static Design {
        &DESIGN
    }

    fn needs(&self, setting: &Setting) -> Vec<Need> {
        vec![several_cpus(setting)]
    }

    fn points(&self, setting: &Setting) -> Vec<Point> {
        let most = by_profile(setting.profile, [4, 8, 12]);
        pairs(&picked(&usable_cpus(setting), most))
    }

    fn component(&self, _point: &Point, _metric: &str) -> Option<Component> {
        Some(Component::Threads)
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let [one, other] = [point.level(ONE)?, point.level(OTHER)?].map(|it| it.0 as usize);
        if let Some(level) = shared_cache_level(one, other) {
            sampler.value(SHARED, f64::from(level));
        }
        let lines: Vec<Line> = (0..LINES).map(|_| Line::default()).collect();
        let side = |cpu| {
            Ok(Side {
                lines: &lines,
                is_first: cpu == one,
                round_trips: 0,
            })
        };
        let exchange = |side: &mut Side<'_>, round_trips: u64| {
            (0..round_trips).for_each(|_| side.exchange());
            Ok(())
        };
        on_cpus(&[one, other], side, exchange, |pass| {
            sampler.repeat(ONE_WAY, 2.0, pass)
        })
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        let ways = ways(results);
        found([only(&ways), range(&ways), near(&ways)])
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        let pairs = results.points.iter().filter_map(|it| cpus_of(&it.point));
        let cpus: BTreeSet<Count> = pairs.flatten().collect();
        let column = |column: &Count| {
            let cells = cpus.iter().filter_map(|row| cell(results, *row, *column));
            Series {
                label: column.0.to_string(),
                points: cells.collect(),
            }
        };
        let title = "A cache line between two processors";
        let columns = cpus.iter().map(column).collect();
        vec![Figure {
            kind: FigureKind::Matrix,
            ..bars(ONE_WAY, title, (names("processor"), ONE_WAY), columns)
        }]
    }
}

/// One of the two that hand lines to each other.
struct Side<'l> {
    lines: &'l [Line],
    is_first: bool,
    round_trips: u64,
}

impl Side<'_> {
    /// Does its part of a round trip. The number on a line is that of the message it carries.
    fn exchange(&mut self) {
        let line = &self.lines[self.round_trips as usize % LINES].0;
        let message = 2 * self.round_trips + 1;
        let wait_for = |number| {
            while line.load(Ordering::Acquire) != number {
                spin_loop();
            }
        };
        if self.is_first {
            line.store(message, Ordering::Release);
            wait_for(message + 1);
        } else {
            wait_for(message);
            line.store(message + 1, Ordering::Release);
        }
        self.round_trips += 1;
    }
}

/// At most `most` of the processors, an even number: neighbours, from evenly spaced places on. Systems
/// number the threads of a core next to each other, or half the list apart.
fn picked(cpus: &[usize], most: usize) -> Vec<usize> {
    if cpus.len() <= most {
        return cpus.to_vec();
    }
    let place = |index: usize| (index / 2) * cpus.len() / (most / 2) + index % 2;
    (0..most).map(|index| cpus[place(index)]).collect()
}

fn pairs(cpus: &[usize]) -> Vec<Point> {
    let with_later = |(index, one): (usize, &usize)| {
        let point = Point::new().at(ONE, Count(*one as u64));
        let others = cpus[index + 1..].iter();
        others.map(move |other| point.clone().at(OTHER, Count(*other as u64)))
    };
    cpus.iter().enumerate().flat_map(with_later).collect()
}

/// The time between two processors. A pair is measured in one order and shown in both.
fn cell(results: &Results, row: Count, column: Count) -> Option<FigurePoint> {
    let pair = [row.min(column), row.max(column)];
    let is_pair = |result: &&PointResult| {
        cpus_of(&result.point).is_some_and(|[one, other]| [one.min(other), one.max(other)] == pair)
    };
    let result = results.points.iter().find(is_pair)?;
    let estimate = result.estimate(ONE_WAY)?;
    Some(FigurePoint {
        x: Level::Number(row.0),
        estimate: estimate.clone(),
        doubtful: result.is_doubtful(ONE_WAY.name) || !estimate.is_sound(),
    })
}

fn cpus_of(point: &Point) -> Option<[Count; 2]> {
    Some([point.level(ONE).ok()?, point.level(OTHER).ok()?])
}

struct Way<'r> {
    cpus: [Count; 2],
    time: &'r Estimate,
    /// Level of the innermost cache that both share.
    shared: Option<u64>,
}

/// The pairs, the fastest first.
fn ways<'r>(results: &'r Results) -> Vec<Way<'r>> {
    let way = |result: &'r PointResult| {
        Some(Way {
            cpus: cpus_of(&result.point)?,
            time: result.sound(ONE_WAY)?,
            shared: result
                .sound(SHARED)
                .map(|level| level.centre.round() as u64),
        })
    };
    let mut ways: Vec<_> = results.points.iter().filter_map(way).collect();
    ways.sort_by(|one, other| one.time.centre.total_cmp(&other.time.centre));
    ways
}

fn only(ways: &[Way<'_>]) -> Option<Finding> {
    let [Way { cpus, time, .. }] = ways else {
        return None;
    };
    let said = sentence!(
        "A cache line takes {time} from one core to another (processors {one} and {other}).",
        one = cpus[0],
        other = cpus[1],
    );
    Some(of_values("only", said, [*time]))
}

fn range(ways: &[Way<'_>]) -> Option<Finding> {
    let [nearest, .., farthest] = ways else {
        return None;
    };
    let ([a, b], [c, d]) = (nearest.cpus, farthest.cpus);
    let (fastest, slowest) = (nearest.time, farthest.time);
    let times = ratio(slowest, fastest)?;
    let differ = exceeds(&times, CHANCE) == Ruling::Holds;
    let (said, sure) = if differ {
        let said = sentence!(
            "A cache line takes {fastest} from core to core between the nearest processors ({a} and {b}) \
             and {slowest} between the farthest ({c} and {d}), {times} as long."
        );
        (said, Grade::Certain)
    } else {
        let said = sentence!(
            "A cache line takes {fastest} to {slowest} from core to core, about the same in all {count} \
             pairs of processors.",
            count = Count(ways.len() as u64),
        );
        (said, Grade::Likely)
    };
    let finding = Finding::new("range", said).with_number("times", times);
    Some(finding.graded(sure).weighing(0.55))
}

/// The gain of sharing the innermost cache that any pair shares, over the next group outwards.
fn near(ways: &[Way<'_>]) -> Option<Finding> {
    let group = |level: Option<u64>| -> Vec<&Way<'_>> {
        ways.iter().filter(|way| way.shared == level).collect()
    };
    let level = ways.iter().filter_map(|way| way.shared).min()?;
    let outer = ways
        .iter()
        .map(|way| way.shared)
        .filter(|it| *it != Some(level));
    // `None` is farther than any level.
    let outer = outer.min_by_key(|level| level.unwrap_or(u64::MAX))?;
    let typical = |ways: Vec<&Way<'_>>| ways.get(ways.len() / 2).map(|way| way.time).cloned();
    let [near, far] = [typical(group(Some(level)))?, typical(group(outer))?];
    let times = ratio(&far, &near)?;
    let cores = if level == 1 {
        sentence!("on one core")
    } else {
        sentence!("that share a cache of level {level}", level = Count(level))
    };
    let others = outer.map_or_else(
        || sentence!("that share no cache"),
        |outer| sentence!("that share only level {outer}", outer = Count(outer)),
    );
    let said = sentence!(
        "A cache line takes {near} between processors {cores} and {far} between those {others}, {times} \
         as long: put threads that exchange data on the former.",
    );
    let follows = exceeds(&times, CHANCE) == Ruling::Holds;
    follows.then(|| by_ratio("near", said, &times).weighing(0.6))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up::{sampled, values};
    use platform::placement::{allowed_cpus, shared_cache_level};

    fn pair(one: u64, other: u64) -> Point {
        Point::new().at(ONE, Count(one)).at(OTHER, Count(other))
    }

    #[test]
    fn of_many_processors_neighbours_at_even_places_are_picked() {
        assert_eq!(picked(&[3, 5], 4), [3, 5]);
        let many: Vec<usize> = (0..64).collect();
        assert_eq!(picked(&many, 4), [0, 1, 32, 33]);
        assert_eq!(picked(&many, 8), [0, 1, 16, 17, 32, 33, 48, 49]);
        assert_eq!(picked(&many[..5], 4), [0, 1, 2, 3]);
        assert_eq!(pairs(&[2, 4, 6]), [pair(2, 4), pair(2, 6), pair(4, 6)]);
    }

    #[test]
    fn a_line_goes_back_and_forth_here() {
        let cpus = allowed_cpus().expect("this system has them");
        if cpus.len() < 2 {
            return println!("skipped: there is one processor");
        }
        let here = pair(cpus[0] as u64, cpus[1] as u64);
        let samples = sampled(&Cores, &here, &[ONE_WAY]);
        let stated = shared_cache_level(cpus[0], cpus[1]).map(f64::from);
        assert_eq!(values(&samples, SHARED), Vec::from_iter(stated));
    }
}
