//! The group `memory`.

pub(crate) mod advice;
mod bandwidth;
mod chain;
pub(crate) mod claims;
mod component;
mod copy;
mod cores;
mod counterparts;
mod false_sharing;
mod footprint;
pub(crate) mod hierarchy;
mod jobs;
mod latency;
mod nodes;
mod page_fault;
mod page_reporting;
pub(crate) mod pages;
mod parallel;
pub(crate) mod subloop;
mod tlb;

use instrument::experiment::Experiment;

/// The experiments of the group, in the order in which they run.
pub(crate) const ALL: &[&dyn Experiment] = &[
    &bandwidth::Bandwidth,
    &footprint::Footprint,
    &subloop::Subloop,
    &latency::Latency,
    &tlb::Tlb,
    &copy::Copy,
    &parallel::Parallel,
    &nodes::Nodes,
    &false_sharing::FalseSharing,
    &cores::Cores,
    &page_fault::PageFault,
    &page_reporting::PageReporting,
];
