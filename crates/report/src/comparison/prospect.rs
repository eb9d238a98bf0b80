//! A comparison with a run that is not measured yet.

use super::NothingInCommon;
use super::absence::{measured, other_experiments};
use super::pair::{Values, obstacle_before};
use super::side::Side;
use instrument::experiment::Definition;

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
    Err(NothingInCommon {
        a: before.label.clone(),
        b: "what is to be measured".into(),
        reason: first_reason.unwrap_or_else(|| other_experiments(&measured(before), &ids)),
    })
}
