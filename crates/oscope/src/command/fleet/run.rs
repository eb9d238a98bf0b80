//! `oscope fleet run`: the nodes of a job measure themselves, and the first process judges them. What it
//! would name is measured again.

use super::files::NodeFile;
use super::judge::{self, Gathered};
use super::lack::{self, Lack};
use super::member::{ARRIVAL, FIRST, LAST_WORD, Member, Round, duration};
use super::message::{self, Answer, Next};
use super::node;
use crate::arguments::Common;
use crate::arguments::fleet::Run as Arguments;
use crate::exit::{Exit, WrongUse, words};
use crate::{output, selection};
use anyhow::{Context, Result};
use instrument::statistics::peers::FEWEST_NODES;
use platform::job::{Job, JobError};
use platform::signal::Interrupt;
use report::fleet::{Answers, Fleet, Request, settled, unmeasured};
use std::collections::BTreeMap;
use std::ffi::CStr;
use std::thread;
use std::time::{Duration, Instant};

/// The name of the first answers, and of the first process's word on them.
const MEASURED: &CStr = c"oscope";
/// The name of the second answers, and of the first process's word on them.
const AGAIN: &CStr = c"oscope.again";
/// The first process needs at most so long to read and judge a run.
const JUDGING: Duration = Duration::from_secs(1);

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
    let member = Member {
        arguments,
        common,
        interrupt: Interrupt::install()?,
        job,
    };
    if member.job.rank() == FIRST {
        lead(&member)
    } else {
        follow(&member)
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

/// The measurement of all processes, once they are here.
fn first_round(member: &Member<'_>) -> Round {
    member.meet();
    Round {
        name: MEASURED,
        ranks: (0..member.job.size()).collect(),
        what: member.arguments.what.clone(),
        start: Instant::now(),
    }
}

fn second_round(next: Next) -> Round {
    Round {
        name: AGAIN,
        ranks: next.ranks,
        what: next.experiments,
        start: Instant::now(),
    }
}

/// Measures, answers, and stays until the first process has all answers of this one.
fn follow(member: &Member<'_>) -> Result<Exit> {
    let round = first_round(member);
    let next = take_part(member, &round)?;
    if let Some(next) = next
        && next.ranks.contains(&member.job.rank())
    {
        take_part(member, &second_round(next))?;
    }
    Ok(match member.interrupt.signal() {
        Some(signal) => Exit::Stopped(signal),
        // The first process tells what failed. A launcher ends the whole job for another code.
        None => Exit::Done,
    })
}

/// Measures and answers in one round; the word of the first process, if it comes in time.
fn take_part(member: &Member<'_>, round: &Round) -> Result<Option<Next>> {
    let answer = member.answer(round);
    if let Answer::Run(exported) = &answer
        && let Err(error) = node::save(exported, &member.arguments.output, member.common)
    {
        let rank = member.name(member.job.rank());
        output::say(&format!("oscope: {rank}: {}", words(&error)));
    }
    member
        .job
        .publish(round.name, &message::written(&answer)?)?;
    let patience = duration(member.arguments.wait) + ARRIVAL + JUDGING * member.job.size();
    let deadline = round.start + member.limit(round) + patience;
    let mut heard = member.hear(round.name, &[FIRST], deadline)?;
    let word = heard.remove(&FIRST).and_then(Result::ok);
    // A word that another version of oscope cannot read is one to leave.
    Ok(word.and_then(|bytes| message::read(&bytes).ok()))
}

/// Measures, gathers and judges.
fn lead(member: &Member<'_>) -> Result<Exit> {
    let page = judge::page(&member.arguments.judging, member.common)?;
    let round = first_round(member);
    let gathered = gather(member, &round);
    let judged = gathered.and_then(|runs| judge(member, &runs));
    // Whatever went wrong, the others may leave.
    let next = judged.as_ref().map(|(_, again)| again.as_ref());
    let next = next.ok().flatten().map(|again| again.next.clone());
    let published = message::written(next.unwrap_or_default())
        .and_then(|word| Ok(member.job.publish(MEASURED, &word)?));
    if let Some(signal) = member.interrupt.signal() {
        return Ok(Exit::Stopped(signal));
    }
    let (mut judged, again) = judged?;
    published?;
    if let Some(again) = again {
        judged = again.measure(member, &judged)?;
    }
    if let Some(signal) = member.interrupt.signal() {
        return Ok(Exit::Stopped(signal));
    }
    if !member.common.quiet {
        let output = member.arguments.output.display();
        output::say(&format!("runs: {output}"));
    }
    let exit = judge::show(&judged.fleet, page, member.common)?;
    Ok(match exit {
        Exit::Done => Exit::incomplete_if(judged.lacks_something),
        other => other,
    })
}

/// The files of a round, each with its process, and the reasons of processes that have none.
#[derive(Default)]
struct Runs {
    files: Vec<(u32, NodeFile)>,
    /// The experiments that each process with a file could not measure.
    lacks: Vec<(String, Vec<Lack>)>,
    lacking: BTreeMap<u32, String>,
    /// False if a node lacks what others measured.
    are_whole: bool,
}

/// Measures with the others, and writes all runs that come in time to files.
fn gather(member: &Member<'_>, round: &Round) -> Result<Runs> {
    let mut runs = Runs {
        are_whole: true,
        ..Runs::default()
    };
    if round.ranks.contains(&FIRST) {
        // It is in a file before the others are waited for.
        runs.add(FIRST, Some(Ok(member.answer(round))), member);
    }
    let mut answers = member.gather(round)?;
    for rank in &round.ranks {
        if *rank != FIRST {
            runs.add(*rank, answers.remove(rank), member);
        }
    }
    for sentence in lack::sentences(&runs.lacks) {
        output::say(&format!("oscope: {sentence}"));
        runs.are_whole = false;
    }
    Ok(runs)
}

impl Runs {
    fn add(&mut self, rank: u32, answer: Option<Result<Answer>>, member: &Member<'_>) {
        let file = match answer {
            Some(Ok(Answer::Beside)) => return,
            Some(Ok(Answer::Run(run))) => node::save(&run, &member.arguments.output, member.common),
            Some(Ok(Answer::Failed(reason))) => Err(anyhow::Error::msg(reason)),
            Some(Err(error)) => Err(error),
            None => Err(anyhow::Error::msg(
                "has not answered in time: it died, hangs, or cannot be reached",
            )),
        };
        match file {
            Ok((file, lacks)) => {
                self.files.push((rank, file));
                self.lacks.push((member.name(rank), lacks));
            }
            Err(error) => {
                let reason = words(&error);
                self.are_whole = false;
                output::say(&format!("oscope: {}: {reason}", member.name(rank)));
                self.lacking.insert(rank, reason);
            }
        }
    }

    fn files(&self) -> Vec<NodeFile> {
        self.files.iter().map(|(_, file)| file.clone()).collect()
    }
}

/// A judged fleet.
struct Judged {
    fleet: Fleet,
    /// True if a node has no result.
    lacks_something: bool,
}

/// The first judgement, and the second measurement that it asks for.
fn judge(member: &Member<'_>, runs: &Runs) -> Result<(Judged, Option<Again>)> {
    let arguments = member.arguments;
    let gathered = Gathered::of(&runs.files(), &[])?;
    let lacks_something = gathered.lacks_something() || !runs.are_whole;
    let kept = (!arguments.once).then(|| gathered.runs.clone());
    let fleet = judge::judged(gathered.runs, arguments.judging.margin)?;
    let judged = |fleet| Judged {
        fleet,
        lacks_something,
    };
    let Some(kept) = kept.filter(|_| !member.interrupt.is_set()) else {
        return Ok((judged(fleet), None));
    };
    let seed = arguments.seed.map_or_else(getrandom::u64, Ok);
    let request = match Request::of(&fleet, seed.context("the system gives no random numbers")?) {
        Ok(Some(request)) => request,
        Ok(None) => return Ok((judged(fleet), None)),
        Err(no_peers) => {
            let fleet = unmeasured(fleet, &no_peers.to_string());
            return Ok((judged(fleet), None));
        }
    };
    let ranks = runs.files.iter().map(|(rank, _)| *rank);
    let nodes: BTreeMap<u32, String> = ranks
        .zip(gathered.nodes)
        .filter_map(|(rank, node)| Some((rank, node?)))
        .filter(|(_, node)| request.nodes().any(|name| name == node))
        .collect();
    if !member.common.quiet {
        output::say(&request.sentence());
    }
    let again = Again {
        next: Next {
            ranks: nodes.keys().copied().collect(),
            experiments: request.experiments.clone(),
        },
        request,
        nodes,
        runs: kept,
    };
    Ok((judged(fleet), Some(again)))
}

/// A second measurement to be made.
struct Again {
    request: Request,
    next: Next,
    /// The nodes of the processes that take part.
    nodes: BTreeMap<u32, String>,
    /// The first runs.
    runs: report::fleet::Gathering,
}

impl Again {
    /// Measures again, and names what that bears out.
    fn measure(self, member: &Member<'_>, first: &Judged) -> Result<Judged> {
        let gathered = gather(member, &second_round(self.next));
        member
            .job
            .publish(AGAIN, &message::written(Next::default())?)?;
        let may_leave = Instant::now() + LAST_WORD;
        let runs = gathered?;
        let mut lacks_something = first.lacks_something || !runs.are_whole;
        let mut answers = Answers::default();
        let files = runs.files();
        for (rank, reason) in runs.lacking {
            answers.lacking.insert(self.nodes[&rank].clone(), reason);
        }
        judge::read_all(&files, &[], |_, read| match read {
            Ok(run) => answers.runs.push(run),
            Err(error) => {
                output::say(&format!("oscope: {}", words(&error)));
                lacks_something = true;
            }
        });
        let margin = member.arguments.judging.margin;
        let alone = answers.alone(&self.request, margin);
        let mut all = self.runs;
        for (node, reading) in answers.runs {
            all.add(&node, reading);
        }
        let together = judge::judged(all, margin)?;
        thread::sleep(may_leave.saturating_duration_since(Instant::now()));
        Ok(Judged {
            fleet: settled(&first.fleet, &self.request, &alone, together),
            lacks_something,
        })
    }
}
