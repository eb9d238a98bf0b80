//! `oscope fleet network`: the nodes of a job measure the links between them in rounds, which all begin
//! together, and the first process judges them.

use super::member::{ARRIVAL, Answer, FIRST, Member, SILENT, duration};
use crate::arguments::Common;
use crate::arguments::fleet::Network as Arguments;
use crate::command::new_run;
use crate::exit::{Exit, refuse, words};
use crate::output::{self, harmless, on_one_line};
use crate::style;
use crate::target::{Target, publish};
use ::network::{Answerer, Invitation, Measured, Pair, Peer, addresses, rounds};
use anyhow::Result;
use instrument::quantity::{Nanoseconds, counted};
use instrument::statistics::random::Random;
use platform::job::host_name;
use report::network::{Gathering, Network, json};
use report::{page, view};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::CStr;
use std::time::{Duration, Instant};

/// The name under which each process publishes where it answers.
const PRESENT: &CStr = c"oscope.network.present";
/// The name of the schedule.
const SCHEDULE: &CStr = c"oscope.network.schedule";
/// The name of the measurements.
const MEASURED: &CStr = c"oscope.network.measured";
/// The name of the first process's last word.
const LEAVE: &CStr = c"oscope.network.leave";
/// Measuring a link takes between these times.
const LEAST_TIME: Duration = Duration::from_millis(300);
const MOST_TIME: Duration = Duration::from_secs(3);

/// A process, as it presents itself: its host, and where it answers.
type Present = Answer<(String, Invitation)>;

pub fn execute(arguments: &Arguments, common: &Common) -> Result<Exit> {
    let judging = &arguments.judging;
    let page = Target::if_named(judging.page.as_ref(), judging.force, common)?;
    let member = Member::join("network", None, arguments, common)?;
    // Both sides of a link are measured while the other side answers.
    let (_answerer, present) = present(&member);
    member.publish(PRESENT, &present)?;
    if member.job.rank() == FIRST {
        let exit = lead(&member, present, page.as_ref());
        member.stay_for_last_word();
        exit
    } else {
        follow(&member)
    }
}

/// Starts to answer, unless another process does so on this node.
fn present(member: &Member<'_, Arguments>) -> (Option<Answerer>, Present) {
    let started = || -> Result<Option<Answerer>> {
        if member.job.rank_on_node()? > 0 {
            return Ok(None);
        }
        let addresses = addresses(member.arguments.interface.as_deref())?;
        Ok(Some(Answerer::start(&addresses)?))
    };
    match started() {
        Ok(Some(answerer)) => {
            let rank = member.job.rank();
            let host = host_name().unwrap_or_else(|| format!("rank{rank}"));
            let present = Present::Here((host, answerer.invitation().clone()));
            (Some(answerer), present)
        }
        Ok(None) => (None, Present::Other),
        Err(error) => (None, Present::Failed(words(&error))),
    }
}

/// Measures as the first process says, and stays until it has heard all.
fn follow(member: &Member<'_, Arguments>) -> Result<Exit> {
    let wait = duration(member.arguments.wait);
    let deadline = Instant::now() + 2 * wait + ARRIVAL;
    if let Some(schedule) = member.hear_first::<Schedule>(SCHEDULE, deadline)? {
        let asked = measure(member, &schedule);
        member.publish(MEASURED, &asked)?;
        let deadline = Instant::now() + schedule.limit() + wait + ARRIVAL;
        member.hear_first::<()>(LEAVE, deadline)?;
    }
    Ok(member.exit())
}

/// Gathers the nodes, measures with them, and judges.
fn lead(member: &Member<'_, Arguments>, own: Present, page: Option<&Target>) -> Result<Exit> {
    let (schedule, missing) = schedule(member, own)?;
    member.publish(SCHEDULE, &schedule)?;
    output::note(member.common, &schedule.sentence());
    let asked = measure(member, &schedule);
    let gathered = gather(member, &schedule, asked, missing);
    // Whatever went wrong, the others may leave.
    member.publish(LEAVE, &())?;
    if let Some(signal) = member.interrupt.signal() {
        return Ok(Exit::Stopped(signal));
    }
    let judged = gathered?.judge(member.arguments.judging.margin);
    show(&judged, page, member.common)
}

/// The nodes that are here in time with the times of their measurements, and sentences on those that are not.
fn schedule(member: &Member<'_, Arguments>, own: Present) -> Result<(Schedule, Vec<String>)> {
    let others: Vec<u32> = (0..member.job.size())
        .filter(|rank| *rank != FIRST)
        .collect();
    let deadline = Instant::now() + duration(member.arguments.wait);
    let mut all = member.hear(PRESENT, &others, deadline)?;
    all.insert(FIRST, Ok(own));
    let (mut nodes, mut missing) = (Vec::new(), Vec::new());
    for rank in 0..member.job.size() {
        let reason = match all.remove(&rank) {
            Some(Ok(Present::Here((host, at)))) => {
                nodes.push((rank, on_one_line(&host), at));
                continue;
            }
            Some(Ok(Present::Other)) => continue,
            Some(Ok(Present::Failed(reason))) => reason,
            Some(Err(error)) => words(&error),
            None => SILENT.into(),
        };
        missing.push(format!("{}: {}.", member.name(rank), harmless(&reason)));
    }
    if nodes.len() < 2 {
        refuse!(
            "of the nodes of the job, {} can answer: start one process on each of two nodes or more. {}",
            nodes.len(),
            missing.join(" ")
        );
    }
    let seed = new_run::seed(member.arguments.seed)?;
    let arguments = member.arguments;
    let mut schedule = Schedule {
        nodes,
        passes: usize::from(arguments.passes),
        seed,
        in_turn: arguments.in_turn,
        time: MOST_TIME,
    };
    let measurements = u32::try_from(schedule.rounds().count()).unwrap_or(u32::MAX);
    schedule.time = (duration(arguments.budget) / measurements.max(1)).clamp(LEAST_TIME, MOST_TIME);
    Ok((schedule, missing))
}

/// All measurements that come in time.
fn gather(
    member: &Member<'_, Arguments>,
    schedule: &Schedule,
    own: Vec<Asked>,
    missing: Vec<String>,
) -> Result<Gathering> {
    let mut gathering = Gathering::new(schedule.names());
    for reason in missing {
        gathering.fail_node(reason);
    }
    let others = schedule.ranks().into_iter().filter(|rank| *rank != FIRST);
    let others: Vec<u32> = others.collect();
    let deadline = Instant::now() + duration(member.arguments.wait).max(ARRIVAL);
    let mut heard = member.hear::<Vec<Asked>>(MEASURED, &others, deadline)?;
    let mut all = own;
    for rank in others {
        let reason = match heard.remove(&rank) {
            Some(Ok(asked)) => {
                all.extend(asked);
                continue;
            }
            Some(Err(error)) => words(&error),
            None => "gave no measurements in time".into(),
        };
        gathering.fail_node(format!("{}: {}.", member.name(rank), harmless(&reason)));
    }
    all.retain(|it| schedule.has(it.asks, it.answers));
    for it in all {
        match it.found {
            Ok(mut measured) => {
                for reason in &mut measured.failures {
                    *reason = harmless(reason);
                }
                gathering.add(it.asks, it.answers, &measured);
            }
            Err(reason) => gathering.fail_link(it.asks, it.answers, harmless(&reason)),
        }
    }
    if member.is_apart.get() {
        gathering.remark(
            "A node was late. From then on, the rounds of the nodes may overlap, and links may look slower than they are."
                .into(),
        );
    }
    Ok(gathering)
}

/// Shows a judged network. The outcome is incomplete if a part of it could not be measured.
pub(super) fn show(judged: &Network, page: Option<&Target>, common: &Common) -> Result<Exit> {
    let text = style::text(common, || json(judged), || view::network(judged))?;
    publish(
        page,
        || page::paint(&view::network(judged), None),
        &text,
        common,
    )?;
    Ok(if judged.has_slower() {
        Exit::Found
    } else {
        Exit::incomplete_if(judged.is_incomplete)
    })
}

/// A node that is later than this at the beginning of a round is not waited for any longer.
const PATIENCE: Duration = Duration::from_secs(10);
/// Connecting and the first messages take this much of a measurement in addition.
const OPENING: Duration = Duration::from_millis(100);

/// The measurements of all nodes, and their times.
#[derive(Debug, Serialize, Deserialize)]
struct Schedule {
    /// The nodes: the rank of the process, the name, and where it answers.
    pub nodes: Vec<(u32, String, Invitation)>,
    /// Measurements of each link.
    pub passes: usize,
    /// Seed of the order of the rounds.
    pub seed: u64,
    /// One link after the other.
    pub in_turn: bool,
    /// Time for a measurement.
    pub time: Duration,
}

impl Schedule {
    /// The rounds of all passes. The order of those of a pass is drawn from the seed.
    pub fn rounds(&self) -> impl Iterator<Item = Vec<Pair>> {
        let count = self.nodes.len();
        (0..self.passes).flat_map(move |pass| {
            let mut rounds = rounds(count, pass);
            if self.in_turn {
                rounds = rounds
                    .into_iter()
                    .flatten()
                    .map(|pair| vec![pair])
                    .collect();
            }
            Random::new(self.seed.wrapping_add(pass as u64)).shuffle(&mut rounds);
            rounds
        })
    }

    pub fn ranks(&self) -> Vec<u32> {
        self.nodes.iter().map(|(rank, ..)| *rank).collect()
    }

    /// The names of the nodes. Of several with one name, each has its rank as well.
    pub fn names(&self) -> Vec<String> {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for (_, name, _) in &self.nodes {
            *counts.entry(name).or_default() += 1;
        }
        let named = self
            .nodes
            .iter()
            .map(|(rank, name, _)| match counts[name.as_str()] {
                1 => name.clone(),
                _ => format!("{name} (rank {rank})"),
            });
        named.collect()
    }

    /// True for places of two nodes.
    pub fn has(&self, asks: usize, answers: usize) -> bool {
        asks != answers && asks.max(answers) < self.nodes.len()
    }

    /// All is measured after this time, even if nodes are late.
    pub fn limit(&self) -> Duration {
        self.expected() * 2 + PATIENCE * self.nodes.len() as u32
    }

    fn expected(&self) -> Duration {
        (self.time + OPENING) * self.rounds().count() as u32
    }

    /// The plan in words.
    pub fn sentence(&self) -> String {
        format!(
            "{}, {} of {:.2}: about {:.2}",
            counted(self.nodes.len(), "node"),
            counted(self.rounds().count(), "round"),
            Nanoseconds::from(self.time),
            Nanoseconds::from(self.expected())
        )
    }
}

/// A link as it was measured by the node that asked: by their places in the schedule.
#[derive(Serialize, Deserialize)]
struct Asked {
    pub asks: usize,
    pub answers: usize,
    /// The reason if it could not be measured at all.
    pub found: Result<Measured, String>,
}

/// Measures the links for which this process asks, each in its round.
fn measure<A>(member: &Member<'_, A>, schedule: &Schedule) -> Vec<Asked> {
    let ranks = schedule.ranks();
    let Some(own) = ranks.iter().position(|rank| *rank == member.job.rank()) else {
        return Vec::new();
    };
    let mut peers: BTreeMap<usize, Result<Peer, String>> = BTreeMap::new();
    let mut asked = Vec::new();
    for round in schedule.rounds() {
        member.meet(&ranks, schedule.time + PATIENCE);
        if member.interrupt.is_set() {
            break;
        }
        let Some(&(asks, answers)) = round.iter().find(|(asks, _)| *asks == own) else {
            continue;
        };
        // A node that cannot be reached is not tried again: each try takes its time.
        let peer = peers.entry(answers).or_insert_with(|| {
            Peer::find(&schedule.nodes[answers].2).map_err(|error| error.to_string())
        });
        let found = match peer {
            Ok(peer) => Ok(peer.measure(schedule.time)),
            Err(reason) => Err(reason.clone()),
        };
        asked.push(Asked {
            asks,
            answers,
            found,
        });
    }
    asked
}
