//! The promise of a ratio's interval: it contains the ratio of the next run. Tried on recorded
//! sessions (`data/README.md`), with every pair of their points.

#![expect(clippy::unwrap_used, reason = "the data are known to be complete")]

use oscope_instrument::estimate::Estimate;
use oscope_instrument::quantity::{Quantity, Unit};
use oscope_instrument::statistics::prediction::{Centre, Visit, predict};

use super::strata::{Condition, recorded};

/// Farther apart than any two recorded sessions, which lie within the half hour.
const ALL: usize = 10;

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
    let (mut held, mut pairs, mut width, mut ratios) = (0_usize, 0_usize, 0.0, 0_usize);
    for (index, above) in points.iter().enumerate() {
        for below in &points[..index] {
            let both = above.iter().zip(below);
            let sessions: Vec<_> = both.map(|(a, b)| a.ratio_to(b).unwrap()).collect();
            for (place, session) in sessions.iter().enumerate() {
                let near = place.saturating_sub(ALL)..(place + ALL + 1).min(sessions.len());
                for other in near.filter(|&other| other != place) {
                    held += usize::from(session.interval.unwrap().contains(sessions[other].centre));
                    pairs += 1;
                }
                width += session.relative_half_width().unwrap();
                ratios += 1;
            }
        }
    }
    (held as f64 / pairs as f64, width / ratios as f64)
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
