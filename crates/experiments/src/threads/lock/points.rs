//! The bodies, threads and locks that are measured together.

use super::levels::{Body, LENGTHS, LONG_STEPS, LockType, MIDDLE, PAIR, point};
use crate::prelude::*;

pub(super) fn all(setting: &Setting) -> Vec<Point> {
    let quick = setting.profile == Profile::Quick;
    let counts: &[u64] = if quick {
        &[1, 10, 99]
    } else {
        &[1, 3, 10, 30, 99]
    };
    let mut points = Vec::new();
    let mut add = |body, lock, threads| {
        let point = point(body, lock, threads);
        if !points.contains(&point) {
            points.push(point);
        }
    };
    for body in [Body::Simple, Body::SimpleYield, Body::COMPLEX] {
        // A thread that is alone has nobody to yield to.
        let alone_tells_little = quick && body == Body::SimpleYield;
        for &threads in &counts[usize::from(alone_tells_little)..] {
            add(body, LockType::Lock, Count(threads));
            add(body, LockType::SpinLock, Count(threads));
        }
    }
    add(Body::complex(LONG_STEPS), LockType::Lock, Count(1));
    let several: &[u64] = if quick { &[MIDDLE.0] } else { counts };
    for &threads in several {
        for body in [Body::Simple, Body::COMPLEX] {
            for lock in [
                LockType::LockOnAllCores,
                LockType::SpinLockOnAllCores,
                LockType::PthreadMutex,
                LockType::StdMutex,
                LockType::PthreadSpin,
            ] {
                add(body, lock, Count(threads));
            }
        }
    }
    let lengths: &[u64] = if quick { &LENGTHS[..3] } else { &LENGTHS };
    for &steps in lengths {
        add(Body::complex(steps), LockType::PthreadMutex, PAIR);
        add(Body::complex(steps), LockType::PthreadSpin, PAIR);
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
