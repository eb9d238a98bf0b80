//! Finds the doubts that the batches of a point cast on its numbers.

use super::Warning;
use crate::experiment::{Definition, Metric};
use crate::results::Estimate;
use crate::sample::{Batch, Disturbance, Sample};
use crate::statistics::summary::{mean, median};
use crate::statistics::{modes, trend};

/// If preemption takes more than this share of the wall time, it can move a centre by more than its
/// interval in the most precise profile.
const LOST_SHARE: f64 = 0.01;
/// Shorter samples cannot show preemption. The kernel reports user time and system time in whole µs
/// each, so their sum may be off by 2 µs.
const SHORTEST_JUDGED_NS: u64 = 200_000;
/// Above this share, other programs use the machine; below it are the kernel's own threads.
const OTHER_LOAD_SHARE: f64 = 0.10;
/// A larger change of clock frequency shows in every result that is bound by the processor.
const FREQUENCY_CHANGE: f64 = 0.03;
/// A trend is called drift if chance produces it less often than this.
const DRIFT_PROBABILITY: f64 = 0.01;
/// A smaller drift is below the differences that matter in practice.
const DRIFT_CHANGE: f64 = 0.02;
/// Modes closer to each other than this are below the differences that matter in practice.
const MODE_DISTANCE: f64 = 0.05;

/// The warnings that follow from the batches of one point and their estimates.
///
/// In a run with passes, the activity of other programs, preemptions and changes of the clock's
/// speed stand inside the interval and cast no doubt on it.
pub fn judge(definition: &Definition, estimates: &[Estimate], batches: &[Batch]) -> Vec<Warning> {
    let has_passes = batches.iter().any(|batch| batch.pass.is_some());
    let mut warnings = Vec::new();
    if !has_passes {
        warnings.extend(around(batches));
    }
    warnings.extend(not_warm(batches, has_passes));
    for estimate in estimates {
        if let Some(metric) = definition.metric(&estimate.metric) {
            if !has_passes {
                warnings.extend(preempted(metric, batches));
            }
            warnings.extend(drift(metric, estimate));
            warnings.extend(several_modes(metric, estimate));
        }
    }
    warnings
}

/// A burst of another program makes single processes seem cold; the estimate of a run with passes
/// does not rest on them.
fn not_warm(batches: &[Batch], has_passes: bool) -> Option<Warning> {
    let cold = batches.iter().filter(|batch| !batch.warm).count();
    let most = if has_passes { batches.len() / 2 } else { 0 };
    (cold > most).then_some(Warning::NotWarm)
}

/// The warnings about activity on the machine around the batches.
fn around(batches: &[Batch]) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let stolen = stolen_share(batches);
    if stolen > LOST_SHARE {
        warnings.push(Warning::Stolen { share: stolen });
    }
    let others = share(batches, |disturbance| disturbance.others_ns);
    if others > OTHER_LOAD_SHARE {
        warnings.push(Warning::OtherLoad { share: others });
    }
    warnings.extend(frequency_changed(batches));
    warnings
}

fn stolen_share(batches: &[Batch]) -> f64 {
    share(batches, |disturbance| {
        disturbance.stolen_ns.map(u64::cast_signed)
    })
}

/// One disturbance as a share of the wall time, over the batches that recorded it.
fn share(batches: &[Batch], part: impl Fn(&Disturbance) -> Option<i64>) -> f64 {
    let known = batches
        .iter()
        .filter_map(|batch| Some((part(&batch.disturbance)?, batch.wall_ns)));
    let (part_ns, wall_ns) = known.fold((0, 0), |(part_ns, wall_ns), (part, wall)| {
        (part_ns + part, wall_ns + wall)
    });
    part_ns as f64 / wall_ns.max(1) as f64
}

/// The time without a processor as a share of the typical sample's wall time. It is computed like
/// the centre, as the mean over processes of each process's median, so that one long preemption
/// does not count if the median sample missed it. Stolen time is subtracted because it has its own
/// warning.
fn preempted(metric: &Metric, batches: &[Batch]) -> Option<Warning> {
    if metric.is_shared {
        return None;
    }
    let lost_by_process: Vec<f64> = batches
        .iter()
        .filter_map(|batch| {
            let samples = batch.samples.iter();
            let of_metric = samples.filter(|sample| sample.metric == metric.name);
            median(&of_metric.filter_map(lost_share).collect::<Vec<_>>())
        })
        .collect();
    let share = mean(&lost_by_process)? - stolen_share(batches);
    (share > LOST_SHARE).then(|| Warning::Preempted {
        metric: metric.name.clone(),
        share,
    })
}

/// The share of a sample's wall time in which its process was runnable but had no processor. `None`
/// if it ever blocked voluntarily, or if the sample is too short.
fn lost_share(sample: &Sample) -> Option<f64> {
    let wall_ns = sample.reading.wall_ns()?;
    let cpu_ns = sample.usage.user_ns + sample.usage.system_ns;
    let is_told = sample.usage.voluntary_switches == 0 && wall_ns >= SHORTEST_JUDGED_NS;
    is_told.then(|| (wall_ns as f64 - cpu_ns as f64) / wall_ns as f64)
}

fn frequency_changed(batches: &[Batch]) -> Option<Warning> {
    let seen = batches
        .iter()
        .filter_map(|batch| batch.disturbance.frequency_hz)
        .flat_map(|(before, after)| [before, after]);
    let (lowest_hz, highest_hz) = seen.fold((f64::INFINITY, 0.0), |(lowest, highest), hz| {
        (f64::min(lowest, hz), f64::max(highest, hz))
    });
    (highest_hz > lowest_hz * (1.0 + FREQUENCY_CHANGE)).then_some(Warning::FrequencyChanged {
        lowest_hz,
        highest_hz,
    })
}

fn drift(metric: &Metric, estimate: &Estimate) -> Option<Warning> {
    let trend = trend::mann_kendall(&estimate.by_process)?;
    let times: Vec<f64> = (0..estimate.by_process.len())
        .map(|index| index as f64)
        .collect();
    let slope = trend::theil_sen_slope(&times, &estimate.by_process)?;
    let change = slope * (times.len() - 1) as f64 / estimate.centre;
    // The passes of a run show a drift in the width of the interval.
    let covered = match estimate.passes {
        Some(_) => 2.0 * estimate.relative_half_width()?,
        None => DRIFT_CHANGE,
    };
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

/// The centres of two halves of the processes, if the interval of a run with passes leaves out one
/// of them: its centre then lies within one half and looks well known.
fn uncovered_halves(estimate: &Estimate) -> Option<[f64; 2]> {
    let interval = estimate.interval.filter(|_| estimate.passes.is_some())?;
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

    fn quiet() -> Vec<Batch> {
        [100.0, 100.2, 99.9, 100.1, 100.0, 99.8].map(batch).to_vec()
    }

    #[test]
    fn quiet_batches_raise_no_warning() {
        assert_eq!(labels(&quiet()), Vec::<&str>::new());
    }

    #[test]
    fn in_a_run_with_passes_only_doubts_beyond_the_interval_are_told() {
        let disturbance = Disturbance {
            stolen_ns: Some(5_000_000),
            others_ns: Some(9_000_000),
            frequency_hz: Some((1e9, 2e9)),
        };
        let in_passes = |mut batches: Vec<Batch>| {
            for (pass, batch) in batches.iter_mut().enumerate() {
                batch.pass = Some(pass as u32);
                batch.disturbance = disturbance;
                batch.warm = pass > 0;
            }
            batches
        };
        assert_eq!(labels(&in_passes(quiet())), Vec::<&str>::new());
        let mut cold = in_passes(quiet());
        for batch in &mut cold {
            batch.warm = false;
        }
        assert_eq!(labels(&cold), ["not warm"]);
    }

    #[test]
    fn each_disturbance_has_its_name() {
        let disturbed = |change: &dyn Fn(&mut Batch)| {
            let mut batches = quiet();
            batches.iter_mut().for_each(change);
            labels(&batches)
        };
        let disturbance = Disturbance {
            stolen_ns: Some(500_000),
            ..Disturbance::default()
        };
        assert_eq!(
            disturbed(&|batch| batch.disturbance = disturbance),
            ["stolen time"]
        );
        let disturbance = Disturbance {
            others_ns: Some(5_000_000),
            ..Disturbance::default()
        };
        assert_eq!(
            disturbed(&|batch| batch.disturbance = disturbance),
            ["other load"]
        );
        let frequency_hz = Some((2.0e9, 3.0e9));
        let disturbance = Disturbance {
            frequency_hz,
            ..Disturbance::default()
        };
        assert_eq!(
            disturbed(&|batch| batch.disturbance = disturbance),
            ["clock speed"]
        );
        assert_eq!(disturbed(&|batch| batch.warm = false), ["not warm"]);
        let preempt = |batch: &mut Batch| batch.samples[0].usage.user_ns -= 2_000_000;
        assert_eq!(disturbed(&preempt), ["preempted"]);
    }

    #[test]
    fn time_counts_as_lost_only_where_nothing_was_waited_for() {
        let labels_after = |change: &dyn Fn(&mut Sample)| {
            let mut batches = quiet();
            for batch in &mut batches {
                batch.samples[0].usage.user_ns /= 2;
                change(&mut batch.samples[0]);
            }
            labels(&batches)
        };
        assert_eq!(labels_after(&|_| ()), ["preempted"]);
        let nothing = Vec::<&str>::new();
        let waited = |sample: &mut Sample| sample.usage.voluntary_switches = 1;
        assert_eq!(labels_after(&waited), nothing);
        let counted = |sample: &mut Sample| sample.reading = Reading::Value(1.0);
        assert_eq!(labels_after(&counted), nothing);
    }

    #[test]
    fn a_partner_on_the_same_processor_does_not_disturb() {
        let mut definition = definition();
        definition.metrics[0].is_shared = true;
        let mut batches = quiet();
        for batch in &mut batches {
            batch.samples[0].usage.user_ns /= 2;
        }
        let estimates = Estimate::all(&definition, &batches);
        assert_eq!(judge(&definition, &estimates, &batches), []);
    }

    #[test]
    fn an_absence_that_no_median_saw_moved_no_number() {
        let mut batches = quiet();
        for batch in &mut batches {
            batch.samples = vec![batch.samples[0].clone(); 3];
            batch.samples[1].usage.user_ns /= 2;
        }
        assert_eq!(labels(&batches), Vec::<&str>::new());
    }

    #[test]
    fn what_the_hypervisor_took_is_not_told_twice() {
        let mut batches = quiet();
        for batch in &mut batches {
            batch.samples[0].usage.user_ns -= 5_000_000;
            batch.disturbance.stolen_ns = Some(batch.wall_ns / 20);
        }
        assert_eq!(labels(&batches), ["stolen time"]);
    }

    #[test]
    fn a_disturbance_counts_over_the_batches_that_know_it() {
        let mut batches = quiet();
        for batch in &mut batches[..2] {
            batch.disturbance.others_ns = Some(batch.wall_ns.cast_signed() / 5);
        }
        assert_eq!(labels(&batches), ["other load"]);
    }

    #[test]
    fn ticks_that_count_to_either_side_cancel() {
        let mut batches = quiet();
        for (index, batch) in batches.iter_mut().enumerate() {
            let tick_ns = if index % 2 == 0 {
                10_000_000
            } else {
                -10_000_000
            };
            batch.disturbance.others_ns = Some(tick_ns);
        }
        assert_eq!(labels(&batches), Vec::<&str>::new());
    }

    #[test]
    fn a_steady_rise_is_drift() {
        let rising: Vec<Batch> = (0..12).map(|step| batch(100.0 + f64::from(step))).collect();
        assert!(labels(&rising).contains(&"drift"));
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
        let batches: Vec<Batch> = (0..20)
            .map(|index| batch(two(index) + f64::from(index % 5) * 0.1))
            .collect();
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
            let in_passes = |index: u32| Batch {
                pass: Some(index / 2),
                ..batch(cost(index))
            };
            let batches: Vec<Batch> = (0..10).map(in_passes).collect();
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
        let batches: Vec<Batch> = (0..12)
            .map(|step| {
                let mut batch = batch(1.0);
                batch.samples[0].reading = Reading::Value(f64::from(step) - 5.5);
                batch
            })
            .collect();
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
