//! Passes: each visits the points of all experiments, in a new random order; the schedule decides how often
//! each point is visited in the rest of the run.

use super::Runner;
use super::event::{Earlier, Event, ObserverError, Progress};
use super::running::{Candidate, RunningExperiment};
use crate::core_state::Speeds;
use crate::plan::{Plan, SPARE};
use crate::quantity::Nanoseconds;
use crate::statistics::random::Random;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Before these passes over all points, counted from 0, points are added where curves bend. The first waits for a
/// second process of each point, and after the last there are enough passes left for an estimate.
const REFINING: std::ops::RangeInclusive<usize> = 2..=3;

/// The largest share of the time for the first pass, unless an experiment would have no visit.
const FIRST_SHARE: f64 = 0.5;

/// The share of points whose cost earlier runs must show: some points fail in every run.
const KNOWN: f64 = 0.9;

/// The experiments of a run while it passes over them.
pub(super) struct Passes<'p> {
    plan: &'p Plan<'p>,
    pub experiments: Vec<RunningExperiment<'p>>,
    random: Random,
    speed: Speeds,
    /// Numbers of the passes that are being made.
    numbers: Range<usize>,
    /// True during the passes over the points that come first.
    is_over_first: bool,
    begun_ns: f64,
    /// The end of the time for these passes.
    end_ns: f64,
    /// The number after that of the run's last pass, and the end of its time.
    last: usize,
    run_end_ns: f64,
    /// True once the user knows which points the time will not reach.
    has_warned: bool,
}

/// A visit: the index of an experiment, and of a point of it.
type Visit = (usize, usize);

/// The visits of one process.
struct Process {
    experiment: usize,
    /// Different ones, in random order.
    points: Vec<usize>,
    /// Their expected time in ns; `None` if the process may get no more visits.
    shared_ns: Option<f64>,
}

/// A process ends after about this time, in ns: a stop that loses its samples then loses little.
const LONGEST_PROCESS_NS: f64 = 2e9;
/// Most visits of a process while their time is not known.
const FEW_VISITS: f64 = 4.0;

impl<'p> Passes<'p> {
    /// The passes over `experiments` after those of `earlier`. They end when the time that is left
    /// is used, from now on.
    pub fn new(
        plan: &'p Plan<'p>,
        earlier: &Earlier,
        experiments: Vec<RunningExperiment<'p>>,
        runner: &Runner<'_>,
    ) -> Self {
        let first = earlier.passes_begun;
        let begun_ns = runner.clock.now_ns() as f64;
        let last = first + earlier.passes_left;
        let run_end_ns = begun_ns + earlier.left.0;
        Self {
            plan,
            experiments,
            // A resumed run must not repeat the order of its first passes.
            random: Random::new(plan.seed.wrapping_add(first as u64)),
            speed: Speeds::new(runner.topology.clone(), runner.full_speeds.clone()),
            numbers: first..last,
            is_over_first: false,
            begun_ns,
            end_ns: run_end_ns,
            last,
            run_end_ns,
            has_warned: false,
        }
    }

    /// Makes all passes, first those over the points that the plan puts first. A resumed run has made these.
    pub fn make(&mut self, runner: &mut Runner<'_>) -> Result<(), ObserverError> {
        let first_passes = self.plan.first_passes();
        if self.numbers.start == 0 && first_passes > 0 {
            self.is_over_first = true;
            self.numbers = 0..first_passes;
            self.end_ns = self.begun_ns + self.plan.first_time.0;
            self.make_these(runner)?;
            self.is_over_first = false;
            self.numbers = first_passes..self.last;
            self.end_ns = self.run_end_ns;
        }
        self.make_these(runner)
    }

    fn make_these(&mut self, runner: &mut Runner<'_>) -> Result<(), ObserverError> {
        for pass in self.numbers.clone() {
            if !self.pass(pass, runner)? {
                break;
            }
        }
        Ok(())
    }

    /// Makes one pass; false if nothing is left to do.
    fn pass(&mut self, pass: usize, runner: &mut Runner<'_>) -> Result<bool, ObserverError> {
        let first = self.numbers.start;
        let may_warn = !self.is_over_first;
        if may_warn && (pass == first + 1 || (pass == first && self.knows_costs())) {
            self.warn_if_scarce(runner)?;
        }
        let over_all = pass.checked_sub(self.plan.first_passes());
        if over_all.is_some_and(|pass| REFINING.contains(&pass)) {
            for measured in &mut self.experiments {
                measured.refine(runner)?;
            }
        }
        let is_first = pass == first && !self.unvisited().is_empty();
        let (processes, later_ns) = self.due(is_first, pass, runner);
        if processes.is_empty() || self.is_over(runner) {
            return Ok(false);
        }
        let visits = processes.iter().map(|process| process.points.len()).sum();
        self.begin(pass, visits, runner)?;
        // An estimate needs several passes: one whose visits take longer than expected leaves time for the others.
        let keeps_time = self.is_over_first && !is_first;
        let later = (self.numbers.end - pass - 1) as f64;
        let kept_ns = if keeps_time {
            self.left_ns(runner) * later / (later + 1.0)
        } else {
            0.0
        };
        let all = processes.iter();
        let all_ns = all.map(|process| self.expected_ns(process.experiment, &process.points));
        let mut in_pass_ns: f64 = all_ns.sum();
        let mut last = None;
        let mut done = 0;
        let mut visited = BTreeSet::new();
        for Process {
            experiment, points, ..
        } in processes
        {
            if self.is_over(runner) || self.left_ns(runner) < kept_ns {
                break;
            }
            let expected_ns = self.expected_ns(experiment, &points);
            in_pass_ns -= expected_ns;
            if is_first && self.has_used_the_first_share(runner) && visited.contains(&experiment) {
                continue;
            }
            if !is_first && expected_ns > self.left_ns(runner) {
                continue;
            }
            visited.insert(experiment);
            if let Some(last) = last.replace(experiment).filter(|last| *last != experiment)
                && !self.plan.keeps_files
            {
                self.experiments[last].remove_files(runner);
            }
            let wanted_ns = in_pass_ns + later_ns;
            let left_ns = self.run_end_ns - self.end_ns + self.left_ns(runner) - expected_ns;
            let progress = Progress {
                pass,
                passes: self.last,
                done,
                visits,
                remaining: Nanoseconds(wanted_ns.min(left_ns).max(0.0)),
            };
            let seed = self.random.bits();
            self.experiments[experiment].visit(&points, runner, seed, progress, &mut self.speed)?;
            done += points.len();
        }
        if let Some(last) = last
            && !self.plan.keeps_files
        {
            self.experiments[last].remove_files(runner);
        }
        runner.announce(&Event::PassEnded)?;
        Ok(true)
    }

    /// Announces that a pass begins. Observers may let the run wait for others here: that is not its own time.
    fn begin(
        &mut self,
        pass: usize,
        visits: usize,
        runner: &mut Runner<'_>,
    ) -> Result<(), ObserverError> {
        let announced_ns = runner.clock.now_ns();
        runner.announce(&Event::Pass {
            pass,
            passes: self.last,
            visits,
        })?;
        let waited_ns = runner.clock.now_ns().saturating_sub(announced_ns) as f64;
        self.begun_ns += waited_ns;
        self.end_ns += waited_ns;
        self.run_end_ns += waited_ns;
        Ok(())
    }

    /// True if the time is used up or the user asked to stop.
    fn is_over(&self, runner: &Runner<'_>) -> bool {
        self.left_ns(runner) <= 0.0 || runner.executor.is_interrupted()
    }

    fn left_ns(&self, runner: &Runner<'_>) -> f64 {
        self.end_ns - runner.clock.now_ns() as f64
    }

    /// True if the first pass has used its share of the time: the rest is for estimates.
    fn has_used_the_first_share(&self, runner: &Runner<'_>) -> bool {
        let budget_ns = self.end_ns - self.begun_ns;
        let used_ns = budget_ns - self.left_ns(runner);
        used_ns >= FIRST_SHARE * budget_ns
    }

    /// Expected wall time of a process, in ns.
    fn expected_ns(&self, experiment: usize, points: &[usize]) -> f64 {
        let measured = &self.experiments[experiment];
        let visits = points.iter().map(|point| measured.expected_ns(*point));
        visits.map(Option::unwrap_or_default).sum()
    }

    /// True if earlier runs show the cost of a visit.
    fn knows_costs(&self) -> bool {
        let open = self.open();
        let known = (open.iter())
            .filter(|(experiment, point)| self.experiments[*experiment].has_known_cost(*point));
        known.count() as f64 >= KNOWN * open.len() as f64
    }

    /// The points that the first pass visits: all, unless earlier runs show that its share of the time
    /// is too short for that. Then only those for which the time suffices for an estimate; all if
    /// there are none.
    fn in_reach(&self, open: Vec<Visit>, left_ns: f64) -> Vec<Visit> {
        let candidates = self.candidates(&open);
        let all_ns: f64 = candidates.iter().map(|of| of.visit_ns).sum();
        if !self.knows_costs() || all_ns <= FIRST_SHARE * left_ns {
            return open;
        }
        let (few, _) = out_of_reach(&candidates, left_ns);
        let few: BTreeSet<usize> = few.into_iter().collect();
        let indices = (0..open.len()).filter(|index| !few.contains(index));
        let in_reach: Vec<Visit> = indices.map(|index| open[index]).collect();
        if in_reach.is_empty() { open } else { in_reach }
    }

    /// Names the points that the time will not reach, once.
    fn warn_if_scarce(&mut self, runner: &mut Runner<'_>) -> Result<(), ObserverError> {
        if self.has_warned {
            return Ok(());
        }
        self.has_warned = true;
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
        let spent_ns = self.end_ns - self.begun_ns - left_ns;
        runner.announce(&Event::Scarce {
            experiments: &experiments,
            enough: Nanoseconds((spent_ns + missing_ns) * SPARE),
        })
    }

    /// The points that are still open, of those that are being visited, in the order of the plan.
    fn open(&self) -> Vec<Visit> {
        let experiments = self.experiments.iter().enumerate();
        let open = experiments.flat_map(|(experiment, measured)| {
            let points = measured.still_open(self.is_over_first).into_iter();
            points.map(move |point| (experiment, point))
        });
        open.collect()
    }

    /// The open points without a visit.
    fn unvisited(&self) -> Vec<Visit> {
        let mut open = self.open();
        open.retain(|&(experiment, point)| self.experiments[experiment].is_unvisited(point));
        open
    }

    fn candidates(&self, open: &[Visit]) -> Vec<Candidate> {
        open.iter()
            .map(|&(experiment, point)| self.experiments[experiment].candidate(point))
            .collect()
    }

    /// The processes of a pass in their order, and the expected wall time of later passes in ns. That
    /// is infinite as long as the cost of a visit is not known, and while the points that come first are visited: they
    /// may then fill all of the time.
    ///
    /// The first pass visits each new point once, which shows the cost of a visit, as far as its share of the
    /// time suffices. The experiments take turns in it if their files stay, so that a time too short for this
    /// pass leaves no experiment out. In later passes, the processes of an experiment follow each other. The
    /// experiments come in random order, and so do the points of each.
    fn due(&mut self, is_first: bool, pass: usize, runner: &Runner<'_>) -> (Vec<Process>, f64) {
        let left_ns = self.left_ns(runner);
        if is_first {
            let in_reach = self.in_reach(self.unvisited(), left_ns);
            let processes = self.processes(&in_reach);
            let processes = if self.plan.keeps_files {
                in_turns(processes)
            } else {
                processes
            };
            return (processes, f64::INFINITY);
        }
        let open = self.open();
        let candidates = self.candidates(&open);
        let passes = self.numbers.end - pass;
        let expected = expected_visits(&candidates, left_ns, passes);
        let wanted = expected.iter().zip(&candidates);
        let wanted_ns: f64 = wanted.map(|(visits, of)| visits * of.visit_ns).sum();
        let later_ns = if self.is_over_first {
            f64::INFINITY
        } else {
            wanted_ns * (1.0 - 1.0 / passes as f64)
        };
        let mut visits = Vec::new();
        for ((visit, expected), candidate) in open.into_iter().zip(expected).zip(&candidates) {
            let in_this_pass = expected / passes as f64;
            // Rounded at random, so that the mean over the passes is what was expected.
            let count = (in_this_pass + self.random.uniform()) as usize;
            // Visits that an estimate needs are made early: they show which points need more.
            let needs_one = candidate.missing > 0 && expected >= candidate.missing as f64;
            let count = count.max(usize::from(needs_one));
            visits.extend(std::iter::repeat_n(visit, count));
        }
        (self.processes(&visits), later_ns)
    }

    /// The processes that make these visits: those of each experiment together, the experiments and
    /// their visits in random order.
    fn processes(&mut self, visits: &[Visit]) -> Vec<Process> {
        let mut turns: Vec<usize> = (0..self.experiments.len()).collect();
        self.random.shuffle(&mut turns);
        let mut visits = visits.to_vec();
        self.random.shuffle(&mut visits);
        visits.sort_by_key(|(experiment, _)| turns[*experiment]);
        let mut processes = Vec::new();
        for (experiment, point) in visits {
            let measured = &self.experiments[experiment];
            let visit_ns = measured.shares_process(point).then(|| {
                let expected_ns = measured.expected_ns(point);
                expected_ns.unwrap_or(LONGEST_PROCESS_NS / FEW_VISITS)
            });
            add(&mut processes, experiment, point, visit_ns);
        }
        processes
    }
}

/// Adds a visit that is expected to take `visit_ns`, or whose point shares its process with no other: to the
/// first process of its experiment that has room and does not visit the same point.
fn add(processes: &mut Vec<Process>, experiment: usize, point: usize, visit_ns: Option<f64>) {
    let with_room = processes.iter_mut().find_map(|process| {
        let both_ns = process.shared_ns? + visit_ns?;
        let has_room = both_ns <= LONGEST_PROCESS_NS && !process.points.contains(&point);
        (has_room && process.experiment == experiment).then_some((process, both_ns))
    });
    if let Some((process, both_ns)) = with_room {
        process.points.push(point);
        process.shared_ns = Some(both_ns);
    } else {
        processes.push(Process {
            experiment,
            points: vec![point],
            shared_ns: visit_ns,
        });
    }
}

/// The first process of each experiment, then the second of each, and so on.
fn in_turns(processes: Vec<Process>) -> Vec<Process> {
    let mut made: BTreeMap<usize, usize> = BTreeMap::new();
    let turn = |process: Process| {
        let turn = made.entry(process.experiment).or_default();
        *turn += 1;
        (*turn, process)
    };
    let mut turns: Vec<(usize, Process)> = processes.into_iter().map(turn).collect();
    turns.sort_by_key(|(turn, _)| *turn);
    turns.into_iter().map(|(_, process)| process).collect()
}

/// More processes than this in one pass add little: they see the same moments of the machine.
const MOST_IN_A_PASS: usize = 4;

/// Visits of a point in each pass while its intervals are within the profile's target: enough that they
/// cover the whole run.
const OFTEN_ENOUGH: f64 = 0.5;

/// The indices of the candidates that the time leaves without an estimate, and the time in ns that
/// would suffice for all.
fn out_of_reach(candidates: &[Candidate], left_ns: f64) -> (Vec<usize>, f64) {
    let in_reach = Shares::new(candidates, left_ns).give_what_is_missing();
    let out_of_reach = (0..candidates.len()).filter(|index| !in_reach[*index]);
    let missing_ns = candidates
        .iter()
        .map(|candidate| candidate.missing as f64 * candidate.visit_ns);
    (out_of_reach.collect(), missing_ns.sum())
}

/// The number of visits that each candidate can expect in `left_ns` of wall time and `passes` more
/// passes.
///
/// First every point gets what an estimate needs, the cheapest points first. Then every point gets a
/// visit in every other pass, so that its interval covers the whole run. What is left goes to more
/// visits of the points whose intervals are too wide, then of all, and in the end to points for which
/// the time does not suffice.
fn expected_visits(candidates: &[Candidate], left_ns: f64, passes: usize) -> Vec<f64> {
    let mut shares = Shares::new(candidates, left_ns);
    let in_reach = shares.give_what_is_missing();
    let in_each_pass = |visits: f64| passes as f64 * visits;
    shares.fill(|index, _| in_reach[index], in_each_pass(OFTEN_ENOUGH));
    let is_wide = |index: usize, candidate: &Candidate| in_reach[index] && candidate.is_wide;
    for times in 1..=MOST_IN_A_PASS {
        shares.fill(is_wide, in_each_pass(times as f64));
    }
    for times in 1..=MOST_IN_A_PASS {
        shares.fill(|index, _| in_reach[index], in_each_pass(times as f64));
    }
    shares.fill(|index, _| !in_reach[index], in_each_pass(1.0));
    shares.visits
}

/// The visits given so far, and the time left for more.
struct Shares<'c> {
    candidates: &'c [Candidate],
    visits: Vec<f64>,
    left_ns: f64,
}

impl<'c> Shares<'c> {
    fn new(candidates: &'c [Candidate], left_ns: f64) -> Self {
        Self {
            candidates,
            visits: vec![0.0; candidates.len()],
            left_ns,
        }
    }

    /// Gives each candidate the visits that are missing to an estimate, all of them or none. Returns
    /// for each whether it has them now.
    fn give_what_is_missing(&mut self) -> Vec<bool> {
        let mut in_reach = vec![false; self.candidates.len()];
        for (cost_ns, index, missing) in self.by_cost(|_, candidate| candidate.missing as f64) {
            if cost_ns <= self.left_ns {
                in_reach[index] = true;
                self.visits[index] = missing;
                self.left_ns -= cost_ns;
            }
        }
        in_reach
    }

    /// Raises the visits of the chosen candidates to `goal`, the cheapest first, as far as the time
    /// suffices.
    fn fill(&mut self, is_chosen: impl Fn(usize, &Candidate) -> bool, goal: f64) {
        for (cost_ns, index, more) in self.by_cost(|index, _| goal - self.visits[index]) {
            if cost_ns > 0.0 && is_chosen(index, &self.candidates[index]) {
                let share = (self.left_ns / cost_ns).min(1.0);
                self.visits[index] += more * share;
                self.left_ns = (self.left_ns - cost_ns).max(0.0);
            }
        }
    }

    /// Cost, index and number of the visits that each candidate wants, the cheapest first.
    fn by_cost(&self, wanted: impl Fn(usize, &Candidate) -> f64) -> Vec<(f64, usize, f64)> {
        let mut by_cost: Vec<(f64, usize, f64)> = self
            .candidates
            .iter()
            .enumerate()
            .map(|(index, candidate)| {
                let visits = wanted(index, candidate).max(0.0);
                (visits * candidate.visit_ns, index, visits)
            })
            .collect();
        by_cost.sort_by(|one, other| one.0.total_cmp(&other.0));
        by_cost
    }
}

#[cfg(test)]
mod tests {
    use super::{Candidate, LONGEST_PROCESS_NS, add, expected_visits, out_of_reach};
    use proptest::prelude::*;

    /// The points of the processes that make these visits: experiment, point and expected time of each.
    fn processes(visits: &[(usize, usize, Option<f64>)]) -> Vec<Vec<usize>> {
        let mut processes = Vec::new();
        for &(experiment, point, visit_ns) in visits {
            add(&mut processes, experiment, point, visit_ns);
        }
        processes
            .into_iter()
            .map(|process| process.points)
            .collect()
    }

    #[test]
    fn a_process_visits_each_point_once_and_no_more_than_it_has_time_for() {
        let visits = [1, 2, 1, 3, 4, 4].map(|point| (0, point, Some(LONGEST_PROCESS_NS / 3.0)));
        assert_eq!(processes(&visits), [&[1, 2, 3][..], &[1, 4], &[4]]);
    }

    #[test]
    fn visits_of_other_experiments_and_points_that_share_nothing_stay_apart() {
        let visits = [
            (0, 1, Some(1.0)),
            (0, 2, None),
            (1, 3, Some(1.0)),
            (0, 4, Some(1.0)),
        ];
        assert_eq!(processes(&visits), [&[1, 4][..], &[2], &[3]]);
    }

    const CHEAP: Candidate = Candidate {
        visit_ns: 10.0,
        missing: 4,
        is_wide: false,
    };
    const DEAR: Candidate = Candidate {
        visit_ns: 1000.0,
        ..CHEAP
    };

    #[test]
    fn what_an_estimate_needs_comes_first_and_the_cheapest_points_before_others() {
        assert_eq!(expected_visits(&[DEAR, CHEAP], 40.0, 9), [0.0, 4.0]);
        assert_eq!(expected_visits(&[DEAR, CHEAP], 4040.0, 9), [4.0, 4.0]);
        assert_eq!(expected_visits(&[DEAR, CHEAP], 4045.0, 9), [4.0, 4.5]);
        assert_eq!(expected_visits(&[DEAR, CHEAP], 9090.0, 9), [9.0, 9.0]);
    }

    #[test]
    fn time_left_over_goes_to_wide_intervals_first() {
        let wide = Candidate {
            is_wide: true,
            missing: 0,
            ..CHEAP
        };
        let narrow = Candidate {
            is_wide: false,
            ..wide
        };
        assert_eq!(expected_visits(&[narrow, wide], 50.0, 5), [2.5, 2.5]);
        assert_eq!(expected_visits(&[narrow, wide], 150.0, 5), [2.5, 12.5]);
        assert_eq!(expected_visits(&[narrow, wide], 275.0, 5), [7.5, 20.0]);
        assert_eq!(expected_visits(&[narrow, wide], 1e9, 5), [20.0, 20.0]);
    }

    #[test]
    fn points_out_of_reach_are_known_and_the_time_that_would_suffice() {
        let (few, enough_ns) = out_of_reach(&[DEAR, CHEAP], 100.0);
        assert_eq!((few, enough_ns), (vec![0], 4040.0));
        assert_eq!(out_of_reach(&[DEAR, CHEAP], 5000.0).0, [0_usize; 0]);
    }

    proptest! {
        #[test]
        fn the_visits_never_take_more_than_the_time(
            candidates in prop::collection::vec(
                (1.0..1e9_f64, 0_usize..6, any::<bool>()).prop_map(|(visit_ns, missing, is_wide)| {
                    Candidate { visit_ns, missing, is_wide }
                }),
                0..20,
            ),
            left_ns in 0.0..1e10_f64,
            passes in 1_usize..20,
        ) {
            let visits = expected_visits(&candidates, left_ns, passes);
            let spent = visits.iter().zip(&candidates).map(|(visits, of)| visits * of.visit_ns);
            prop_assert!(spent.sum::<f64>() <= left_ns * 1.000_001);
            for (visits, candidate) in visits.iter().zip(&candidates) {
                prop_assert!(*visits <= (passes * 4).max(candidate.missing) as f64 + 1e-6);
            }
        }
    }
}
