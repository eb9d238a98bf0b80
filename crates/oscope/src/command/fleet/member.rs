//! A process of a job: it meets the others, publishes messages, and hears theirs.

use crate::arguments::Common;
use crate::arguments::fleet::Run as Arguments;
use crate::exit::{Exit, WrongUse};
use crate::output;
use anyhow::{Result, anyhow};
use instrument::quantity::Nanoseconds;
use platform::job::{Job, JobError, Published};
use platform::signal::Interrupt;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
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
/// A waiting process looks for a request to stop at this interval.
const STOP_CHECK: Duration = Duration::from_millis(500);
/// A process that has not published something yet is asked again after this. All but the first one, which
/// publishes little, are asked less often later: each answer carries all that a process has published.
const ASK_AGAIN: Duration = Duration::from_secs(2);
/// The first process stays this long after its last word: the others ask for it more often.
const LAST_WORD: Duration = Duration::from_secs(5);

/// This process as a member of the job. It stays until the first one has its answers, since a launcher
/// forgets those of processes that left.
pub struct Member<'a, A = Arguments> {
    pub arguments: &'a A,
    pub common: &'a Common,
    pub job: Job,
    pub interrupt: Interrupt,
    /// True once a process was late at a meeting: from then on, the meetings of the processes no longer match.
    pub is_apart: Cell<bool>,
}

/// The reason for a missing answer.
pub const SILENT: &str = "has not answered in time: it died, hangs, or cannot be reached";

/// A measurement of several processes at the same time, or in turn.
pub struct Round {
    /// The name of their answers.
    pub name: &'static CStr,
    pub ranks: Vec<u32>,
    /// Experiments or groups; all if it is empty.
    pub what: Vec<String>,
    pub start: Instant,
}

impl<'a, A> Member<'a, A> {
    /// Joins the job of `oscope fleet COMMAND`. `otherwise` is the way to the same without a job.
    pub fn join(
        command: &str,
        otherwise: Option<&str>,
        arguments: &'a A,
        common: &'a Common,
    ) -> Result<Self> {
        let without = |word: &str| match otherwise {
            Some(otherwise) => format!("; without {word}, {otherwise}"),
            None => String::new(),
        };
        let job = Job::join().map_err(|error| match error {
            JobError::NoLauncher => WrongUse(format!(
                "{error}: start `oscope fleet {command}` with `mpirun` or `srun --mpi=pmix`{}",
                without("them")
            ))
            .into(),
            error => anyhow!(error).context(format!("cannot join the job{}", without("it"))),
        })?;
        Ok(Self {
            arguments,
            common,
            job,
            interrupt: Interrupt::install()?,
            is_apart: Cell::new(false),
        })
    }

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

    /// The message that the first process publishes as `name`. `None`, and this process leaves, if it does not come
    /// in time or is of another version.
    pub fn hear_first<T: DeserializeOwned>(
        &self,
        name: &'static CStr,
        deadline: Instant,
    ) -> Result<Option<T>> {
        let mut heard = self.hear(name, &[FIRST], deadline)?;
        Ok(heard.remove(&FIRST).and_then(Result::ok))
    }

    /// The end of a process that is not the first one, which reports what failed. A launcher ends the whole job
    /// for another code.
    pub fn exit(&self) -> Exit {
        self.interrupt.signal().map_or(Exit::Done, Exit::Stopped)
    }

    /// Stays until the others have asked for the last word of this process: a launcher forgets what a process
    /// published that left. They must not meet for it, since Slurm answers no question about a process that waits.
    pub fn stay_for_last_word(&self) {
        if !self.interrupt.is_set() {
            thread::sleep(LAST_WORD);
        }
    }

    /// Publishes a message as `name`.
    pub fn publish(&self, name: &'static CStr, message: &impl Serialize) -> Result<()> {
        Ok(self.job.publish(name, &written(message)?)?)
    }

    /// The messages that the processes `ranks` publish as `name` in time, by rank.
    pub fn hear<T: DeserializeOwned>(
        &self,
        name: &'static CStr,
        ranks: &[u32],
        deadline: Instant,
    ) -> Result<BTreeMap<u32, Result<T>>> {
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
                    bytes => {
                        let message = bytes.map_err(Into::into).and_then(|it| read(&it));
                        heard.insert(rank, message);
                    }
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
            match receiver.recv_timeout(left.min(STOP_CHECK)) {
                Ok(published) => return Some(published),
                Err(RecvTimeoutError::Timeout) if left > STOP_CHECK => {}
                Err(_) => return None,
            }
        }
        None
    }

    /// A process in words.
    pub fn name(&self, rank: u32) -> String {
        match self.job.host_of(rank) {
            Ok(host) => format!("rank {rank} on {host}"),
            Err(_) => format!("rank {rank}"),
        }
    }
}

impl Member<'_> {
    /// The answers of the other processes that come in time, by rank.
    pub fn gather(&self, round: &Round) -> Result<BTreeMap<u32, Result<Answer>>> {
        let own = self.job.rank();
        let others = round.ranks.iter().copied().filter(|rank| *rank != own);
        let others: Vec<u32> = others.collect();
        let deadline = (round.start + self.limit(round)).max(Instant::now() + ARRIVAL);
        self.hear(round.name, &others, deadline)
    }

    /// A node that takes longer is late.
    pub fn node_limit(&self) -> Duration {
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
}

pub fn duration(time: Nanoseconds) -> Duration {
    Duration::from_nanos(time.0 as u64)
}

/// The version of this program.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The answer of a process to the first one: by default an exported run.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer<T = String> {
    Here(T),
    /// The reason why there is none.
    Failed(String),
    /// Another process of this node answers.
    Other,
}

/// The word of the first process to the others, when it has their answers.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Next {
    /// The processes that measure again; the others may leave.
    pub ranks: Vec<u32>,
    /// The experiments that they measure.
    pub experiments: Vec<String>,
}

/// A message as bytes, with the version of the program that sent it.
fn written<T: Serialize>(message: T) -> Result<Vec<u8>> {
    Ok(serde_json::to_vec(&(VERSION, message))?)
}

/// A message from bytes. A message that cannot be read names the version of its sender, if it is another.
fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    let read: serde_json::Result<(String, T)> = serde_json::from_slice(bytes);
    read.map(|(_, message)| message).map_err(|error| {
        let error = anyhow!(error);
        match serde_json::from_slice::<(String, IgnoredAny)>(bytes) {
            Ok((version, _)) if version != VERSION => error.context(format!(
                "its answer cannot be read: it runs oscope {version}, and this is oscope {VERSION}"
            )),
            _ => error.context("its answer cannot be read"),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::{Answer, read};
    use crate::exit::words;

    #[test]
    fn a_message_of_another_version_names_both_versions() {
        let bytes = br#"["99.1.0",{"riddle":1}]"#;
        let line = words(&read::<Answer>(bytes).unwrap_err());
        assert!(line.contains("it runs oscope 99.1.0"), "{line}");
        assert!(line.contains(env!("CARGO_PKG_VERSION")), "{line}");
        let line = words(&read::<Answer>(b"[\"0.").unwrap_err());
        assert!(line.starts_with("its answer cannot be read: EOF"), "{line}");
    }
}
