//! Axes, metrics and method of `memory.page_fault`.

use crate::prelude::*;

pub(super) const TOUCH: AxisOf<Touch> = AxisOf::new("touch", "touch");
pub(super) const COST: Metric<&str> = Metric::time("cost", "cost of a page");
pub(super) const MINOR: Metric<&str> =
    Metric::fact("minor_faults", "minor faults a page", Unit::Count);
pub(super) const MAJOR: Metric<&str> =
    Metric::fact("major_faults", "major faults a page", Unit::Count);

/// The way in which a page is missing, and touched.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Touch {
    #[choice("first touch")]
    First,
    #[choice("first touch, huge page")]
    FirstOfHugePage,
    #[choice("file, in page cache")]
    FileInPageCache,
    #[choice("file, on device")]
    FileOnDevice,
    CopyOnWrite,
}

pub(super) const DESIGN: Design = Design {
    id: "memory.page_fault",
    title: "Page faults",
    question: "What does it cost to touch memory that is not there yet?",
    method: "One byte of each page of a mapping is touched, page after page, and the time is divided by \
             the number of pages. No page is mapped when a sample begins. First touch: written, in \
             private memory, where the kernel supplies a page of zeros; the same in huge pages, which \
             are verified. File, in page cache: read, in a mapping of a file that was evicted and read \
             in again from start to end. The way a file came into the cache decides how large the \
             pieces are in which the kernel holds it, and how many neighbours of a page it maps at \
             once. File, on device: read, in a mapping of a file of which nothing is cached, as \
             verified, without read-ahead, at pages far apart. Copy on write: written, in memory \
             shared with a forked copy of the process, where the kernel copies the page. Faults per \
             page are counted, those that read from the device (major) apart.",
    source: "common practice (lmbench's lat_pagefault)",
    axes: &[TOUCH.axis()],
    metrics: &[COST, MINOR, MAJOR],
};
