//! The axes and metrics of `file.sum`.

use super::super::definition::MOST_BYTES_PER_SECOND;
use crate::prelude::*;

pub(in crate::file) const STATE: AxisOf<State> = AxisOf::new("state", "page cache");
pub(in crate::file) const METHOD: AxisOf<Method> = AxisOf::new("method", "method");
pub(in crate::file) const THREADS: AxisOf<Count> = AxisOf::new("threads", "threads");

/// More processors than this no machine of today has in one system.
const MOST_PROCESSORS: usize = 1024;

pub(in crate::file) const THROUGHPUT: Metric<&str> = Metric::bandwidth("throughput", "throughput")
    .bounded(MOST_BYTES_PER_SECOND * MOST_PROCESSORS as f64);
pub(super) const BY_CPU: Metric<&str> = Metric::bandwidth("by_cpu", "bytes by processor time");
pub(super) const RESIDENT: Metric<&str> =
    Metric::fact("resident", "in the page cache before", Unit::Share);

/// The state of the page cache before a pass.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::file) enum State {
    /// It holds the whole file.
    Warm,
    /// It holds none of it.
    Cold,
}

/// A way of reading that is timed here.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::file) enum Method {
    Pread,
    Mmap,
    /// At the position of a descriptor that each thread opens for itself, as in report B.
    #[choice("lseek, read")]
    Seek,
}

impl From<Method> for files::Method {
    fn from(method: Method) -> Self {
        match method {
            Method::Pread => Self::Pread,
            Method::Mmap => Self::Mmap,
            Method::Seek => Self::Read,
        }
    }
}
