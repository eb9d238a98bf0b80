//! Claims about ways to call.

use super::{
    DESIGN, OPTIMISED, ROWS, STYLE, Style, UNOPTIMISED, in_rust, power, process_style, slope,
};
use crate::estimates::ratio_within;
use crate::judging::{MARGIN, both, decided, exceeds, extremes, is_about};
use crate::listing::listed;
use crate::prelude::*;

const SOURCE: &str = "Report E, section 5.2";

/// Growth with a power this close to 1 is linear.
const LINEAR: f64 = 0.05;
/// A smaller change of a process's cost counts as none.
const UNAFFECTED: f64 = 0.1;

pub(crate) const ALL: &[Claim] = &[
    Claim {
        key: "every_way_to_call_is_linear",
        says: "Time grows linearly with the work: inline, in functions, by recursion and in processes.",
        source: SOURCE,
        basis: Basis::One(DESIGN.id, |results| {
            by_listing_or_usual(results, all_are_linear)
        }),
    },
    Claim {
        key: "recursion_is_steeper",
        says: "Time grows faster with the work in a recursion than in a loop.",
        source: SOURCE,
        basis: Basis::One(DESIGN.id, |results| {
            by_listing_or_usual(results, recursion_is_steeper)
        }),
    },
    Claim {
        key: "inline_wins_only_without_optimisation",
        says: "Without optimisation, inline code is faster than a function; with it, the function is faster.",
        source: SOURCE,
        basis: Basis::One(DESIGN.id, |results| {
            by_listing_or_usual(results, inline_wins_only_unoptimised)
        }),
    },
    Claim {
        key: "optimisation_does_not_touch_processes",
        says: "The cost of a process does not depend on the compiler's optimisation.",
        source: SOURCE,
        basis: Basis::One(DESIGN.id, |results| {
            by_listing_or_usual(results, processes_are_unaffected)
        }),
    },
];

/// Judges by the report's listing if that was measured, else by the usual loops.
fn by_listing_or_usual(
    results: &Results,
    judge: fn(&Results) -> Option<Judgement>,
) -> Option<Judgement> {
    [listed(results), in_rust(results)].iter().find_map(judge)
}

/// The slope of `one` over that of `other`, of the same or another metric.
fn slopes(results: &Results, one: (Metric, Style), other: (Metric, Style)) -> Option<Quantity> {
    let slope = |(metric, style)| slope(results, metric, style);
    slope(one)?.over(slope(other)?)
}

/// The slope of `one` over that of `other`, without optimisation and with it.
fn both_slopes(results: &Results, one: Style, other: Style) -> Option<(Quantity, Quantity)> {
    let of = |metric| slopes(results, (metric, one), (metric, other));
    Some((of(UNOPTIMISED)?, of(OPTIMISED)?))
}

fn all_are_linear(results: &Results) -> Option<Judgement> {
    let metrics = [UNOPTIMISED, OPTIMISED].into_iter();
    let powers = metrics.flat_map(|metric| {
        let styles = [
            Style::Inline,
            Style::Function,
            Style::Recursion,
            process_style(results),
        ];
        styles.map(move |style| Some((style, power(results, metric, style)?)))
    });
    let powers: Vec<(Style, Quantity)> = powers.collect::<Option<_>>()?;
    let [(_, least), (_, most)] = extremes(&powers)?;
    let is_linear = |(_, power): &(Style, Quantity)| {
        let extent = power.extent();
        extent.low > 1.0 - LINEAR && extent.high < 1.0 + LINEAR
    };
    let is_not = |(_, power): &(Style, Quantity)| {
        let extent = power.extent();
        extent.high < 1.0 - LINEAR || extent.low > 1.0 + LINEAR
    };
    let ruling = if powers.iter().all(is_linear) {
        Ruling::Holds
    } else if powers.iter().all(is_not) {
        Ruling::DoesNotHold
    } else if powers.iter().any(is_not) {
        Ruling::HoldsInPart
    } else {
        Ruling::Undecided
    };
    let said = sentence!(
        "For the four styles at optimisation 0 and 3, time grows with the number of rows to the power \
         of {least} to {most}; 1 is linear."
    );
    Some(decided(ruling, said))
}

fn recursion_is_steeper(results: &Results) -> Option<Judgement> {
    let (unoptimised, optimised) = both_slopes(results, Style::Recursion, Style::Inline)?;
    let said = sentence!(
        "A row by recursion takes {unoptimised} the time of an inline row without optimisation, and \
         {optimised} with it."
    );
    let ruling = both(
        exceeds(&unoptimised, 1.0 + MARGIN),
        exceeds(&optimised, 1.0 + MARGIN),
    );
    Some(decided(ruling, said))
}

fn inline_wins_only_unoptimised(results: &Results) -> Option<Judgement> {
    let (unoptimised, optimised) = both_slopes(results, Style::Function, Style::Inline)?;
    let (_, inverse) = both_slopes(results, Style::Inline, Style::Function)?;
    let said = sentence!(
        "A row in a function takes {unoptimised} the time of an inline row without optimisation, and \
         {optimised} with it."
    );
    let ruling = both(
        exceeds(&unoptimised, 1.0 + MARGIN),
        exceeds(&inverse, 1.0 + MARGIN),
    );
    Some(decided(ruling, said))
}

/// In the most rows that were measured, since both levels ran in the same processes.
fn processes_are_unaffected(results: &Results) -> Option<Judgement> {
    let levels = [STYLE.at(process_style(results))];
    let times = |metric| results.along(ROWS, metric, &levels).pop();
    let ((Count(rows), one), (_, other)) = (times(UNOPTIMISED)?, times(OPTIMISED)?);
    let ratio = ratio_within(one, other)?;
    let said = sentence!(
        "{rows} rows, each with a new process, take {ratio} as long without optimisation as with it.",
        rows = rows.to_string(),
    );
    Some(decided(is_about(&ratio, 1.0, 1.0 + UNAFFECTED), said).with_number("ratio", ratio))
}
