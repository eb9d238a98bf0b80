use super::refuse;
use crate::Result;

pub(crate) fn allowed_cpus() -> Result<Vec<usize>> {
    refuse("the list of allowed CPUs")
}

pub(crate) fn parent_cpus() -> Result<Vec<usize>> {
    refuse("the list of the parent's CPUs")
}

pub(crate) fn pin_to(_cpus: &[usize]) -> Result<()> {
    refuse("pinning to CPUs")
}

pub(crate) fn cpu_of_another_core() -> Result<Option<usize>> {
    refuse("the list of allowed CPUs")
}

pub(crate) fn shared_cache_level(_one: usize, _other: usize) -> Option<u32> {
    None
}

pub(crate) fn current_cpu() -> Option<usize> {
    None
}

pub(crate) fn be_ended_first() -> Result<()> {
    refuse("being ended first when memory runs out")
}

pub(crate) fn be_served_last() -> Result<()> {
    refuse("being served last at disks")
}
