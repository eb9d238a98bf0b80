//! The verdict on a run: how many of its values are known how well, and how sure its findings are.

use crate::lists::counts;
use crate::{Analysis, show};
use instrument::finding::Grade;
use instrument::noise::Warning;
use instrument::quantity::counted;
use instrument::results::{self, Estimate, PointResult};
use schemars::JsonSchema;
use serde::Serialize;

/// The number of values and of findings of a run by how far they can be trusted. Each value and each
/// finding is counted once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Verdict {
    /// The relative half width that the profile asks for: 0.05 for ±5 %.
    pub target: f64,
    /// All values.
    pub values: usize,
    /// Sound values with an interval within the target, which no warning touches.
    pub at_target: usize,
    /// Sound values with a wider interval, or none, which no other warning touches.
    pub wider: usize,
    /// Sound values that a warning touches, other than that of their width.
    pub touched: usize,
    /// Values seen in too few processes or passes for an estimate.
    pub too_few: usize,
    /// Values smaller than the method resolves.
    pub below_resolution: usize,
    /// Values that contradict physics or themselves.
    pub broken: usize,
    /// Findings that are certain.
    pub certain: usize,
    /// Findings that are likely.
    pub likely: usize,
    /// Findings that the measurements do not decide.
    pub undecided: usize,
    /// True if the values are those that a publication printed.
    #[serde(skip)]
    pub reported: bool,
}

impl Verdict {
    /// The verdict on all values of a run.
    pub fn of(analysis: &Analysis<'_>) -> Self {
        let target = analysis.run.header.profile.precision().target;
        let mut verdict = Self {
            target,
            reported: analysis.run.header.is_reported(),
            ..Self::default()
        };
        for experiment in &analysis.experiments {
            for point in &experiment.points {
                for estimate in &point.estimates {
                    verdict.add(point, estimate);
                }
            }
            for finding in &experiment.findings {
                *match finding.grade {
                    Grade::Certain => &mut verdict.certain,
                    Grade::Likely => &mut verdict.likely,
                    Grade::Undecided => &mut verdict.undecided,
                } += 1;
            }
        }
        verdict
    }

    fn add(&mut self, point: &PointResult, estimate: &Estimate) {
        self.values += 1;
        let touches = |warning: &Warning| {
            !matches!(warning, Warning::TargetMissed { .. }) && warning.touches(&estimate.metric)
        };
        *match estimate.verdict {
            results::Verdict::Sound if point.warnings.iter().any(touches) => &mut self.touched,
            results::Verdict::Sound if estimate.is_within(self.target) => &mut self.at_target,
            results::Verdict::Sound => &mut self.wider,
            results::Verdict::TooFew => &mut self.too_few,
            results::Verdict::BelowResolution => &mut self.below_resolution,
            results::Verdict::Broken(_) => &mut self.broken,
        } += 1;
    }

    /// The verdict in plain words.
    pub fn text(&self) -> String {
        if self.values == 0 {
            return "Nothing was measured.".into();
        }
        if self.reported {
            return format!(
                "{} as printed. Their spread was not printed, so none has an interval.",
                counted(self.values, "value")
            );
        }
        let are = |count: usize| if count == 1 { "is" } else { "are" };
        let of_all = format!(
            "{} of {} {} known to ±{} % or better",
            self.at_target,
            counted(self.values, "value"),
            are(self.at_target),
            self.target_percent()
        );
        let rest = counts([
            (self.wider, format!("{} wider", are(self.wider))),
            (self.touched, "touched by a warning".into()),
            (self.too_few, "seen too seldom for an estimate".into()),
            (
                self.below_resolution,
                "below the resolution of the method".into(),
            ),
            (self.broken, "broken".into()),
        ]);
        let separator = if rest.is_empty() { "" } else { "; " };
        format!("{of_all}{separator}{rest}.{}", self.of_findings())
    }

    /// The most important of it in one line.
    pub fn line(&self) -> String {
        if self.values == 0 || self.reported {
            return self.text();
        }
        let values = format!(
            "{} of {} known to ±{} %",
            self.at_target,
            counted(self.values, "value"),
            self.target_percent()
        );
        match self.certain + self.likely + self.undecided {
            0 => format!("{values}."),
            all => {
                let all = counted(all, "finding");
                format!("{values}, {} of {all} certain.", self.certain)
            }
        }
    }

    /// True if at least half of the values are known as well as the profile asks for, or were printed so.
    pub(crate) fn is_good(&self) -> bool {
        self.values > 0 && (self.reported || 2 * self.at_target >= self.values)
    }

    /// The target as people read it: 5 for ±5 %.
    fn target_percent(&self) -> f64 {
        (self.target * 1000.0).round() / 10.0
    }

    /// A sentence on the findings; empty if there are none.
    fn of_findings(&self) -> String {
        let word = |grade, count| {
            let word = show::grade(grade).text;
            let verb = if count == 1 { "is" } else { "are" };
            format!("{verb} {word}")
        };
        let parts = [
            (self.certain, word(Grade::Certain, self.certain)),
            (self.likely, word(Grade::Likely, self.likely)),
            (self.undecided, word(Grade::Undecided, self.undecided)),
        ];
        match self.certain + self.likely + self.undecided {
            0 => String::new(),
            all => format!(" Of {}, {}.", counted(all, "finding"), counts(parts)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Verdict;

    #[test]
    fn a_run_is_good_from_half_of_its_values_on_and_without_any_it_is_not() {
        let is_good = |at_target, values, reported| {
            let verdict = Verdict {
                values,
                at_target,
                reported,
                ..Verdict::default()
            };
            verdict.is_good()
        };
        let runs = [(5, 10, false), (4, 10, false), (0, 10, true), (0, 0, false)];
        let good = runs.map(|(at_target, values, reported)| is_good(at_target, values, reported));
        assert_eq!(good, [true, false, true, false]);
    }

    #[test]
    fn each_kind_is_named_only_if_there_is_one() {
        let all = Verdict {
            target: 0.05,
            values: 1667,
            at_target: 1480,
            wider: 120,
            touched: 7,
            too_few: 30,
            below_resolution: 20,
            broken: 10,
            certain: 80,
            likely: 1,
            undecided: 9,
            reported: false,
        };
        assert_eq!(
            all.text(),
            "1480 of 1667 values are known to ±5 % or better; 120 are wider, 7 touched by a warning, \
             30 seen too seldom for an estimate, 20 below the resolution of the method, 10 broken. \
             Of 90 findings, 80 are certain, 1 is likely, 9 are undecided."
        );
        assert_eq!(
            all.line(),
            "1480 of 1667 values known to ±5 %, 80 of 90 findings certain."
        );
        let good = Verdict {
            target: 0.02,
            values: 1,
            at_target: 1,
            ..Verdict::default()
        };
        let printed = Verdict {
            reported: true,
            ..good
        };
        let as_printed =
            "1 value as printed. Their spread was not printed, so none has an interval.";
        for (verdict, text, line) in [
            (
                good,
                "1 of 1 value is known to ±2 % or better.",
                "1 of 1 value known to ±2 %.",
            ),
            (printed, as_printed, as_printed),
            (
                Verdict::default(),
                "Nothing was measured.",
                "Nothing was measured.",
            ),
        ] {
            assert_eq!((&*verdict.text(), &*verdict.line()), (text, line));
        }
    }
}
