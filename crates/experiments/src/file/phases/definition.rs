//! The axis and the metrics of `file.phases`.

use super::super::sizes::KIB;
use crate::prelude::*;

pub(in crate::file) const BUFFER_SIZE: AxisOf<Bytes> = AxisOf::new("buffer_size", "buffer size");

pub(in crate::file) const MAP: Metric<&str> = Metric::time("map", "mmap, per KiB");
pub(in crate::file) const MAP_LOOP: Metric<&str> =
    Metric::time("map_loop", "loop over the mapping, per KiB");
pub(in crate::file) const UNMAP: Metric<&str> = Metric::time("unmap", "munmap, per KiB");
pub(in crate::file) const MAP_TOTAL: Metric<&str> =
    Metric::time("map_total", "all by mmap, per KiB");
pub(in crate::file) const READ: Metric<&str> = Metric::time("read", "read, per KiB");
pub(in crate::file) const LOOP: Metric<&str> =
    Metric::time("loop", "loop over the buffer, per KiB");
pub(in crate::file) const WRITE: Metric<&str> =
    Metric::time("write", "lseek back and write, per KiB");
pub(in crate::file) const TOTAL: Metric<&str> =
    Metric::time("total", "all by read and write, per KiB");
pub(super) const MAP_SYNC: Metric<&str> =
    Metric::time("map_sync", "fsync after all by mmap, per KiB");
/// The same by the report's listing, which maps the first buffer each time.
pub(super) const START: Metric<&str> = Metric::time("start_map", "mmap of offset 0, per KiB");
pub(super) const START_LOOP: Metric<&str> =
    Metric::time("start_loop", "loop over the mapping of offset 0, per KiB");
pub(super) const START_UNMAP: Metric<&str> =
    Metric::time("start_unmap", "munmap of offset 0 and lseek, per KiB");
pub(in crate::file) const START_TOTAL: Metric<&str> =
    Metric::time("start_total", "all by mmap of offset 0, per KiB");

/// In the order of the report's columns.
pub(super) const METRICS: [Metric<&str>; 13] = [
    MAP,
    MAP_LOOP,
    UNMAP,
    MAP_TOTAL,
    READ,
    LOOP,
    WRITE,
    TOTAL,
    MAP_SYNC,
    START,
    START_LOOP,
    START_UNMAP,
    START_TOTAL,
];

/// A buffer of a page, in which the report's two ways differ most plainly.
pub(super) const PAGE: u64 = 4 * KIB;
