//! The letters next to doubtful numbers, and their legend.

use crate::ExperimentAnalysis;
use crate::document::{Piece, Text};
use crate::lists::by_key;
use crate::show::words::{BROKEN, DOUBTFUL};
use crate::show::{self, Tone, letter};
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
    let estimates = experiment.points.iter().flat_map(|point| &point.estimates);
    let vague = estimates.filter(|it| show::is_vague(it)).count();
    let meaning = || {
        format!(
            "not known to within half of the value ({})",
            counted(vague, "value")
        )
    };
    let vague = (vague > 0).then(|| (show::VAGUE, meaning().into()));
    doubtful.into_iter().chain(vague).chain(broken).collect()
}

/// A warning of each kind with the number of values that the kind touches, the most frequent first.
fn kinds<'a>(experiment: &'a ExperimentAnalysis<'_>) -> Vec<(&'a Warning, usize)> {
    let warnings = experiment.points.iter().flat_map(|point| {
        let warnings = point.warnings.iter();
        warnings.map(move |it| (letter(it), (it, touched(point, it))))
    });
    let kinds = by_key(warnings).into_iter();
    let kinds = kinds.map(|(_, kind)| (kind[0].0, kind.iter().map(|(_, values)| values).sum()));
    let mut kinds: Vec<(&Warning, usize)> = kinds.collect();
    kinds.sort_by_key(|(_, values)| std::cmp::Reverse(*values));
    kinds
}

/// The number of values at a point that a warning touches.
pub(super) fn touched(point: &PointResult, warning: &Warning) -> usize {
    let estimates = point.estimates.iter();
    estimates.filter(|it| warning.touches(&it.metric)).count()
}

/// The reasons for an experiment's broken values, each with the number of values.
fn broken<'a>(experiment: &'a ExperimentAnalysis) -> Vec<(&'a str, usize)> {
    let estimates = experiment.points.iter().flat_map(|point| &point.estimates);
    let reasons = estimates.filter_map(|estimate| match &estimate.verdict {
        Verdict::Broken(reason) => Some((reason.as_str(), ())),
        _ => None,
    });
    let reasons = by_key(reasons).into_iter();
    reasons
        .map(|(reason, values)| (reason, values.len()))
        .collect()
}
