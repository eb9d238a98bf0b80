//! What the first batches of a point foretell: how many samples a process is worth, and how many
//! processes the target will take.

use crate::experiment::Definition;
use crate::sample::Batch;
use crate::setting::Precision;
use crate::statistics::Confidence;
use crate::statistics::plan::{Costs, Plan, plan};

/// The plan that serves every metric of the point that has a target; `None` while the batches do not
/// tell.
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

/// What one more sample of `metric` costs, and of whatever is sampled along with it, and what a
/// process costs beside its samples.
fn costs(batches: &[Batch], metric: &str) -> Option<Costs> {
    let samples = || batches.iter().flat_map(|batch| &batch.samples);
    let count = samples().filter(|sample| sample.metric == metric).count();
    let wall_ns: u64 = batches.iter().map(|batch| batch.wall_ns).sum();
    let sampled_ns: u64 = samples()
        .filter_map(|sample| sample.reading.wall_ns())
        .sum();
    // Metrics that tell of the same time count it once each.
    let sampled_ns = sampled_ns.min(wall_ns);
    let mean = |sum: u64, count: usize| (count > 0).then(|| sum as f64 / count as f64);
    Some(Costs {
        process: mean(wall_ns - sampled_ns, batches.len())?,
        sample: mean(sampled_ns, count).filter(|&sample| sample > 0.0)?,
    })
}
