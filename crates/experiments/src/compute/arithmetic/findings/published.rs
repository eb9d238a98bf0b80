//! Measured latencies beside those of the instruction tables.

use super::{best, name};
use crate::compute::arithmetic::points::point;
use crate::compute::arithmetic::{LATENCY_CYCLES, OPERATION, TYPE, published};
use crate::levels::RUST;
use instrument::finding::{Finding, Grade};
use instrument::quantity::Unit;
use instrument::results::Results;

/// How far a latency may be from a published one: half of this is the rounding of the tables.
const PUBLISHED_TOLERANCE: f64 = 0.15;

/// The latencies beside those of the instruction tables.
pub(super) fn against_published(results: &Results) -> Option<Finding> {
    let core = published::core(&results.machine.cpu)?;
    let mut count = 0;
    let mut apart = Vec::new();
    for result in &results.points {
        let (Ok(operation), Ok(number)) =
            (result.point.choice(OPERATION), result.point.choice(TYPE))
        else {
            continue;
        };
        let is_best = result.point == point(operation, number, 3, RUST);
        let published = core.latency_cycles(operation, number);
        let (true, Some([fewest, most]), Some(measured)) = (
            is_best,
            published,
            best(results, LATENCY_CYCLES, (operation, number)),
        ) else {
            continue;
        };
        count += 1;
        let allowed = fewest * (1.0 - PUBLISHED_TOLERANCE)..=most * (1.0 + PUBLISHED_TOLERANCE);
        if !allowed.contains(&measured.centre) {
            apart.push(name((operation, number)));
        }
    }
    let (key, name) = ("published", core.name);
    let finding = match (count, apart.is_empty()) {
        (0, _) => return None,
        (_, true) => Finding::new(
            key,
            &format!(
                "All {{count}} latencies are within {{tolerance}} of those published for {name}."
            ),
        ),
        (_, false) => Finding::new(
            key,
            &format!(
                "Of {{count}} latencies, {{apart}} are not within {{tolerance}} of those published \
                 for {name}: {}.",
                apart.join(", ")
            ),
        )
        .given("apart", apart.len() as f64, Unit::Count)
        .graded(Grade::Likely),
    };
    let finding = finding.given("count", f64::from(count), Unit::Count);
    Some(
        finding
            .given("tolerance", PUBLISHED_TOLERANCE, Unit::Share)
            .weighing(0.5),
    )
}
