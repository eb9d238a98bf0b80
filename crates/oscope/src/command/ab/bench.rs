//! Runs the programs in turn and keeps the measurements.

use super::launch::Launcher;
use super::programs::Program;
use super::progress::Progress;
use super::recording::Recording;
use super::timed::{Timed, measure};
use super::told;
use anyhow::Result;
use instrument::ab::{Bench, Block, Contest};
use platform::clock::now_ns;

/// The programs as the subjects of a comparison.
pub struct Turns<'a> {
    pub launcher: &'a Launcher,
    pub programs: &'a [Program],
    pub recording: Recording<'a>,
    pub progress: &'a mut Progress,
    /// The runs of each program so far.
    runs: Vec<Vec<Timed>>,
    /// Their number at the last finished block.
    kept: usize,
    begin_ns: u64,
}

impl<'a> Turns<'a> {
    pub fn new(
        launcher: &'a Launcher,
        programs: &'a [Program],
        recording: Recording<'a>,
        progress: &'a mut Progress,
    ) -> Self {
        Self {
            launcher,
            programs,
            recording,
            progress,
            runs: vec![Vec::new(); programs.len()],
            kept: 0,
            begin_ns: now_ns(),
        }
    }

    /// The recording, and the runs of finished blocks.
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
        let timed = measure(self.launcher, &self.programs[subject])?;
        Ok(timed.map(|timed| {
            let wall_ns = timed.ran.wall_ns as f64;
            self.runs[subject].push(timed);
            wall_ns
        }))
    }

    fn elapsed_ns(&self) -> f64 {
        (now_ns() - self.begin_ns) as f64
    }

    fn keep(&mut self, block: &Block, contest: &Contest) -> Result<()> {
        let new: Vec<Vec<Timed>> = self
            .runs
            .iter()
            .map(|runs| runs[self.kept..].to_vec())
            .collect();
        self.kept = self.runs[0].len();
        self.recording.add(block, &new)?;
        let (programs, kept, elapsed_ns) = (self.programs, self.kept, self.elapsed_ns());
        self.progress.update(|| {
            let pairs = contest.pairs(elapsed_ns);
            let known = pairs.first().map(|pair| told::pair(programs, pair));
            format!("{kept} runs of each: {}", known.unwrap_or_default())
        });
        Ok(())
    }
}
