//! The letters beside doubtful numbers, and their legend.

use super::style::{Role, Style};
use super::text::paragraph;
use crate::ExperimentAnalysis;
use crate::show::letter;
use crate::show::words::{BROKEN, DOUBTFUL};
use instrument::noise::Warning;
use instrument::quantity::counted;
use instrument::results::{PointResult, Verdict};

/// The distinct letters of all warnings that concern `metric` at a point.
pub(super) fn letters(point: &PointResult, metric: &str) -> String {
    let mut letters = String::new();
    for warning in point
        .warnings
        .iter()
        .filter(|warning| warning.touches(metric))
    {
        let letter = letter(warning);
        if !letters.contains(letter) {
            letters.push(letter);
        }
    }
    letters
}

/// A kind of warning with the number of affected values.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kind<'a> {
    pub example: &'a Warning,
    pub values: usize,
}

/// All kinds of warnings in these experiments, the most frequent first.
pub(super) fn kinds<'a>(experiments: &'a [ExperimentAnalysis<'a>]) -> Vec<Kind<'a>> {
    let mut kinds: Vec<Kind<'a>> = Vec::new();
    for point in experiments.iter().flat_map(|experiment| &experiment.points) {
        for warning in &point.warnings {
            let touched = |estimate: &&_| touches(warning, estimate);
            let values = point.estimates.iter().filter(touched).count();
            match kinds
                .iter_mut()
                .find(|kind| letter(kind.example) == letter(warning))
            {
                Some(kind) => kind.values += values,
                None => kinds.push(Kind {
                    example: warning,
                    values,
                }),
            }
        }
    }
    kinds.sort_by_key(|kind| std::cmp::Reverse(kind.values));
    kinds
}

fn touches(warning: &Warning, estimate: &instrument::results::Estimate) -> bool {
    warning.touches(&estimate.metric)
}

/// The legend of the letters in a table, and the reasons for broken values; empty if there are
/// none.
pub(super) fn legend(experiment: &ExperimentAnalysis, style: &Style) -> String {
    let kinds = kinds(std::slice::from_ref(experiment));
    let explained = |kind: &Kind| {
        let letter = style.paint(Role::Doubtful, &letter(kind.example).to_string());
        format!("{letter} {} ({})", kind.example.label(), kind.values)
    };
    let mut legend = String::new();
    if !kinds.is_empty() {
        let kinds: Vec<_> = kinds.iter().map(explained).collect();
        legend += &paragraph(&format!("{}: ", DOUBTFUL.text), &kinds.join(", "), style);
    }
    for (reason, values) in broken(experiment) {
        let label = style.paint(BROKEN.tone.into(), &format!("{}: ", BROKEN.text));
        let values = counted(values, "value");
        legend += &paragraph(&label, &format!("{reason} ({values})"), style);
    }
    legend
}

/// The reasons for an experiment's broken values, each with the number of values.
fn broken<'a>(experiment: &'a ExperimentAnalysis) -> Vec<(&'a str, usize)> {
    let mut reasons: Vec<(&str, usize)> = Vec::new();
    for estimate in experiment.points.iter().flat_map(|point| &point.estimates) {
        if let Verdict::Broken(reason) = &estimate.verdict {
            match reasons.iter_mut().find(|(known, _)| known == reason) {
                Some((_, values)) => *values += 1,
                None => reasons.push((reason, 1)),
            }
        }
    }
    reasons
}
