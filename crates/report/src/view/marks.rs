//! The letters next to doubtful numbers, and their legend.

use crate::ExperimentAnalysis;
use crate::document::{Piece, Text};
use crate::lists::{by_key, distinct};
use crate::show::words::{BROKEN, DOUBTFUL};
use crate::show::{self, Tone, letter};
use instrument::experiment::Definition;
use instrument::noise::Warning;
use instrument::quantity::counted;
use instrument::results::{PointResult, Verdict};

/// The distinct letters of all warnings that concern `metric` at a point.
pub(super) fn letters(point: &PointResult, metric: &str) -> String {
    let warnings = point.warnings.iter();
    let touching = warnings.filter(|warning| warning.touches(metric));
    distinct(touching.map(letter)).into_iter().collect()
}

/// The legend of the letters in a table, and the reasons for broken values.
pub(super) fn legend(experiment: &ExperimentAnalysis<'_>) -> Vec<(&'static str, Text)> {
    let mut letters = Vec::new();
    for (values, kind) in kinds(std::slice::from_ref(experiment)) {
        let (.., warning) = kind[0];
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

/// A warning with its point and its experiment.
pub(super) type Warned<'a> = (&'a Definition, &'a PointResult, &'a Warning);

/// The warnings of each kind with the number of values that the kind touches, the most frequent first.
pub(super) fn kinds<'a>(
    experiments: &'a [ExperimentAnalysis<'_>],
) -> Vec<(usize, Vec<Warned<'a>>)> {
    let points = experiments
        .iter()
        .flat_map(|it| it.points.iter().map(move |point| (it.definition, point)));
    let warnings = points.flat_map(|(definition, point)| {
        let warnings = point.warnings.iter();
        warnings.map(move |it| (letter(it), (definition, point, it)))
    });
    let touched = |(_, point, warning): &Warned<'_>| {
        let estimates = point.estimates.iter();
        estimates.filter(|it| warning.touches(&it.metric)).count()
    };
    let kinds = by_key(warnings).into_iter();
    let kinds = kinds.map(|(_, kind)| (kind.iter().map(touched).sum(), kind));
    let mut kinds: Vec<(usize, Vec<Warned<'_>>)> = kinds.collect();
    kinds.sort_by_key(|(values, _)| std::cmp::Reverse(*values));
    kinds
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
