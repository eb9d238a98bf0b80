//! Verdicts on pairs of values.

use super::Question;
use super::pair::Pair;
use super::row::{Basis, Remedy, Row, Value, Verdict};
use super::sessions::Sessions;
use instrument::statistics::discovery::adjusted;
use instrument::statistics::moderation::Moderated;
use instrument::statistics::sessions::{Metric, differences, far_apart};
use instrument::statistics::summary::mean;
use instrument::statistics::{Interval, student};

/// False discovery rate among the differences, and among the equivalences.
pub(crate) const FALSE_DISCOVERY_RATE: f64 = 0.05;
/// Fewer sessions give no margin: the spread of two is little more than a guess.
const LEAST_BASELINE: usize = 3;
/// More sessions than this are not practical to decide a row.
const MOST_SESSIONS: usize = 50;
/// Fewer sessions would not be credible.
const LEAST_SESSIONS: usize = 3;

/// Source of the spread of a comparison.
pub(super) fn basis(question: &Question<'_>) -> Basis {
    let sessions = |side: &super::Side| side.runs.len();
    let baseline = question.baseline.map_or(0, sessions);
    if question.a.is_reported() || question.b.is_reported() {
        Basis::Unknown
    } else if sessions(question.a) > 1 || sessions(question.b) > 1 || baseline > 1 {
        Basis::Sessions
    } else {
        Basis::Processes
    }
}

/// The rows of all `pairs`, in their order. Differences are not comparable unless the conditions of the
/// sides are alike.
pub(super) fn rows(
    pairs: Vec<Pair<'_>>,
    basis: Basis,
    margin: f64,
    is_alike: bool,
) -> Vec<Row<'_>> {
    let margins: Vec<f64> = pairs.iter().map(|pair| pair.margin(margin)).collect();
    let moderated = moderated(&pairs, basis);
    let tested = |p: fn(&Moderated, f64) -> f64| {
        let known = moderated.iter().zip(&margins);
        let known = known.filter_map(|(found, margin)| Some(p(found.as_ref()?, *margin)));
        adjusted(&known.collect::<Vec<_>>()).into_iter()
    };
    let mut beyond = tested(Moderated::p_beyond);
    let mut within = tested(Moderated::p_within);
    let rows = pairs.into_iter().zip(&moderated).zip(&margins);
    rows.map(|((pair, moderated), margin)| {
        let tests = moderated.as_ref().and_then(|found| {
            Some(Tests {
                found,
                beyond: beyond.next()?,
                within: within.next()?,
                margin: *margin,
            })
        });
        pair.row(tests.as_ref(), basis, *margin, is_alike)
    })
    .collect()
}

/// Test results of one row.
struct Tests<'m> {
    found: &'m Moderated,
    /// Adjusted p-value of "no more than the margin".
    beyond: f64,
    /// Adjusted p-value of "no less than the margin".
    within: f64,
    /// On the logarithmic scale.
    margin: f64,
}

/// The differences with their spreads; `None` for rows without information on their spread.
fn moderated(pairs: &[Pair<'_>], basis: Basis) -> Vec<Option<Moderated>> {
    let metrics: Vec<Metric> = pairs.iter().map(|pair| pair.metric(basis)).collect();
    let by_spread = differences(&metrics).into_iter();
    let rows = by_spread.zip(pairs).map(|(by_spread, pair)| match basis {
        Basis::Processes => pair.predicted(),
        _ => by_spread,
    });
    rows.collect()
}

impl<'a> Pair<'a> {
    /// The logarithm of the second side's improvement.
    fn difference(&self) -> Option<f64> {
        Some(mean(&self.b.merits)? - mean(&self.a.merits)?)
    }

    /// The difference of two sessions, each of which predicts the value of another: its interval
    /// leaves out 1 where neither predicted the other.
    fn predicted(&self) -> Option<Moderated> {
        let ([ours], [theirs]) = (&self.a.errors[..], &self.b.errors[..]) else {
            return None;
        };
        Some(Moderated {
            difference: self.difference()?,
            standard_error: (ours.value + theirs.value).sqrt(),
            degrees: ours.degrees.min(theirs.degrees),
        })
    }

    fn is_thin(&self) -> bool {
        self.a.is_thin() || self.b.is_thin()
    }

    /// The input for estimating its spread.
    fn metric(&self, basis: Basis) -> Metric {
        let Self { a, b, .. } = self;
        let group = self.definition.group().to_owned();
        match basis {
            Basis::Sessions if !self.is_thin() => {
                let sides = [a, b, &self.baseline];
                Metric {
                    family: group,
                    errors: sides.iter().flat_map(|side| side.errors.clone()).collect(),
                    sides: sides.map(|side| side.merits.clone()),
                }
            }
            _ => Metric::default(),
        }
    }

    /// The larger of the requested margin and the difference that this many sessions of an
    /// unchanged machine stay within in 95 of 100 cases; on the logarithmic scale.
    fn margin(&self, asked: f64) -> f64 {
        let asked = asked.ln_1p();
        let baseline = &self.baseline.merits;
        if baseline.len() < LEAST_BASELINE {
            return asked;
        }
        let counts = 1.0 / self.a.merits.len() as f64 + 1.0 / self.b.merits.len() as f64;
        let floor = student::mean_estimate(baseline)
            .and_then(|mean| mean.interval)
            .map(|interval| interval.half_width() * (baseline.len() as f64 * counts).sqrt());
        floor.map_or(asked, |floor| asked.max(floor))
    }

    /// The range of the differences of sessions, if they are so far apart that the spread between
    /// sessions does not matter.
    fn distance(&self, basis: Basis, margin: f64) -> Option<Interval> {
        let range = far_apart(&self.a.with_errors(), &self.b.with_errors())?;
        let is_beyond = range.low > margin || range.high < -margin;
        (basis == Basis::Sessions && is_beyond).then_some(range)
    }

    fn row(self, tests: Option<&Tests<'_>>, basis: Basis, margin: f64, is_alike: bool) -> Row<'a> {
        let sessions = self.a.merits.len().min(self.b.merits.len());
        let (verdict, remedy) = match tests {
            Some(tests) => tests.verdict(basis, sessions),
            None if basis == Basis::Unknown => (Verdict::Untested, None),
            None => (Verdict::Inconclusive, Some(Remedy::Spread)),
        };
        let distance = match verdict {
            Verdict::Inconclusive => self.distance(basis, margin),
            _ => None,
        };
        let verdict = match distance {
            Some(range) if range.low > 0.0 => Verdict::Faster,
            Some(_) => Verdict::Slower,
            None => verdict,
        };
        let by_tests = tests.and_then(|tests| tests.found.interval());
        Row {
            ratio: self.difference().map_or(f64::NAN, f64::exp),
            interval: (distance.or(by_tests)).and_then(|ends| ends.map(f64::exp)),
            margin: margin.exp_m1(),
            adjusted_p: tests
                .filter(|_| basis == Basis::Sessions)
                .map(|tests| tests.beyond),
            verdict: match verdict {
                Verdict::Faster | Verdict::Slower if !is_alike => Verdict::NotComparable,
                verdict => verdict,
            },
            remedy: remedy.filter(|_| verdict == Verdict::Inconclusive),
            doubtful: self.a.doubtful || self.b.doubtful,
            left_out: self.a.left_out + self.b.left_out,
            definition: self.definition,
            point: self.point,
            other_point: self.other_point,
            metric: self.metric,
            a: self.a.into(),
            b: self.b.into(),
        }
    }
}

impl From<Sessions> for Value {
    fn from(sessions: Sessions) -> Self {
        let logarithms: Vec<f64> = sessions.values.iter().map(|value| value.ln()).collect();
        Self {
            centre: mean(&logarithms).map_or(f64::NAN, f64::exp),
            sessions: sessions.values,
        }
    }
}

impl Tests<'_> {
    fn verdict(&self, basis: Basis, sessions: usize) -> (Verdict, Option<Remedy>) {
        if basis != Basis::Sessions {
            (Verdict::Inconclusive, Some(Remedy::Spread))
        } else if self.beyond <= FALSE_DISCOVERY_RATE && self.found.difference > 0.0 {
            (Verdict::Faster, None)
        } else if self.beyond <= FALSE_DISCOVERY_RATE {
            (Verdict::Slower, None)
        } else if self.within <= FALSE_DISCOVERY_RATE {
            (Verdict::Equivalent, None)
        } else {
            (Verdict::Inconclusive, Some(self.remedy(sessions)))
        }
    }

    /// Number of sessions on each side that brings the distance from the margin to 2.8 standard
    /// errors: 1.96 for the test plus 0.84 for a power of 80 %.
    fn remedy(&self, sessions: usize) -> Remedy {
        const STANDARD_ERRORS: f64 = 2.8;
        let distance = (self.found.difference.abs() - self.margin).abs();
        let factor = (2.0 / sessions as f64).sqrt();
        let deviation = self.found.standard_error / factor;
        let needed = 2.0 * (STANDARD_ERRORS * deviation / distance).powi(2);
        if needed > MOST_SESSIONS as f64 || needed.is_nan() {
            return Remedy::AtTheMargin;
        }
        let least = LEAST_SESSIONS.max(sessions + 1);
        Remedy::Sessions(least.max(needed.ceil() as usize))
    }
}
