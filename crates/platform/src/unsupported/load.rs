use crate::load::CpuTimes;

pub(crate) fn cpu_times() -> Option<CpuTimes> {
    None
}

pub(crate) fn frequency_hz(_cpu: usize) -> Option<f64> {
    None
}

pub(crate) fn load_average() -> Option<[f64; 3]> {
    None
}
