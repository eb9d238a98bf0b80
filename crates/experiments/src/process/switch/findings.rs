//! Findings and figures of `process.switch`.

use super::{COUNT, KIND, Kind, SWITCH, WORKING_SET, point_of};
use crate::estimates::{grade, ratio};
use crate::figures::{axis_of, bars, curves, scale_of};
use crate::prelude::*;
use crate::process::{PLACEMENT, Placement};
use instrument::point::LevelOf;
use std::collections::BTreeSet;

const TWO: Count = Count(2);
const NOTHING: Bytes = Bytes(0);

/// All findings, the most telling first.
pub(super) fn all(results: &Results) -> Vec<Finding> {
    let findings = [
        least(results),
        cores(results),
        address_space(results),
        crowd(results),
    ];
    findings.into_iter().flatten().collect()
}

/// Switches by the number of members, and by the placement.
pub(super) fn figures(results: &Results) -> Vec<Figure> {
    let lines = Kind::ALL.iter().flat_map(|kind| {
        let working_sets = levels(results, WORKING_SET).into_iter();
        working_sets.map(move |bytes| {
            let levels = [
                KIND.at(*kind),
                WORKING_SET.at(bytes),
                PLACEMENT.at(Placement::OneCore),
            ];
            results.series(&format!("{kind}, {bytes}"), SWITCH, COUNT, &levels)
        })
    });
    let lines = lines.filter(|line| line.points.len() > 1).collect();
    let placements = Kind::ALL.iter().map(|kind| {
        let levels = [KIND.at(*kind), COUNT.at(TWO), WORKING_SET.at(NOTHING)];
        results.series(kind.name(), SWITCH, PLACEMENT, &levels)
    });
    vec![
        curves(
            "number",
            "Context switches on one core",
            (axis_of(COUNT), scale_of(SWITCH)),
            lines,
            Vec::new(),
        ),
        bars(
            PLACEMENT,
            "Context switches between two on one core and on two",
            (axis_of(PLACEMENT), scale_of(SWITCH)),
            placements.collect(),
        ),
    ]
}

/// The levels that were measured on an axis.
fn levels<L: LevelOf + Ord>(results: &Results, axis: AxisOf<L>) -> BTreeSet<L> {
    let points = results.points.iter();
    points
        .filter_map(|result| result.point.level(axis).ok())
        .collect()
}

/// The switch in a ring.
fn switch<'r>(results: &'r Results, ring: &Point) -> Option<&'r Estimate> {
    let mut points = results.points.iter();
    points.find(|result| result.point == *ring)?.sound(SWITCH)
}

/// The switch between two members that read nothing.
pub(in crate::process) fn pair<'r>(
    results: &'r Results,
    kind: Kind,
    placement: Placement,
) -> Option<&'r Estimate> {
    switch(results, &point_of(kind, TWO, NOTHING, placement))
}

fn least(results: &Results) -> Option<Finding> {
    let switch = pair(results, Kind::Processes, Placement::OneCore)?;
    let said = sentence!(
        "A switch between two processes on the same core takes at least {switch}, if neither has a \
         working set."
    );
    Some(Finding::new("least", said).weighing(0.65))
}

fn cores(results: &Results) -> Option<Finding> {
    let one = pair(results, Kind::Processes, Placement::OneCore)?;
    let two = pair(results, Kind::Processes, Placement::TwoCores)?;
    let times = ratio(two, one)?;
    let advice = if !times.differs_from(1.0) {
        "the placement makes no measurable difference."
    } else if times.value > 1.0 {
        "put processes that only take turns on one core."
    } else {
        "give each process a core of its own."
    };
    let said = sentence!(
        "Passing control to a process that waits on another core takes {two}, {times} as long as on \
         the same core: {advice}"
    );
    let finding = Finding::new("cores", said);
    Some(finding.graded(grade(&times, 1.0)).weighing(0.6))
}

fn address_space(results: &Results) -> Option<Finding> {
    let processes = pair(results, Kind::Processes, Placement::OneCore)?;
    let threads = pair(results, Kind::Threads, Placement::OneCore)?;
    let times = ratio(processes, threads)?;
    let is_slower = times.differs_from(1.0) && times.value > 1.0;
    let said = if is_slower {
        sentence!(
            "A switch between threads of one process takes {threads}; between processes it takes \
             {times} as long, since the address space changes too."
        )
    } else {
        sentence!(
            "A switch between threads of one process takes {threads}; between processes it takes \
             {times} as long: the change of address space does not show."
        )
    };
    let finding = Finding::new("address_space", said);
    Some(finding.graded(grade(&times, 1.0)).weighing(0.45))
}

/// The largest ring with the largest working set against the smallest with none.
fn crowd(results: &Results) -> Option<Finding> {
    let count = *levels(results, COUNT).last()?;
    let working_set = *levels(results, WORKING_SET).last()?;
    let largest = point_of(Kind::Processes, count, working_set, Placement::OneCore);
    let crowd = switch(results, &largest)?;
    let times = ratio(crowd, pair(results, Kind::Processes, Placement::OneCore)?)?;
    let said = sentence!(
        "Among {count} processes with a working set of {working_set} each, a switch takes \
         {crowd}, {times} as long as between two without one. Each has to fetch again what the \
         others displaced from the caches."
    );
    let follows = times.differs_from(1.0) && times.value > 1.0 && working_set > NOTHING;
    follows.then(|| Finding::new("crowd", said).weighing(0.5))
}

#[cfg(test)]
mod tests {
    use super::super::Switch;
    use super::{Kind, Placement, SWITCH, point_of};
    use crate::made_up::{figures, finding, findings, measured, number};
    use crate::prelude::*;
    use instrument::results::{PointResult, Verdict};

    fn at(kind: Kind, count: u64, working_set: u64, placement: Placement, ns: f64) -> PointResult {
        let point = point_of(kind, Count(count), Bytes(working_set), placement);
        measured(point, &[(SWITCH, ns)])
    }

    fn rings() -> Vec<PointResult> {
        vec![
            at(Kind::Processes, 2, 0, Placement::OneCore, 1500.0),
            at(Kind::Processes, 32, 65536, Placement::OneCore, 9000.0),
            at(Kind::Threads, 2, 0, Placement::OneCore, 1200.0),
            at(Kind::Processes, 2, 0, Placement::TwoCores, 6000.0),
        ]
    }

    #[test]
    fn every_comparison_is_told_with_its_ratio() {
        let findings = findings(&Switch, rings());
        let times = |key: &str| {
            let finding = finding(&findings, key);
            assert_eq!(finding.grade, Grade::Certain);
            number(finding, "times").value
        };
        assert!((times("cores") - 4.0).abs() < 0.01);
        assert!((times("address_space") - 1.25).abs() < 0.01);
        assert!((times("crowd") - 6.0).abs() < 0.01);
        assert_eq!(findings[0].key, "least");
    }

    #[test]
    fn a_switch_below_resolution_supports_nothing() {
        let mut points = rings();
        points[0].estimates[0].verdict = Verdict::BelowResolution;
        assert_eq!(findings(&Switch, points), []);
    }

    #[test]
    fn a_machine_with_one_core_has_findings_without_the_other() {
        let mut points = rings();
        points.pop();
        let findings = findings(&Switch, points);
        assert_eq!(findings.len(), 3);
        assert!(findings.iter().all(|finding| finding.key != "cores"));
    }

    #[test]
    fn figures_have_a_line_for_each_working_set_with_several_numbers() {
        let mut points = rings();
        points.push(at(Kind::Processes, 8, 0, Placement::OneCore, 1600.0));
        let figures = figures(&Switch, points);
        assert_eq!(figures[0].series.len(), 1);
        assert_eq!(figures[0].series[0].label, "processes, 0 B");
        assert_eq!(figures[1].series[0].points.len(), 2);
    }
}
