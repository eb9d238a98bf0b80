//! The points: operations by type, optimisation level and compiler, and what was measured at them.

use super::definition::{OPERATION, TYPE};
use super::operations::{Number, Operation, Work};
use crate::optimisation::{COMPILER, Compiler, OPTIMISATION, Optimisation};
use crate::prelude::*;
use kernels::levels::Level;

pub(super) fn point(
    Work(operation, number): Work,
    optimisation: Optimisation,
    compiler: Compiler,
) -> Point {
    Point::new()
        .at(OPERATION, operation)
        .at(TYPE, number)
        .at(OPTIMISATION, optimisation)
        .at(COMPILER, compiler)
}

/// True if vectors are measured beside the loops of `point`. They depend on neither the level nor the
/// compiler, so the best loops have them.
pub(super) fn has_vectors(point: &Point) -> bool {
    point.level(OPTIMISATION) == Ok(Optimisation::FULL)
        && point.level(COMPILER) == Ok(Compiler::Rust)
}

/// The estimate of `metric` at one point.
pub(super) fn at<'r>(
    results: &'r Results,
    metric: Metric<&'static str>,
    work: Work,
    optimisation: Optimisation,
    compiler: Compiler,
) -> Option<&'r Estimate> {
    let wanted = point(work, optimisation, compiler);
    let mut points = results.points.iter();
    points.find(|result| result.point == wanted)?.sound(metric)
}

/// The estimate of Rust's loop at optimisation 3.
pub(super) fn best<'r>(
    results: &'r Results,
    metric: Metric<&'static str>,
    work: Work,
) -> Option<&'r Estimate> {
    at(results, metric, work, Optimisation::FULL, Compiler::Rust)
}

/// Every operation on every type. The shorter profiles have the middle levels and C only where they
/// show most.
pub(super) fn all(setting: &Setting) -> Vec<Point> {
    let mut points = Vec::new();
    for &number in Number::ALL {
        for &operation in number.operations() {
            let work = Work(operation, number);
            for &compiler in Compiler::ALL {
                let levels = Level::ALL.map(Optimisation).into_iter();
                let wanted =
                    levels.filter(|level| is_wanted(setting.profile, work, *level, compiler));
                points.extend(wanted.map(|level| point(work, level, compiler)));
            }
        }
    }
    points
}

fn is_wanted(
    profile: Profile,
    Work(operation, number): Work,
    level: Optimisation,
    compiler: Compiler,
) -> bool {
    let is_extreme = level == Optimisation::NONE || level == Optimisation::FULL;
    let is_wide = number.bytes() == 8;
    match (profile, compiler) {
        (Profile::Thorough, _) => true,
        (Profile::Standard, Compiler::Rust) => is_extreme || is_wide,
        (Profile::Standard, Compiler::C) => is_extreme && is_wide,
        (Profile::Quick, Compiler::Rust) => match level {
            Optimisation::FULL => true,
            Optimisation::NONE => Operation::BASIC.contains(&operation),
            _ => is_wide && operation == Operation::Add,
        },
        (Profile::Quick, Compiler::C) => {
            is_extreme && is_wide && [Operation::Add, Operation::Divide].contains(&operation)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::all;
    use crate::made_up::setting;
    use crate::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_longer_profile_has_more_points_and_none_twice() {
        let points = |profile| all(&setting(profile));
        let (quick, standard, thorough) = (
            points(Profile::Quick),
            points(Profile::Standard),
            points(Profile::Thorough),
        );
        assert!(quick.len() <= 50, "{}", quick.len());
        assert!(quick.len() < standard.len() && standard.len() < thorough.len());
        assert_eq!(thorough.len(), 20 * 4 * 2);
        for points in [quick, standard, thorough] {
            assert_eq!(points.iter().collect::<BTreeSet<_>>().len(), points.len());
        }
    }
}
