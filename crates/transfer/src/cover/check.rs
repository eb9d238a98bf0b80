//! The checks of headers and bodies.

use crate::protocol::CHECK_BYTES;
use twox_hash::XxHash3_128;

/// The check of a header or a body: a tag or a checksum.
pub(crate) type Check = [u8; CHECK_BYTES];

/// The first bytes of a check, as many as a checksum's seed takes.
pub(super) fn seed(check: &Check) -> u64 {
    let start = check.first_chunk();
    u64::from_le_bytes(*start.expect("a check is longer"))
}

/// The checksum of `bytes`.
pub(super) fn sum(seed: u64, bytes: &[u8]) -> Check {
    XxHash3_128::oneshot_with_seed(seed, bytes).to_le_bytes()
}
