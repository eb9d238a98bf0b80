//! Timings, and an experiment for them, made up for the tests of this crate.

use crate::definition::{Definition, Metric};
use crate::sample::{Around, Batch, FullSpeed, Legs, Reading, Sample};

/// The conditions of a quiet core at a steady clock, at which the chain takes `chain_ns`.
pub(crate) const fn quiet(chain_ns: u64) -> Around {
    Around {
        chain_ns: (chain_ns, chain_ns),
        width_change_ns: 0,
        switches: 0,
        cpu: Some(0),
    }
}

/// An experiment that measures the time `cost`.
pub(crate) fn definition() -> Definition {
    Definition {
        id: "mock.one".into(),
        metrics: vec![Metric::from(&Metric::time("cost", "cost"))],
        ..Definition::default()
    }
}

/// Legs of one operation of the metric `cost`, with the time of the width loop and the conditions around each.
pub(crate) fn cost(wall_ns: Vec<u64>, references: &[(u64, Around)]) -> Sample {
    let (reference_ns, around) = references.iter().copied().unzip();
    let legs = Legs {
        iterations: 1,
        work: 1.0,
        wall_ns,
        reference_ns,
        around,
        ..Legs::default()
    };
    Sample::new("cost", Reading::Legs(legs))
}

/// Each batch in a pass of its own.
pub(crate) fn in_passes(batches: impl IntoIterator<Item = Batch>) -> Vec<Batch> {
    let mut batches: Vec<Batch> = batches.into_iter().collect();
    for (batch, pass) in batches.iter_mut().zip(0..) {
        batch.pass = Some(pass);
    }
    batches
}

/// The legs of the first sample of a batch.
pub(crate) fn legs(batch: &mut Batch) -> &mut Legs {
    match &mut batch.samples[0].reading {
        Reading::Legs(legs) => legs,
        other => panic!("{other:?} has no legs"),
    }
}

/// The full speed of a core whose highest clock and own loops take these times.
pub(crate) fn full_speed(chain_ns: f64, alone_ratio: f64) -> FullSpeed {
    FullSpeed {
        chain_ns,
        best_chain_ns: chain_ns,
        alone_ratio,
        ..FullSpeed::default()
    }
}
