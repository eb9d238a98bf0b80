//! A sequential test of paired differences, and its confidence sequence: valid at whatever moment
//! the measurement stops.

use super::Interval;
use super::bisection::bisect;
use super::summary::{NORMAL_SCALE, all_finite, median_absolute_deviation};
use std::collections::VecDeque;

/// Differences beyond this many scales from the tested value count as if they were there. Bounds
/// the influence of a single disturbed pair.
const CLIP: f64 = 2.0;
/// Number of latest differences that give the scale of the next. Long enough for a steady scale,
/// short enough to follow a change of the noise.
const WINDOW: usize = 64;
/// With fewer earlier differences there is no scale, and a difference counts by its sign alone.
const FEWEST_FOR_SCALE: usize = 5;
/// Number of stakes. A stake is the shift, in scales, for which a bet is most powerful. Each is twice
/// the one before, which loses little between them.
const STAKES: usize = 10;
/// The smallest stake; the largest is 3.
const LEAST_STAKE: f64 = 3.0 / (1 << (STAKES - 1)) as f64;
/// Share of the initial capital on the largest stake, which decides clear cases. The others share
/// the rest equally.
const LAST_SHARE: f64 = 0.25;
/// Factors are multiplied in groups of this size before their logarithm is taken. The product of a
/// group is far below the largest number.
const GROUP: usize = 16;
/// Steps of bisection: the ends of an interval are exact to 2⁻⁴⁰ of the search range.
const BISECTIONS: usize = 40;

/// A sequential test of the centre of differences, such as the log ratios of pairs of runs.
///
/// **The test.** To test whether the centre is `θ` or less, a gambler with capital 1 bets that the
/// next difference `d` lies above `θ`. A bet multiplies the capital by `1 + tanh(λ ψ)`, where
/// `ψ` is `(d − θ) / s`, clipped to ±2, and `s` is a robust scale of the latest 64 differences
/// *before* `d`. If `d` is symmetric about `θ`, the expected factor is exactly 1, because `tanh` is
/// odd: the capital is a martingale, whatever the tails of the noise, its changes over time and its
/// dependence on the past. By Ville's inequality it ever reaches `1 / α` with probability at most
/// `α`. So the test may be looked at after each difference and stopped at any moment. The
/// capital is shared among ten stakes `λ` (a mixture), since the shift is not known in advance.
///
/// **Trials.** The two differences of a quadruple ABBA are not symmetric each by itself: a drift
/// moves them in opposite directions. But the draw of the order exchanges A and B in both. So the
/// two are one trial, with `ψ` the sum of both over √2.
///
/// **Symmetry.** The order of each trial must be random. If two programs are equal, exchanging
/// them changes nothing, so a trial and its negative are equally likely. Symmetry is then a fact of
/// the design and no assumption about noise, drift or bursts.
///
/// **The interval.** All `θ` that neither of the two one-sided tests has rejected at `α / 2`. The
/// capital against `θ` falls with `θ`, so they form an interval. It contains the centre at all
/// moments together with probability `1 − α`, if a shift is all that the difference of the two
/// programs does to the differences.
///
/// Sources: J. Ville, "Étude critique de la notion de collectif" (1939); V. de la Peña, "A general
/// class of exponential inequalities for martingales and ratios", Annals of Probability 27 (1999),
/// for symmetric differences; I. Waudby-Smith and A. Ramdas, "Estimating means of bounded random
/// variables by betting", Journal of the Royal Statistical Society B 86 (2024). The clip is Huber's.
#[derive(Clone, Debug)]
pub struct Sequential {
    /// The natural logarithm of the capital at which a one-sided test rejects.
    threshold: f64,
    trials: Vec<Trial>,
    /// The latest differences.
    latest: VecDeque<f64>,
}

/// One trial.
#[derive(Clone, Debug)]
struct Trial {
    differences: Vec<f64>,
    /// The scale of earlier differences; zero if there were too few.
    scale: f64,
}

impl Sequential {
    /// A two-sided test that errs with probability `error` at most. `error` is between 0 and 1.
    pub fn new(error: f64) -> Self {
        Self {
            threshold: (2.0 / error).ln(),
            trials: Vec::new(),
            latest: VecDeque::with_capacity(WINDOW),
        }
    }

    /// Adds the differences of a trial: those of one draw of the order. Ignores an empty trial and
    /// one with a difference that is not finite.
    pub fn add(&mut self, differences: &[f64]) {
        if differences.is_empty() || !all_finite(differences) {
            return;
        }
        self.trials.push(Trial {
            differences: differences.to_vec(),
            scale: self.spread().unwrap_or(0.0),
        });
        self.latest.extend(differences);
        while self.latest.len() > WINDOW {
            self.latest.pop_front();
        }
    }

    /// All differences.
    pub fn differences(&self) -> impl Iterator<Item = f64> {
        self.trials
            .iter()
            .flat_map(|trial| &trial.differences)
            .copied()
    }

    /// True if the centre lies above `theta`.
    pub fn is_above(&self, theta: f64) -> bool {
        self.capital(theta, 1.0) >= self.threshold
    }

    /// True if the centre lies below `theta`.
    pub fn is_below(&self, theta: f64) -> bool {
        self.capital(theta, -1.0) >= self.threshold
    }

    /// The estimate of the centre: the value at which the clipped differences balance, each in its
    /// own scale. `None` without differences.
    pub fn centre(&self) -> Option<f64> {
        let range = self.range()?;
        let score = |theta| -> f64 { self.trials.iter().map(|trial| trial.score(theta)).sum() };
        // A balance of signs can hold over a whole gap, whose middle is the centre.
        let low = bisect(range, BISECTIONS, |theta| score(theta) > 0.0);
        let high = bisect(range, BISECTIONS, |theta| score(theta) >= 0.0);
        Some(f64::midpoint(low, high))
    }

    /// The interval of the centre; `None` while there are too few trials for any.
    pub fn interval(&self) -> Option<Interval> {
        let range = self.range()?;
        // Equal differences have no spread: the ends must still differ from them after rounding.
        let rounding = 4.0 * f64::EPSILON * range.low.abs().max(range.high.abs());
        let reach = range.high - range.low + rounding + f64::MIN_POSITIVE;
        let range = Interval::new(range.low - reach, range.high + reach)?;
        if !self.is_above(range.low) || !self.is_below(range.high) {
            return None;
        }
        let low = bisect(range, BISECTIONS, |theta| self.is_above(theta));
        let high = bisect(range, BISECTIONS, |theta| !self.is_below(theta));
        // The ends are bisected separately, and may cross by a rounding error.
        Interval::new(low.min(high), high.max(low))
    }

    /// The spread of the latest differences: their normalised median absolute deviation. `None` for
    /// too few.
    pub fn spread(&self) -> Option<f64> {
        if self.latest.len() < FEWEST_FOR_SCALE {
            return None;
        }
        let latest: Vec<f64> = self.latest.iter().copied().collect();
        Some(NORMAL_SCALE * median_absolute_deviation(&latest)?)
    }

    /// The natural logarithm of the capital of a gambler who bets on `side` of `theta`: 1 for
    /// above, −1 for below.
    fn capital(&self, theta: f64, side: f64) -> f64 {
        let mut capitals = [0.0; STAKES];
        for group in self.trials.chunks(GROUP) {
            let mut inverse = [1.0; STAKES];
            for trial in group {
                // 1 + tanh x is 2 / (1 + exp(−2 x)), and twice the stake squares the exponential.
                let mut power = (-2.0 * LEAST_STAKE * side * trial.score(theta)).exp();
                for inverse in &mut inverse {
                    *inverse *= f64::midpoint(1.0, power);
                    power *= power;
                }
            }
            for (capital, inverse) in capitals.iter_mut().zip(inverse) {
                *capital -= inverse.ln();
            }
        }
        let most = capitals.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let rest = (1.0 - LAST_SHARE) / (STAKES - 1) as f64;
        let shared = capitals.iter().enumerate().map(|(index, capital)| {
            let share = if index == STAKES - 1 {
                LAST_SHARE
            } else {
                rest
            };
            share * (capital - most).exp()
        });
        most + shared.sum::<f64>().ln()
    }

    /// From the smallest difference to the largest.
    fn range(&self) -> Option<Interval> {
        let low = self.differences().reduce(f64::min)?;
        let high = self.differences().reduce(f64::max)?;
        Interval::new(low, high)
    }
}

impl Trial {
    /// The sum of the clipped deviations from `theta` over the root of their number. It falls with
    /// `theta`.
    fn score(&self, theta: f64) -> f64 {
        let clipped = self.differences.iter().map(|difference| {
            let deviation = difference - theta;
            if self.scale > 0.0 {
                (deviation / self.scale).clamp(-CLIP, CLIP)
            } else if deviation == 0.0 {
                0.0
            } else {
                CLIP.copysign(deviation)
            }
        });
        clipped.sum::<f64>() / (self.differences.len() as f64).sqrt()
    }
}
