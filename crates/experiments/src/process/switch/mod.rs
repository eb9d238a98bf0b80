//! `process.switch`: the cost of going from one process or thread to another.

pub(super) mod definition;
pub(super) mod findings;
mod ring;

use super::placement::{PLACEMENT, Placement};
use crate::prelude::*;
use definition::{ALONE, COUNT, DESIGN, KIND, Kind, PASS, SWITCH, WORKING_SET, point_of};
use platform::clock::now_ns;
use std::collections::BTreeSet;
use std::thread;

/// The cost of going from one process or thread to another.
pub(crate) struct Switch;

const KIB: u64 = 1 << 10;

/// Rounds before the first that is timed.
const WARMING_ROUNDS: u32 = 20;

impl Experiment for Switch {
    fn design(&self) -> &'static Design {
        &DESIGN
    }

    /// On one core, all numbers with all working sets, and fewer for threads in the quick profile. On
    /// two cores, two members: only one runs at a time, whatever their number.
    fn points(&self, setting: &Setting) -> Vec<Point> {
        let (counts, working_sets): (&[u64], &[u64]) = match setting.profile {
            Profile::Quick => (&[2, 8, 32], &[0, 16 * KIB, 64 * KIB]),
            Profile::Standard => (&[2, 8, 32], &[0, 16 * KIB, 64 * KIB, 256 * KIB]),
            Profile::Thorough => (
                &[2, 4, 8, 16, 32, 64, 96],
                &[0, 4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB],
            ),
        };
        let is_wanted = |kind: Kind, count: u64, working_set: u64| {
            let is_quick = setting.profile == Profile::Quick;
            !is_quick || kind == Kind::Processes || count == 2 || working_set == 0
        };
        let mut points = BTreeSet::new();
        for &kind in Kind::ALL {
            for &working_set in working_sets {
                let of = |count: u64, placement| {
                    point_of(kind, Count(count), Bytes(working_set), placement)
                };
                let counts = counts.iter().copied();
                let one_core = counts.filter(|count| is_wanted(kind, *count, working_set));
                points.extend(one_core.map(|count| of(count, Placement::OneCore)));
                points.insert(of(2, Placement::TwoCores));
            }
        }
        points.into_iter().collect()
    }

    fn component(&self, _point: &Point, _metric: &str) -> Option<Component> {
        Some(Component::Threads)
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let count = point.level(COUNT)?.0 as usize;
        let working_set = point.level(WORKING_SET)?.0 as usize;
        let kind = point.level(KIND)?;
        let sides = point.level(PLACEMENT)?.take(sampler)?;

        let (mut own, _) = ring::members(1, working_set)?;
        let alone_ns = time_rounds(sampler, ALONE, 1, &mut own)?;
        drop(own);

        let (mut first, others) = ring::members(count, working_set)?;
        let pass_ns = match kind {
            Kind::Processes => {
                let _partners = ring::as_processes(others, sides)?;
                time_rounds(sampler, PASS, count, &mut first)
            }
            Kind::Threads => thread::scope(|scope| {
                // When it is dropped here, the next member ends, and so on round the ring.
                let mut first = first;
                ring::as_threads(others, sides, scope)?;
                time_rounds(sampler, PASS, count, &mut first)
            }),
        }?;
        sampler.value(SWITCH, pass_ns - alone_ns);
        Ok(())
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        findings::all(results)
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        findings::figures(results)
    }
}

/// Times rounds of a ring of `count` members; returns the median time of a pass in ns.
fn time_rounds(
    sampler: &mut Sampler<'_>,
    metric: Metric<&'static str>,
    count: usize,
    first: &mut ring::First,
) -> Result<f64, MeasureError> {
    (0..WARMING_ROUNDS).try_for_each(|_| first.round())?;
    sampler.latencies_of(metric, count as f64, || {
        let begin_ns = now_ns();
        first.round()?;
        Ok(now_ns().saturating_sub(begin_ns))
    })
}

#[cfg(test)]
mod tests {
    use super::{ALONE, KIND, Kind, PASS, PLACEMENT, Placement, SWITCH, Switch, point_of};
    use crate::made_up::{count, measure, setting, values};
    use crate::prelude::*;
    use std::path::Path;

    #[test]
    fn the_quick_profile_has_few_points_and_the_others_have_them_too() {
        let quick = Switch.points(&setting(Profile::Quick));
        assert!(quick.len() <= 20, "{}", quick.len());
        let standard = Switch.points(&setting(Profile::Standard));
        assert!(quick.iter().all(|point| standard.contains(point)));
    }

    fn point() -> Point {
        point_of(Kind::Threads, Count(3), Bytes(4096), Placement::OneCore)
    }

    #[test]
    fn a_ring_of_threads_goes_round_and_ends() {
        let taken = measure(&Switch, &point(), Path::new("/"));
        let (samples, _) = taken.expect("threads can be made");
        assert!(count(&samples, ALONE) >= 1 && count(&samples, PASS) >= 1);
        assert_eq!(values(&samples, SWITCH).len(), 1);
    }

    #[test]
    fn levels_of_another_version_are_refused() {
        #[derive(Choice, Clone, Copy, PartialEq)]
        enum Other {
            Fibres,
        }
        for axis in [KIND.name(), PLACEMENT.name()] {
            let point = point().at(AxisOf::new(axis, axis), Other::Fibres);
            let taken = measure(&Switch, &point, Path::new("/"));
            let error = taken.expect_err("there is no such level").to_string();
            assert!(error.contains(axis) && error.contains("fibres"), "{error}");
        }
    }
}
