//! Trustworthiness of a run: how well its values are known, causes of doubt, and remedies.

use super::marks;
use super::style::{Role, Style};
use super::text::{labelled, paragraph};
use crate::Analysis;
use instrument::quantity::counted;

/// Reasons to doubt the run, and one line of advice for each kind of warning. The verdict itself stands
/// above, in the first lines.
pub(super) fn trust(analysis: &Analysis, style: &Style) -> String {
    let kinds = marks::kinds(&analysis.experiments);
    let advice: Vec<(String, String)> = kinds
        .iter()
        .map(|kind| {
            let label = format!("  {} ({})", kind.example.label(), kind.values);
            (label, kind.example.advice().to_owned())
        })
        .collect();
    let advice: Vec<(&str, String)> = advice
        .iter()
        .map(|(label, advice)| (label.as_str(), advice.clone()))
        .collect();
    let reasons = reasons(analysis, style);
    let clock = analysis.surroundings.clock_text();
    let clock = clock.map_or_else(String::new, |clock| paragraph("", &clock, style));
    let is_quiet = analysis.surroundings.first().is_none();
    if reasons.is_empty() && advice.is_empty() && is_quiet {
        return paragraph("", "Nothing disturbed this run.", style) + &clock;
    }
    let reasons = if reasons.is_empty() {
        reasons
    } else {
        paragraph("", &reasons, style)
    };
    reasons + &clock + &labelled(&advice, style)
}

fn reasons(analysis: &Analysis, style: &Style) -> String {
    let mut sentences = Vec::new();
    if !analysis.run.is_finished() {
        let unfinished = "The run did not come to its end: this is what there is of it.";
        sentences.push(style.paint(Role::Doubtful, unfinished));
    }
    let experiments = &analysis.experiments;
    let failed: usize = experiments.iter().map(|one| one.failures.len()).sum();
    let skipped = experiments.iter().filter(|one| one.skipped.is_some());
    let skipped = skipped.count();
    if failed > 0 {
        sentences.push(format!(
            "{} could not be measured.",
            counted(failed, "point")
        ));
    }
    if skipped > 0 {
        let experiments = counted(skipped, "experiment");
        sentences.push(format!("{experiments} could not run here."));
    }
    sentences.extend(analysis.surroundings.text());
    sentences.join(" ")
}
