//! Passes: each visits the points of all experiments, in a new random order.

use super::Runner;
use super::event::{Event, ObserverError, Progress};
use super::measured::Measured;
use super::schedule::{Candidate, expected_visits, out_of_reach};
use super::speed::FullSpeed;
use crate::plan::Plan;
use crate::quantity::Nanoseconds;
use crate::statistics::random::Random;
use std::collections::BTreeMap;

/// Before these passes, points are added where curves bend. The first waits for a second process of
/// each point, and after the last there are enough passes left for an estimate.
const REFINING: std::ops::RangeInclusive<usize> = 2..=3;

/// The time that is told to suffice has this much to spare: visits vary.
const SPARE: f64 = 1.2;

/// The experiments of a run while it passes over them.
pub(super) struct Passes<'p> {
    plan: &'p Plan<'p>,
    pub experiments: Vec<Measured<'p>>,
    random: Random,
    speed: FullSpeed,
    end_ns: f64,
}

/// A visit: the index of an experiment, and of a point of it.
type Visit = (usize, usize);

impl<'p> Passes<'p> {
    /// The passes over `experiments`, which end when the time of `plan` from now on is used.
    pub fn new(plan: &'p Plan<'p>, experiments: Vec<Measured<'p>>, runner: &Runner<'_>) -> Self {
        Self {
            plan,
            experiments,
            random: Random::new(plan.seed),
            speed: FullSpeed::new(runner.full_speed_ns),
            end_ns: runner.clock.now_ns() as f64 + plan.budget().0,
        }
    }

    /// Makes one pass; false if nothing is left to do.
    pub fn pass(&mut self, pass: usize, runner: &mut Runner<'_>) -> Result<bool, ObserverError> {
        let passes = self.plan.precision.passes;
        if pass == 1 {
            self.tell_if_scarce(runner)?;
        }
        if REFINING.contains(&pass) {
            for measured in &mut self.experiments {
                measured.refine(runner)?;
            }
        }
        let (visits, wanted_ns) = self.due(pass, runner);
        if visits.is_empty() || self.is_over(runner) {
            return Ok(false);
        }
        runner.tell(&Event::Pass {
            pass,
            passes,
            visits: visits.len(),
        })?;
        let begun_ns = runner.clock.now_ns() as f64;
        let mut last = None;
        for (done, &(experiment, point)) in visits.iter().enumerate() {
            if self.is_over(runner) {
                break;
            }
            if let Some(last) = last.replace(experiment).filter(|last| *last != experiment)
                && !self.plan.keeps_files
            {
                self.experiments[last].remove_files(runner);
            }
            let now_ns = runner.clock.now_ns() as f64;
            let progress = Progress {
                pass,
                passes,
                done,
                visits: visits.len(),
                remaining: Nanoseconds(
                    (wanted_ns - (now_ns - begun_ns))
                        .min(self.end_ns - now_ns)
                        .max(0.0),
                ),
            };
            let seed = self.random.bits();
            self.experiments[experiment].visit(point, runner, seed, progress, &mut self.speed)?;
        }
        if let Some(last) = last
            && !self.plan.keeps_files
        {
            self.experiments[last].remove_files(runner);
        }
        Ok(true)
    }

    /// True if the time is used up or the user asked to stop.
    fn is_over(&self, runner: &Runner<'_>) -> bool {
        self.left_ns(runner) <= 0.0 || runner.executor.is_interrupted()
    }

    fn left_ns(&self, runner: &Runner<'_>) -> f64 {
        self.end_ns - runner.clock.now_ns() as f64
    }

    /// Names the points that the time will not reach.
    fn tell_if_scarce(&self, runner: &mut Runner<'_>) -> Result<(), ObserverError> {
        let open = self.open();
        let left_ns = self.left_ns(runner);
        let (few, missing_ns) = out_of_reach(&self.candidates(&open), left_ns);
        let mut experiments: Vec<(&str, usize)> = Vec::new();
        for index in few {
            let id = self.experiments[open[index].0].id();
            match experiments.last_mut() {
                Some((last, count)) if *last == id => *count += 1,
                _ => experiments.push((id, 1)),
            }
        }
        if experiments.is_empty() {
            return Ok(());
        }
        let spent_ns = self.plan.budget().0 - left_ns;
        runner.tell(&Event::Scarce {
            experiments: &experiments,
            enough: Nanoseconds((spent_ns + missing_ns) * SPARE),
        })
    }

    /// The points that are still open, in the order of the plan.
    fn open(&self) -> Vec<Visit> {
        let experiments = self.experiments.iter().enumerate();
        let open = experiments.flat_map(|(experiment, measured)| {
            let points = measured.still_open().into_iter();
            points.map(move |point| (experiment, point))
        });
        open.collect()
    }

    fn candidates(&self, open: &[Visit]) -> Vec<Candidate> {
        open.iter()
            .map(|&(experiment, point)| self.experiments[experiment].candidate(point))
            .collect()
    }

    /// The visits of a pass in their order, and the expected wall time of the rest of the run, in ns.
    ///
    /// The first pass visits each point once, which tells the cost of a visit. The experiments take
    /// turns in it if their files stay, so that a time too short for this pass leaves no experiment
    /// out. In later passes the visits of an experiment follow each other. The experiments come in
    /// random order, and so do the points of each.
    fn due(&mut self, pass: usize, runner: &Runner<'_>) -> (Vec<Visit>, f64) {
        let open = self.open();
        let left_ns = self.left_ns(runner);
        if pass == 0 {
            let visits = self.shuffled(&open);
            let visits = if self.plan.keeps_files {
                in_turns(visits)
            } else {
                visits
            };
            return (visits, left_ns);
        }
        let candidates = self.candidates(&open);
        let passes = self.plan.precision.passes - pass;
        let expected = expected_visits(&candidates, left_ns, passes);
        let wanted = expected.iter().zip(&candidates);
        let wanted_ns = wanted.map(|(visits, of)| visits * of.visit_ns).sum();
        let mut visits = Vec::new();
        for (visit, expected) in open.into_iter().zip(expected) {
            let in_this_pass = expected / passes as f64;
            // Rounded at random, so that the mean over the passes is what was expected.
            let count = (in_this_pass + self.random.uniform()) as usize;
            visits.extend(std::iter::repeat_n(visit, count));
        }
        (self.shuffled(&visits), wanted_ns)
    }

    /// The visits of each experiment together, the experiments and their visits in random order.
    fn shuffled(&mut self, visits: &[Visit]) -> Vec<Visit> {
        let mut turns: Vec<usize> = (0..self.experiments.len()).collect();
        self.random.shuffle(&mut turns);
        let mut visits = visits.to_vec();
        self.random.shuffle(&mut visits);
        visits.sort_by_key(|(experiment, _)| turns[*experiment]);
        visits
    }
}

/// The first visit of each experiment, then the second of each, and so on.
fn in_turns(visits: Vec<Visit>) -> Vec<Visit> {
    let mut made: BTreeMap<usize, usize> = BTreeMap::new();
    let turn = |visit: Visit| {
        let turn = made.entry(visit.0).or_default();
        *turn += 1;
        (*turn, visit)
    };
    let mut turns: Vec<(usize, Visit)> = visits.into_iter().map(turn).collect();
    turns.sort_by_key(|(turn, _)| *turn);
    turns.into_iter().map(|(_, visit)| visit).collect()
}
