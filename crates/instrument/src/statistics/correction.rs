//! The legs that a value rests on, and their correction to the run's highest clock by the growth of
//! the cost with the state of the core.
//!
//! Work of the core is counted in cycles, so its cost grows as the cycle does: a slope of 1. Work of
//! memory and devices takes as long at any clock: a slope of 0. A point's own legs at two clocks
//! show where between them its cost lies; and so do legs alone and on a shared core.

use super::summary::{NORMAL_SCALE, finite, mean, median, median_absolute_deviation, sorted};
use super::visit::{Centre, Core, Leg, Visit};

/// More than this shows that something shared the core. On a core of one's own, nine of ten recorded
/// readings are within 3 % of the usual one; on a shared core, all but a few are at 1.3 and more.
const SHARED: f64 = 1.1;

/// This many legs have a lower quartile that is not the least of them.
const ENOUGH_LEGS: usize = 4;

impl Core {
    /// True if something shared it, as far as that is known.
    pub(crate) fn is_shared(&self) -> bool {
        self.sharing.is_some_and(|sharing| sharing > SHARED)
    }

    /// True if it was not the undisturbed core of this program alone, as far as that is known. A low
    /// clock that is known is no disturbance.
    fn is_disturbed(&self) -> bool {
        self.clock.is_none() || self.sharing.is_none() || self.is_shared()
    }

    fn is_unknown(&self) -> bool {
        self.clock.is_none() && self.sharing.is_none()
    }

    /// True if the states that are known are numbers that they can have.
    fn is_sound(&self) -> bool {
        let is_ratio = |value: f64| value.is_finite() && value > 0.0;
        self.clock.is_none_or(is_ratio) && self.sharing.is_none_or(is_ratio)
    }
}

/// True unless this point's own legs show that sharing adds nothing to its cost: no more of the legs
/// on a shared core cost more than the usual leg alone than chance allows (two standard deviations of a
/// fair coin).
pub(super) fn sharing_costs(visits: &[&Visit]) -> bool {
    let legs = || visits.iter().flat_map(|visit| &visit.legs);
    let alone = legs().filter(|leg| !leg.core.is_shared());
    let Some(usual) = median(&alone.map(|leg| leg.cost).collect::<Vec<_>>()) else {
        return true;
    };
    let shared = || legs().filter(|leg| leg.core.is_shared());
    let count = shared().count() as f64;
    let dearer = shared().filter(|leg| leg.cost > usual).count() as f64;
    dearer > count / 2.0 + count.sqrt()
}

impl Visit {
    /// The mean of all legs; `None` without legs and for numbers that are not finite.
    pub(super) fn uncorrected(&self) -> Option<f64> {
        let cost = |leg: &Leg| leg.core.is_sound().then_some(leg.cost);
        mean(&self.legs.iter().map(cost).collect::<Option<Vec<_>>>()?)
    }

    /// The legs during which nothing shared the core, if they are enough, else all.
    pub(super) fn alone(&self) -> Self {
        Self {
            pass: self.pass,
            legs: enough(&self.legs, |leg| !leg.core.is_shared()),
        }
    }

    pub(super) fn is_positive(&self) -> bool {
        self.legs.iter().all(|leg| leg.cost > 0.0)
    }

    /// True if something shared the core during most of the legs.
    pub(super) fn is_shared(&self) -> bool {
        let shared = self.legs.iter().filter(|leg| leg.core.is_shared());
        2 * shared.count() > self.legs.len()
    }

    /// The value of the process with each leg corrected.
    pub(super) fn value(&self, centre: Centre, growth: &Growth) -> Option<f64> {
        let corrected = |leg: &Leg| leg.cost * (-growth.at(leg.core)).exp();
        centre.of(&self.legs.iter().map(corrected).collect::<Vec<_>>())
    }

    /// Leaves out the legs of unknown clock: they cannot be corrected as the others are.
    pub(super) fn keep_known(&mut self) {
        self.legs = enough(&self.legs, |leg| leg.core.clock.is_some());
    }

    /// The legs for which `x` knows the state.
    fn points(&self, x: impl Fn(Core) -> Option<f64>, growth: &Growth) -> Vec<Point> {
        let point = |leg: &Leg| {
            Some(Point {
                x: x(leg.core)?,
                cost: leg.cost.ln() - growth.at(leg.core),
            })
        };
        self.legs.iter().filter_map(point).collect()
    }
}

/// The legs of this kind, if they give a value without the others, else all.
fn enough(legs: &[Leg], is_kept: impl Fn(&Leg) -> bool) -> Vec<Leg> {
    let kept: Vec<Leg> = legs.iter().copied().filter(is_kept).collect();
    if kept.len() >= ENOUGH_LEGS {
        kept
    } else {
        legs.to_vec()
    }
}

/// The growth of a cost with the state of the core, by cause. Nothing is corrected for a cause without a
/// slope.
#[derive(Clone, Copy, Default)]
pub(super) struct Growth {
    /// With the duration of a cycle.
    pub(super) by_clock: Option<Slope>,
    /// With sharing.
    pub(super) by_sharing: Option<Slope>,
}

impl Growth {
    /// With the clock, as legs alone on a core of known clock show it.
    pub(super) fn with_clock(processes: &[Visit], centre: Centre) -> Self {
        let alone = |core: Core| core.clock.filter(|_| !core.is_shared()).map(f64::ln);
        Self {
            by_clock: Self::default().slope(processes, centre, alone),
            by_sharing: None,
        }
    }

    /// With sharing as well.
    pub(super) fn with_sharing(self, processes: &[Visit], centre: Centre) -> Self {
        Self {
            by_sharing: self.slope(processes, centre, |core| core.sharing.map(f64::ln)),
            ..self
        }
    }

    fn slope(
        self,
        processes: &[Visit],
        centre: Centre,
        x: impl Fn(Core) -> Option<f64>,
    ) -> Option<Slope> {
        let points = |process: &Visit| process.points(&x, &self);
        slope(&processes.iter().map(points).collect::<Vec<_>>(), centre)
    }

    /// The cost that this state of the core adds, in logarithms.
    fn at(self, core: Core) -> f64 {
        let added = |slope: Option<Slope>, state: Option<f64>| {
            slope
                .zip(state)
                .map_or(0.0, |(slope, state)| slope.value * state.ln())
        };
        added(self.by_clock, core.clock) + added(self.by_sharing, core.sharing)
    }

    /// The error of the cost that the usual state of the core adds.
    pub(super) fn error(self, states: &CoreStates) -> f64 {
        let error = |slope: Option<Slope>, state: Option<f64>| {
            slope
                .zip(state)
                .map_or(0.0, |(slope, state)| slope.error * state)
        };
        let sharing = error(self.by_sharing, states.usual(|core| core.sharing));
        error(self.by_clock, states.usual(|core| core.clock)).hypot(sharing)
    }
}

/// The states of the core during the legs that an estimate rests on.
pub(super) struct CoreStates {
    pub(super) cores: Vec<Core>,
}

impl CoreStates {
    pub(super) fn of<'p>(processes: impl Iterator<Item = &'p Visit>) -> Self {
        let legs = processes.flat_map(|process| &process.legs);
        Self {
            cores: legs.map(|leg| leg.core).collect(),
        }
    }

    /// The shortest and the longest cycle, in logarithms; `None` if no clock is known.
    pub(super) fn clocks(&self) -> Option<[f64; 2]> {
        ends(&self.logarithms(|core| core.clock))
    }

    /// The mean of a state, in logarithms.
    fn usual(&self, of: impl Fn(&Core) -> Option<f64>) -> Option<f64> {
        mean(&self.logarithms(of))
    }

    /// The usual sharing, in logarithms; 0 if the core was not shared during most legs.
    pub(super) fn sharing(&self) -> f64 {
        let usual = median(&self.logarithms(|core| core.sharing));
        usual.filter(|usual| *usual > SHARED.ln()).unwrap_or(0.0)
    }

    /// The share of the legs that were disturbed; `None` if nothing is known of any. Of work that mostly
    /// waits the clock does not matter, and a wait leaves it unknown.
    pub(super) fn disturbed(&self, follows_the_clock: bool) -> Option<f64> {
        if self.cores.iter().all(Core::is_unknown) {
            return None;
        }
        let is_disturbed = |core: &&Core| {
            if follows_the_clock {
                core.is_disturbed()
            } else {
                core.is_shared()
            }
        };
        let disturbed = self.cores.iter().filter(is_disturbed).count();
        Some(disturbed as f64 / self.cores.len() as f64)
    }

    fn logarithms(&self, of: impl Fn(&Core) -> Option<f64>) -> Vec<f64> {
        self.cores.iter().filter_map(of).map(f64::ln).collect()
    }
}

/// Legs whose states differ by less, in logarithms, show no slope: at 3 % the noise of a process of
/// 1 % is a third of the difference that is looked for.
const LEAST_SPAN: f64 = 0.03;

/// This many legs at an end of the range show that it is real, and not the error of a reading.
const ENOUGH: usize = 5;

/// This many processes at either end show how far processes differ.
const FEWEST_AT_AN_END: usize = 2;

/// Before any data, all slopes between 0 and 1 are alike: this is their mean, and the variance.
const MEAN: f64 = 0.5;
const VARIANCE: f64 = 1.0 / 12.0;

/// The standard error of a median of normal data over that of their mean, squared.
const OF_MEDIAN: f64 = std::f64::consts::FRAC_PI_2;

/// The least standard deviation of a process, in logarithms: below 0.1 %, the clock and the
/// reference limit what is known.
const LEAST_DEVIATION: f64 = 1e-3;

/// A slope with its error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Slope {
    /// From 0 to 1.
    pub(super) value: f64,
    /// Its standard deviation.
    pub(super) error: f64,
}

/// A leg in logarithms.
#[derive(Clone, Copy)]
pub(super) struct Point {
    /// The state of the core.
    pub(super) x: f64,
    pub(super) cost: f64,
}

/// The least and the greatest of these values that enough others reach; `None` without values.
pub(super) fn ends(values: &[f64]) -> Option<[f64; 2]> {
    let values = sorted(values)?;
    let enough = ENOUGH.min(values.len().div_ceil(2));
    Some([
        *values.get(enough.checked_sub(1)?)?,
        values[values.len() - enough],
    ])
}

/// The slope of a cost over the state of the core, from the legs of each process: the resistant line through the
/// lowest and the highest third of the states (J. Tukey, "Exploratory Data Analysis", 1977), drawn
/// towards the middle of what is possible by its error.
///
/// `None` if the states span less than [`LEAST_SPAN`], or if too few legs or processes lie at an end.
pub(super) fn slope(processes: &[Vec<Point>], centre: Centre) -> Option<Slope> {
    let states: Vec<f64> = processes.iter().flatten().map(|leg| leg.x).collect();
    if states.len() < 2 * ENOUGH {
        return None;
    }
    let [low, high] = ends(&states)?;
    if high - low < LEAST_SPAN {
        return None;
    }
    let third = (high - low) / 3.0;
    let slow = End::of(processes, centre, |x| x >= high - third)?;
    let fast = End::of(processes, centre, |x| x <= low + third)?;

    let distance = slow.x - fast.x;
    let residuals = [fast.residuals.as_slice(), &slow.residuals].concat();
    let degrees = residuals.len() as f64 - 2.0;
    let of_small = (residuals.len() as f64 / degrees).sqrt();
    let deviation = NORMAL_SCALE * of_small * median_absolute_deviation(&residuals)?;
    let per_process = deviation.max(LEAST_DEVIATION).powi(2) * OF_MEDIAN;
    let found = (slow.cost - fast.cost) / distance;
    let variance = per_process * (fast.per_count() + slow.per_count()) / distance.powi(2);

    let precision = 1.0 / variance + 1.0 / VARIANCE;
    let value = (found / variance + MEAN / VARIANCE) / precision;
    Some(Slope {
        value: finite(value)?.clamp(0.0, 1.0),
        error: finite(precision.recip().sqrt())?,
    })
}

/// The processes at one end of the states.
struct End {
    x: f64,
    cost: f64,
    /// The distance of each process from that cost.
    residuals: Vec<f64>,
}

impl End {
    fn of(processes: &[Vec<Point>], centre: Centre, belongs: impl Fn(f64) -> bool) -> Option<Self> {
        let (mut states, mut costs) = (Vec::new(), Vec::new());
        for process in processes {
            let legs = || process.iter().filter(|leg| belongs(leg.x));
            let cost = centre.of(&legs().map(|leg| leg.cost).collect::<Vec<_>>());
            let x = median(&legs().map(|leg| leg.x).collect::<Vec<_>>());
            if let Some((cost, x)) = cost.zip(x) {
                costs.push(cost);
                states.push(x);
            }
        }
        if costs.len() < FEWEST_AT_AN_END {
            return None;
        }
        let cost = median(&costs)?;
        Some(Self {
            x: median(&states)?,
            cost,
            residuals: costs.iter().map(|of| of - cost).collect(),
        })
    }

    fn per_count(&self) -> f64 {
        1.0 / self.residuals.len() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::random::Random;

    fn leg(cost: f64, clock: Option<f64>, sharing: Option<f64>) -> Leg {
        Leg {
            cost,
            core: Core { clock, sharing },
        }
    }

    fn process(legs: Vec<Leg>) -> Visit {
        Visit { pass: 0, legs }.alone()
    }

    fn alone(cost: f64) -> Leg {
        leg(cost, Some(1.0), Some(1.0))
    }

    #[test]
    fn legs_on_a_shared_core_are_left_out_where_enough_others_remain() {
        let shared = leg(9.0, Some(1.0), Some(1.5));
        let value = |alone_legs: usize| {
            let legs = [vec![alone(4.0); alone_legs], vec![shared; 12]].concat();
            let process = process(legs);
            (
                process.value(Centre::Median, &Growth::default()),
                process.is_shared(),
            )
        };
        assert_eq!(value(4), (Some(4.0), false));
        assert_eq!(value(3), (Some(9.0), true));
    }

    #[test]
    fn no_leg_is_left_out_where_nothing_is_corrected() {
        let legs = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0].map(|cost| {
            let noise = 1.0 + 0.012 * cost;
            let clock = (cost < 3.0).then_some(1.0);
            leg(cost, clock, Some(noise))
        });
        let process = process(legs.into());
        assert_eq!(process.legs, legs);
    }

    #[test]
    fn legs_on_a_shared_core_that_cost_no_more_stay() {
        let costs = |extra: f64| {
            let legs = (0..20).map(|i| {
                let (sharing, added) = if i % 2 == 0 { (1.0, 0.0) } else { (1.4, extra) };
                let cost = 4.0 + 0.01 * f64::from(i % 5) + added;
                leg(cost, Some(1.0), Some(sharing))
            });
            let legs = legs.collect();
            sharing_costs(&[&Visit { pass: 0, legs }])
        };
        assert!(costs(0.1) && !costs(-0.1) && !costs(0.0));
        assert!(sharing_costs(&[]));
    }

    #[test]
    fn a_leg_of_unknown_clock_does_not_stay_with_corrected_ones() {
        let low = leg(2.0, Some(2.0), Some(1.0));
        let unknown = leg(2.0, None, Some(1.0));
        let mut process = process([vec![low; 4], vec![unknown; 4]].concat());
        process.keep_known();
        let growth = Growth {
            by_clock: Some(Slope {
                value: 1.0,
                error: 0.0,
            }),
            by_sharing: None,
        };
        let value = process.value(Centre::Median, &growth).unwrap();
        assert!((value - 1.0).abs() < 1e-12, "{value}");
    }

    #[test]
    fn a_low_clock_that_is_known_is_no_disturbance() {
        let states = |legs: &[Leg]| CoreStates::of([process(legs.into())].iter());
        let disturbed = |legs: &[Leg]| states(legs).disturbed(true);
        let low = leg(1.0, Some(1.14), Some(1.0));
        let unknown = leg(1.0, None, Some(1.0));
        let shared = leg(1.0, Some(1.0), Some(1.3));
        assert_eq!(disturbed(&[alone(1.0), low]), Some(0.0));
        assert_eq!(disturbed(&[alone(1.0), unknown]), Some(0.5));
        assert_eq!(disturbed(&[alone(1.0), low, shared, low]), Some(0.25));
        assert_eq!(disturbed(&[leg(1.0, Some(1.0), None)]), Some(1.0));
        assert_eq!(disturbed(&[leg(1.0, None, None)]), None);
        // An unknown clock does not disturb a wait.
        assert_eq!(states(&[unknown, shared]).disturbed(false), Some(0.5));
    }

    /// Processes of five legs, in turns at the highest clock and at one of `low`.
    fn processes(slope: f64, low: f64, noise: f64, count: usize) -> Vec<Vec<Point>> {
        let mut random = Random::new(5);
        let mut process = |i: usize| {
            let clock = if i.is_multiple_of(2) { 0.0 } else { low };
            let level = noise * random.normal();
            let mut leg = || Point {
                x: clock + 0.0005 * random.normal(),
                cost: 3.0 + slope * clock + level + 0.1 * noise * random.normal(),
            };
            (0..5).map(|_| leg()).collect()
        };
        (0..count).map(&mut process).collect()
    }

    fn found(slope: f64, low: f64, noise: f64, count: usize) -> Option<Slope> {
        super::slope(&processes(slope, low, noise, count), Centre::LowerQuartile)
    }

    #[test]
    fn two_clocks_show_the_slope_of_a_point() {
        for slope in [0.0, 0.3, 0.7, 1.0] {
            let found = found(slope, 0.13, 0.003, 20).unwrap();
            assert!((found.value - slope).abs() < 2.5 * found.error, "{found:?}");
            assert!(found.error < 0.03, "{found:?}");
        }
    }

    #[test]
    fn one_clock_or_few_legs_at_the_other_show_none() {
        assert_eq!(found(1.0, 0.02, 0.003, 20), None);
        let mut one_slow = processes(1.0, 0.0, 0.003, 20);
        one_slow[3] = processes(1.0, 0.13, 0.003, 2).remove(1);
        assert_eq!(slope(&one_slow, Centre::Median), None);
        assert_eq!(slope(&[], Centre::Median), None);
    }

    #[test]
    fn noise_draws_the_slope_to_the_middle_with_its_error() {
        let noisy = found(1.0, 0.05, 0.3, 6).unwrap();
        assert!((noisy.error - VARIANCE.sqrt()).abs() < 0.02, "{noisy:?}");
        assert!((noisy.value - 0.5).abs() < 0.2, "{noisy:?}");
    }

    #[test]
    fn one_odd_process_does_not_decide() {
        let mut legs = processes(0.9, 0.13, 0.003, 20);
        legs[4].iter_mut().for_each(|leg| leg.cost += 2.0);
        let found = slope(&legs, Centre::LowerQuartile).unwrap();
        assert!((found.value - 0.9).abs() < 0.05, "{found:?}");
    }

    #[test]
    fn an_end_is_a_value_that_enough_legs_reach() {
        let values: Vec<f64> = (0..20).map(f64::from).collect();
        assert_eq!(ends(&values), Some([4.0, 15.0]));
        assert_eq!(ends(&[3.0, 1.0, 2.0]), Some([2.0, 2.0]));
        assert_eq!(ends(&[]), None);
    }
}
