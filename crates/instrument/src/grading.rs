//! Findings with grades that passes and warnings support.
//!
//! A finding is a function of the estimates, so each pass is asked what it says by itself: the
//! findings are made again from the values of this pass alone. In the same way, moving the values
//! that a warning touches shows which findings rest on them.

use crate::advice::{Advice, Rule};
use crate::claim::Evidence;
use crate::estimate::Estimate;
use crate::experiment::Experiment;
use crate::finding::{DOUBTS_OF_CONDITIONS, Finding, Grade, Trust, doubt_of};
use crate::noise::Warning;
use crate::results::{PointResult, Results};
use crate::statistics::Interval;
use std::collections::BTreeSet;

/// Relative size of the smallest move of a doubted value: far below any threshold, far above
/// rounding.
const SMALL: f64 = 1e-6;

/// The findings of `experiment` in these results, the most important first. In a run with passes
/// each has its [`Trust`] and the grade that follows; of printed values the grade rests on the
/// values alone.
pub fn findings(experiment: &dyn Experiment, results: &Results<'_>) -> Vec<Finding> {
    let mut findings = experiment.findings(results);
    let passes = passes(results);
    if !passes.is_empty() {
        let passes: Vec<Replay> = passes
            .into_iter()
            .map(|pass| Replay::of_pass(experiment, results, &findings, pass))
            .collect();
        let doubts = doubts(experiment, results);
        for finding in &mut findings {
            let trust = trust(finding, &passes, &doubts);
            finding.grade = trust.grade(finding.grade);
            finding.trust = Some(trust);
        }
    }
    findings.sort_by(Finding::by_importance);
    findings
}

/// The advice of `rule`, if the intervals of the whole run give it and most of its passes, each taken alone,
/// give it too.
pub fn advice(rule: &Rule, results: &[Results<'_>]) -> Option<Advice> {
    let is_read =
        |results: &&Results<'_>| rule.basis.experiments().contains(&&*results.definition.id);
    let read = results.iter().filter(is_read);
    let advice = rule.basis.follows_from(&Evidence::new(results))?;
    let passes: BTreeSet<u32> = read.clone().flat_map(passes).collect();
    let agrees = |change: &dyn Fn(&Estimate) -> Estimate| {
        let again = read.clone();
        let again = again.map(|results| results.with_estimates(|_, estimate| change(estimate)));
        let again = rule
            .basis
            .follows_from(&Evidence::new(&again.collect::<Vec<_>>()));
        again.is_some_and(|again| advice.agrees_with(&again))
    };
    let holds = |pass: &&u32| {
        let exact = |estimate: &Estimate| estimate.exactly(of_pass(estimate, **pass));
        agrees(&exact) || agrees(&|estimate| with_errors(estimate, **pass))
    };
    let trust = Trust {
        held: passes.iter().filter(holds).count(),
        of: passes.len(),
        doubts: Vec::new(),
    };
    (trust.grade(advice.because.grade) != Grade::Undecided).then_some(advice)
}

fn trust(finding: &Finding, passes: &[Replay], doubts: &[Doubt]) -> Trust {
    let counted = passes
        .iter()
        .filter(|pass| pass.measured.contains(&finding.key));
    let held = counted.clone().filter(|pass| pass.holds(finding));
    let touching = doubts.iter().filter(|doubt| doubt.touches(finding));
    Trust {
        held: held.count(),
        of: counted.count(),
        doubts: touching.map(|doubt| doubt.label.into()).collect(),
    }
}

/// The passes in which any usable estimate was measured.
fn passes(results: &Results<'_>) -> BTreeSet<u32> {
    let sound = estimates(results).filter(|(_, estimate)| estimate.is_sound());
    sound
        .flat_map(|(_, estimate)| estimate.pass_of.iter().copied())
        .collect()
}

fn estimates<'r>(
    results: &'r Results<'_>,
) -> impl Iterator<Item = (&'r PointResult, &'r Estimate)> {
    let points = results.points.iter();
    points.flat_map(|point| {
        point
            .estimates
            .iter()
            .map(move |estimate| (point, estimate))
    })
}

/// The value in one pass. An estimate that was not measured in it keeps its value.
fn of_pass(estimate: &Estimate, pass: u32) -> f64 {
    match estimate.of_pass(pass) {
        Some(value) if estimate.is_sound() => value,
        _ => estimate.centre,
    }
}

/// The estimate with its value in one pass, and its error in the whole run.
fn with_errors(estimate: &Estimate, pass: u32) -> Estimate {
    estimate.times(positive(of_pass(estimate, pass) / estimate.centre))
}

/// The findings of an experiment in the values of one pass.
struct Replay {
    /// As if they had no error.
    exact: Vec<Finding>,
    /// With the errors of the whole run, which a sentence about two equal values needs; empty if
    /// no finding needs them.
    with_errors: Vec<Finding>,
    /// Keys of the findings that rest on values of this pass.
    measured: BTreeSet<String>,
}

impl Replay {
    fn of_pass(
        experiment: &dyn Experiment,
        results: &Results<'_>,
        findings: &[Finding],
        pass: u32,
    ) -> Self {
        let exact =
            |_: &PointResult, estimate: &Estimate| estimate.exactly(of_pass(estimate, pass));
        let with_errors = |_: &PointResult, estimate: &Estimate| with_errors(estimate, pass);
        let exact = experiment.findings(&results.with_estimates(exact));
        let all_hold = findings.iter().all(|finding| is_said(finding, &exact));
        Self {
            exact,
            with_errors: if all_hold {
                Vec::new()
            } else {
                experiment.findings(&results.with_estimates(with_errors))
            },
            measured: measured(experiment, results, findings, pass),
        }
    }

    fn holds(&self, finding: &Finding) -> bool {
        is_said(finding, &self.exact) || is_said(finding, &self.with_errors)
    }
}

/// Keys of the findings that rest on values of this pass: their numbers move if these values do. A
/// finding without estimated numbers does not show it; it counts where at least half of the estimates
/// were measured.
fn measured(
    experiment: &dyn Experiment,
    results: &Results<'_>,
    findings: &[Finding],
    pass: u32,
) -> BTreeSet<String> {
    let is_of_pass = |estimate: &Estimate| estimate.is_sound() && estimate.pass_of.contains(&pass);
    let sound = estimates(results).filter(|(_, estimate)| estimate.is_sound());
    let of_pass = estimates(results).filter(|(_, estimate)| is_of_pass(estimate));
    let (sound, of_pass) = (sound.count(), of_pass.count());
    let still = results.with_estimates(|_, estimate| estimate.exactly(estimate.centre));
    let mut index = 0;
    let moved = results.with_estimates(|_, estimate| {
        index += usize::from(is_of_pass(estimate));
        let factor = if is_of_pass(estimate) {
            small_move(index)
        } else {
            1.0
        };
        estimate.exactly(estimate.centre * factor)
    });
    let (still, moved) = (experiment.findings(&still), experiment.findings(&moved));
    let rests = |finding: &&Finding| match (again(finding, &still), again(finding, &moved)) {
        (Some(still), Some(moved)) if finding.has_estimates() => still.differs_from(moved),
        _ => 2 * of_pass >= sound,
    };
    let keys = findings.iter().filter(rests);
    keys.map(|finding| finding.key.clone()).collect()
}

/// A factor close to 1, another for each index: else the ratio of two values would stay.
fn small_move(index: usize) -> f64 {
    1.0 + SMALL * index as f64
}

/// The same finding among those from other values.
fn again<'f>(finding: &Finding, findings: &'f [Finding]) -> Option<&'f Finding> {
    findings.iter().find(|again| again.key == finding.key)
}

/// True if the same sentence is among the findings from other values.
fn is_said(finding: &Finding, findings: &[Finding]) -> bool {
    again(finding, findings).is_some_and(|again| finding.agrees_with(again))
}

/// A factor that keeps intervals in order.
fn positive(factor: f64) -> f64 {
    if factor > 0.0 && factor.is_finite() {
        factor
    } else {
        1.0
    }
}

/// A doubt about some values, and the findings where these are moved.
struct Doubt {
    label: &'static str,
    /// By a little.
    moved: Vec<Finding>,
    /// To either end of their intervals.
    at_ends: [Vec<Finding>; 2],
}

/// One for each kind of warning that touches a usable estimate, and for conditions that leave a doubt.
fn doubts(experiment: &dyn Experiment, results: &Results<'_>) -> Vec<Doubt> {
    let points = results.points.iter();
    let warnings = points.flat_map(|point| &point.warnings);
    // The width is in the interval that the sentence shows.
    let warnings = warnings.filter(|it| !matches!(it, Warning::TargetMissed { .. }));
    let labels: BTreeSet<&str> = warnings.map(Warning::label).collect();
    let of_warnings = labels.into_iter().filter_map(|label| {
        Doubt::of(experiment, results, label, &|point, estimate| {
            let mut warnings = point.warnings.iter();
            warnings.any(|it| it.label() == label && it.touches(&estimate.metric))
        })
    });
    let of_conditions = DOUBTS_OF_CONDITIONS.into_iter().filter_map(|label| {
        Doubt::of(experiment, results, label, &|_, estimate| {
            doubt_of(estimate) == Some(label)
        })
    });
    of_warnings.chain(of_conditions).collect()
}

impl Doubt {
    /// `None` if it touches no usable estimate.
    fn of(
        experiment: &dyn Experiment,
        results: &Results<'_>,
        label: &'static str,
        doubted: &dyn Fn(&PointResult, &Estimate) -> bool,
    ) -> Option<Self> {
        let is_touched = |point: &PointResult, estimate: &Estimate| {
            estimate.is_sound() && doubted(point, estimate)
        };
        if !estimates(results).any(|(point, estimate)| is_touched(point, estimate)) {
            return None;
        }
        let replay = |factor: &dyn Fn(usize, &Estimate) -> f64| {
            let mut touched = 0;
            let results = results.with_estimates(|point, estimate| {
                let factor = if is_touched(point, estimate) {
                    touched += 1;
                    factor(touched, estimate)
                } else {
                    1.0
                };
                estimate.times(factor)
            });
            experiment.findings(&results)
        };
        let end = |end: fn(Interval) -> f64| {
            replay(&move |_, estimate| {
                let ratio = |interval| positive(end(interval) / estimate.centre);
                estimate.interval.map_or(1.0, ratio)
            })
        };
        Some(Self {
            label,
            moved: replay(&|index, _| small_move(index)),
            at_ends: [end(|interval| interval.low), end(|interval| interval.high)],
        })
    }

    /// True if the finding rests on a value that the doubt touches.
    fn touches(&self, finding: &Finding) -> bool {
        let again = again(finding, &self.moved);
        again.is_none_or(|again| finding.differs_from(again))
            || !self.at_ends.iter().all(|end| is_said(finding, end))
    }
}
