//! The interval that promises the next run: where the same command, run again within the hour on
//! the same machine, puts the value in 95 of 100 cases.
//!
//! The data are legs in processes in passes. Passes stand over the whole time of a run, so that
//! drift and neighbours differ between them; a reference beside each leg tells how much slower than
//! at full speed the processor ran then.

use std::collections::BTreeSet;

use super::bootstrap::quantile_error;
use super::correction::{Correction, Process, correction};
use super::interval::{Confidence, Estimated, Interval, Scale};
use super::next_run::half_width;
use super::student::logarithms;
use super::summary::{finite, median, quantile};
pub use super::visit::{Centre, Core, Leg, Visit};

/// As many processes beside which nothing else used the processor make an estimate without the others.
/// Five would be fewer than a busy host allows: of five whole runs of which one met other work beside
/// 55 of 100 legs, 95.5 in place of 94.9 of 100 intervals held the value of another run, intervals were
/// narrower, and values of two runs differed by 2.75 in place of 2.97 %.
const ENOUGH_PROCESSES: usize = 3;
/// In as many passes.
const ENOUGH_PASSES: usize = 3;

/// A value with the interval in which the next run will find it.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// The centre of the processes' corrected values, with its prediction interval; `n` counts the
    /// processes. No interval for fewer than two passes.
    pub estimated: Estimated,
    /// The corrected value of each process, in the order of the visits that have legs.
    pub by_process: Vec<f64>,
    /// The median of processes of the mean of their legs as they were met, not corrected.
    pub as_met: f64,
    /// The cost of the processor's usual slowdown, in logarithms; `None` if no leg
    /// was corrected.
    pub added: Option<f64>,
    /// Passes with at least one visit.
    pub passes: usize,
}

/// The value that these visits predict, with its prediction interval.
///
/// 1. A process rests on the legs beside which the processor ran at full speed, if they are enough.
/// 2. If all costs are positive, each is divided by the slowdown beside it to the power of a slope,
///    which a robust line through the processes of this run gives, drawn towards a usual value: one
///    slope for a lower clock, one for shared work. The slowdown is the median of the visit's, unless
///    the leg's own lies far from it.
/// 3. A process's value is the `centre` of its legs, and the estimate that of processes. Those beside
///    shared work are left out if enough others remain.
/// 4. The standard error of that estimate comes from resampling whole passes. To it comes the error
///    of the slope, and it is widened by what runs of one machine were seen to differ by.
///
/// The interval is symmetric on the log scale if the values of all processes are positive, else on
/// the linear scale.
///
/// Counts whose processes all agree (`Centre::Median`, nothing corrected) have an interval of width
/// zero.
///
/// The rule was tuned on recorded sessions and on whole runs. `tests/statistics_prediction.rs` tries
/// it on a part of thirty recorded sessions and on simulated ones. Of the recorded intervals at
/// 95 %, so many contained the value of another session under the same load, and so many values had
/// an interval within ±5 %:
///
/// | passes × processes | quiet | beside bursty loads | ±5 %, quiet | ±5 %, beside loads |
/// | --- | --- | --- | --- | --- |
/// | 10 × 2 | 0.96 | 0.97 | 0.70 | 0.64 |
/// | 10 × 1 | 0.96 | 0.97 | 0.59 | 0.54 |
/// | 5 × 2 | 0.95 | 0.97 | 0.59 | 0.50 |
/// | 5 × 1 | 0.94 | 0.98 | 0.47 | 0.38 |
/// | 3 × 2 | 0.96 | 0.95 | 0.53 | 0.36 |
/// | [`super::student::process_estimate`], 10 × 2 | 0.59 | 0.53 | 0.53 | 0.49 |
///
/// The misses are in memory: neighbours outside the virtual machine change what a load
/// from memory costs for longer than such a session lasts, and 0.65 to 0.85 of those intervals hold.
///
/// The same visits give the same result bit for bit. `None` without legs, for numbers that are not
/// finite, and for results too large for a number.
pub fn predict(visits: &[Visit], centre: Centre, confidence: Confidence) -> Option<Prediction> {
    let processes: Vec<Process> = (visits.iter())
        .filter(|visit| !visit.legs.is_empty())
        .map(Process::of)
        .collect::<Option<_>>()?;
    let positive = (processes.iter()).all(|process| process.costs.iter().all(|&cost| cost > 0.0));
    let correction = positive.then(|| correction(&processes, centre)).flatten();
    let by_process: Vec<f64> = (processes.iter())
        .map(|process| centre.of(&process.corrected(correction.as_ref())))
        .collect::<Option<_>>()?;
    let means: Vec<f64> = processes.iter().map(|process| process.as_met).collect();

    let of_pass: Vec<usize> = processes.iter().map(|process| process.pass).collect();
    let passes = distinct(&of_pass);
    let agreed = centre == Centre::Median && correction.is_none() && all_equal(&by_process);
    let estimated = if agreed {
        exact(&by_process, passes)?
    } else {
        let kept = undisturbed(&processes);
        estimate(
            &pick(&by_process, &kept),
            &pick(&of_pass, &kept),
            centre.of_processes(),
            correction,
            confidence,
        )?
    };
    Some(Prediction {
        estimated,
        by_process,
        as_met: median(&means)?,
        added: correction.map(|correction| correction.usual()),
        passes,
    })
}

/// True for the processes that the estimate rests on: those without shared work beside them, if they
/// are enough, else all. What a neighbour adds to a cost is known worse than what the clock adds:
/// without these visits, 42 in place of 39 of 100 values of whole runs beside builds had an interval
/// within ±5 %, and 96 of 100 intervals held in both cases.
fn undisturbed(processes: &[Process]) -> Vec<bool> {
    let calm: Vec<bool> = processes
        .iter()
        .map(|process| !process.is_shared())
        .collect();
    let of_pass: Vec<usize> = (processes.iter().zip(&calm))
        .filter(|&(_, &calm)| calm)
        .map(|(process, _)| process.pass)
        .collect();
    if of_pass.len() >= ENOUGH_PROCESSES && distinct(&of_pass) >= ENOUGH_PASSES {
        calm
    } else {
        vec![true; processes.len()]
    }
}

fn pick<T: Copy>(values: &[T], kept: &[bool]) -> Vec<T> {
    (values.iter().zip(kept))
        .filter(|&(_, &kept)| kept)
        .map(|(&value, _)| value)
        .collect()
}

/// The quantile of processes with its prediction interval. `of_pass` has the pass of each value.
fn estimate(
    values: &[f64],
    of_pass: &[usize],
    probability: f64,
    correction: Option<Correction>,
    confidence: Confidence,
) -> Option<Estimated> {
    let logarithms = logarithms(values);
    let (scale, scaled) = match &logarithms {
        Some(logarithms) => (Scale::Logarithmic, logarithms.as_slice()),
        None => (Scale::Linear, values),
    };
    let centre = quantile(scaled, probability)?;
    let (unit, back): (f64, fn(f64) -> f64) = match scale {
        Scale::Logarithmic => (1.0, f64::exp),
        _ => (centre.abs(), |value| value),
    };
    let of_slope = correction.map_or(0.0, |correction| correction.error());
    let interval = quantile_error(scaled, of_pass, probability).and_then(|error| {
        let reach = half_width(error.hypot(of_slope), unit, distinct(of_pass), confidence)?;
        Interval::new(back(centre - reach), back(centre + reach))
    });
    Some(Estimated {
        centre: finite(back(centre))?,
        interval,
        n: values.len(),
        scale,
    })
}

/// The value that all processes agree on.
fn exact(values: &[f64], passes: usize) -> Option<Estimated> {
    let &centre = values.first()?;
    Some(Estimated {
        centre,
        interval: if passes < 2 {
            None
        } else {
            Interval::new(centre, centre)
        },
        n: values.len(),
        scale: if centre > 0.0 {
            Scale::Logarithmic
        } else {
            Scale::Linear
        },
    })
}

fn distinct(passes: &[usize]) -> usize {
    passes.iter().collect::<BTreeSet<_>>().len()
}

fn all_equal(values: &[f64]) -> bool {
    values
        .windows(2)
        .all(|pair| pair[0].total_cmp(&pair[1]).is_eq())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::random::Random;

    const LEVEL: Confidence = Confidence::NINETY_FIVE;

    fn visit(pass: usize, costs: &[f64], slowed: Option<f64>) -> Visit {
        let core = shared(slowed);
        let leg = |&cost: &f64| Leg { cost, core };
        Visit {
            pass,
            legs: costs.iter().map(leg).collect(),
        }
    }

    /// A core at the highest clock that something may share.
    fn shared(sharing: Option<f64>) -> Core {
        let clock = sharing.map(|_| 1.0);
        Core { clock, sharing }
    }

    fn visits_of(values: &[f64]) -> Vec<Visit> {
        let visit = |(pass, &value)| visit(pass, &[value; 3], None);
        values.iter().enumerate().map(visit).collect()
    }

    #[test]
    fn no_visits_predict_nothing() {
        assert_eq!(predict(&[], Centre::Median, LEVEL), None);
        assert_eq!(predict(&[visit(0, &[], None)], Centre::Median, LEVEL), None);
    }

    #[test]
    fn what_is_not_finite_is_refused() {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for visit in [
                visit(1, &[1.0, bad], None),
                visit(1, &[1.0, 2.0], Some(bad)),
            ] {
                let visits = [self::visit(0, &[1.0], None), visit];
                assert_eq!(predict(&visits, Centre::LowerQuartile, LEVEL), None);
            }
        }
    }

    #[test]
    fn legs_between_bursts_tell_the_value_and_all_legs_what_was_met() {
        let calm = Leg {
            cost: 100.0,
            core: shared(Some(1.01)),
        };
        let beside = Leg {
            cost: 180.0,
            core: shared(Some(1.7)),
        };
        let visit = |pass: usize| Visit {
            pass,
            legs: [[beside; 12].as_slice(), &[calm; 4]].concat(),
        };
        let visits: Vec<Visit> = (0..10).map(visit).collect();
        let found = predict(&visits, Centre::LowerQuartile, LEVEL).unwrap();
        assert!(
            (found.estimated.centre / 100.0 - 1.0).abs() < 0.02,
            "{found:?}"
        );
        assert!((found.as_met - 160.0).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn three_processes_at_full_speed_tell_the_value_without_the_others() {
        let value_of = |calm: usize| {
            let beside = |pass: usize| visit(pass, &[190.0, 195.0, 200.0, 205.0], Some(1.4));
            let alone = |pass: usize| visit(pass, &[100.0; 4], Some(1.0));
            let of_pass = |pass| {
                if pass < calm {
                    alone(pass)
                } else {
                    beside(pass)
                }
            };
            let visits: Vec<Visit> = (0..12).map(of_pass).collect();
            let found = predict(&visits, Centre::LowerQuartile, LEVEL).unwrap();
            found.estimated.centre
        };
        assert!((value_of(3) - 100.0).abs() < 0.1, "{}", value_of(3));
        assert!(value_of(2) > 110.0, "{}", value_of(2));
    }

    #[test]
    fn counts_that_agree_are_exact() {
        for count in [0.0, 8.0, -3.0] {
            let found = predict(&visits_of(&[count; 4]), Centre::Median, LEVEL).unwrap();
            let exactly = Interval::new(count, count);
            assert_eq!(found.estimated.interval, exactly);
            assert_eq!(Interval::new(found.estimated.centre, found.as_met), exactly);
            assert_eq!((found.passes, found.added), (4, None));
        }
        let timed = predict(&visits_of(&[8.0; 4]), Centre::LowerQuartile, LEVEL).unwrap();
        assert!(timed.estimated.interval.unwrap().half_width() > 0.1);
        let differ = predict(&visits_of(&[8.0, 8.0, 9.0]), Centre::Median, LEVEL).unwrap();
        assert!(differ.estimated.interval.unwrap().half_width() > 0.1);
    }

    #[test]
    fn one_pass_has_no_interval() {
        let visits = [visit(7, &[2.0, 3.0], None), visit(7, &[2.0], None)];
        let found = predict(&visits, Centre::Median, LEVEL).unwrap();
        assert_eq!(
            (found.estimated.interval, found.estimated.n, found.passes),
            (None, 2, 1)
        );
    }

    #[test]
    fn a_slowed_processor_is_corrected_for() {
        let mut random = Random::new(3);
        let visits: Vec<Visit> = (0..20)
            .map(|i| {
                let slowed: f64 = [1.0, 1.2, 1.5, 1.9][i % 4];
                let cost = 100.0 * slowed.powf(0.7) * (0.002 * random.normal()).exp();
                visit(i / 2, &[cost; 5], Some(slowed))
            })
            .collect();
        let found = predict(&visits, Centre::LowerQuartile, LEVEL).unwrap();
        assert!((found.estimated.centre - 100.0).abs() < 1.0, "{found:?}");
        assert!(found.added.unwrap() > 0.1, "{found:?}");
        assert!(found.as_met > 115.0, "{found:?}");
        assert!(found.estimated.is_within(0.03), "{found:?}");
    }

    #[test]
    fn differences_below_zero_are_linear_and_not_corrected() {
        let visits = [
            visit(0, &[-3.0, -1.0, 2.0], Some(2.0)),
            visit(1, &[3.0, 4.0], Some(1.0)),
        ];
        let found = predict(&visits, Centre::Median, LEVEL).unwrap();
        assert_eq!((found.added, found.estimated.scale), (None, Scale::Linear));
        assert_eq!(found.by_process, [-1.0, 3.5]);
        assert!((found.estimated.centre - 1.25).abs() < 1e-12);
    }
}
