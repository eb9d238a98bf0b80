//! The pilot: predicts from the first batches of a point the samples per process and the number of
//! processes that the target needs.

use crate::experiment::Definition;
use crate::sample::Batch;
use crate::setting::Precision;
use crate::statistics::Confidence;
use crate::statistics::plan::{Costs, Plan, plan};

/// The plan that suffices for every metric of the point that has a target; `None` if the batches do
/// not suffice for a plan.
pub(super) fn foretell(
    definition: &Definition,
    batches: &[Batch],
    precision: Precision,
) -> Option<Plan> {
    let metrics = definition
        .metrics
        .iter()
        .filter(|metric| metric.has_target());
    let plans = metrics.filter_map(|metric| {
        let pilot: Vec<Vec<f64>> = batches
            .iter()
            .map(|batch| net_costs(batch, &metric.name))
            .collect();
        let costs = costs(batches, &metric.name)?;
        plan(
            &pilot,
            costs,
            precision.samples * 4,
            precision.target,
            Confidence::NINETY_FIVE,
        )
    });
    plans.reduce(|one, other| Plan {
        samples_per_process: one.samples_per_process.max(other.samples_per_process),
        processes: one.processes.max(other.processes),
    })
}

fn net_costs(batch: &Batch, metric: &str) -> Vec<f64> {
    let samples = batch
        .samples
        .iter()
        .filter(|sample| sample.metric == metric);
    samples
        .filter_map(|sample| sample.reading.net_cost_ns())
        .collect()
}

/// The cost of one more sample of `metric`, including other metrics sampled in the same pass, and
/// the cost of a process apart from its samples.
fn costs(batches: &[Batch], metric: &str) -> Option<Costs> {
    let samples = || batches.iter().flat_map(|batch| &batch.samples);
    let count = samples().filter(|sample| sample.metric == metric).count();
    let wall_ns: u64 = batches.iter().map(|batch| batch.wall_ns).sum();
    let sampled_ns: u64 = samples()
        .filter_map(|sample| sample.reading.wall_ns())
        .sum();
    // If several metrics report the same time, the sum counts it several times.
    let sampled_ns = sampled_ns.min(wall_ns);
    let mean = |sum: u64, count: usize| (count > 0).then(|| sum as f64 / count as f64);
    Some(Costs {
        process: mean(wall_ns - sampled_ns, batches.len())?,
        sample: mean(sampled_ns, count).filter(|&sample| sample > 0.0)?,
    })
}
