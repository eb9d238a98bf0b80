use crate::load::CpuTimes;
pub(crate) use crate::load::lacking::*;

pub(crate) fn cpu_times() -> Option<CpuTimes> {
    None
}
