//! Trustworthiness of a run: sound values, causes of doubt, and remedies.

use super::marks;
use super::style::{Role, Style};
use super::text::{count, labelled, paragraph};
use crate::Analysis;
use instrument::results::Verdict;

/// One line with the number of doubtful values, and one line of advice for each kind of warning.
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
    paragraph("", &verdict(analysis, style), style) + &labelled(&advice, style)
}

fn verdict(analysis: &Analysis, style: &Style) -> String {
    let tally = Tally::new(analysis);
    let mut parts = Vec::new();
    let mut part = |role, number: usize, text: &str| {
        if number > 0 {
            parts.push(style.paint(role, &format!("{number} {text}")));
        }
    };
    part(Role::Doubtful, tally.doubtful, "doubtful");
    part(Role::Plain, tally.below_resolution, "below resolution");
    part(Role::Broken, tally.broken, "broken");
    let values_in_all = tally.doubtful + tally.below_resolution + tally.broken + tally.undisturbed;
    let values = count(values_in_all, "value");
    let of_all = format!("Sound and undisturbed: {} of {values}", tally.undisturbed);
    let mut sentences = vec![match (values_in_all, parts.is_empty()) {
        (0, _) => "Nothing was measured.".to_owned(),
        (_, true) => of_all + ".",
        (_, false) => format!("{of_all}; {}.", parts.join(", ")),
    }];
    if tally.failed > 0 {
        sentences.push(format!(
            "{} could not be measured.",
            count(tally.failed, "point")
        ));
    }
    if tally.skipped > 0 {
        sentences.push(format!(
            "{} could not run here.",
            count(tally.skipped, "experiment")
        ));
    }
    if !analysis.run.is_finished() {
        let unfinished = "The run did not come to its end: this is what there is of it.";
        sentences.push(style.paint(Role::Doubtful, unfinished));
    }
    sentences.join(" ")
}

#[derive(Default)]
struct Tally {
    undisturbed: usize,
    doubtful: usize,
    below_resolution: usize,
    broken: usize,
    failed: usize,
    skipped: usize,
}

impl Tally {
    fn new(analysis: &Analysis) -> Self {
        let mut tally = Self::default();
        for experiment in &analysis.experiments {
            tally.failed += experiment.failures.len();
            tally.skipped += usize::from(experiment.skipped.is_some());
            for point in &experiment.points {
                for estimate in &point.estimates {
                    *match estimate.verdict {
                        Verdict::Broken(_) => &mut tally.broken,
                        Verdict::BelowResolution => &mut tally.below_resolution,
                        Verdict::Sound if point.is_doubtful(&estimate.metric) => {
                            &mut tally.doubtful
                        }
                        Verdict::Sound => &mut tally.undisturbed,
                    } += 1;
                }
            }
        }
        tally
    }
}
