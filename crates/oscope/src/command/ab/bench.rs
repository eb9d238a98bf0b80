//! Runs the programs in turn and keeps the measurements.

use super::launch::Launcher;
use super::programs::Program;
use super::progress::Progress;
use super::recording::Recording;
use super::runs::Runs;
use super::timed::{Timed, measure};
use super::told;
use anyhow::{Context, Result};
use instrument::ab::{Bench, Block, Contest};
use instrument::quantity::counted;
use platform::clock::now_ns;

/// The programs as the subjects of a comparison.
pub struct Turns<'a> {
    pub launcher: &'a Launcher,
    pub programs: &'a [Program],
    pub recording: Recording<'a>,
    pub progress: &'a mut Progress,
    /// Time of one run of each program, if it is known from the warm-up.
    pace_ns: Option<f64>,
    /// The runs of each program in finished blocks.
    runs: Vec<Runs>,
    /// Those since the last finished block.
    latest: Vec<Vec<Timed>>,
    begin_ns: u64,
}

impl<'a> Turns<'a> {
    pub fn new(
        launcher: &'a Launcher,
        programs: &'a [Program],
        recording: Recording<'a>,
        progress: &'a mut Progress,
        pace_ns: Option<f64>,
    ) -> Self {
        Self {
            launcher,
            programs,
            recording,
            progress,
            pace_ns,
            runs: vec![Runs::default(); programs.len()],
            latest: vec![Vec::new(); programs.len()],
            begin_ns: now_ns(),
        }
    }

    /// The recording, and the runs of each program in finished blocks.
    pub fn end(self) -> (Recording<'a>, Vec<Runs>) {
        (self.recording, self.runs)
    }
}

impl Bench for Turns<'_> {
    type Error = anyhow::Error;

    fn measure(&mut self, subject: usize) -> Result<Option<f64>> {
        let number = self.runs[subject].each.len() + self.latest[subject].len() + 1;
        let timed = measure(self.launcher, &self.programs[subject]);
        let timed = timed.with_context(|| format!("run {number}"))?;
        Ok(timed.map(|timed| {
            let wall_ns = timed.ran.wall_ns as f64;
            self.latest[subject].push(timed);
            wall_ns
        }))
    }

    fn elapsed_ns(&self) -> f64 {
        (now_ns() - self.begin_ns) as f64
    }

    fn pace_ns(&self) -> Option<f64> {
        self.pace_ns
    }

    fn keep(&mut self, block: &Block, contest: &Contest) -> Result<()> {
        let latest = self.latest.iter_mut();
        let new: Vec<Vec<Timed>> = latest
            .map(|latest| latest.drain(..block.turns()).collect())
            .collect();
        for (runs, new) in self.runs.iter_mut().zip(&new) {
            for timed in new {
                runs.add(timed);
            }
        }
        self.recording.add(block, &new)?;
        let (programs, elapsed_ns) = (self.programs, self.elapsed_ns());
        let kept = self.runs[0].each.len();
        self.progress.update(|| {
            let pairs = contest.pairs(elapsed_ns);
            let known = pairs.first().map(|pair| told::pair(programs, pair));
            format!(
                "{} of each: {}",
                counted(kept, "run"),
                known.unwrap_or_default()
            )
        });
        Ok(())
    }
}
