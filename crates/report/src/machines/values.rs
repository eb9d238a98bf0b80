//! The values of a run by which machines of one kind are compared: those of its first screen that the processor, the
//! hypervisor and the system decide.

use super::Value;
use crate::first_screen::{NamedQuery, SizeCurve, first_screen};
use crate::glance::{ends, found};
use crate::reproduce::inverse;
use crate::surroundings::MOST_DISTURBED;
use crate::{Analysis, show};
use instrument::experiment::{Better, Metric};
use instrument::noise::Warning;
use instrument::quantity::{Quantity, Unit};
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

/// The values of `analysis` by which machines are compared.
pub(super) fn compared(analysis: &Analysis<'_>) -> Vec<Compared> {
    let screen = first_screen();
    let rungs = screen
        .rungs
        .iter()
        .filter_map(|named| of_rung(analysis, named));
    let curves = [&screen.latency, &screen.bandwidth].into_iter();
    let of_curves = curves.flat_map(|wanted| of_curve(analysis, wanted));
    rungs.chain(of_curves).collect()
}

fn of_rung(analysis: &Analysis<'_>, named: &NamedQuery) -> Option<Compared> {
    let what = named.what.clone()?;
    let query = &named.query;
    let metric = metric(analysis, &query.experiment, &query.metric)?;
    let (result, estimate) = found(named, analysis)?;
    let (quantity, better) = match query.inverse_of {
        Some(work) => (inverse(estimate.quantity(), work), Better::Lower),
        None => (estimate.quantity(), metric.better),
    };
    let value = value(&query.experiment, metric, result, quantity)?;
    Some(Compared {
        value,
        what,
        better,
        is_disturbed: is_disturbed(result, estimate),
    })
}

/// The values at both ends of the curve.
fn of_curve(analysis: &Analysis<'_>, wanted: &SizeCurve) -> Vec<Compared> {
    let one = |result: &PointResult| {
        let metric = metric(analysis, &wanted.experiment, &wanted.metric)?;
        let estimate = result.sound(&wanted.metric)?;
        let bytes = result.point.get(&wanted.size)?.number()?;
        let size = show::round(Unit::Bytes, bytes as f64);
        Some(Compared {
            value: value(&wanted.experiment, metric, result, estimate.quantity())?,
            what: wanted.what.as_ref()?.replace("{size}", &size),
            better: metric.better,
            is_disturbed: is_disturbed(result, estimate),
        })
    };
    let ends = ends(analysis, wanted).into_iter().flatten();
    ends.filter_map(one).collect()
}

fn metric<'a>(analysis: &Analysis<'a>, experiment: &str, metric: &str) -> Option<&'a Metric> {
    let experiment = analysis.experiment(experiment)?;
    experiment.definition.metric(metric)
}

/// `None` for a quantity that is known too little to be compared.
fn value(
    experiment: &str,
    metric: &Metric,
    result: &PointResult,
    quantity: Quantity,
) -> Option<Value> {
    let is_comparable = quantity.value > 0.0 && !quantity.is_vague();
    let interval = quantity.interval.filter(|_| is_comparable)?;
    Some(Value {
        experiment: experiment.to_owned(),
        metric: metric.name.clone(),
        version: metric.version,
        point: result.point.clone(),
        unit: quantity.unit,
        value: quantity.value,
        interval,
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
    use crate::made_up::estimate;
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
                point: Point::new(),
                estimates: vec![estimate.clone()],
                warnings: warnings.to_vec(),
                remarks: Vec::new(),
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
