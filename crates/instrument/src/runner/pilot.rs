//! What the first batches of a point foretell: how many samples a process is worth, and how many
//! processes the target will take.

use crate::experiment::Definition;
use crate::plan::Precision;
use crate::sample::Batch;
use crate::statistics::Confidence;
use crate::statistics::plan::{Costs, Plan, plan};

/// The plan that serves every metric of the point; `None` while the batches do not tell.
pub(super) fn foretell(
    definition: &Definition,
    batches: &[Batch],
    precision: Precision,
) -> Option<Plan> {
    let plans = definition.metrics.iter().filter_map(|metric| {
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

/// Mean wall time of a sample of `metric`, and of all else that a process takes.
fn costs(batches: &[Batch], metric: &str) -> Option<Costs> {
    let samples = || {
        batches
            .iter()
            .flat_map(|batch| &batch.samples)
            .filter(|s| s.metric == metric)
    };
    let sample_ns: u64 = samples()
        .filter_map(|sample| sample.reading.wall_ns())
        .sum();
    let wall_ns: u64 = batches.iter().map(|batch| batch.wall_ns).sum();
    let mean = |sum: u64, count: usize| (count > 0).then(|| sum as f64 / count as f64);
    Some(Costs {
        process: mean(wall_ns.saturating_sub(sample_ns), batches.len())?,
        sample: mean(sample_ns, samples().count()).filter(|&sample| sample > 0.0)?,
    })
}
