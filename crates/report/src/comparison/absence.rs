//! The reason why two sides have no value to compare, also where one is not measured yet.

use super::NothingInCommon;
use super::pair::{Refusal, Values, obstacle_before};
use super::side::Side;
use crate::lists::{distinct, first_of};
use instrument::experiment::Definition;

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
    let mut runs = side.runs.iter();
    let reported = runs.find(|run| run.header.is_reported())?;
    let letter = reported
        .header
        .tags
        .get("source")?
        .strip_prefix("report ")?;
    Some(format!("oscope reproduce {letter}"))
}

fn reason(refused: &[Refusal], a: &Side, b: &Side) -> String {
    if let Some(refusal) = refused.first() {
        return format!(
            "{} {}: {}",
            refusal.experiment, refusal.metric, refusal.reason
        );
    }
    let (ours, mut both) = (measured(a), measured(b));
    both.retain(|id| ours.contains(id));
    if both.is_empty() {
        other_experiments(&ours, &measured(b))
    } else {
        format!("both measured {}, at other points", named(&both))
    }
}

/// The words for sides that have no experiment in common.
fn other_experiments(ours: &[&str], theirs: &[&str]) -> String {
    format!("one measured {}, the other {}", named(ours), named(theirs))
}

/// The experiments with samples on a side, in its order.
fn measured(side: &Side) -> Vec<&str> {
    let records = side.runs.iter().flat_map(record::Run::measured);
    let measured =
        records.filter(|record| record.points.iter().any(|point| !point.batches.is_empty()));
    distinct(measured.map(|record| record.definition.id.as_str()))
}

/// The experiments by name.
fn named(ids: &[&str]) -> String {
    if ids.is_empty() {
        "nothing".to_owned()
    } else {
        first_of(ids)
    }
}

/// Checks, before a run of the experiments in `definitions` by this version, that at least one of its
/// values can be compared with `before`. Which points there will be is not known yet.
///
/// # Errors
/// [`NothingInCommon`] if none can.
pub fn check_comparable(before: &Side, definitions: &[Definition]) -> Result<(), NothingInCommon> {
    let values = Values::of(before, &[]);
    let mut first_reason = None;
    for (experiment, entry) in values.in_order() {
        let definition = definitions.iter().find(|it| it.id == experiment);
        let metrics = definition.iter().flat_map(|it| &it.metrics);
        for metric in metrics.filter(|metric| metric.name == entry.metric().name) {
            match obstacle_before(entry, before, metric) {
                None => return Ok(()),
                Some(reason) => {
                    let reason = || format!("{experiment} {}: {reason}", metric.name);
                    first_reason.get_or_insert_with(reason);
                }
            }
        }
    }
    let ids: Vec<&str> = definitions.iter().map(|it| it.id.as_str()).collect();
    let reason = first_reason.unwrap_or_else(|| other_experiments(&measured(before), &ids));
    Err(nothing(&before.label, "what is to be measured", &reason))
}

pub(super) fn nothing(a: &str, b: &str, reason: &str) -> NothingInCommon {
    NothingInCommon(format!(
        "{a} and {b} have nothing in common that could be compared: {reason}"
    ))
}

#[cfg(test)]
mod tests {
    use super::why_empty;
    use crate::comparison::Side;
    use crate::reference;

    #[test]
    fn for_each_report_there_is_a_command() {
        for reference in reference::ALL {
            let reported = Side {
                label: reference.name.into(),
                runs: vec![reference.run()],
            };
            let mut measured = reported.clone();
            measured.runs[0].header.version = "0.1.0".into();
            let reason = why_empty(&[], &reported, &measured);
            assert!(reason.contains("`oscope reproduce "), "{reason}");
            let reason = why_empty(&[], &measured, &measured);
            assert!(!reason.contains("reproduce"), "{reason}");
        }
    }
}
