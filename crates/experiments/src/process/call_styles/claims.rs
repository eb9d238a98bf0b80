//! Claims about ways to call.

use super::findings::slope;
use super::slopes::growth;
use super::{FORK, FUNCTION, INLINE, OPTIMISED, RECURSION, STYLES, UNOPTIMISED};
use crate::estimates::{WithEstimate, quotient};
use crate::judging::{MARGIN, decided, exceeds};
use crate::levels::RUST;
use instrument::claim::{Claim, Evidence, Judgement, Ruling};
use instrument::finding::Finding;
use instrument::quantity::Unit;
use instrument::statistics::Estimated;

const CALL_STYLES: &str = "process.call_styles";
const SOURCE: &str = "Report E, section 5.2";

/// A time that grows with a power this close to 1 is linear.
const LINEAR: f64 = 0.05;
/// A process whose cost changes by less is not affected.
const UNAFFECTED: f64 = 0.1;

pub(crate) const ALL: &[Claim] = &[
    Claim {
        key: "every_way_to_call_is_linear",
        says: "Inline, by function, by recursion and by processes, time grows in step with the work.",
        source: SOURCE,
        experiments: &[CALL_STYLES],
        test: all_are_linear,
    },
    Claim {
        key: "recursion_is_steeper",
        says: "Time grows faster with the work by recursion than by a loop.",
        source: SOURCE,
        experiments: &[CALL_STYLES],
        test: recursion_is_steeper,
    },
    Claim {
        key: "inline_wins_only_without_optimisation",
        says: "Without optimisation, inline code beats a function; with it, the function wins.",
        source: SOURCE,
        experiments: &[CALL_STYLES],
        test: inline_wins_only_unoptimised,
    },
    Claim {
        key: "optimisation_does_not_touch_processes",
        says: "What a process costs does not depend on the compiler's optimisation.",
        source: SOURCE,
        experiments: &[CALL_STYLES],
        test: processes_are_unaffected,
    },
];

/// The slope of `one` over that of `other`.
fn slopes(evidence: &Evidence<'_>, one: (&str, &str), other: (&str, &str)) -> Option<Estimated> {
    let results = evidence.of(CALL_STYLES)?;
    let slope = |(metric, style)| slope(results, metric, style);
    quotient(&slope(one)?, &slope(other)?)
}

fn all_are_linear(evidence: &Evidence<'_>) -> Option<Judgement> {
    let results = evidence.of(CALL_STYLES)?;
    let powers: Vec<Estimated> = [UNOPTIMISED, OPTIMISED]
        .into_iter()
        .flat_map(|metric| STYLES.map(|style| growth(results, metric, style, RUST)))
        .map(|growth| growth.map(|growth| growth.power))
        .collect::<Option<_>>()?;
    let by_centre = |a: &&Estimated, b: &&Estimated| a.centre.total_cmp(&b.centre);
    let (least, most) = (
        powers.iter().min_by(by_centre)?,
        powers.iter().max_by(by_centre)?,
    );
    let is_linear = |power: &Estimated| {
        let extent = power.extent();
        extent.low > 1.0 - LINEAR && extent.high < 1.0 + LINEAR
    };
    let is_not = |power: &Estimated| {
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
        Ruling::CannotBeTold
    };
    let sentence = "Over the four styles at optimisation 0 and 3, time grows as the number of rows to \
                    the power of {least} to {most}, where 1 is linear.";
    let because = Finding::new("because", sentence)
        .with("least", least, Unit::Count)
        .with("most", most, Unit::Count);
    Some(decided(ruling, because))
}

fn recursion_is_steeper(evidence: &Evidence<'_>) -> Option<Judgement> {
    let over_inline = |metric| slopes(evidence, (metric, RECURSION), (metric, INLINE));
    let (unoptimised, optimised) = (over_inline(UNOPTIMISED)?, over_inline(OPTIMISED)?);
    let sentence = "A row by recursion takes {unoptimised} the time of a row inline without \
                    optimisation, and {optimised} with it.";
    let ruling = both(
        exceeds(&unoptimised, 1.0 + MARGIN),
        exceeds(&optimised, 1.0 + MARGIN),
    );
    Some(decided(ruling, pair(sentence, &unoptimised, &optimised)))
}

fn inline_wins_only_unoptimised(evidence: &Evidence<'_>) -> Option<Judgement> {
    let unoptimised = slopes(evidence, (UNOPTIMISED, FUNCTION), (UNOPTIMISED, INLINE))?;
    let optimised = slopes(evidence, (OPTIMISED, FUNCTION), (OPTIMISED, INLINE))?;
    let inverse = slopes(evidence, (OPTIMISED, INLINE), (OPTIMISED, FUNCTION))?;
    let sentence = "A row by a function takes {unoptimised} the time of a row inline without \
                    optimisation, and {optimised} with it.";
    let ruling = both(
        exceeds(&unoptimised, 1.0 + MARGIN),
        exceeds(&inverse, 1.0 + MARGIN),
    );
    Some(decided(ruling, pair(sentence, &unoptimised, &optimised)))
}

fn processes_are_unaffected(evidence: &Evidence<'_>) -> Option<Judgement> {
    let ratio = slopes(evidence, (UNOPTIMISED, FORK), (OPTIMISED, FORK))?;
    let extent = ratio.extent();
    let ruling = if extent.low > 1.0 - UNAFFECTED && extent.high < 1.0 + UNAFFECTED {
        Ruling::Holds
    } else if extent.high < 1.0 - UNAFFECTED || extent.low > 1.0 + UNAFFECTED {
        Ruling::DoesNotHold
    } else {
        Ruling::CannotBeTold
    };
    let sentence = "Without optimisation, a row by a process takes {ratio} the time that it takes \
                    with it.";
    let because = Finding::new("because", sentence).with("ratio", &ratio, Unit::Ratio);
    Some(decided(ruling, because))
}

fn pair(sentence: &str, unoptimised: &Estimated, optimised: &Estimated) -> Finding {
    Finding::new("because", sentence)
        .with("unoptimised", unoptimised, Unit::Ratio)
        .with("optimised", optimised, Unit::Ratio)
}

/// What is said of two things at once.
fn both(one: Ruling, other: Ruling) -> Ruling {
    match (one, other) {
        (Ruling::Holds, Ruling::Holds) => Ruling::Holds,
        (Ruling::DoesNotHold, Ruling::DoesNotHold) => Ruling::DoesNotHold,
        (Ruling::CannotBeTold, _) | (_, Ruling::CannotBeTold) => Ruling::CannotBeTold,
        _ => Ruling::HoldsInPart,
    }
}
