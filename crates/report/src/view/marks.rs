//! The letters next to doubtful numbers, and their legend.

use crate::ExperimentAnalysis;
use crate::document::{Piece, Text};
use crate::show::words::{BROKEN, DOUBTFUL};
use crate::show::{Tone, letter};
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

/// The legend of the letters in a table, and the reasons for broken values.
pub(super) fn legend(experiment: &ExperimentAnalysis<'_>) -> Vec<(&'static str, Text)> {
    let mut letters = Vec::new();
    for (warning, values) in kinds(experiment) {
        let separator = if letters.is_empty() { "" } else { ", " };
        letters.extend([
            separator.into(),
            Piece::toned(Tone::Doubtful, letter(warning).to_string()),
            format!(" {} ({values})", warning.label()).into(),
        ]);
    }
    let doubtful = (!letters.is_empty()).then_some((DOUBTFUL.text, Text(letters)));
    let broken = broken(experiment).into_iter().map(|(reason, values)| {
        let values = counted(values, "value");
        (BROKEN.text, format!("{reason} ({values})").into())
    });
    doubtful.into_iter().chain(broken).collect()
}

/// A warning of each kind with the number of values that the kind touches, the most frequent first.
fn kinds<'a>(experiment: &'a ExperimentAnalysis<'_>) -> Vec<(&'a Warning, usize)> {
    let mut kinds: Vec<(&Warning, usize)> = Vec::new();
    for point in &experiment.points {
        for warning in &point.warnings {
            let touched = point
                .estimates
                .iter()
                .filter(|it| warning.touches(&it.metric));
            let values = touched.count();
            match kinds
                .iter_mut()
                .find(|(known, _)| letter(known) == letter(warning))
            {
                Some((_, sum)) => *sum += values,
                None => kinds.push((warning, values)),
            }
        }
    }
    kinds.sort_by_key(|(_, values)| std::cmp::Reverse(*values));
    kinds
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
