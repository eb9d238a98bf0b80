//! Which exchanges are measured.

use super::super::placement::{ONE_CORE, PLACEMENT, TWO_CORES};
use super::mechanism::Mechanism;
use super::{MECHANISM, MESSAGE};
use instrument::plan::{Profile, Setting};
use instrument::point::Point;

const KIB: u64 = 1 << 10;

/// Messages of several sizes by those means that carry them, by the others of the only size.
pub(super) fn all(setting: &Setting) -> Vec<Point> {
    let sizes: &[u64] = match setting.profile {
        Profile::Quick => &[1, 4 * KIB, 64 * KIB],
        Profile::Standard => &[1, 4 * KIB, 64 * KIB, 256 * KIB],
        Profile::Thorough => &[
            1,
            64,
            256,
            KIB,
            4 * KIB,
            16 * KIB,
            64 * KIB,
            256 * KIB,
            1024 * KIB,
        ],
    };
    let mut points = Vec::new();
    for means in Mechanism::ALL {
        for placement in [ONE_CORE, TWO_CORES] {
            let exchange = |message: u64| {
                Point::new()
                    .with(MECHANISM, means.name())
                    .with(MESSAGE, message)
                    .with(PLACEMENT, placement)
            };
            let waits_for_slices = means.spins() && placement == ONE_CORE;
            match means.fixed_message() {
                Some(only) => points.push(exchange(only)),
                None if waits_for_slices => points.push(exchange(sizes[0])),
                None => points.extend(sizes.iter().copied().map(exchange)),
            }
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use super::all;
    use crate::made_up::setting;
    use instrument::plan::Profile;

    #[test]
    fn the_quick_profile_has_few_points_and_the_others_have_them_too() {
        let quick = all(&setting(Profile::Quick));
        assert!(quick.len() <= 28, "{}", quick.len());
        let standard = all(&setting(Profile::Standard));
        assert!(quick.iter().all(|point| standard.contains(point)));
    }
}
