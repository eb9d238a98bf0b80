//! The processor's full speed, as far as the run has seen it.

use crate::sample::Batch;

/// The full speed is taken from the fastest visits of the run: one reading alone may be an error of
/// the clock.
const FASTEST: f64 = 0.05;

/// If earlier runs were this many times as fast, the machine has changed since.
const MOST_FASTER: f64 = 2.0;

/// Watches the reference loop over the whole run.
#[derive(Debug, Default)]
pub(super) struct FullSpeed {
    /// The full speed in earlier runs of this machine, as the loop's wall time in ns.
    known_ns: Option<f64>,
    /// The fastest reading of each visit, in ascending order.
    visits_ns: Vec<f64>,
}

impl FullSpeed {
    /// Starts with what earlier runs of the machine have shown.
    pub fn new(known_ns: Option<f64>) -> Self {
        Self {
            known_ns,
            visits_ns: Vec::new(),
        }
    }

    /// Adds the readings of `batch` and notes in it the full speed known by now.
    pub fn note(&mut self, batch: &mut Batch) {
        let costs = batch
            .samples
            .iter()
            .flat_map(|sample| sample.reading.costs());
        let fastest = costs
            .filter_map(|cost| cost.reference_ns)
            .filter(|ns| *ns > 0.0)
            .reduce(f64::min);
        if let Some(fastest) = fastest {
            let at = self.visits_ns.partition_point(|ns| *ns < fastest);
            self.visits_ns.insert(at, fastest);
        }
        batch.full_speed_ns = self.full_speed_ns();
    }

    /// The reference loop's wall time at full speed, in ns.
    fn full_speed_ns(&self) -> Option<f64> {
        let fastest = (self.visits_ns.len() as f64 * FASTEST) as usize;
        let seen_ns = *self.visits_ns.get(fastest)?;
        let known_ns = self
            .known_ns
            .filter(|known_ns| *known_ns > seen_ns / MOST_FASTER);
        Some(known_ns.map_or(seen_ns, |known_ns| known_ns.min(seen_ns)))
    }
}

#[cfg(test)]
mod tests {
    use super::FullSpeed;
    use crate::sample::{Batch, Legs, Reading, Sample};

    fn batch(reference_ns: &[u64]) -> Batch {
        let legs = Legs {
            iterations: 1,
            work: 1.0,
            wall_ns: vec![1; reference_ns.len()],
            reference_ns: reference_ns.into(),
            ..Legs::default()
        };
        Batch {
            samples: vec![Sample::new("cost", Reading::Legs(legs))],
            ..Batch::default()
        }
    }

    #[test]
    fn the_fastest_visits_tell_the_full_speed() {
        let mut speed = FullSpeed::default();
        let mut noted = |reference_ns: &[u64]| {
            let mut batch = batch(reference_ns);
            speed.note(&mut batch);
            batch.full_speed_ns
        };
        assert_eq!(noted(&[]), None);
        assert_eq!(noted(&[130, 120]), Some(120.0));
        assert_eq!(noted(&[100, 120]), Some(100.0));
        assert_eq!(noted(&[110, 150]), Some(100.0));
    }

    #[test]
    fn an_earlier_run_may_have_seen_the_processor_faster() {
        let mut speed = FullSpeed::new(Some(90.0));
        let mut slowed = batch(&[120]);
        speed.note(&mut slowed);
        assert_eq!(slowed.full_speed_ns, Some(90.0));
        let mut speed = FullSpeed::new(Some(10.0));
        speed.note(&mut slowed);
        assert_eq!(slowed.full_speed_ns, Some(120.0));
    }
}
