//! Subjects that more than one experiment measures. The report finds their values that disagree.

/// Speed in huge pages over speed in base pages.
pub(crate) const GAIN_FROM_HUGE_PAGES: &str = "the gain from huge pages";
/// Bytes per second of a file in memory.
pub(crate) const WARM_READ: &str = "the speed of reading a file in memory";
/// Time of a short message to another process and back.
pub(crate) const ROUND_TRIP: &str = "the round trip between two processes";
