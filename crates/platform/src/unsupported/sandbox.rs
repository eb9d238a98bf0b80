use super::refuse;
use crate::Result;
use crate::sandbox::Call;

pub(crate) fn forbid(_call: Call) -> Result<()> {
    refuse("forbidding calls")
}
