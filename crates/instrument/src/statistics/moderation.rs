//! Variances that learn from each other: with two or three sessions a side, a single metric's own
//! variance is hardly known, but hundreds of metrics together tell how large variances are here.
//!
//! Source: G. Smyth, "Linear models and empirical Bayes methods for assessing differential
//! expression in microarray experiments", Statistical Applications in Genetics and Molecular
//! Biology 3 (2004), as limma's `fitFDist` and `squeezeVar` compute it.

use statrs::function::gamma::digamma;

use super::interval::{Confidence, Interval};
use super::student::{t_quantile, t_upper_tail};
use super::summary::{all_finite, mean, median};

/// A difference of two means whose standard error is `√variance · factor`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contrast {
    /// The difference itself; for ratios that of the logarithms.
    pub difference: f64,
    /// The variance of one value.
    pub variance: f64,
    /// Degrees of freedom of the variance; more than zero.
    pub degrees: f64,
    /// `√(1/n₁ + 1/n₂)` for means of n₁ and n₂ values.
    pub factor: f64,
}

/// What the variances of all contrasts have in common: each is drawn as
/// `variance · degrees / χ²(degrees)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prior {
    /// The typical variance, Smyth's s₀².
    pub variance: f64,
    /// How much it is worth in degrees of freedom, Smyth's d₀: zero where the variances have
    /// nothing in common, infinite where they are all the same.
    pub degrees: f64,
}

/// A contrast whose variance was drawn towards the prior's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moderated {
    /// The difference, as it was.
    pub difference: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// Degrees of freedom of the standard error.
    pub degrees: f64,
}

/// The prior that the variances of `contrasts` suggest: by the method of moments on their
/// logarithms (Smyth 2004, section 6.2).
///
/// `None` without contrasts, or where one has no degrees of freedom or is no number.
pub fn prior(contrasts: &[Contrast]) -> Option<Prior> {
    let variances: Vec<f64> = contrasts.iter().map(|contrast| contrast.variance).collect();
    let degrees: Vec<f64> = contrasts.iter().map(|contrast| contrast.degrees).collect();
    let positive = degrees.iter().all(|degrees| *degrees > 0.0);
    if !positive || !all_finite(&variances) || !all_finite(&degrees) {
        return None;
    }
    if let [variance] = variances[..] {
        return Some(Prior {
            variance,
            degrees: 0.0,
        });
    }
    // Variances of zero have no logarithm: as in limma they are moved a little away from it.
    let typical = match median(&variances)? {
        0.0 => 1.0,
        typical => typical,
    };
    let variances: Vec<f64> = variances.iter().map(|v| v.max(1e-5 * typical)).collect();
    let logarithms: Vec<f64> = variances
        .iter()
        .zip(&degrees)
        .map(|(variance, degrees)| variance.ln() - digamma(degrees / 2.0) + (degrees / 2.0).ln())
        .collect();
    let centre = mean(&logarithms)?;
    let squares: f64 = logarithms.iter().map(|e| (e - centre).powi(2)).sum();
    let sampling: Vec<f64> = degrees
        .iter()
        .map(|degrees| trigamma(degrees / 2.0))
        .collect();
    let excess = squares / (logarithms.len() - 1) as f64 - mean(&sampling)?;
    Some(if excess > 0.0 {
        let half = trigamma_inverse(excess);
        Prior {
            variance: (centre + digamma(half) - half.ln()).exp(),
            degrees: 2.0 * half,
        }
    } else {
        Prior {
            variance: mean(&variances)?,
            degrees: f64::INFINITY,
        }
    })
}

/// `contrasts` with their variances drawn towards `prior`: the posterior variance is
/// `(d₀ s₀² + d s²) / (d₀ + d)` with d₀ + d degrees of freedom, though never more than all
/// contrasts have together.
pub fn moderate(contrasts: &[Contrast], prior: Prior) -> Vec<Moderated> {
    let together: f64 = contrasts.iter().map(|contrast| contrast.degrees).sum();
    let moderated = |contrast: &Contrast| {
        let variance = if prior.degrees.is_infinite() {
            prior.variance
        } else {
            (prior.degrees * prior.variance + contrast.degrees * contrast.variance)
                / (prior.degrees + contrast.degrees)
        };
        Moderated {
            difference: contrast.difference,
            standard_error: variance.sqrt() * contrast.factor,
            degrees: (contrast.degrees + prior.degrees).min(together),
        }
    };
    contrasts.iter().map(moderated).collect()
}

impl Moderated {
    /// The interval of the difference by Student's t.
    pub fn interval(&self, confidence: Confidence) -> Option<Interval> {
        let reach = t_quantile(confidence, self.degrees)? * self.standard_error;
        Interval::new(self.difference - reach, self.difference + reach)
    }

    /// The p-value of "the difference is at most `margin` either way": small where it is larger.
    ///
    /// Source: D. `McCarthy` and G. Smyth, "Testing significance relative to a fold-change threshold
    /// is a TREAT", Bioinformatics 25 (2009).
    pub fn p_beyond(&self, margin: f64) -> f64 {
        let size = self.difference.abs();
        self.upper_tail(size - margin) + self.upper_tail(size + margin)
    }

    /// The p-value of "the difference is `margin` or more, one way or the other": small where it is
    /// less both ways, by two one-sided tests (D. Schuirmann 1987).
    pub fn p_within(&self, margin: f64) -> f64 {
        self.upper_tail(margin - self.difference.abs())
    }

    /// The probability of exceeding `distance` by chance.
    fn upper_tail(&self, distance: f64) -> f64 {
        if self.standard_error > 0.0 {
            t_upper_tail(distance / self.standard_error, self.degrees)
        } else if distance > 0.0 {
            0.0
        } else {
            1.0
        }
    }
}

/// The second derivative of ln Γ for positive arguments: by recurrence up to where the asymptotic
/// series holds (Abramowitz and Stegun, 6.4.6 and 6.4.12).
fn trigamma(mut x: f64) -> f64 {
    let mut sum = 0.0;
    while x < 15.0 {
        sum += x.powi(-2);
        x += 1.0;
    }
    let y = x.powi(-2);
    let series =
        1.0 / 6.0 - y * (1.0 / 30.0 - y * (1.0 / 42.0 - y * (1.0 / 30.0 - y * 5.0 / 66.0)));
    sum + 1.0 / x + y / 2.0 + y / x * series
}

/// The third derivative of ln Γ for positive arguments (6.4.6 and 6.4.13).
fn tetragamma(mut x: f64) -> f64 {
    let mut sum = 0.0;
    while x < 15.0 {
        sum -= 2.0 * x.powi(-3);
        x += 1.0;
    }
    let y = x.powi(-2);
    let series = 0.5 - y * (1.0 / 6.0 - y * (1.0 / 6.0 - y * (3.0 / 10.0 - y * 5.0 / 6.0)));
    sum - y - y / x - y * y * series
}

/// The argument at which [`trigamma`] is `value`, by Newton's method on its reciprocal, which is
/// nearly straight (Smyth 2004, appendix).
fn trigamma_inverse(value: f64) -> f64 {
    const STEPS: usize = 50;
    if value > 1e7 {
        return 1.0 / value.sqrt();
    }
    if value < 1e-6 {
        return 1.0 / value;
    }
    let mut x = 0.5 + 1.0 / value;
    for _ in 0..STEPS {
        let at = trigamma(x);
        let step = at * (1.0 - at / value) / tetragamma(x);
        x += step;
        if -step / x < 1e-12 {
            break;
        }
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    fn assert_close(ours: f64, exact: f64) {
        assert!((ours / exact - 1.0).abs() < 1e-12, "{ours} for {exact}");
    }

    #[test]
    fn derivatives_of_the_gamma_function_where_they_are_known() {
        const APERY: f64 = 1.202_056_903_159_594_2;
        assert_close(trigamma(1.0), PI * PI / 6.0);
        assert_close(trigamma(0.5), PI * PI / 2.0);
        assert_close(tetragamma(1.0), -2.0 * APERY);
        assert_close(tetragamma(0.5), -14.0 * APERY);
    }

    #[test]
    fn the_inverse_leads_back() {
        for x in [0.01, 0.5, 1.0, 3.7, 40.0, 1e5] {
            let there_and_back = trigamma_inverse(trigamma(x));
            assert!(
                (there_and_back / x - 1.0).abs() < 1e-6,
                "{x}: {there_and_back}"
            );
        }
    }

    #[test]
    fn a_single_contrast_keeps_its_variance() {
        let contrast = Contrast {
            difference: 0.1,
            variance: 0.04,
            degrees: 4.0,
            factor: 1.0,
        };
        let prior = prior(&[contrast]).unwrap();
        let moderated = moderate(&[contrast], prior)[0];
        assert!((moderated.standard_error - 0.2).abs() < 1e-12);
        assert!((moderated.degrees - 4.0).abs() < 1e-12);
    }

    #[test]
    fn what_has_no_degrees_of_freedom_has_no_prior() {
        let contrast = Contrast {
            difference: 0.1,
            variance: 0.0,
            degrees: 0.0,
            factor: 1.0,
        };
        assert_eq!(prior(&[contrast, contrast]), None);
        assert_eq!(prior(&[]), None);
    }

    #[test]
    fn values_without_any_spread_are_decided_by_their_distance() {
        let exact = Moderated {
            difference: 0.05,
            standard_error: 0.0,
            degrees: 4.0,
        };
        assert!(exact.p_beyond(0.02) < 1e-12 && exact.p_within(0.02) > 0.99);
        assert!(exact.p_beyond(0.07) > 0.99 && exact.p_within(0.07) < 1e-12);
    }
}
