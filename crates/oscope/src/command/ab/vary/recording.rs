//! The visits of a comparison as a stored run: each experiment with one more axis, `variant`.

use super::arms::Duel;
use crate::command::ab::recording::tell;
use anyhow::Result;
use instrument::definition::Definition;
use instrument::point::{Axis, Point};
use instrument::quantity::Nanoseconds;
use instrument::results::PointResult;
use instrument::runner::{Ending, Event, Progress};
use instrument::sample::Batch;
use record::store::Recorder;

/// Name of the axis whose levels are the compared values.
const VARIANT: &str = "variant";

/// Records experiment after experiment, and in each duel after duel.
pub struct Recording<'s> {
    recorder: Recorder<'s>,
    definition: Option<Definition>,
    /// The points of the current duel, one for each way, and their batches.
    points: Vec<Point>,
    taken: Vec<Vec<Batch>>,
}

impl<'s> Recording<'s> {
    pub fn new(recorder: Recorder<'s>) -> Self {
        Self {
            recorder,
            definition: None,
            points: Vec::new(),
            taken: Vec::new(),
        }
    }

    /// Starts an experiment with all its duels. The title of the added axis is the key of what varies:
    /// advice recognises trials of a setting by it.
    pub fn start<'d>(
        &mut self,
        of: &Definition,
        duels: impl Iterator<Item = &'d Duel>,
        (key, values): (&str, &[String]),
    ) -> Result<()> {
        let duels: Vec<&Duel> = duels.collect();
        let mut definition = Definition {
            id: format!("ab.{}", of.id),
            ..of.clone()
        };
        let is_shared = |axis: &Axis| duels.iter().all(|it| it.shared.get(&axis.name).is_some());
        definition.axes.retain(is_shared);
        definition.axes.push(Axis::choice(VARIANT, key));
        let points: Vec<Point> = duels.iter().flat_map(|it| variants(it, values)).collect();
        let (definition, points) = (&*self.definition.insert(definition), points.as_slice());
        tell(&mut self.recorder, &Event::Started { definition, points })
    }

    /// Turns to the next duel.
    pub fn turn_to(&mut self, duel: &Duel, values: &[String]) {
        self.points = variants(duel, values).collect();
        self.taken = vec![Vec::new(); self.points.len()];
    }

    /// Stores a visit of one way.
    pub fn add(&mut self, way: usize, mut batch: Batch) -> Result<()> {
        let Some(definition) = &self.definition else {
            return Ok(());
        };
        batch.pass = Some(self.taken[way].len() as u32);
        let event = Event::Taken {
            definition,
            point: &self.points[way],
            batch: &batch,
            estimates: &[],
            progress: Progress {
                pass: self.taken[way].len(),
                passes: 1,
                done: 0,
                visits: self.points.len(),
                remaining: Nanoseconds(0.0),
            },
        };
        tell(&mut self.recorder, &event)?;
        self.taken[way].push(batch);
        Ok(())
    }

    /// Ends the current duel.
    pub fn close(&mut self, ending: &Ending) -> Result<()> {
        let Some(definition) = &self.definition else {
            return Ok(());
        };
        for (point, batches) in self.points.iter().zip(&self.taken) {
            let warnings = if batches.is_empty() {
                Vec::new()
            } else {
                PointResult::new(definition, point, batches, None).warnings
            };
            let event = Event::Closed {
                definition,
                point,
                ending,
                warnings: &warnings,
            };
            tell(&mut self.recorder, &event)?;
        }
        Ok(())
    }

    /// Ends the run.
    pub fn finish(self, is_interrupted: bool) -> Result<()> {
        Ok(self.recorder.finish(is_interrupted)?)
    }
}

/// The points of a duel in the record.
fn variants(duel: &Duel, values: &[String]) -> impl Iterator<Item = Point> {
    let values = values.iter();
    values.map(|value| duel.shared.clone().with(VARIANT, value.as_str()))
}
