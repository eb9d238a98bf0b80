//! Sessions that differ by far more than their own errors allow.
//!
//! Few sessions say little about the spread between sessions, and one session in a bad mode makes that
//! spread so large that no test of means decides anything. The error that each session knows of its own
//! value settles such cases without the spread.

use super::moderation::Variance;
use super::student::t_quantile;
use super::{Confidence, Interval};

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
        let half_width = t_quantile(Confidence::NINETY_FIVE, degrees)? * deviation;
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
    use super::*;

    /// Sessions whose joint half-width is 1 % at `width` 1.
    fn sessions(values: &[f64], width: f64) -> Vec<Session> {
        let t = t_quantile(Confidence::NINETY_FIVE, 9.0).unwrap();
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
