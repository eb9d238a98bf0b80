//! Memory with a chain of dependent loads in it.

use super::pages::{self, Pages};
use crate::prelude::*;
use instrument::statistics::random::Random;
use kernels::Chain;
use platform::memory::Mapping;

/// The most steps before anything is timed: more than a tenth of a second where nothing fits. They
/// are steps of the chain itself, since loads that overlap would take a larger share of a cache that
/// others use as well.
const WARMING_STEPS: u64 = 1 << 20;
/// A last-level cache takes in a new working set over several passes.
const WARMING_PASSES: u64 = 8;

/// Times a load of a chain through the places that `offset` gives, in random order, within `len`
/// bytes of memory in `pages`.
pub(super) fn time_loads(
    sampler: &mut Sampler<'_>,
    metric: Metric<&'static str>,
    pages: Pages,
    len: usize,
    places: usize,
    offset: impl FnMut(usize, &mut Random) -> usize,
) -> Result<(), MeasureError> {
    let (page_size, _) = pages.here()?;
    let mut memory = Mapping::anonymous(len, page_size)?;
    memory.populate()?;
    if let Some(remark) = pages::remark(&memory, page_size)? {
        sampler.remark(remark);
    }
    time_loads_from(sampler, metric, &mut memory, places, offset)
}

/// As [`time_loads`], in memory that is already mapped.
pub(super) fn time_loads_from(
    sampler: &mut Sampler<'_>,
    metric: Metric<&'static str>,
    memory: &mut Mapping,
    places: usize,
    mut offset: impl FnMut(usize, &mut Random) -> usize,
) -> Result<(), MeasureError> {
    let mut random = Random::new(sampler.seed());
    let mut order: Vec<u32> = (0..places as u32).collect();
    random.shuffle(&mut order);
    let offsets = order
        .iter()
        .map(|place| offset(*place as usize, &mut random));
    let mut chain = Chain::link(memory.as_mut_slice(), offsets);
    // Whole passes: a part of one would not reach the places that are timed. Linking was a pass too.
    let places = places as u64;
    chain.follow(places * (WARMING_STEPS / places).min(WARMING_PASSES));
    sampler.repeat(metric, 1.0, |steps| {
        chain.follow(steps);
        Ok(())
    })
}
