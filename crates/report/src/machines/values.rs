//! The values of a run by which machines of one kind are compared: those of its first screen that the processor, the
//! hypervisor and the system decide.

use super::{ReferenceMachine, Value, shipped};
use crate::first_screen::first_screen;
use crate::glance::found;
use crate::reproduce::{fits, inverse};
use crate::surroundings::MOST_DISTURBED;
use crate::{Analysis, show};
use instrument::experiment::Better;
use instrument::noise::Warning;
use instrument::quantity::Unit;
use instrument::results::{Estimate, PointResult};

/// A value of a run by which it is compared.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Compared {
    pub value: Value,
    /// The subject of a sentence on it: `a system call`.
    pub what: String,
    pub better: Better,
    /// True if something may have moved it by more than its interval allows.
    pub is_disturbed: bool,
}

/// The values of `analysis` by which machines are compared: of rungs, and of curves at some sizes.
pub(super) fn compared(analysis: &Analysis<'_>) -> Vec<Compared> {
    let screen = first_screen();
    let rungs = screen.rungs.iter().filter_map(|named| {
        let (query, what) = (&named.query, named.what.clone()?);
        let found = found(named, analysis)?;
        one(analysis, &query.experiment, what, found, query.inverse_of)
    });
    let curves = [&screen.latency, &screen.bandwidth].into_iter();
    let sizes = curves.flat_map(|wanted| {
        let measured = analysis.experiment(&wanted.experiment);
        let points = measured.into_iter().flat_map(|it| &it.points);
        let points = points.filter(|it| fits(&wanted.experiment, &it.point, &wanted.at));
        points.filter_map(move |result| {
            let bytes = result.point.get(&wanted.size)?.number()?;
            let bytes = wanted.compared.contains(&bytes).then_some(bytes)?;
            let size = show::round(Unit::Bytes, bytes as f64);
            let what = wanted.what.as_ref()?.replace("{size}", &size);
            let found = (result, result.sound(&wanted.metric)?);
            one(analysis, &wanted.experiment, what, found, None)
        })
    });
    rungs.chain(sizes).collect()
}

/// The references of other machines: those that are part of the program, and those that were added.
pub(super) fn others<'a>(analysis: &'a Analysis<'_>) -> impl Iterator<Item = &'a ReferenceMachine> {
    let header = &analysis.run.header;
    let mark = record::machine_mark(&header.machine_fingerprint);
    let all = shipped().iter().chain(&analysis.machines);
    all.filter(move |it| it.mark != mark && it.run != header.id)
}

/// A value that is known well enough to be compared: an estimate, or the time of `work` at the rate of it.
fn one(
    analysis: &Analysis<'_>,
    experiment: &str,
    what: String,
    (result, estimate): (&PointResult, &Estimate),
    work: Option<f64>,
) -> Option<Compared> {
    let definition = analysis.experiment(experiment)?.definition;
    let metric = definition.metric(&estimate.metric)?;
    let (quantity, better) = match work {
        Some(work) => (inverse(estimate.quantity(), work), Better::Lower),
        None => (estimate.quantity(), metric.better),
    };
    let is_comparable = quantity.value > 0.0 && !quantity.is_vague();
    Some(Compared {
        value: Value {
            experiment: experiment.to_owned(),
            metric: metric.name.clone(),
            version: metric.version,
            point: result.point.clone(),
            unit: quantity.unit,
            value: quantity.value,
            interval: quantity.interval.filter(|_| is_comparable)?,
        },
        what,
        better,
        is_disturbed: is_disturbed(result, estimate),
    })
}

/// True if too many timings behind the value were disturbed, or if a warning doubts it. A wide interval is no such
/// warning.
fn is_disturbed(result: &PointResult, estimate: &Estimate) -> bool {
    let is_doubt = |warning: &Warning| {
        !matches!(warning, Warning::TargetMissed { .. }) && warning.touches(&estimate.metric)
    };
    let share = estimate.disturbed.unwrap_or(0.0);
    share > MOST_DISTURBED || result.warnings.iter().any(is_doubt)
}

#[cfg(test)]
mod tests {
    use super::is_disturbed;
    use crate::made_up::{estimate, result};
    use instrument::noise::Warning;
    use instrument::point::Point;
    use instrument::results::{Estimate, PointResult};

    #[test]
    fn a_fifth_of_disturbed_timings_or_a_doubt_disturbs_a_value() {
        let with = |disturbed, warnings: &[Warning]| {
            let estimate = Estimate {
                disturbed,
                ..estimate(150.0)
            };
            let result = PointResult {
                warnings: warnings.to_vec(),
                ..result(Point::new(), vec![estimate.clone()])
            };
            is_disturbed(&result, &estimate)
        };
        let wide = Warning::TargetMissed {
            metric: "time".into(),
            reached: Some(0.1),
            target: 0.05,
        };
        let drift = |metric: &str| Warning::Drift {
            metric: metric.into(),
            change: 0.2,
        };
        assert!(!with(Some(0.2), &[wide, drift("other")]));
        assert!(!with(None, &[]));
        assert!(with(Some(0.21), &[]));
        assert!(with(Some(0.0), &[drift("time")]));
        assert!(with(None, &[Warning::NotWarm]));
    }
}
