//! Cryptographic random numbers.

use crate::error::{Error, Result};

/// Fills `bytes` with cryptographic random bytes.
pub(crate) fn fill(bytes: &mut [u8]) -> Result<()> {
    getrandom::fill(bytes).map_err(|error| Error::System {
        action: "draw random bytes",
        reason: error.into(),
    })
}
