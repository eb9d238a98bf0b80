//! `oscope fleet run`: the nodes of a job measure themselves, and the first process judges them.

use super::{judge, node};
use crate::arguments::Common;
use crate::arguments::fleet::Run as Arguments;
use crate::exit::{Exit, WrongUse, words};
use crate::{output, selection};
use anyhow::{Context, Result};
use instrument::quantity::Nanoseconds;
use instrument::statistics::peers::FEWEST_NODES;
use platform::job::{Job, JobError, Published, host_name};
use platform::signal::Interrupt;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// The process that gathers and judges.
const FIRST: u32 = 0;
/// The first process publishes it when it has all answers, and the others may leave.
const GATHERED: &[u8] = b"gathered";
/// Time for answers that are there to arrive.
const ARRIVAL: Duration = Duration::from_secs(10);
/// A waiting process looks so often for a request to stop.
const LOOK: Duration = Duration::from_millis(500);

pub fn execute(arguments: &Arguments, common: &Common) -> Result<Exit> {
    selection::experiments(&arguments.what)?;
    let job = Job::join().map_err(with_advice)?;
    if (job.size() as usize) < FEWEST_NODES {
        return Err(WrongUse(format!(
            "the job has {} processes: start one on each of {FEWEST_NODES} nodes or more",
            job.size()
        ))
        .into());
    }
    let interrupt = Interrupt::install()?;
    let member = Member {
        arguments,
        common,
        interrupt,
        start: Instant::now(),
        job,
    };
    if member.job.rank() == FIRST {
        member.lead()
    } else {
        member.follow()
    }
}

/// The reason why there is no job, and how to get one.
fn with_advice(error: JobError) -> anyhow::Error {
    match error {
        JobError::NoLauncher => WrongUse(format!(
            "{error}: start `oscope fleet run` with `mpirun` or `srun --mpi=pmix`; without them, `oscope run` \
             and `oscope export` on each node, and `oscope fleet judge FILE…` judges the files"
        ))
        .into(),
        error => anyhow::Error::new(error).context(
            "cannot join the job; without it, `oscope run` and `oscope export` on each node, and `oscope fleet \
             judge FILE…` judges the files",
        ),
    }
}

/// The answer of a process to the first one.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Answer {
    /// An exported run.
    Run(String),
    /// The reason why there is none.
    Failed(String),
    /// Another process measures this node.
    Beside,
}

/// This process as a member of the job. Each process publishes one answer and stays until the first one
/// has it, since a launcher forgets the answers of processes that left.
struct Member<'a> {
    arguments: &'a Arguments,
    common: &'a Common,
    job: Job,
    interrupt: Interrupt,
    start: Instant,
}

impl Member<'_> {
    /// Measures, gathers and judges.
    fn lead(mut self) -> Result<Exit> {
        let page = judge::page(&self.arguments.judging, self.common)?;
        self.meet();
        let own = self.answer();
        let mut answers = self.gather()?;
        answers.insert(FIRST, Ok(own));
        self.job.publish(GATHERED)?;
        let mut files = Vec::new();
        let mut lacks_something = false;
        for rank in 0..self.job.size() {
            let file = match answers.remove(&rank) {
                Some(Ok(Answer::Beside)) => continue,
                Some(Ok(Answer::Run(run))) => node::save(&run, &self.arguments.output, self.common),
                Some(Ok(Answer::Failed(reason))) => Err(anyhow::Error::msg(reason)),
                Some(Err(error)) => Err(error),
                None => Err(anyhow::Error::msg(
                    "has not answered in time: it died, hangs, or cannot be reached",
                )),
            };
            match file {
                Ok(file) => files.push(file),
                Err(error) => {
                    output::say(&format!("oscope: {}: {}", self.name(rank), words(&error)));
                    lacks_something = true;
                }
            }
        }
        if let Some(signal) = self.interrupt.signal() {
            return Ok(Exit::Stopped(signal));
        }
        if !self.common.quiet {
            let output = self.arguments.output.display();
            output::say(&format!("runs: {output}"));
        }
        let margin = self.arguments.judging.margin;
        let exit = judge::judge(&files, &[], margin, page, self.common)?;
        Ok(match exit {
            Exit::Done => Exit::incomplete_if(lacks_something),
            other => other,
        })
    }

    /// Measures, answers, and stays until the first process has the answer.
    fn follow(mut self) -> Result<Exit> {
        self.meet();
        let answer = self.answer();
        self.job.publish(&serde_json::to_vec(&answer)?)?;
        let (sender, receiver) = channel();
        self.job.request(FIRST, sender)?;
        let patience = duration(self.arguments.wait) + ARRIVAL;
        self.receive(&receiver, self.start + self.limit() + patience);
        Ok(match self.interrupt.signal() {
            Some(signal) => Exit::Stopped(signal),
            // The first process tells what failed. A launcher ends the whole job for another code.
            None => Exit::Done,
        })
    }

    /// Waits until all processes are here, so that they measure at the same time.
    fn meet(&mut self) {
        let waited = self.job.fence(duration(self.arguments.wait));
        if let Err(error) = waited
            && self.job.rank() == FIRST
        {
            output::say(&format!(
                "oscope: not all processes of the job are here, the others measure: {error}"
            ));
        }
        self.start = Instant::now();
    }

    /// Measures this node in its turn, unless another process does.
    fn answer(&self) -> Answer {
        let rank_on_node = self.job.rank_on_node();
        let answer = rank_on_node.map_err(Into::into).and_then(|rank| {
            self.wait_for_turn()?;
            if rank > 0 {
                return Ok(Answer::Beside);
            }
            self.measure()
        });
        answer.unwrap_or_else(|error| Answer::Failed(words(&error)))
    }

    /// In turn, the last process measures first, and the first one last. Each waits for the answer of the
    /// one before it, or until that one is late.
    fn wait_for_turn(&self) -> Result<()> {
        let before = self.job.rank() + 1;
        if !self.arguments.in_turn || before == self.job.size() {
            return Ok(());
        }
        let (sender, receiver) = channel();
        self.job.request(before, sender)?;
        let turns = self.job.size() - before;
        self.receive(&receiver, self.start + self.node_limit() * turns);
        Ok(())
    }

    /// The run of this node. It is in a file before it is anywhere else.
    fn measure(&self) -> Result<Answer> {
        let rank = self.job.rank();
        let host = host_name().unwrap_or_else(|| format!("rank{rank}"));
        let common = Common {
            quiet: self.common.quiet || rank != FIRST,
            ..self.common.clone()
        };
        let exported = node::measure(self.arguments, &host, &common)?;
        if let Err(error) = node::save(&exported, &self.arguments.output, self.common) {
            output::say(&format!("oscope: {host}: {}", words(&error)));
        }
        Ok(Answer::Run(exported))
    }

    /// The answers that come in time, by rank.
    fn gather(&self) -> Result<BTreeMap<u32, Result<Answer>>> {
        let (sender, receiver) = channel();
        let others = FIRST + 1..self.job.size();
        for rank in others.clone() {
            self.job.request(rank, sender.clone())?;
        }
        drop(sender);
        let deadline = (self.start + self.limit()).max(Instant::now() + ARRIVAL);
        let mut answers = BTreeMap::new();
        while answers.len() < others.len()
            && let Some((rank, bytes)) = self.receive(&receiver, deadline)
        {
            answers.insert(rank, read(bytes));
        }
        Ok(answers)
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
    fn limit(&self) -> Duration {
        if self.arguments.in_turn {
            self.node_limit() * self.job.size()
        } else {
            self.node_limit()
        }
    }

    /// A process in words.
    fn name(&self, rank: u32) -> String {
        match self.job.host_of(rank) {
            Ok(host) => format!("rank {rank} on {host}"),
            Err(_) => format!("rank {rank}"),
        }
    }
}

fn read(bytes: platform::job::Result<Vec<u8>>) -> Result<Answer> {
    serde_json::from_slice(&bytes?).context("its answer cannot be read")
}

fn duration(time: Nanoseconds) -> Duration {
    Duration::from_nanos(time.0 as u64)
}
