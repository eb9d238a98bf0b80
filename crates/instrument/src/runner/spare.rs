//! Spare time: experiments that finish early leave their time to the open points of others.

use super::Runner;
use super::event::{Ending, Event, ObserverError};
use super::rounds::Rounds;
use crate::quantity::Nanoseconds;
use crate::statistics::random::Random;

/// Divides the time until `end_ns` among the points that are still open. Returns the ending of
/// those that are open at the end.
///
/// Each round visits only the points that can be expected to reach their target in the remaining
/// time, those that need the least time first: divided among all points, the time might suffice for
/// none. Only the widths of the intervals decide, never their centres. Experiments run one after
/// the other, since the disk may have space for the files of one only. The order of points is
/// random.
pub(super) fn share(
    experiments: &mut [Rounds<'_>],
    end_ns: f64,
    runner: &mut Runner<'_>,
    random: &mut Random,
) -> Result<Ending, ObserverError> {
    let mut is_told = false;
    let mut last = None;
    loop {
        let left_ns = end_ns - runner.clock.now_ns() as f64;
        let mut round = within_reach(experiments, left_ns);
        if runner.executor.is_interrupted() {
            return Ok(Ending::Interrupted);
        }
        if left_ns <= 0.0 || round.is_empty() {
            return Ok(Ending::BudgetUsed);
        }
        if !is_told {
            is_told = true;
            runner.tell(&Event::Extended {
                points: experiments.iter().map(|of| of.still_open().len()).sum(),
                left: Nanoseconds(left_ns),
            })?;
        }
        random.shuffle(&mut round);
        round.sort_by_key(|(experiment, _)| *experiment);
        for (experiment, point) in round {
            let left_ns = end_ns - runner.clock.now_ns() as f64;
            if runner.executor.is_interrupted() || left_ns <= 0.0 {
                break;
            }
            if let Some(last) = last.replace(experiment).filter(|last| *last != experiment) {
                experiments[last].remove_files(runner);
            }
            experiments[experiment].visit(point, runner, random.bits(), left_ns, 0.0)?;
        }
    }
}

/// Experiment and point of those that can be expected to reach their target in `left_ns`, but at
/// least the point that needs the least time.
fn within_reach(experiments: &[Rounds<'_>], left_ns: f64) -> Vec<(usize, usize)> {
    let mut wanted: Vec<(f64, (usize, usize))> = Vec::new();
    for (experiment, rounds) in experiments.iter().enumerate() {
        let points = rounds.still_open().into_iter();
        wanted.extend(points.map(|point| (rounds.wanted_ns(point), (experiment, point))));
    }
    wanted.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    let mut sum_ns = 0.0;
    let reached = wanted.iter().take_while(|(wanted_ns, _)| {
        sum_ns += wanted_ns;
        sum_ns <= left_ns
    });
    let count = reached.count().max(1);
    wanted.into_iter().take(count).map(|(_, of)| of).collect()
}
