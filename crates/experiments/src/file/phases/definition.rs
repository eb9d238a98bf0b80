//! The axis and the metrics of `file.phases`.

use super::super::sizes::KIB;
use crate::prelude::*;

pub(in crate::file) const BUFFER_SIZE: AxisOf<Bytes> = AxisOf::new("buffer_size", "buffer size");

pub(super) const MAP: Metric<&str> = Metric::time("map", "mmap, per KiB");
pub(super) const MAP_LOOP: Metric<&str> =
    Metric::time("map_loop", "loop over the mapping, per KiB");
pub(super) const UNMAP: Metric<&str> = Metric::time("unmap", "munmap, per KiB");
pub(in crate::file) const MAP_TOTAL: Metric<&str> =
    Metric::time("map_total", "all by mmap, per KiB");
pub(super) const READ: Metric<&str> = Metric::time("read", "read, per KiB");
pub(super) const LOOP: Metric<&str> = Metric::time("loop", "loop over the buffer, per KiB");
pub(super) const WRITE: Metric<&str> = Metric::time("write", "lseek back and write, per KiB");
pub(in crate::file) const TOTAL: Metric<&str> =
    Metric::time("total", "all by read and write, per KiB");
pub(super) const MAP_SYNC: Metric<&str> =
    Metric::time("map_sync", "fsync after all by mmap, per KiB");

/// In the order of the report's columns.
pub(super) const METRICS: [Metric<&str>; 9] = [
    MAP, MAP_LOOP, UNMAP, MAP_TOTAL, READ, LOOP, WRITE, TOTAL, MAP_SYNC,
];

/// A buffer of a page, in which the report's two ways differ most plainly.
pub(super) const PAGE: u64 = 4 * KIB;
