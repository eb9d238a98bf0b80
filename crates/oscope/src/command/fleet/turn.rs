//! The own measurement of a process: of its node, or of a core or socket of it, in its turn, and with passes
//! that begin on all nodes at the same time, so that each pass meets the same state of what the nodes share.

use super::member::{Answer, FIRST, Member, Round, duration};
use super::node;
use crate::arguments::Common;
use crate::arguments::fleet::Per;
use crate::exit::words;
use anyhow::{Result, bail};
use instrument::quantity::counted;
use instrument::runner::{Event, Observer, ObserverError};
use platform::job::host_name;
use platform::placement::{allowed_cpus, cpus_of_core, package, pin_to};
use report::fleet::{HOST, PART, SWITCH};
use serde::de::IgnoredAny;
use std::collections::BTreeMap;
use std::env;
use std::time::{Duration, Instant};

/// Measures the node of `member` in its turn, unless another process does.
pub fn answer(member: &Member<'_>, round: &Round) -> Answer {
    let mut meetings = Meetings::new(member, round);
    let rank_on_node = member.job.rank_on_node();
    let answer = rank_on_node.map_err(Into::into).and_then(|rank| {
        let part = part(member.arguments.per, rank)?;
        wait(member, round)?;
        if rank > 0 && part.is_none() {
            return Ok(Answer::Other);
        }
        measure(member, round, part.as_ref(), &mut meetings)
    });
    meetings.attend_the_rest();
    answer.unwrap_or_else(|error| Answer::Failed(words(&error)))
}

/// In turn, the last process measures first, and the first one last. Each waits for the answer of the one before
/// it, or until that one is late.
fn wait(member: &Member<'_>, round: &Round) -> Result<()> {
    let own = member.job.rank();
    let after = round.ranks.iter().copied().filter(|rank| *rank > own);
    let after: Vec<u32> = after.collect();
    if let Some(before) = after.iter().min()
        && member.arguments.in_turn
    {
        let turns = member.node_limit() * after.len() as u32;
        member.hear::<IgnoredAny>(round.name, &[*before], round.start + turns)?;
    }
    Ok(())
}

/// The run of this node, or of a part of it.
fn measure(
    member: &Member<'_>,
    round: &Round,
    part: Option<&Part>,
    meetings: &mut Meetings<'_>,
) -> Result<Answer> {
    let rank = member.job.rank();
    let host = host_name().unwrap_or_else(|| format!("rank{rank}"));
    let common = Common {
        is_led: rank != FIRST,
        ..member.common.clone()
    };
    let mut tags = vec![(HOST.to_owned(), host)];
    if let Some(part) = part {
        // This process, and those that it starts, stay there.
        pin_to(&part.cpus)?;
        tags.push((PART.to_owned(), part.name.clone()));
    }
    tags.extend(switch().map(|switch| (SWITCH.to_owned(), switch)));
    let run = node::run(member.arguments, &round.what, tags);
    Ok(Answer::Here(node::measure(&run, &common, meetings)?))
}

/// A late node costs the others at most this share of their time: one over it.
const SHARE_OF_BUDGET: u32 = 10;
/// A node may be this late even in short runs: a process takes its time to end.
const LEAST_PATIENCE: Duration = Duration::from_secs(2);

/// The meetings of the processes in one round, one before each pass. All processes attend the same number of them.
struct Meetings<'m> {
    member: &'m Member<'m>,
    round: &'m Round,
    left: usize,
}

impl<'m> Meetings<'m> {
    /// There are none if the nodes measure in turn.
    pub fn new(member: &'m Member<'m>, round: &'m Round) -> Self {
        let passes = member.arguments.profile.precision().passes;
        Self {
            member,
            round,
            left: if member.arguments.in_turn { 0 } else { passes },
        }
    }

    /// Attends the meetings before passes that this process does not make.
    pub fn attend_the_rest(self) {
        let end = self.round.start + self.budget() + self.patience();
        for _ in 0..self.left {
            let left = end.saturating_duration_since(Instant::now());
            self.meet(left.max(self.patience()));
        }
    }

    fn meet(&self, limit: Duration) {
        self.member.meet(&self.round.ranks, limit);
    }

    fn budget(&self) -> Duration {
        duration(self.member.arguments.budget)
    }

    fn patience(&self) -> Duration {
        (self.budget() / SHARE_OF_BUDGET).max(LEAST_PATIENCE)
    }
}

impl Observer for Meetings<'_> {
    fn observe(&mut self, event: &Event<'_>) -> Result<(), ObserverError> {
        if matches!(event, Event::Pass { .. }) && self.left > 0 {
            self.left -= 1;
            self.meet(self.patience());
        }
        Ok(())
    }
}

/// A part of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Part {
    /// `cpu 7` for the core whose first hardware thread that is; `socket 1`.
    pub name: String,
    cpus: Vec<usize>,
}

/// The parts of this node, in the order of their CPUs.
///
/// # Errors
/// If the system does not report them.
fn parts(per: Per) -> Result<Vec<Part>> {
    let mut parts: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for cpu in allowed_cpus()? {
        let key = match per {
            Per::Node => 0,
            Per::Core => cpus_of_core(cpu).first().map_or(cpu, |first| *first),
            Per::Socket => match package(cpu).map(usize::try_from) {
                Some(Ok(package)) => package,
                _ => bail!("the system does not report the sockets of its CPUs: leave out `--per`"),
            },
        };
        parts.entry(key).or_default().push(cpu);
    }
    let word = if per == Per::Socket { "socket" } else { "cpu" };
    let parts = parts.into_iter();
    Ok(parts
        .map(|(key, cpus)| Part {
            name: format!("{word} {key}"),
            cpus,
        })
        .collect())
}

/// The part that process `rank` of this node measures; `None` for the whole node.
///
/// # Errors
/// If the node has fewer parts.
fn part(per: Per, rank: u16) -> Result<Option<Part>> {
    if per == Per::Node {
        return Ok(None);
    }
    let mut parts = parts(per)?;
    let count = parts.len();
    if usize::from(rank) >= count {
        let parts = match per {
            Per::Socket => counted(count, "socket"),
            _ => counted(count, "core"),
        };
        bail!(
            "this process may run on {parts}, and its rank on its node is {rank}, where the first is 0: start \
             fewer on each node, or leave each process all processors (`mpirun --bind-to none`, `srun \
             --cpu-bind=none`)"
        );
    }
    Ok(Some(parts.swap_remove(rank.into())))
}

/// The switches above this node, the outermost first, if Slurm's plug-in of the topology knows them.
fn switch() -> Option<String> {
    let variable = |name| env::var(name).ok();
    above(
        &variable("SLURM_TOPOLOGY_ADDR")?,
        &variable("SLURM_TOPOLOGY_ADDR_PATTERN")?,
    )
}

/// `s0.s5` of the address `s0.s5.node3` with the pattern `switch.switch.node`.
fn above(address: &str, pattern: &str) -> Option<String> {
    let switches = pattern.strip_suffix(".node")?;
    let count = switches.split('.').count();
    // The name of a node may hold dots.
    let above: Vec<&str> = address.splitn(count + 1, '.').collect();
    (above.len() == count + 1).then(|| above[..count].join("."))
}

#[cfg(test)]
mod tests {
    use super::{Per, above, part, parts};

    #[test]
    fn the_switches_are_what_comes_before_the_node() {
        let found = above("s0.s5.node3", "switch.switch.node");
        assert_eq!(found.as_deref(), Some("s0.s5"));
        let found = above("s0.node3.cluster", "switch.node");
        assert_eq!(found.as_deref(), Some("s0"));
        // Without a plug-in that knows switches.
        assert_eq!(above("node3", "node"), None);
        assert_eq!(above("node3", "switch.node"), None);
    }

    #[test]
    fn each_process_has_a_part_and_the_next_one_is_refused() {
        let Ok(cores) = parts(Per::Core) else {
            println!("skipped: the system does not report its processors");
            return;
        };
        let mut cpus: Vec<usize> = cores.iter().flat_map(|it| it.cpus.clone()).collect();
        cpus.sort_unstable();
        cpus.dedup();
        assert_eq!(cpus, platform::placement::allowed_cpus().unwrap());
        let last = cores.len() as u16 - 1;
        assert_eq!(part(Per::Core, last).unwrap().as_ref(), cores.last());
        let refused = part(Per::Core, last + 1).unwrap_err().to_string();
        assert!(refused.contains("--bind-to none"), "{refused}");
        assert_eq!(part(Per::Node, 0).unwrap(), None);
    }
}
