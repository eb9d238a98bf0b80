//! Measured latencies beside those of the instruction tables.

use crate::compute::arithmetic::operations::{self, Number, Work};
use crate::compute::arithmetic::{LATENCY_CYCLES, best};
use crate::prelude::*;

/// The largest distance of a latency from a published one. Half of it is the rounding of the tables.
const PUBLISHED_TOLERANCE: f64 = 0.15;

/// The latencies beside those of the instruction tables.
pub(super) fn against_published(results: &Results) -> Option<Finding> {
    let core = operations::core(&results.machine.cpu)?;
    let operations = Number::ALL.iter().flat_map(|number| {
        let operations = number.operations().iter();
        operations.map(|operation| Work(*operation, *number))
    });
    let compared: Vec<_> = operations
        .filter_map(|work| {
            let [fewest, most] = core.latency_cycles(work)?;
            let measured = best(results, LATENCY_CYCLES, work)?.centre;
            let allowed = fewest * (1.0 - PUBLISHED_TOLERANCE)..=most * (1.0 + PUBLISHED_TOLERANCE);
            Some((work, allowed.contains(&measured)))
        })
        .collect();
    if compared.is_empty() {
        return None;
    }
    let apart = compared.iter().filter(|(_, is_near)| !is_near);
    let names: Vec<_> = apart.map(|(work, _)| work.title()).collect();
    let name = core.name;
    let count = Count(compared.len() as u64);
    let tolerance = Quantity::exact(PUBLISHED_TOLERANCE, Unit::Share);
    let finding = if names.is_empty() {
        let said = sentence!(
            "All {count} latencies are within {tolerance} of those published for {name}."
        );
        Finding::new("published", said)
    } else {
        let said = sentence!(
            "Of {count} latencies, {apart} are not within {tolerance} of those published for {name}: \
             {names}.",
            apart = Count(names.len() as u64),
            names = names.join(", "),
        );
        Finding::new("published", said).graded(Grade::Likely)
    };
    Some(finding.weighing(0.5))
}
