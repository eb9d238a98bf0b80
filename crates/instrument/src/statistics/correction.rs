//! The correction of legs to the processor's full speed, by the references beside them.

use super::slope::{Growth, growth, is_shared};
use super::summary::{mean, median};
use super::visit::{Centre, Leg, Visit};

/// A reference that ran slower than this against its full speed was interrupted itself, and tells
/// nothing of the leg beside it.
const MOST_SLOWED: f64 = 2.5;

/// Beside a leg whose reference ran at most this much slower than at full speed, nothing else used the
/// processor.
const CALM: f64 = 1.08;
/// As many such legs tell a process's value without the others: of processes with bursts beside them,
/// the legs between the bursts.
const ENOUGH_CALM_LEGS: usize = 4;

/// A reading that differs by less from the others of its visit tells of itself, not of the leg beside
/// it; in logarithms. A lower quartile of legs that were corrected one by one would choose those whose
/// reference was slow by chance. With this, 77 in place of 75 of 100 recorded values had an interval
/// within ±5 % at ten passes of two processes, and 96 in place of 95 of 100 intervals held.
const NOISE: f64 = 0.1;

impl Leg {
    /// The time of a reference bound by issue width over its time at full speed, alone.
    fn slowed(&self) -> Option<f64> {
        Some(self.core.clock? * self.core.sharing?)
    }
}

/// A visit with what is known of the processor's speed.
pub(super) struct Process {
    pub(super) pass: usize,
    /// The mean of all legs.
    pub(super) as_met: f64,
    /// The legs on which the value rests: those without other work beside them, if they are enough.
    pub(super) costs: Vec<f64>,
    /// The logarithm of the slowdown beside each leg; `None` if no reference of the visit is usable.
    slowdowns: Option<Vec<f64>>,
}

impl Process {
    /// `None` without legs and for numbers that are not finite.
    pub(super) fn of(visit: &Visit) -> Option<Self> {
        let numbers = |leg: &Leg| leg.cost.is_finite() && leg.slowed().is_none_or(f64::is_finite);
        if !visit.legs.iter().all(numbers) {
            return None;
        }
        let costs = |legs: &[Leg]| -> Vec<f64> { legs.iter().map(|leg| leg.cost).collect() };
        let is_calm = |leg: &&Leg| leg.slowed().is_some_and(|slowed| slowed <= CALM);
        let calm: Vec<Leg> = visit.legs.iter().filter(is_calm).copied().collect();
        let legs = if calm.len() >= ENOUGH_CALM_LEGS {
            &calm
        } else {
            &visit.legs
        };
        Some(Self {
            pass: visit.pass,
            as_met: mean(&costs(&visit.legs))?,
            costs: costs(legs),
            slowdowns: slowdowns(legs),
        })
    }

    /// True if other work shared the processor beside most of the legs.
    pub(super) fn is_shared(&self) -> bool {
        (self.slowdowns.as_deref().and_then(median)).is_some_and(is_shared)
    }

    /// The costs, each as at full speed if there is a correction.
    pub(super) fn corrected(&self, correction: Option<&Correction>) -> Vec<f64> {
        match (correction, &self.slowdowns) {
            (Some(correction), Some(slowdowns)) => (self.costs.iter().zip(slowdowns))
                .map(|(cost, &slowdown)| cost * (-correction.growth.at(slowdown)).exp())
                .collect(),
            _ => self.costs.clone(),
        }
    }
}

/// The logarithm of the slowdown beside each leg: the median of the visit, from which a reading
/// leads away only by as much as it differs beyond [`NOISE`]. A leg without a usable reference has
/// the median. A reference above full speed counts as full speed.
fn slowdowns(legs: &[Leg]) -> Option<Vec<f64>> {
    let readings: Vec<Option<f64>> = legs.iter().map(|leg| slowdown(leg.slowed()?)).collect();
    let usable: Vec<f64> = readings.iter().copied().flatten().collect();
    let usual = median(&usable)?;
    let drawn = |reading: f64| {
        let away = reading - usual;
        usual + away.signum() * (away.abs() - NOISE).max(0.0)
    };
    Some(
        readings
            .into_iter()
            .map(|reading| reading.map_or(usual, drawn))
            .collect(),
    )
}

/// The logarithm, if the reference is usable.
fn slowdown(slowed: f64) -> Option<f64> {
    (slowed > 0.0 && slowed <= MOST_SLOWED).then(|| slowed.ln().max(0.0))
}

/// The growth by which legs are corrected.
#[derive(Clone, Copy)]
pub(super) struct Correction {
    growth: Growth,
    /// The usual slowdown of the processes, in logarithms.
    usual: f64,
}

impl Correction {
    /// The cost of the usual slowdown, in logarithms.
    pub(super) fn usual(&self) -> f64 {
        self.growth.at(self.usual)
    }

    /// The error of the corrected value, in logarithms, that comes from the slopes': it grows with
    /// the distance from full speed.
    pub(super) fn error(&self) -> f64 {
        self.growth.error_at(self.usual)
    }
}

/// The growth of the processes' cost with their slowdown; `None` if none was slowed.
pub(super) fn correction(processes: &[Process], centre: Centre) -> Option<Correction> {
    let (mut x, mut y) = (Vec::new(), Vec::new());
    let mut slowed = false;
    for process in processes {
        if let Some(slowdowns) = &process.slowdowns {
            x.push(centre.of(slowdowns)?);
            y.push(centre.of(&process.costs)?.ln());
            slowed |= slowdowns.iter().any(|&slowdown| slowdown > 0.0);
        }
    }
    if !slowed {
        return None;
    }
    Some(Correction {
        growth: growth(&x, &y)?,
        usual: median(&x)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::visit::Core;

    fn found(slowed: &[Option<f64>]) -> Option<Vec<f64>> {
        let legs: Vec<Leg> = (slowed.iter())
            .map(|&sharing| Leg {
                cost: 1.0,
                core: Core {
                    clock: Some(1.0),
                    sharing,
                },
            })
            .collect();
        slowdowns(&legs)
    }

    #[test]
    fn an_interrupted_reference_is_replaced_by_the_visit() {
        let usual = 1.5_f64.ln();
        let slowed = [Some(9.0), Some(1.5), None, Some(1.5)];
        assert_eq!(found(&slowed), Some(vec![usual; 4]));
        assert_eq!(found(&[Some(9.0), None, Some(0.0), Some(-1.0)]), None);
    }

    #[test]
    fn small_differences_within_a_visit_are_noise_and_large_ones_are_not() {
        let slowed = [1.0, 1.05, 0.9, 2.0, 1.0].map(Some);
        let expected = [0.0, 0.0, 0.0, 2.0_f64.ln() - NOISE, 0.0];
        assert_eq!(found(&slowed), Some(expected.to_vec()));
    }

    #[test]
    fn the_error_of_the_slope_grows_with_the_distance_from_full_speed() {
        let error = |slowed: f64| {
            let visit = |cost| Visit {
                pass: 0,
                legs: vec![Leg {
                    cost,
                    core: Core {
                        clock: Some(slowed),
                        sharing: Some(1.0),
                    },
                }],
            };
            let processes = [1.0, 1.1, 1.2].map(|cost| Process::of(&visit(cost)).unwrap());
            correction(&processes, Centre::Median).map(|found| found.error())
        };
        assert_eq!(error(1.0), None);
        assert!(error(1.2).unwrap() > 0.04 && error(2.0).unwrap() > 0.15);
        let clock = error(1.05).unwrap();
        assert!((0.003..0.006).contains(&clock), "{clock}");
    }
}
