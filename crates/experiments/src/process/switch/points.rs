//! Which rings are measured.

use super::super::placement::{ONE_CORE, PLACEMENT, TWO_CORES};
use super::{COUNT, KIND, PROCESSES, THREADS, WORKING_SET};
use instrument::plan::{Profile, Setting};
use instrument::point::Point;
use std::collections::BTreeSet;

const KIB: u64 = 1 << 10;

/// On one core all numbers with all working sets, in the quick profile fewer for threads; on two
/// cores two members, since only one runs at a time whatever their number.
pub(super) fn all(setting: &Setting) -> Vec<Point> {
    let (counts, working_sets): (&[u64], &[u64]) = match setting.profile {
        Profile::Quick => (&[2, 8, 32], &[0, 16 * KIB, 64 * KIB]),
        Profile::Standard => (&[2, 8, 32], &[0, 16 * KIB, 64 * KIB, 256 * KIB]),
        Profile::Thorough => (
            &[2, 4, 8, 16, 32, 64, 96],
            &[0, 4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB],
        ),
    };
    let is_wanted = |kind: &str, count: u64, working_set: u64| {
        setting.profile != Profile::Quick || kind == PROCESSES || count == 2 || working_set == 0
    };
    let mut points = BTreeSet::new();
    for kind in [PROCESSES, THREADS] {
        for &working_set in working_sets {
            let point = Point::new().with(KIND, kind);
            let ring = |count: u64, placement| {
                point
                    .clone()
                    .with(COUNT, count)
                    .with(WORKING_SET, working_set)
                    .with(PLACEMENT, placement)
            };
            let one_core = counts
                .iter()
                .filter(|count| is_wanted(kind, **count, working_set));
            points.extend(one_core.map(|count| ring(*count, ONE_CORE)));
            points.insert(ring(2, TWO_CORES));
        }
    }
    points.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::all;
    use crate::made_up::setting;
    use instrument::plan::Profile;

    #[test]
    fn the_quick_profile_has_few_points_and_the_others_have_them_too() {
        let quick = all(&setting(Profile::Quick));
        assert!(quick.len() <= 20, "{}", quick.len());
        let standard = all(&setting(Profile::Standard));
        assert!(quick.iter().all(|point| standard.contains(point)));
    }
}
