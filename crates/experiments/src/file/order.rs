//! Reading a file in chunks, in order and in random order.

use super::MOST_BYTES_PER_SECOND;
use super::page_cache::{Chiller, Evidence};
use super::scratch_file::ScratchFile;
use crate::estimates::ratios_within;
use instrument::experiment::{Better, MeasureError, Metric};
use instrument::quantity::Unit;
use instrument::results::Results;
use instrument::sampler::Sampler;
use instrument::statistics::Estimated;
use instrument::statistics::random::Random;
use platform::block_io::read_exact_at;
use platform::memory::{Mapping, PageSize};

pub(super) const CHUNK_SIZE: &str = "chunk_size";
pub(super) const SEQUENTIAL: &str = "sequential";
pub(super) const RANDOM: &str = "random";

const OF_SEQUENTIAL: Evidence = Evidence {
    resident: "sequential_resident",
    from_storage: "sequential_from_storage",
};
const OF_RANDOM: Evidence = Evidence {
    resident: "random_resident",
    from_storage: "random_from_storage",
};

/// What [`measure`] gives.
pub(super) fn metrics() -> impl Iterator<Item = Metric> {
    let throughput = |name: &str, title: &str| {
        Metric::new(name, title, Unit::BytesPerSecond, Better::Higher)
            .bounded(MOST_BYTES_PER_SECOND)
    };
    [
        throughput(SEQUENTIAL, "read in order"),
        throughput(RANDOM, "read in random order"),
    ]
    .into_iter()
    .chain(OF_SEQUENTIAL.metrics(", in order"))
    .chain(OF_RANDOM.metrics(", random"))
}

/// Reads the whole cold file in chunks, in order and then, cold again, in random order.
pub(super) fn measure(
    sampler: &mut Sampler<'_>,
    file: &ScratchFile,
    chunk_size: u64,
) -> Result<(), MeasureError> {
    let mut buffer = Mapping::anonymous(chunk_size as usize, PageSize::Base)?;
    buffer.populate()?;
    let chunk = buffer.as_mut_slice();
    let mut chiller = Chiller::new(&file.file, &file.path)?;
    let in_order: Vec<u64> = (0..file.len / chunk_size).map(|n| n * chunk_size).collect();
    let mut shuffled = in_order.clone();
    Random::new(sampler.seed()).shuffle(&mut shuffled);

    let passes = [
        (SEQUENTIAL, &OF_SEQUENTIAL, &in_order),
        (RANDOM, &OF_RANDOM, &shuffled),
    ];
    for (metric, evidence, offsets) in passes {
        let bytes = (offsets.len() as u64 * chunk_size) as f64;
        let body = || {
            offsets
                .iter()
                .try_for_each(|offset| Ok(read_exact_at(&file.file, chunk, *offset)?))
        };
        evidence.of_passes(sampler, metric, bytes, || chiller.chill(), body)?;
    }
    match chiller.remark() {
        Some(remark) => sampler.remark(remark),
        None => Ok(()),
    }
}

/// How many times as fast chunks are read in order as in random order, by chunk size.
pub(super) fn ratios(results: &Results) -> Vec<(u64, Estimated)> {
    let curve = |metric| results.curve(metric, CHUNK_SIZE, &[]);
    ratios_within(&curve(SEQUENTIAL), &curve(RANDOM))
}
