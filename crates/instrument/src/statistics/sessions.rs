//! The differences between two sides over many metrics, each measured in a few sessions.
//!
//! The model of a session value is a sum: the level of its side, the *mood* of the session, which a
//! family of metrics shares (a warm room, a busy neighbour), and the value's own deviation.
//!
//! A session itself shows a part of its own deviation: the error estimated from its processes.
//! Three sessions a side may agree better than that by chance. The additional variance between
//! sessions is learnt from all metrics, where metrics with similar noise within a session weigh
//! most ([`moderation`](super::moderation)). The spread of a metric is the largest of three values:
//! the variance of its own sessions, the moderated variance, and its error within sessions.
//!
//! The mood is not learnt from all metrics, since a hundred metrics in one session share a single
//! mood. `tests/suite/statistics/moderation.rs` simulates machines with all of these effects.
//!
//! Few sessions say little about the spread between sessions, and one session in a bad mode makes that
//! spread so large that no test of means decides anything. The error that each session knows of its own
//! value settles such cases without the spread:
//! [`far_apart`] and [`bad_session`].

use super::Interval;
use super::moderation::{Contrast, Moderated, Variance, moderate, prior, sum};
use super::student::t_quantile;
use super::summary::{mean, median};
use std::collections::BTreeMap;

/// In smaller families, the mood cannot be separated from the metrics' own deviations.
const LEAST_FAMILY: usize = 8;

/// One metric in all sessions, on a scale of differences (logarithms for ratios).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metric {
    /// Metrics of one family share the mood of a session.
    pub family: String,
    /// The sessions of the first side, of the second side, and of a baseline that is not compared
    /// but adds to the spread. Any may be empty; without both sides there is no difference.
    pub sides: [Vec<f64>; 3],
    /// The variance of each of these sessions estimated from its own processes, in any order; empty
    /// if unknown.
    pub errors: Vec<Variance>,
}

/// The difference of the second side from the first for each metric, with its spread; `None` if a
/// side is missing or no spread is known.
pub fn differences(metrics: &[Metric]) -> Vec<Option<Moderated>> {
    let moods = moods(metrics);
    let found: Vec<(Option<&Mood>, Option<Contrast>)> = metrics
        .iter()
        .map(|metric| {
            let mood = moods.get(&metric.key());
            (mood, metric.contrast(mood))
        })
        .collect();
    let known: Vec<Contrast> = found.iter().filter_map(|(_, contrast)| *contrast).collect();
    let Some(prior) = prior(&known) else {
        return vec![None; metrics.len()];
    };
    let mut moderated = moderate(&known, prior).into_iter();
    found
        .into_iter()
        .map(|(mood, contrast)| {
            let contrast = contrast?;
            let own = contrast.at_least_its_own(moderated.next()?);
            Some(mood.map_or(own, |mood| mood.added_to(own, contrast.factor)))
        })
        .collect()
}

/// The common deviation of a family's metrics in each session.
#[derive(Clone, Debug)]
struct Mood {
    sides: [Vec<f64>; 3],
    variance: Variance,
}

/// A family, and the number of sessions of its metrics on each side.
type Key<'m> = (&'m str, [usize; 3]);

/// The moods of all families with enough metrics.
fn moods(metrics: &[Metric]) -> BTreeMap<Key<'_>, Mood> {
    let mut families: BTreeMap<Key<'_>, Vec<&Metric>> = BTreeMap::new();
    for metric in metrics {
        families.entry(metric.key()).or_default().push(metric);
    }
    families
        .into_iter()
        .filter(|(_, members)| members.len() >= LEAST_FAMILY)
        .filter_map(|(key, members)| Some((key, Mood::of(&members)?)))
        .collect()
}

impl Metric {
    fn key(&self) -> Key<'_> {
        (
            &self.family,
            std::array::from_fn(|side| self.sides[side].len()),
        )
    }

    /// The deviations of the sessions from the mean of their side.
    fn deviations(&self, side: usize) -> Vec<f64> {
        let centre = mean(&self.sides[side]).unwrap_or(0.0);
        self.sides[side]
            .iter()
            .map(|value| value - centre)
            .collect()
    }

    fn contrast(&self, mood: Option<&Mood>) -> Option<Contrast> {
        let mut squares = 0.0;
        for side in 0..self.sides.len() {
            for (session, deviation) in self.deviations(side).into_iter().enumerate() {
                let shared = mood.map_or(0.0, |mood| mood.sides[side][session]);
                squares += (deviation - shared).powi(2);
            }
        }
        let degrees = degrees(&self.sides);
        let [first, second, _] = &self.sides;
        let difference = mean(second)? - mean(first)?;
        (degrees > 0.0).then_some(Contrast {
            difference,
            variance: Variance {
                value: squares / degrees,
                degrees,
            },
            within: self.error(),
            factor: (1.0 / first.len() as f64 + 1.0 / second.len() as f64).sqrt(),
        })
    }

    /// The variance of a session estimated from its own processes: the mean over the sessions.
    fn error(&self) -> Option<Variance> {
        let all = sum(&self.errors)?;
        Some(Variance {
            value: all.value / self.errors.len() as f64,
            ..all
        })
    }
}

impl Mood {
    /// For each session, the median over `members` of the deviation from the mean of its side. It
    /// is centred again, so that it removes no difference between the sides.
    fn of(members: &[&Metric]) -> Option<Self> {
        let mut sides: [Vec<f64>; 3] = Default::default();
        for (side, moods) in sides.iter_mut().enumerate() {
            let deviations: Vec<Vec<f64>> = members
                .iter()
                .map(|metric| metric.deviations(side))
                .collect();
            for session in 0..deviations.first()?.len() {
                let all: Vec<f64> = deviations.iter().map(|of| of[session]).collect();
                moods.push(median(&all)?);
            }
            let centre = mean(moods).unwrap_or(0.0);
            for mood in &mut *moods {
                *mood -= centre;
            }
        }
        let degrees = degrees(&sides);
        let squares: f64 = sides.iter().flatten().map(|mood| mood.powi(2)).sum();
        (degrees > 0.0).then_some(Self {
            variance: Variance {
                value: squares / degrees,
                degrees,
            },
            sides,
        })
    }

    /// `own` with the spread of the mood added.
    fn added_to(&self, own: Moderated, factor: f64) -> Moderated {
        let shared = Variance {
            value: self.variance.value * factor.powi(2),
            ..self.variance
        };
        let alone = Variance {
            value: own.standard_error.powi(2),
            degrees: own.degrees,
        };
        sum(&[shared, alone]).map_or(own, |both| Moderated {
            standard_error: both.value.sqrt(),
            degrees: both.degrees,
            ..own
        })
    }
}

fn degrees(sides: &[Vec<f64>; 3]) -> f64 {
    sides
        .iter()
        .map(|side| side.len().saturating_sub(1))
        .sum::<usize>() as f64
}

/// A difference of more joint intervals than this is none of chance, whatever the spread between sessions.
const FAR: f64 = 10.0;

/// With fewer sessions on a side, none of them can be called bad.
const LEAST_SESSIONS: usize = 3;

/// The value of a session, larger is better, and its variance as estimated from the session alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Session {
    /// On a scale of differences: logarithms for ratios.
    pub value: f64,
    /// Its variance and the degrees of freedom of that.
    pub error: Variance,
}

impl Session {
    /// The difference of `other` from this session, in half-widths of the joint 95 % interval.
    fn distance_to(&self, other: &Self) -> Option<f64> {
        let degrees = self.error.degrees.min(other.error.degrees);
        let deviation = (self.error.value + other.error.value).sqrt();
        let half_width = t_quantile(degrees)? * deviation;
        (half_width > 0.0).then(|| (other.value - self.value) / half_width)
    }
}

/// The range of the differences of `second` from `first`, if each session of the one is far from each of
/// the other in the same direction; `None` else.
pub fn far_apart(first: &[Session], second: &[Session]) -> Option<Interval> {
    let pairs = || {
        first
            .iter()
            .flat_map(|a| second.iter().map(move |b| (a, b)))
    };
    let distances: Option<Vec<f64>> = pairs().map(|(a, b)| a.distance_to(b)).collect();
    let distances = distances.filter(|distances| !distances.is_empty())?;
    let is_far = distances.iter().all(|distance| *distance > FAR)
        || distances.iter().all(|distance| *distance < -FAR);
    let differences = || pairs().map(|(a, b)| b.value - a.value);
    let low = differences().reduce(f64::min)?;
    let high = differences().reduce(f64::max)?;
    is_far.then(|| Interval::new(low, high)).flatten()
}

/// The index of the one session that is far worse than all others of its side, which agree with each
/// other; `None` if there is none, or too few sessions to tell.
///
/// A session that is far better stays: the others may be the disturbed ones.
pub fn bad_session(sessions: &[Session]) -> Option<usize> {
    if sessions.len() < LEAST_SESSIONS {
        return None;
    }
    let (worst, bad) =
        (sessions.iter().enumerate()).min_by(|(_, a), (_, b)| a.value.total_cmp(&b.value))?;
    let others: Vec<&Session> = (sessions.iter().enumerate())
        .filter_map(|(index, session)| (index != worst).then_some(session))
        .collect();
    let is_apart = |other: &&Session| bad.distance_to(other).is_some_and(|it| it > FAR);
    let agrees = |(index, one): (usize, &&Session)| {
        let rest = others[index + 1..].iter();
        rest.clone()
            .all(|two| one.distance_to(two).is_some_and(|it| it.abs() <= 1.0))
    };
    let is_bad = others.iter().all(is_apart) && others.iter().enumerate().all(agrees);
    is_bad.then_some(worst)
}

#[cfg(test)]
mod tests {
    use super::{Metric, Variance, differences, *};

    fn metric(first: &[f64], second: &[f64]) -> Metric {
        Metric {
            family: "all".into(),
            sides: [first.to_vec(), second.to_vec(), Vec::new()],
            errors: Vec::new(),
        }
    }

    #[test]
    fn what_has_no_spread_or_no_other_side_has_no_difference() {
        let metrics = [
            metric(&[1.0], &[2.0]),
            metric(&[1.0, 1.1], &[]),
            metric(&[1.0, 1.1], &[2.0]),
        ];
        let found = differences(&metrics);
        assert!(found[0].is_none() && found[1].is_none());
        assert!((found[2].unwrap().difference - 0.95).abs() < 1e-12);
    }

    #[test]
    fn a_mood_that_all_share_widens_every_difference() {
        let alone: Vec<Metric> = (0..9)
            .map(|index| {
                let own = 0.001 * f64::from(index - 4);
                metric(&[-own, own, 0.0], &[own, 0.0, -own])
            })
            .collect();
        let moody: Vec<Metric> = alone
            .iter()
            .map(|metric| {
                let mut metric = metric.clone();
                for side in &mut metric.sides[..2] {
                    side[0] += 0.05;
                    side[1] -= 0.05;
                }
                metric
            })
            .collect();
        let (alone, moody) = (
            differences(&alone)[0].unwrap(),
            differences(&moody)[0].unwrap(),
        );
        assert!((alone.difference - moody.difference).abs() < 1e-12);
        assert!(moody.standard_error > 5.0 * alone.standard_error);
        assert!(moody.degrees < 6.0, "{moody:?}");
    }

    #[test]
    fn sessions_that_agree_by_chance_keep_the_error_within_them() {
        let known = Metric {
            errors: vec![
                Variance {
                    value: 0.01,
                    degrees: 4.0,
                };
                4
            ],
            ..metric(&[1.0, 1.001], &[1.2, 1.201])
        };
        let found = differences(&[known])[0].unwrap();
        assert!((found.standard_error - 0.1).abs() < 1e-9, "{found:?}");
        assert!((found.degrees - 16.0).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn a_baseline_shows_the_spread_of_single_sessions() {
        let metric = Metric {
            sides: [vec![0.0], vec![0.1], vec![0.5, 0.52, 0.48]],
            ..metric(&[], &[])
        };
        let found = differences(&[metric])[0].unwrap();
        assert!((found.degrees - 2.0).abs() < 1e-12);
        assert!((found.standard_error - 0.02 * 2.0_f64.sqrt()).abs() < 1e-9);
    }

    /// Sessions whose joint half-width is 1 % at `width` 1.
    fn sessions(values: &[f64], width: f64) -> Vec<Session> {
        let t = t_quantile(9.0).unwrap();
        let error = Variance {
            value: (0.01 * width / t).powi(2) / 2.0,
            degrees: 9.0,
        };
        let session = |value: &f64| Session {
            value: *value,
            error,
        };
        values.iter().map(session).collect()
    }

    #[test]
    fn far_apart_needs_each_pair_of_sessions() {
        let apart = |second: &[f64], width| {
            far_apart(&sessions(&[0.0, 0.001], width), &sessions(second, width))
        };
        let range = apart(&[0.2, 2.0, 0.7], 1.0).unwrap();
        assert_eq!((range.low, range.high), (0.199, 2.0));
        assert!(apart(&[-0.2, -2.0], 1.0).is_some_and(|range| range.high < 0.0));
        // One session too near, one in the other direction, one with a wide interval.
        assert_eq!(apart(&[0.2, 0.05], 1.0), None);
        assert_eq!(apart(&[0.2, -0.2], 1.0), None);
        assert_eq!(apart(&[0.2, 2.0], 2.0), None);
        assert_eq!(apart(&[], 1.0), None);
        // A variance of zero is an unknown one.
        assert_eq!(apart(&[0.2], 0.0), None);
    }

    #[test]
    fn a_bad_session_is_far_worse_than_others_that_agree() {
        let bad = |values: &[f64]| bad_session(&sessions(values, 1.0));
        assert_eq!(bad(&[0.0, -0.5, 0.005]), Some(1));
        assert_eq!(bad(&[0.0, 0.5, 0.005]), None, "a better one stays");
        assert_eq!(bad(&[0.0, -0.5, 0.02]), None, "the others differ");
        assert_eq!(bad(&[0.0, -0.05, 0.005]), None, "it is not far");
        assert_eq!(bad(&[0.0, -0.5]), None, "two cannot tell");
    }
}
