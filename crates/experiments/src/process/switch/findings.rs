//! What the switches mean, and how they are drawn.

use super::super::placement::{ONE_CORE, PLACEMENT, TWO_CORES};
use super::{COUNT, KIND, PROCESSES, SWITCH, THREADS, WORKING_SET};
use crate::estimates::{WithEstimate, differs_from, estimated, grade, ratio};
use crate::figures::{bars, curves, logarithmic, names};
use instrument::figure::Figure;
use instrument::finding::Finding;
use instrument::point::Level;
use instrument::quantity::{Bytes, Unit};
use instrument::results::{Estimate, Results};
use std::collections::BTreeSet;

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

/// How switches grow with the number of members, and with the distance.
pub(super) fn figures(results: &Results) -> Vec<Figure> {
    let lines = [PROCESSES, THREADS].into_iter().flat_map(|kind| {
        levels(results, WORKING_SET).into_iter().map(move |bytes| {
            let where_ = [
                (KIND, kind.into()),
                (WORKING_SET, bytes.into()),
                (PLACEMENT, ONE_CORE.into()),
            ];
            let label = format!("{kind}, {}", Bytes(bytes));
            results.series(&label, SWITCH, COUNT, &where_)
        })
    });
    let lines = lines.filter(|line| line.points.len() > 1).collect();
    let placements = [PROCESSES, THREADS].map(|kind| {
        let where_ = [
            (KIND, kind.into()),
            (COUNT, 2.into()),
            (WORKING_SET, 0.into()),
        ];
        results.series(kind, SWITCH, PLACEMENT, &where_)
    });
    let switch = || logarithmic("context switch", Unit::Nanoseconds);
    vec![
        curves(
            "number",
            "Context switches on one core",
            (logarithmic("number", Unit::Count), switch()),
            lines,
            Vec::new(),
        ),
        bars(
            "placement",
            "Context switches between two on one core and on two",
            (names("placement"), switch()),
            placements.into(),
        ),
    ]
}

/// The numbers that stand on an axis.
fn levels(results: &Results, axis: &str) -> BTreeSet<u64> {
    let points = results.points.iter();
    points
        .filter_map(|result| result.point.number(axis).ok())
        .collect()
}

/// The switch in a ring, if it may be used.
fn at<'r>(
    results: &'r Results,
    kind: &str,
    count: u64,
    working_set: u64,
    placement: &str,
) -> Option<&'r Estimate> {
    let point: [(&str, Level); 4] = [
        (KIND, kind.into()),
        (COUNT, count.into()),
        (WORKING_SET, working_set.into()),
        (PLACEMENT, placement.into()),
    ];
    let estimate = results.at(&point)?.estimate(SWITCH)?;
    estimate.is_sound().then_some(estimate)
}

fn least(results: &Results) -> Option<Finding> {
    let switch = estimated(at(results, PROCESSES, 2, 0, ONE_CORE)?);
    let template = "Going from one process to another on the same core takes at least {switch}, \
                    when neither has memory to come back to.";
    let finding = Finding::new("least", template).with("switch", &switch, Unit::Nanoseconds);
    Some(finding.weighing(0.65))
}

fn cores(results: &Results) -> Option<Finding> {
    let one = at(results, PROCESSES, 2, 0, ONE_CORE)?;
    let two = at(results, PROCESSES, 2, 0, TWO_CORES)?;
    let times = ratio(two, one)?;
    let advice = if !differs_from(&times, 1.0) {
        "where they run makes no difference that shows."
    } else if times.centre > 1.0 {
        "those that only take turns belong on one core."
    } else {
        "they may as well have a core each."
    };
    let template = format!(
        "Handing over to a process that waits on another core takes {{two}}, {{times}} as long as \
         on the same core: {advice}"
    );
    let finding = Finding::new("cores", &template)
        .with("two", &estimated(two), Unit::Nanoseconds)
        .with("times", &times, Unit::Ratio);
    Some(finding.graded(grade(&times, 1.0)).weighing(0.6))
}

fn address_space(results: &Results) -> Option<Finding> {
    let processes = at(results, PROCESSES, 2, 0, ONE_CORE)?;
    let threads = at(results, THREADS, 2, 0, ONE_CORE)?;
    let times = ratio(processes, threads)?;
    let template = "Between threads of one process a switch takes {threads}, between processes \
                    {times} as long, since the address space changes too.";
    let even = "Between threads of one process a switch takes {threads}, between processes {times} \
                as long: the change of address space does not show.";
    let is_slower = differs_from(&times, 1.0) && times.centre > 1.0;
    let finding = Finding::new("address_space", if is_slower { template } else { even })
        .with("threads", &estimated(threads), Unit::Nanoseconds)
        .with("times", &times, Unit::Ratio);
    Some(finding.graded(grade(&times, 1.0)).weighing(0.45))
}

/// The largest ring with the largest working set against the smallest with none.
fn crowd(results: &Results) -> Option<Finding> {
    let count = *levels(results, COUNT).last()?;
    let working_set = *levels(results, WORKING_SET).last()?;
    let crowd = at(results, PROCESSES, count, working_set, ONE_CORE)?;
    let pair = at(results, PROCESSES, 2, 0, ONE_CORE)?;
    let times = ratio(crowd, pair)?;
    let template = "Among {count} processes that read {working_set} each, a switch takes {crowd}, \
                    {times} as long as between two that read nothing: what the others pushed out \
                    of the caches has to be fetched again.";
    let finding = Finding::new("crowd", template)
        .given("count", count as f64, Unit::Count)
        .given("working_set", working_set as f64, Unit::Bytes)
        .with("crowd", &estimated(crowd), Unit::Nanoseconds)
        .with("times", &times, Unit::Ratio);
    let follows = differs_from(&times, 1.0) && times.centre > 1.0 && working_set > 0;
    follows.then(|| finding.weighing(0.5))
}

#[cfg(test)]
mod tests {
    use super::super::{COUNT, KIND, PLACEMENT, SWITCH, Switch, WORKING_SET};
    use crate::made_up::{costs, finding, machine, number, results};
    use instrument::experiment::Experiment;
    use instrument::finding::{Finding, Grade};
    use instrument::point::Point;
    use instrument::results::PointResult;

    fn at(kind: &str, count: u64, working_set: u64, placement: &str, ns: f64) -> PointResult {
        let point = Point::new()
            .with(KIND, kind)
            .with(COUNT, count)
            .with(WORKING_SET, working_set)
            .with(PLACEMENT, placement);
        costs(point, &[(SWITCH, ns)])
    }

    fn rings() -> Vec<PointResult> {
        vec![
            at("processes", 2, 0, "one core", 1500.0),
            at("processes", 32, 65536, "one core", 9000.0),
            at("threads", 2, 0, "one core", 1200.0),
            at("processes", 2, 0, "two cores", 6000.0),
        ]
    }

    fn findings(points: Vec<PointResult>) -> Vec<Finding> {
        let (definition, machine) = (Switch.definition(), machine());
        Switch.findings(&results(&definition, &machine, points))
    }

    #[test]
    fn every_comparison_is_told_with_its_ratio() {
        let findings = findings(rings());
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
        points[0] = {
            let mut lost = at("processes", 2, 0, "one core", 1.0);
            lost.estimates[0].verdict = instrument::results::Verdict::BelowResolution;
            lost
        };
        assert_eq!(findings(points), []);
    }

    #[test]
    fn a_machine_with_one_core_has_findings_without_the_other() {
        let mut points = rings();
        points.pop();
        let findings = findings(points);
        assert_eq!(findings.len(), 3);
        assert!(findings.iter().all(|finding| finding.key != "cores"));
    }

    #[test]
    fn figures_have_a_line_for_each_working_set_with_several_numbers() {
        let (definition, machine) = (Switch.definition(), machine());
        let mut points = rings();
        points.push(at("processes", 8, 0, "one core", 1600.0));
        let figures = Switch.figures(&results(&definition, &machine, points));
        assert_eq!(figures[0].series.len(), 1);
        assert_eq!(figures[0].series[0].label, "processes, 0 B");
        assert_eq!(figures[1].series[0].points.len(), 2);
    }
}
