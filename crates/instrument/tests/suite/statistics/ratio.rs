//! The promise of a ratio's interval: it contains the ratio of the next run. Tried on recorded
//! sessions (`data/README.md`), with every pair of their points.

#![expect(clippy::unwrap_used, reason = "the data are known to be complete")]

use oscope_instrument::estimate::Estimate;
use oscope_instrument::quantity::{Quantity, Unit};
use oscope_instrument::statistics::Estimated;
use oscope_instrument::statistics::prediction::{Centre, Visit, predict};
use oscope_instrument::statistics::summary::mean;

use super::prediction::{self, ALL};
use super::strata::{Condition, recorded};

fn estimate(visits: &[Visit]) -> Estimate {
    let found = predict(visits, Centre::LowerQuartile, None).unwrap();
    Estimate {
        processes: found.by_process.len(),
        passes: found.passes,
        by_next_clock: found.by_next_clock,
        by_process: found.by_process,
        pass_of: visits.iter().map(|visit| visit.pass as u32).collect(),
        ..Quantity::estimated(&found.estimated, Unit::Nanoseconds).into()
    }
}

/// Of other sessions, the share whose ratio the interval contains, and the mean of its relative half
/// widths.
fn score(condition: Condition, keep: impl Fn(&Visit) -> bool) -> (f64, f64) {
    let of_session = |visits: &Vec<Visit>| {
        let kept: Vec<Visit> = visits.iter().filter(|visit| keep(visit)).cloned().collect();
        estimate(&kept)
    };
    let points: Vec<Vec<Estimate>> = (recorded(condition).iter())
        .map(|sessions| sessions.iter().map(of_session).collect())
        .collect();
    let pairs = (0..points.len()).flat_map(|above| (0..above).map(move |below| (above, below)));
    let ratios = pairs.map(|(above, below)| {
        let both = points[above].iter().zip(&points[below]);
        both.map(|(a, b)| a.ratio_to(b).unwrap()).collect()
    });
    let ratios: Vec<Vec<Estimated>> = ratios.collect();
    let widths = ratios.iter().flatten();
    let widths: Vec<f64> = widths.map(|it| it.relative_half_width().unwrap()).collect();
    (
        prediction::score(&ratios, ALL).coverage,
        mean(&widths).unwrap(),
    )
}

#[test]
fn ratios_of_other_recorded_sessions_lie_inside() {
    for (design, every) in [("ten passes", 1), ("five passes", 2)] {
        let keep = |visit: &Visit| visit.pass.is_multiple_of(every);
        for condition in [Condition::Quiet, Condition::Neighbours] {
            let (coverage, width) = score(condition, keep);
            println!(
                "{design}, {condition:?}: {coverage:.3}, ±{:.1} %",
                100.0 * width
            );
            assert!(coverage >= 0.92, "{design}, {condition:?}: {coverage}");
        }
    }
}
