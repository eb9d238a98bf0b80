//! The levels that each profile plans.

use instrument::plan::Profile;

/// The value for `profile` out of those from quick to thorough.
pub(crate) const fn by_profile<T: Copy>(
    profile: Profile,
    [quick, standard, thorough]: [T; 3],
) -> T {
    match profile {
        Profile::Quick => quick,
        Profile::Standard => standard,
        Profile::Thorough => thorough,
    }
}

/// The powers of two from that of `smallest` to that of `largest`.
pub(crate) fn powers(smallest: u64, largest: u64) -> impl DoubleEndedIterator<Item = u64> {
    (smallest.ilog2()..=largest.ilog2()).map(|exponent| 1 << exponent)
}
