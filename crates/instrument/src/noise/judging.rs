//! Finds the doubts that the batches of a point cast on its numbers.

use super::Warning;
use crate::experiment::{Definition, Metric};
use crate::results::Estimate;
use crate::sample::Batch;
use crate::statistics::{modes, trend};

/// A trend is called drift if chance produces it less often than this.
const DRIFT_PROBABILITY: f64 = 0.01;
/// A smaller drift is below the differences that matter in practice.
const DRIFT_CHANGE: f64 = 0.02;
/// Modes closer to each other than this are below the differences that matter in practice.
const MODE_DISTANCE: f64 = 0.05;

/// The warnings that follow from the batches of one point and their estimates. The activity of other
/// programs, preemptions and changes of the clock's speed are inside the interval and no warning: what
/// they were during the whole run is on the record.
pub fn judge(definition: &Definition, estimates: &[Estimate], batches: &[Batch]) -> Vec<Warning> {
    let mut warnings: Vec<Warning> = not_warm(batches).into_iter().collect();
    for estimate in estimates {
        if let Some(metric) = definition.metric(&estimate.metric) {
            warnings.extend(drift(metric, estimate));
            warnings.extend(several_modes(metric, estimate));
        }
    }
    warnings
}

/// A burst of another program makes single processes seem cold, and the estimate does not rest on them.
fn not_warm(batches: &[Batch]) -> Option<Warning> {
    let cold = batches.iter().filter(|batch| !batch.warm).count();
    (2 * cold > batches.len()).then_some(Warning::NotWarm)
}

fn drift(metric: &Metric, estimate: &Estimate) -> Option<Warning> {
    let trend = trend::mann_kendall(&estimate.by_process)?;
    let times: Vec<f64> = (0..estimate.by_process.len())
        .map(|index| index as f64)
        .collect();
    let slope = trend::theil_sen_slope(&times, &estimate.by_process)?;
    let change = slope * (times.len() - 1) as f64 / estimate.centre;
    // The passes of a run show a drift in the width of the interval.
    let covered = 2.0 * estimate.relative_half_width()?;
    let is_large = change.is_finite() && change.abs() > covered.max(DRIFT_CHANGE);
    (trend.p_value < DRIFT_PROBABILITY && is_large).then(|| Warning::Drift {
        metric: metric.name.clone(),
        change,
    })
}

fn several_modes(metric: &Metric, estimate: &Estimate) -> Option<Warning> {
    let modes = modes::several(&estimate.by_process);
    let centres: Vec<f64> = match modes {
        Some(modes) => modes.iter().map(|mode| mode.centre).collect(),
        None => uncovered_halves(estimate)?.to_vec(),
    };
    let distance = centres.last()? - centres.first()?;
    (distance.is_finite() && distance > MODE_DISTANCE * estimate.centre.abs()).then(|| {
        Warning::SeveralModes {
            metric: metric.name.clone(),
            centres,
        }
    })
}

/// The centres of two halves of the processes, if the interval leaves out one of them: its centre then
/// lies within one half and looks well known.
fn uncovered_halves(estimate: &Estimate) -> Option<[f64; 2]> {
    let interval = estimate.interval?;
    let centres = modes::halves(&estimate.by_process)?;
    let is_left_out = |centre: &f64| !interval.contains(*centre);
    centres.iter().any(is_left_out).then_some(centres)
}

#[cfg(test)]
mod tests {
    use super::judge;
    use crate::experiment::{Better, Definition, Metric};
    use crate::noise::Warning;
    use crate::quantity::Unit;
    use crate::results::Estimate;
    use crate::sample::{Batch, Disturbance, Reading, Sample};
    use platform::usage::Usage;

    fn definition() -> Definition {
        Definition {
            id: "mock.one".into(),
            metrics: vec![Metric::from(&Metric::time("cost", "cost"))],
            ..Definition::default()
        }
    }

    fn batch(cost_ns: f64) -> Batch {
        let reading = Reading::Once {
            work: 1.0,
            wall_ns: (cost_ns * 1e6) as u64,
            reference_ns: None,
            around: None,
        };
        let sample = Sample {
            usage: Usage {
                user_ns: (cost_ns * 1e6) as u64,
                ..Usage::default()
            },
            ..Sample::new("cost", reading)
        };
        Batch {
            samples: vec![sample],
            warm: true,
            wall_ns: 10_000_000,
            ..Batch::default()
        }
    }

    fn labels(batches: &[Batch]) -> Vec<&'static str> {
        let definition = definition();
        let estimates = Estimate::all(&definition, batches);
        judge(&definition, &estimates, batches)
            .iter()
            .map(Warning::label)
            .collect()
    }

    /// One batch in each pass.
    fn in_passes(costs_ns: impl IntoIterator<Item = f64>) -> Vec<Batch> {
        let batches = costs_ns.into_iter().zip(0..);
        batches
            .map(|(cost_ns, pass)| Batch {
                pass: Some(pass),
                ..batch(cost_ns)
            })
            .collect()
    }

    fn quiet() -> Vec<Batch> {
        in_passes([100.0, 100.2, 99.9, 100.1, 100.0, 99.8])
    }

    #[test]
    fn quiet_batches_raise_no_warning() {
        assert_eq!(labels(&quiet()), Vec::<&str>::new());
    }

    #[test]
    fn only_doubts_beyond_the_interval_are_warnings() {
        let mut batches = quiet();
        for batch in &mut batches {
            batch.disturbance = Disturbance {
                stolen_ns: Some(5_000_000),
                others_ns: Some(9_000_000),
                frequency_hz: Some((1e9, 2e9)),
            };
            batch.samples[0].usage.user_ns /= 2;
        }
        assert_eq!(labels(&batches), Vec::<&str>::new());
    }

    #[test]
    fn a_point_is_not_warm_if_more_than_half_of_its_processes_were_not() {
        let with_cold = |count: usize| {
            let mut batches = quiet();
            batches[..count].iter_mut().for_each(|it| it.warm = false);
            labels(&batches)
        };
        assert_eq!(with_cold(3), Vec::<&str>::new());
        assert_eq!(with_cold(4), ["not warm"]);
    }

    #[test]
    fn a_steady_rise_is_drift() {
        let rising = (0..20).map(|step| 100.0 + f64::from(step));
        assert!(labels(&in_passes(rising)).contains(&"drift"));
    }

    #[test]
    fn two_speeds_are_two_modes() {
        let two = |index: u32| {
            if index.is_multiple_of(2) {
                100.0
            } else {
                150.0
            }
        };
        let costs = (0..20).map(|index| two(index) + f64::from(index % 5) * 0.1);
        let batches = in_passes(costs);
        assert!(
            labels(&batches).contains(&"several modes"),
            "{:?}",
            labels(&batches)
        );
    }

    /// The centre lies within the lower half: without the warning it would look well known.
    #[test]
    fn halves_that_the_interval_leaves_out_are_two_modes() {
        let halves = |distance: f64| {
            let cost = |index: u32| {
                let slower = index % 2 == 1;
                100.0 + f64::from(index) * 0.5 + if slower { distance } else { 0.0 }
            };
            let two_in_each = |index: u32| Batch {
                pass: Some(index / 2),
                ..batch(cost(index))
            };
            let batches: Vec<Batch> = (0..10).map(two_in_each).collect();
            let estimates = Estimate::all(&definition(), &batches);
            assert!(estimates[0].is_within(0.05), "{estimates:?}");
            labels(&batches)
        };
        assert_eq!(halves(10.0), ["several modes"]);
        assert_eq!(halves(1.0), Vec::<&str>::new());
    }

    #[test]
    fn values_about_zero_give_no_warning_that_is_no_number() {
        let definition = Definition {
            metrics: vec![Metric::new("cost", "cost", Unit::Count, Better::Neither)],
            ..definition()
        };
        let mut batches = in_passes([1.0; 12]);
        for (batch, step) in batches.iter_mut().zip(0..) {
            batch.samples[0].reading = Reading::Value(f64::from(step) - 5.5);
        }
        let estimates = Estimate::all(&definition, &batches);
        for warning in judge(&definition, &estimates, &batches) {
            let text = serde_json::to_string(&warning).expect("plain data");
            assert!(!text.contains("null"), "{text}");
        }
    }

    #[test]
    fn a_warning_touches_its_own_metric_or_all() {
        let drift = Warning::Drift {
            metric: "read".into(),
            change: 0.1,
        };
        assert!(drift.touches("read") && !drift.touches("write"));
        assert!(Warning::NotWarm.touches("write"));
    }
}
