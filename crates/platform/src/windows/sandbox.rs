//! Windows has no filters of system calls.

use crate::Result;
use crate::error::refuse;
use crate::sandbox::Call;

pub fn forbid(_call: Call) -> Result<()> {
    refuse("forbidding calls")
}
