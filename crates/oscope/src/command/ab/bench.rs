//! Runs the programs in turn and keeps the measurements.

use super::launch::Launcher;
use super::programs::Program;
use super::progress::Progress;
use super::recording::Recording;
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
    /// The runs of each program so far.
    runs: Vec<Vec<Timed>>,
    /// The number of those in finished turns.
    kept: usize,
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
            runs: vec![Vec::new(); programs.len()],
            kept: 0,
            begin_ns: now_ns(),
        }
    }

    /// The recording, and the runs of finished turns.
    pub fn end(self) -> (Recording<'a>, Vec<Vec<Timed>>) {
        let mut runs = self.runs;
        for runs in &mut runs {
            runs.truncate(self.kept);
        }
        (self.recording, runs)
    }
}

impl Bench for Turns<'_> {
    type Error = anyhow::Error;

    fn measure(&mut self, subject: usize) -> Result<Option<f64>> {
        let number = self.runs[subject].len() + 1;
        let timed = measure(self.launcher, &self.programs[subject]);
        let timed = timed.with_context(|| format!("run {number}"))?;
        Ok(timed.map(|timed| {
            let wall_ns = timed.ran.wall_ns as f64;
            self.runs[subject].push(timed);
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
        let turns = self.kept..self.kept + block.turns();
        let runs = self.runs.iter();
        let new: Vec<Vec<Timed>> = runs.map(|runs| runs[turns.clone()].to_vec()).collect();
        self.kept = turns.end;
        self.recording.add(block, &new)?;
        let (programs, kept, elapsed_ns) = (self.programs, self.kept, self.elapsed_ns());
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
