//! A process of a job: it measures in its turn, publishes its answer, and hears those of others.

use super::meetings::Meetings;
use super::message::{self, Answer};
use super::node;
use super::place::{self, Part};
use crate::arguments::Common;
use crate::arguments::fleet::Run as Arguments;
use crate::exit::words;
use crate::output;
use anyhow::Result;
use instrument::quantity::Nanoseconds;
use platform::job::{Job, JobError, Published, host_name};
use platform::signal::Interrupt;
use report::fleet::{HOST, PART, SWITCH};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::ffi::CStr;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// The process that gathers and judges.
pub const FIRST: u32 = 0;
/// Time for answers that are there to arrive.
pub const ARRIVAL: Duration = Duration::from_secs(10);
/// A waiting process looks so often for a request to stop.
const LOOK: Duration = Duration::from_millis(500);
/// A process that has not published something yet is asked again after this. All but the first one, which
/// publishes little, are asked less often later: each answer carries all that a process has published.
const ASK_AGAIN: Duration = Duration::from_secs(2);
/// The first process stays so long after its last word: the others ask for it more often.
const LAST_WORD: Duration = Duration::from_secs(5);

/// This process as a member of the job. It stays until the first one has its answers, since a launcher
/// forgets those of processes that left.
pub struct Member<'a> {
    pub arguments: &'a Arguments,
    pub common: &'a Common,
    pub job: Job,
    pub interrupt: Interrupt,
    /// True once a process was late at a meeting: from then on, the meetings of the processes no longer match.
    pub is_apart: Cell<bool>,
}

/// A measurement of several processes at the same time, or in turn.
pub struct Round {
    /// The name of their answers.
    pub name: &'static CStr,
    pub ranks: Vec<u32>,
    /// Experiments or groups; all if it is empty.
    pub what: Vec<String>,
    pub start: Instant,
}

impl Member<'_> {
    /// Waits until the processes `ranks` are here, this one among them. Once one of them was late or asked to
    /// stop, this process goes on without the others.
    pub fn meet(&self, ranks: &[u32], limit: Duration) {
        if self.is_apart.get() {
            return;
        }
        let met = if self.interrupt.is_set() {
            Err(None)
        } else {
            self.job.fence(ranks, limit).map_err(Some)
        };
        if let Err(error) = met {
            self.is_apart.set(true);
            if let Some(error) = error.filter(|_| self.job.rank() == FIRST) {
                output::say(&format!(
                    "oscope: not all processes have come, the others go on without them: {error}"
                ));
            }
        }
    }

    /// Stays until the others have asked for the last word of this process: a launcher forgets what a process
    /// published that left. They must not meet for it, since Slurm answers no question about a process that waits.
    pub fn stay_for_last_word(&self) {
        if !self.interrupt.is_set() {
            thread::sleep(LAST_WORD);
        }
    }

    /// Measures this node in its turn, unless another process does.
    pub fn answer(&self, round: &Round) -> Answer {
        let mut meetings = Meetings::new(self, round);
        let rank_on_node = self.job.rank_on_node();
        let answer = rank_on_node.map_err(Into::into).and_then(|rank| {
            let part = place::part(self.arguments.per, rank)?;
            self.wait_for_turn(round)?;
            if rank > 0 && part.is_none() {
                return Ok(Answer::Beside);
            }
            self.measure(round, part.as_ref(), &mut meetings)
        });
        meetings.attend_the_rest();
        answer.unwrap_or_else(|error| Answer::Failed(words(&error)))
    }

    /// In turn, the last process measures first, and the first one last. Each waits for the answer of the
    /// one before it, or until that one is late.
    fn wait_for_turn(&self, round: &Round) -> Result<()> {
        let own = self.job.rank();
        let after = round.ranks.iter().copied().filter(|rank| *rank > own);
        let after: Vec<u32> = after.collect();
        if let Some(before) = after.iter().min()
            && self.arguments.in_turn
        {
            let turns = self.node_limit() * after.len() as u32;
            self.hear(round.name, &[*before], round.start + turns)?;
        }
        Ok(())
    }

    /// The run of this node, or of a part of it.
    fn measure(
        &self,
        round: &Round,
        part: Option<&Part>,
        meetings: &mut Meetings<'_>,
    ) -> Result<Answer> {
        let rank = self.job.rank();
        let host = host_name().unwrap_or_else(|| format!("rank{rank}"));
        let common = Common {
            quiet: self.common.quiet || rank != FIRST,
            ..self.common.clone()
        };
        let mut tags = vec![(HOST.to_owned(), host)];
        if let Some(part) = part {
            part.keep()?;
            tags.push((PART.to_owned(), part.name.clone()));
        }
        tags.extend(place::switch().map(|switch| (SWITCH.to_owned(), switch)));
        let run = node::run(self.arguments, &round.what, tags);
        let exported = node::measure(&run, &common, meetings)?;
        Ok(Answer::Run(exported))
    }

    /// The answers of the other processes that come in time, by rank.
    pub fn gather(&self, round: &Round) -> Result<BTreeMap<u32, Result<Answer>>> {
        let own = self.job.rank();
        let others = round.ranks.iter().copied().filter(|rank| *rank != own);
        let others: Vec<u32> = others.collect();
        let deadline = (round.start + self.limit(round)).max(Instant::now() + ARRIVAL);
        let heard = self.hear(round.name, &others, deadline)?.into_iter();
        let answers = heard.map(|(rank, bytes)| {
            let answer = bytes.map_err(Into::into).and_then(|it| message::read(&it));
            (rank, answer)
        });
        Ok(answers.collect())
    }

    /// The messages that the processes `ranks` publish as `name` in time, by rank.
    pub fn hear(
        &self,
        name: &'static CStr,
        ranks: &[u32],
        deadline: Instant,
    ) -> Result<BTreeMap<u32, platform::job::Result<Vec<u8>>>> {
        let start = Instant::now();
        let (sender, receiver) = channel();
        let mut heard = BTreeMap::new();
        let mut to_ask = ranks.to_vec();
        while !self.interrupt.is_set() && heard.len() < ranks.len() {
            for rank in to_ask.drain(..) {
                self.job.request(name, rank, sender.clone())?;
            }
            let pause = match ranks {
                [FIRST] => ASK_AGAIN,
                _ => ASK_AGAIN.max(start.elapsed() / 10),
            };
            let ask_again = Instant::now() + pause;
            let until = |to_ask: &[u32]| match to_ask {
                [] => deadline,
                _ => deadline.min(ask_again),
            };
            while heard.len() < ranks.len()
                && let Some((rank, bytes)) = self.receive(&receiver, until(&to_ask))
            {
                match bytes {
                    Err(JobError::NotYet) => to_ask.push(rank),
                    bytes => drop(heard.insert(rank, bytes)),
                }
            }
            if Instant::now() >= deadline {
                break;
            }
        }
        Ok(heard)
    }

    /// The next answer, unless `deadline` passes or this process is asked to stop.
    fn receive(&self, receiver: &Receiver<Published>, deadline: Instant) -> Option<Published> {
        while !self.interrupt.is_set() {
            let left = deadline.saturating_duration_since(Instant::now());
            match receiver.recv_timeout(left.min(LOOK)) {
                Ok(published) => return Some(published),
                Err(RecvTimeoutError::Timeout) if left > LOOK => {}
                Err(_) => return None,
            }
        }
        None
    }

    /// A node that takes longer is late.
    fn node_limit(&self) -> Duration {
        duration(self.arguments.budget) + duration(self.arguments.wait)
    }

    /// The time limit of all nodes together.
    pub fn limit(&self, round: &Round) -> Duration {
        if self.arguments.in_turn {
            self.node_limit() * round.ranks.len() as u32
        } else {
            self.node_limit()
        }
    }

    /// A process in words.
    pub fn name(&self, rank: u32) -> String {
        match self.job.host_of(rank) {
            Ok(host) => format!("rank {rank} on {host}"),
            Err(_) => format!("rank {rank}"),
        }
    }
}

pub fn duration(time: Nanoseconds) -> Duration {
    Duration::from_nanos(time.0 as u64)
}
