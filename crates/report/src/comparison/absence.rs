//! The reason why two sides have no value to compare.

use super::pair::Refusal;
use super::side::Side;
use crate::lists::distinct;

/// The reason why nothing remains to compare, where these values were refused; for a published report
/// with the command that compares it with a machine.
pub(super) fn why_empty(refused: &[Refusal], a: &Side, b: &Side) -> String {
    let reason = reason(refused, a, b);
    let reports = [a, b].into_iter().find_map(reproduction);
    match reports {
        Some(command) => format!(
            "{reason}; `{command}` compares each figure of the report with this machine, counted as the \
             report counts"
        ),
        None => reason,
    }
}

/// The command that reproduces the report of a side; `None` for a side that was measured.
fn reproduction(side: &Side) -> Option<String> {
    let header = &side.runs.first().filter(|_| side.is_reported)?.header;
    let letter = header.tags.get("source")?.strip_prefix("report ")?;
    Some(format!("oscope reproduce {letter}"))
}

fn reason(refused: &[Refusal], a: &Side, b: &Side) -> String {
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
    let records = side.runs.iter().flat_map(|run| &run.experiments);
    let measured =
        records.filter(|record| record.points.iter().any(|point| !point.batches.is_empty()));
    distinct(measured.map(|record| record.definition.id.as_str()))
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

#[cfg(test)]
mod tests {
    use super::why_empty;
    use crate::comparison::Side;
    use crate::reference;

    #[test]
    fn for_each_report_there_is_a_command() {
        let side = |reference: &reference::Reference, is_reported| Side {
            label: reference.name.into(),
            runs: vec![reference.run()],
            is_reported,
        };
        for reference in reference::ALL {
            let reported = side(reference, true);
            let measured = side(reference, false);
            let reason = why_empty(&[], &reported, &measured);
            assert!(reason.contains("`oscope reproduce "), "{reason}");
            let reason = why_empty(&[], &measured, &measured);
            assert!(!reason.contains("reproduce"), "{reason}");
        }
    }
}
