//! The reason why two sides have no value to compare.

use super::pair::Refusal;
use super::side::Side;

/// The reason why nothing remains to compare, where these values were refused.
pub(super) fn why_empty(refused: &[Refusal], a: &Side, b: &Side) -> String {
    if let Some(refusal) = refused.first() {
        return format!(
            "{} {}: {}",
            refusal.experiment, refusal.metric, refusal.reason
        );
    }
    let (ours, theirs) = (measured(a), measured(b));
    let both: Vec<&str> = ours
        .iter()
        .copied()
        .filter(|id| theirs.contains(id))
        .collect();
    if both.is_empty() {
        other_experiments(&ours, &theirs)
    } else {
        format!("both measured {}, at other points", named(&both))
    }
}

/// The words for sides that have no experiment in common.
pub(super) fn other_experiments(ours: &[&str], theirs: &[&str]) -> String {
    format!("one measured {}, the other {}", named(ours), named(theirs))
}

/// The experiments with samples on a side, in its order.
pub(super) fn measured(side: &Side) -> Vec<&str> {
    let mut ids = Vec::new();
    for record in side.runs.iter().flat_map(|run| &run.experiments) {
        let has_samples = record.points.iter().any(|point| !point.batches.is_empty());
        let id = record.definition.id.as_str();
        if has_samples && !ids.contains(&id) {
            ids.push(id);
        }
    }
    ids
}

/// The experiments by name; a count for the names that do not fit.
fn named(ids: &[&str]) -> String {
    const MOST: usize = 4;
    match ids.len() {
        0 => "nothing".to_owned(),
        count if count > MOST => format!("{} and {} more", ids[..MOST].join(", "), count - MOST),
        _ => ids.join(", "),
    }
}
