//! Reading a file in chunks, in order and in random order.

use super::definition::{CHUNK_SIZE, MOST_BYTES_PER_SECOND};
use super::page_cache::{Chiller, Evidence};
use super::scratch_file::ScratchFile;
use crate::estimates::ratios_within;
use crate::prelude::*;
use instrument::statistics::random::Random;
use platform::block_io::read_exact_at;
use platform::memory::{Mapping, PageSize};
use std::cell::RefCell;

pub(super) const SEQUENTIAL: Metric<&str> =
    Metric::bandwidth("sequential", "read in order").bounded(MOST_BYTES_PER_SECOND);
pub(super) const RANDOM: Metric<&str> =
    Metric::bandwidth("random", "read in random order").bounded(MOST_BYTES_PER_SECOND);

pub(super) const OF_SEQUENTIAL: Evidence = Evidence {
    resident: Metric::fact(
        "sequential_resident",
        "in the page cache before, in order",
        Unit::Share,
    ),
    from_storage: Metric::fact(
        "sequential_from_storage",
        "read from storage, in order",
        Unit::Share,
    ),
};
pub(super) const OF_RANDOM: Evidence = Evidence {
    resident: Metric::fact(
        "random_resident",
        "in the page cache before, random",
        Unit::Share,
    ),
    from_storage: Metric::fact(
        "random_from_storage",
        "read from storage, random",
        Unit::Share,
    ),
};

/// Reads the whole cold file in chunks, in order and then, cold again, in random order.
pub(super) fn measure(
    sampler: &mut Sampler<'_>,
    file: ScratchFile,
    Bytes(chunk_size): Bytes,
) -> Result<(), MeasureError> {
    let mut buffer = Mapping::anonymous(chunk_size as usize, PageSize::Base)?;
    buffer.populate()?;
    let chunk = buffer.as_mut_slice();
    let mut chiller = Chiller::new(&file)?;
    let in_order: Vec<u64> = (0..file.len / chunk_size).map(|n| n * chunk_size).collect();
    let mut shuffled = in_order.clone();
    Random::new(sampler.seed()).shuffle(&mut shuffled);

    let file = RefCell::new(file);
    let passes = [
        (SEQUENTIAL, OF_SEQUENTIAL, &in_order),
        (RANDOM, OF_RANDOM, &shuffled),
    ];
    for (metric, evidence, offsets) in passes {
        let bytes = (offsets.len() as u64 * chunk_size) as f64;
        let body = || {
            let file = file.borrow();
            offsets
                .iter()
                .try_for_each(|offset| Ok(read_exact_at(&file.file, chunk, *offset)?))
        };
        let prepare = || chiller.chill(&mut file.borrow_mut());
        evidence.of_passes(sampler, metric, bytes, prepare, body)?;
    }
    chiller.remark_on(sampler)
}

/// Throughput in order over that in random order, by chunk size.
pub(super) fn ratios(results: &Results) -> Vec<(Bytes, Quantity)> {
    let curve = |metric| results.along(CHUNK_SIZE, metric, &[]);
    ratios_within(&curve(SEQUENTIAL), &curve(RANDOM))
}
