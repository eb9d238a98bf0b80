//! Which bodies, threads and locks are measured together.

use super::{
    COMPLEX_STEPS, LOCK_ALL, LOCK_ONE, PTHREAD_MUTEX, PTHREAD_SPIN, SIMPLE, SIMPLE_YIELD, SPIN_ALL,
    SPIN_ONE, STD_MUTEX, complex, point,
};
use instrument::plan::{Profile, Setting};
use instrument::point::Point;

/// The number of threads for which everything else is compared.
pub(in crate::threads) const MIDDLE: u64 = 10;

/// Kernel threads that have a processor each, nearly everywhere: what is lost to the kernel's taking
/// one away does not hide what spinning and blocking cost by themselves.
pub(in crate::threads) const PAIR: u64 = 2;

/// Lengths of the section in which spinning and blocking kernel threads are compared, in steps.
pub(super) const LENGTHS: [u64; 5] = [10, 100, 1000, 10_000, 100_000];

/// Steps of the section whose length shows that the body is computed.
pub(super) const LONG_STEPS: u64 = 10 * COMPLEX_STEPS;

pub(super) fn all(setting: &Setting) -> Vec<Point> {
    let quick = setting.profile == Profile::Quick;
    let counts: &[u64] = if quick {
        &[1, 10, 99]
    } else {
        &[1, 3, 10, 30, 99]
    };
    let mut points = Vec::new();
    let mut add = |point: Point| {
        if !points.contains(&point) {
            points.push(point);
        }
    };
    let usual = complex(COMPLEX_STEPS);
    for body in [SIMPLE, SIMPLE_YIELD, &usual] {
        // Who is alone has nobody to yield to.
        let alone_tells_little = quick && body == SIMPLE_YIELD;
        for &threads in &counts[usize::from(alone_tells_little)..] {
            add(point(body, LOCK_ONE, threads));
            add(point(body, SPIN_ONE, threads));
        }
    }
    add(point(&complex(LONG_STEPS), LOCK_ONE, 1));
    let several: &[u64] = if quick { &[MIDDLE] } else { counts };
    for &threads in several {
        for body in [SIMPLE, &usual] {
            for lock in [LOCK_ALL, SPIN_ALL, PTHREAD_MUTEX, STD_MUTEX, PTHREAD_SPIN] {
                add(point(body, lock, threads));
            }
        }
    }
    let lengths: &[u64] = if quick { &LENGTHS[..3] } else { &LENGTHS };
    for &steps in lengths {
        add(point(&complex(steps), PTHREAD_MUTEX, PAIR));
        add(point(&complex(steps), PTHREAD_SPIN, PAIR));
    }
    points
}

#[cfg(test)]
mod tests {
    use super::all;
    use crate::made_up::setting;
    use instrument::plan::Profile;

    #[test]
    fn quick_is_a_part_of_the_whole() {
        let quick = all(&setting(Profile::Quick));
        let standard = all(&setting(Profile::Standard));
        assert_eq!(quick.len(), 33);
        assert!(quick.iter().all(|point| standard.contains(point)));
    }
}
