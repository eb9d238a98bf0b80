//! The group `memory`.

pub(crate) mod advice;
pub(crate) mod allocate;
mod bandwidth;
pub(crate) mod claims;
mod copy;
mod cores;
mod false_sharing;
mod footprint;
pub(crate) mod hierarchy;
mod jobs;
mod latency;
mod loaded;
mod nodes;
mod page_fault;
mod page_reporting;
pub(crate) mod pages;
mod parallel;
pub(crate) mod subloop;
mod tlb;

use crate::prelude::*;
use kernels::Chain;
use pages::Pages;
use platform::memory::Mapping;

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
    &loaded::Loaded,
    &false_sharing::FalseSharing,
    &cores::Cores,
    &page_fault::PageFault,
    &allocate::Allocate,
    &page_reporting::PageReporting,
];

/// Blocks up to this lie in the caches of one core.
const CACHES_OF_CORE: Bytes = Bytes(MIB);
/// Blocks from this on lie beyond the cache that cores share: what one core gets of it is rarely more.
const BEYOND_CACHES: Bytes = Bytes(64 * MIB);
/// No block takes more than this part of the memory available.
const SHARE_OF_MEMORY: u64 = 4;

/// A load from the nearest cache takes several cycles; no processor does ten in a nanosecond.
const SHORTEST_LOAD_NS: f64 = 0.1;
/// Two registers of 64 bytes a cycle at 8 GHz: more than any core loads or stores.
const MOST_BYTES_PER_SECOND: f64 = 128.0 * 8e9;

/// The component that a block of this size in these pages speaks of; huge pages show where translating
/// addresses costs, which is beyond the caches of the core.
fn of_block(size: Bytes, pages: Option<Pages>) -> Component {
    if size.0 <= CACHES_OF_CORE.0 {
        Component::Core
    } else if pages.is_some_and(Pages::is_huge) {
        Component::HugePages
    } else if size.0 < BEYOND_CACHES.0 {
        Component::SharedCache
    } else {
        Component::Memory
    }
}

/// Memory that the kernel supplies.
const SUPPLIED: Counterpart =
    Counterpart::Missing("each kernel supplies and zeroes pages in its own way");

/// A copy by `memcpy`.
fn of_library(point: &Point) -> Counterpart {
    Counterpart::Like {
        point: point.clone(),
        difference: "The C library of each system has its own memcpy.",
    }
}

/// The most steps before anything is timed: more than a tenth of a second where nothing fits. They
/// are steps of the chain itself, since loads that overlap would take a larger share of a cache that
/// others use as well.
const WARMING_STEPS: u64 = 1 << 20;
/// A last-level cache takes in a new working set over several passes.
const WARMING_PASSES: u64 = 8;

/// Times a load of a chain through the places that `offset` gives, in random order, within `len`
/// bytes of memory in `pages`.
fn time_loads(
    sampler: &mut Sampler<'_>,
    metric: Metric,
    pages: Pages,
    len: usize,
    places: usize,
    offset: impl FnMut(usize, &mut Random) -> usize,
) -> Result<(), MeasureError> {
    let (page_size, _) = pages.here()?;
    let mut memory = Mapping::anonymous(len, page_size)?;
    memory.populate()?;
    pages::verify(sampler, &memory, page_size)?;
    time_loads_from(sampler, metric, &mut memory, places, offset)
}

/// As [`time_loads`], in memory that is already mapped.
fn time_loads_from(
    sampler: &mut Sampler<'_>,
    metric: Metric,
    memory: &mut Mapping,
    places: usize,
    offset: impl FnMut(usize, &mut Random) -> usize,
) -> Result<(), MeasureError> {
    let mut chain = linked(sampler.seed(), memory, places, offset);
    // Whole passes: a part of one would not reach the places that are timed. Linking was a pass too.
    let places = places as u64;
    chain.follow(places * (WARMING_STEPS / places).min(WARMING_PASSES));
    sampler.repeat(metric, 1.0, |steps| {
        chain.follow(steps);
        Ok(())
    })
}

/// A chain through the places that `offset` gives, in random order.
fn linked(
    seed: u64,
    memory: &mut Mapping,
    places: usize,
    mut offset: impl FnMut(usize, &mut Random) -> usize,
) -> Chain<'_> {
    let mut random = Random::new(seed);
    let mut order: Vec<u32> = (0..places as u32).collect();
    random.shuffle(&mut order);
    let offsets = order
        .iter()
        .map(|place| offset(*place as usize, &mut random));
    Chain::link(memory.as_mut_slice(), offsets)
}

#[cfg(test)]
mod tests {
    use super::pages::made_up::{BASE, HUGE};
    use super::*;
    use crate::made_up::setting;

    #[test]
    fn blocks_speak_of_the_place_in_which_they_lie() {
        let of = |mib: u64, pages| of_block(Bytes(mib * MIB), Some(pages));
        assert_eq!(of(1, BASE), Component::Core);
        assert_eq!(of(1, HUGE), Component::Core);
        assert_eq!(of(8, BASE), Component::SharedCache);
        assert_eq!(of(256, BASE), Component::Memory);
        assert_eq!(of(256, HUGE), Component::HugePages);
    }

    #[test]
    fn no_block_takes_more_than_its_share_of_memory() {
        let largest = |experiment: &dyn Experiment, axis: AxisOf<Bytes>, available_bytes| {
            let setting = Setting {
                available_bytes,
                ..setting(Profile::Thorough)
            };
            let points = experiment.points(&setting).into_iter();
            points.filter_map(|point| point.level(axis).ok()).max()
        };
        let cases: [(&dyn Experiment, _, _); 4] = [
            (&bandwidth::Bandwidth, bandwidth::BLOCK_SIZE, 25 * MIB),
            (&latency::Latency, latency::WORKING_SET, 25 * MIB),
            (&subloop::Subloop, subloop::BLOCK_SIZE, 8 * MIB),
            // The source and the target together.
            (&copy::Copy, copy::BLOCK_SIZE, 25 * MIB / 2),
        ];
        for (experiment, axis, expected) in cases {
            assert_eq!(largest(experiment, axis, 100 * MIB), Some(Bytes(expected)));
            assert_eq!(largest(experiment, axis, 0), None);
        }
    }
}
