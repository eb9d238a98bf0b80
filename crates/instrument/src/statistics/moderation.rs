//! Moderated variances: with two or three sessions a side, the variance of a single metric is
//! hardly known, but hundreds of metrics together show the typical variance.
//!
//! Variances differ between metrics: a metric whose processes differ by 10 % within a session also
//! differs more between sessions than a metric whose processes agree to 0.1 %. So if the variance
//! within sessions is known, the prior is a line through the logarithms of both variances, and each
//! metric is drawn towards the variance of equally noisy metrics.
//!
//! Source: G. Smyth, "Linear models and empirical Bayes methods for assessing differential
//! expression in microarray experiments", Statistical Applications in Genetics and Molecular
//! Biology 3 (2004), as limma's `fitFDist` and `squeezeVar` compute it; the line as in M. Sartor and
//! others, "Intensity-based hierarchical Bayes method improves testing for differentially expressed
//! genes in microarray experiments", BMC Bioinformatics 7 (2006), where it is a curve over the
//! intensity.

use super::Interval;
use super::bisection::bisect;
use super::linear::weighted_line;
use super::student::{t_quantile, t_upper_tail};
use super::summary::{all_finite, mean, median};
use statrs::function::gamma::digamma;

/// With fewer contrasts, no line is fitted.
const LEAST_FOR_LINE: usize = 8;

/// An estimated variance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Variance {
    /// The estimate.
    pub value: f64,
    /// Its degrees of freedom; more than zero.
    pub degrees: f64,
}

/// A difference of two means whose standard error is `√variance · factor`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contrast {
    /// The difference; for ratios, the difference of the logarithms.
    pub difference: f64,
    /// The variance of one value.
    pub variance: Variance,
    /// The part of the variance that is known from within the sessions: the variance of a value if
    /// sessions did not differ. More than zero; `None` if unknown.
    pub within: Option<Variance>,
    /// `√(1/n₁ + 1/n₂)` for means of n₁ and n₂ values.
    pub factor: f64,
}

/// The common distribution of the variances of all contrasts: `variance · degrees / χ²(degrees)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prior {
    /// The logarithm of the typical variance, Smyth's s₀², at the typical variance within sessions.
    level: f64,
    /// Its slope over the logarithm of the variance within sessions, from 0 to 1.
    slope: f64,
    /// The typical logarithm of the variance within sessions.
    centre: f64,
    /// Weight of the prior in degrees of freedom, Smyth's d₀: zero if the variances have nothing in
    /// common, infinite if all lie on the line.
    pub degrees: f64,
}

/// A contrast whose variance was drawn towards the prior's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moderated {
    /// The difference, unchanged.
    pub difference: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// Degrees of freedom of the standard error.
    pub degrees: f64,
}

/// The prior that fits the variances of `contrasts`, by the method of moments on their logarithms
/// (Smyth 2004, section 6.2); around a line if all variances within sessions are known.
///
/// `None` without contrasts, or if one has no degrees of freedom or is not a number.
pub fn prior(contrasts: &[Contrast]) -> Option<Prior> {
    let variances: Vec<f64> = contrasts.iter().map(|c| c.variance.value).collect();
    let degrees: Vec<f64> = contrasts.iter().map(|c| c.variance.degrees).collect();
    let positive = degrees.iter().all(|degrees| *degrees > 0.0);
    if !positive || !all_finite(&variances) || !all_finite(&degrees) {
        return None;
    }
    if let [variance] = variances[..] {
        return Some(Prior {
            level: variance.ln(),
            slope: 0.0,
            centre: 0.0,
            degrees: 0.0,
        });
    }
    // Variances of zero have no logarithm. As in limma, they are replaced by a small value.
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
    let line = line_over_noise(contrasts, &logarithms);
    let (slope, centre) = line.unwrap_or_default();
    let level = mean(&logarithms)?;
    let squares: f64 = contrasts
        .iter()
        .zip(&logarithms)
        .map(|(contrast, e)| (e - level - slope * contrast.noise(centre)).powi(2))
        .sum();
    let fitted = if line.is_some() { 2 } else { 1 };
    let sampling: Vec<f64> = degrees
        .iter()
        .map(|degrees| trigamma(degrees / 2.0))
        .collect();
    let excess = squares / (logarithms.len() - fitted) as f64 - mean(&sampling)?;
    let (level, degrees) = if excess > 0.0 {
        let half = trigamma_inverse(excess);
        (level + digamma(half) - half.ln(), 2.0 * half)
    } else if line.is_some() {
        (level, f64::INFINITY)
    } else {
        (mean(&variances)?.ln(), f64::INFINITY)
    };
    Some(Prior {
        level,
        slope,
        centre,
        degrees,
    })
}

/// The slope of the least-squares line of variances between sessions over variances within sessions, both as
/// logarithms, and the mean of the latter; `None` if too few variances within sessions are known, or if one is
/// unknown.
fn line_over_noise(contrasts: &[Contrast], logarithms: &[f64]) -> Option<(f64, f64)> {
    let noise = contrasts.iter().map(|contrast| contrast.within);
    let noise: Option<Vec<f64>> = noise.map(|within| Some(within?.value.ln())).collect();
    let noise = noise.filter(|noise| noise.len() >= LEAST_FOR_LINE)?;
    let line = weighted_line(&noise, logarithms, &vec![1.0; noise.len()])?;
    Some((line.slope.centre.clamp(0.0, 1.0), mean(&noise)?))
}

impl Contrast {
    /// Logarithm of the noise within sessions relative to the typical noise.
    fn noise(&self, centre: f64) -> f64 {
        self.within.map_or(0.0, |within| within.value.ln() - centre)
    }
}

impl Prior {
    /// The typical variance of equally noisy contrasts.
    pub fn variance(&self, contrast: &Contrast) -> f64 {
        (self.level + self.slope * contrast.noise(self.centre)).exp()
    }
}

/// Moderates the variances of `contrasts` by `prior`: the posterior variance is `(d₀ s₀² + d s²) /
/// (d₀ + d)` with d₀ + d degrees of freedom, but never more degrees than all contrasts have
/// together.
pub fn moderate(contrasts: &[Contrast], prior: Prior) -> Vec<Moderated> {
    let together: f64 = contrasts.iter().map(|c| c.variance.degrees).sum();
    let moderated = |contrast: &Contrast| {
        let own = contrast.variance;
        let typical = prior.variance(contrast);
        let value = if prior.degrees.is_infinite() {
            typical
        } else {
            (prior.degrees * typical + own.degrees * own.value) / (prior.degrees + own.degrees)
        };
        contrast.with(Variance {
            value,
            degrees: (own.degrees + prior.degrees).min(together),
        })
    };
    contrasts.iter().map(moderated).collect()
}

impl Contrast {
    /// The contrast's difference with the standard error of `variance`.
    fn with(&self, variance: Variance) -> Moderated {
        Moderated {
            difference: self.difference,
            standard_error: variance.value.sqrt() * self.factor,
            degrees: variance.degrees,
        }
    }

    /// `moderated`, or a larger variance if the contrast's own variance or its variance within
    /// sessions is larger. The prior may raise a metric's variance but never lower it, so a metric
    /// with unusually large variance raises no false alarm.
    pub fn at_least_its_own(&self, moderated: Moderated) -> Moderated {
        self.at_least(Some(self.variance), self.at_least_within(moderated))
    }

    /// `moderated`, or the contrast's variance within sessions if that is larger.
    pub fn at_least_within(&self, moderated: Moderated) -> Moderated {
        self.at_least(self.within, moderated)
    }

    fn at_least(&self, variance: Option<Variance>, moderated: Moderated) -> Moderated {
        let other = variance.map(|variance| self.with(variance));
        let is_larger = |other: &Moderated| other.standard_error > moderated.standard_error;
        other.filter(is_larger).unwrap_or(moderated)
    }
}

/// The variance of a sum of independent parts. Its degrees of freedom follow F. Satterthwaite, "An
/// approximate distribution of estimates of variance components", Biometrics Bulletin 2 (1946).
/// `None` without parts, or if all variances are zero.
pub fn sum(parts: &[Variance]) -> Option<Variance> {
    let value: f64 = parts.iter().map(|part| part.value).sum();
    let shares = parts
        .iter()
        .map(|part| (part.value / value).powi(2) / part.degrees);
    (value > 0.0).then(|| Variance {
        value,
        degrees: 1.0 / shares.sum::<f64>(),
    })
}

impl Moderated {
    /// Student's t interval of the difference.
    pub fn interval(&self) -> Option<Interval> {
        let reach = t_quantile(self.degrees)? * self.standard_error;
        Interval::new(self.difference - reach, self.difference + reach)
    }

    /// The p-value of "the difference is at most `margin` in either direction": small if it is
    /// larger.
    ///
    /// Source: D. `McCarthy` and G. Smyth, "Testing significance relative to a fold-change threshold
    /// is a TREAT", Bioinformatics 25 (2009).
    pub fn p_beyond(&self, margin: f64) -> f64 {
        let size = self.difference.abs();
        self.upper_tail(size - margin) + self.upper_tail(size + margin)
    }

    /// The p-value of "the difference is `margin` or more in either direction": small if it is less
    /// in both directions, by two one-sided tests (D. Schuirmann 1987).
    pub fn p_within(&self, margin: f64) -> f64 {
        self.upper_tail(margin - self.difference.abs())
    }

    /// The probability of a value above `distance` by chance.
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

/// The argument at which [`trigamma`] is `value`; it falls.
fn trigamma_inverse(value: f64) -> f64 {
    /// From 1e-15 to 1e15: beyond these, degrees of freedom are as good as none or infinite.
    const LOGARITHMS: Interval = Interval {
        low: -35.0,
        high: 35.0,
    };
    bisect(LOGARITHMS, 50, |logarithm| {
        trigamma(logarithm.exp()) > value
    })
    .exp()
}

#[cfg(test)]
mod tests {
    use super::{trigamma, trigamma_inverse, *};
    use std::f64::consts::PI;

    fn contrast(value: f64, degrees: f64) -> Contrast {
        Contrast {
            difference: 0.1,
            variance: Variance { value, degrees },
            within: None,
            factor: 1.0,
        }
    }

    #[test]
    fn a_single_contrast_keeps_its_variance() {
        let contrast = contrast(0.04, 4.0);
        let prior = prior(&[contrast]).unwrap();
        let moderated = moderate(&[contrast], prior)[0];
        assert!((moderated.standard_error - 0.2).abs() < 1e-12);
        assert!((moderated.degrees - 4.0).abs() < 1e-12);
    }

    #[test]
    fn a_metric_is_drawn_towards_those_that_are_as_noisy() {
        let noisy = |index: i32| Contrast {
            within: Some(Variance {
                value: f64::from(4 << index),
                degrees: 30.0,
            }),
            ..contrast(f64::from(8 << index), 4.0)
        };
        let contrasts: Vec<Contrast> = (0..12).map(noisy).collect();
        let prior = prior(&contrasts).unwrap();
        let ratios = contrasts
            .iter()
            .map(|contrast| prior.variance(contrast) / contrast.variance.value);
        let ratios: Vec<f64> = ratios.collect();
        assert!(prior.degrees.is_infinite());
        assert!(
            ratios
                .iter()
                .all(|ratio| (ratio / ratios[0] - 1.0).abs() < 1e-9)
        );
        // Without variances within sessions, all are drawn towards one variance.
        let alike: Vec<Contrast> = (0..12)
            .map(|index| contrast(f64::from(8 << index), 4.0))
            .collect();
        let flat = super::prior(&alike).unwrap();
        assert!(flat.degrees.is_finite());
        assert!((flat.variance(&alike[0]) / flat.variance(&alike[11]) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_common_variance_adds_to_what_a_metric_shows_and_never_takes() {
        let calm = Moderated {
            difference: 0.1,
            standard_error: 0.1,
            degrees: 9.0,
        };
        let wild = contrast(0.04, 4.0);
        assert!((wild.at_least_its_own(calm).degrees - 4.0).abs() < 1e-12);
        let steady = contrast(0.0001, 4.0);
        assert_eq!(steady.at_least_its_own(calm), calm);
        let noisy_within = Contrast {
            within: Some(Variance {
                value: 0.09,
                degrees: 30.0,
            }),
            ..wild
        };
        assert!((noisy_within.at_least_its_own(calm).standard_error - 0.3).abs() < 1e-12);
    }

    #[test]
    fn a_sum_has_the_degrees_of_its_largest_part_at_least() {
        let part = |value, degrees| Variance { value, degrees };
        let equal = sum(&[part(1.0, 4.0), part(1.0, 4.0)]).unwrap();
        assert!((equal.value - 2.0).abs() < 1e-12 && (equal.degrees - 8.0).abs() < 1e-12);
        let lopsided = sum(&[part(1.0, 4.0), part(1e-9, 1.0)]).unwrap();
        assert!((lopsided.degrees - 4.0).abs() < 1e-6);
        assert_eq!(sum(&[]), None);
        assert_eq!(sum(&[part(0.0, 4.0)]), None);
    }

    #[test]
    fn what_has_no_degrees_of_freedom_has_no_prior() {
        let contrast = contrast(0.0, 0.0);
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

    #[test]
    fn the_trigamma_function_has_the_values_that_are_known() {
        for (ours, exact) in [
            (trigamma(1.0), PI * PI / 6.0),
            (trigamma(0.5), PI * PI / 2.0),
        ] {
            assert!((ours / exact - 1.0).abs() < 1e-12, "{ours} for {exact}");
        }
    }

    #[test]
    fn the_inverse_of_trigamma_leads_back() {
        for x in [0.01, 0.5, 1.0, 3.7, 40.0, 1e5] {
            let there_and_back = trigamma_inverse(trigamma(x));
            assert!(
                (there_and_back / x - 1.0).abs() < 1e-6,
                "{x}: {there_and_back}"
            );
        }
    }
}
