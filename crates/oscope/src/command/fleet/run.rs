//! `oscope fleet run`: the nodes of a job measure themselves, and the first process judges them. What it
//! would name is measured again.

use super::judge;
use super::member::{ARRIVAL, Answer, FIRST, Member, Next, Round, duration, join, read};
use super::node::{self, Gap, Saved};
use super::turn;
use crate::arguments::Common;
use crate::arguments::fleet::Run as Arguments;
use crate::command::new_run;
use crate::exit::{Exit, WrongUse, words};
use crate::target::make_directory;
use crate::{output, selection};
use anyhow::Result;
use instrument::statistics::peers::FEWEST_NODES;
use platform::signal::Interrupt;
use report::fleet::{Answers, Fleet, Gathering, Reading, Request, settled, unmeasured};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::ffi::CStr;
use std::time::{Duration, Instant};

/// The name of the first answers, and of the first process's word on them.
const MEASURED: &CStr = c"oscope";
/// The name of the second answers, and of the first process's word on them.
const AGAIN: &CStr = c"oscope.again";
/// The first process needs at most so long to read and judge a run.
const JUDGING: Duration = Duration::from_secs(1);

pub fn execute(arguments: &Arguments, common: &Common) -> Result<Exit> {
    selection::experiments(&arguments.what)?;
    let otherwise = "`oscope run` and `oscope export` on each node, and `oscope fleet judge FILE…` judges the files";
    let job = join("run", Some(otherwise))?;
    if (job.size() as usize) < FEWEST_NODES {
        return Err(WrongUse(format!(
            "the job is too small, with a size of {}: start one process on each of {FEWEST_NODES} nodes or more",
            job.size()
        ))
        .into());
    }
    make_directory(&arguments.output)?;
    let member = Member {
        arguments,
        common,
        interrupt: Interrupt::install()?,
        job,
        is_apart: Cell::new(false),
    };
    if member.job.rank() == FIRST {
        let exit = lead(&member);
        member.stay_for_last_word();
        exit
    } else {
        follow(&member)
    }
}

/// The measurement of all processes, once they are here.
fn first_round(member: &Member<'_>) -> Round {
    let ranks: Vec<u32> = (0..member.job.size()).collect();
    member.meet(&ranks, duration(member.arguments.wait));
    Round {
        name: MEASURED,
        ranks,
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
    if let Some(next) = take_part(member, &round)?
        && next.ranks.contains(&member.job.rank())
    {
        take_part(member, &second_round(next))?;
    }
    Ok(member.exit())
}

/// Measures and answers in one round; the word of the first process, if it comes in time.
fn take_part(member: &Member<'_>, round: &Round) -> Result<Option<Next>> {
    let answer = turn::answer(member, round);
    if let Answer::Run(exported) = &answer
        && let Err(error) = node::save(exported, &member.arguments.output, member.common)
    {
        let rank = member.name(member.job.rank());
        output::say(&format!("oscope: {rank}: {}", words(&error)));
    }
    member.publish(round.name, &answer)?;
    let patience = duration(member.arguments.wait) + ARRIVAL + JUDGING * member.job.size();
    let deadline = round.start + member.limit(round) + patience;
    let word = member.hear_first(round.name, deadline)?;
    // A word that another version of oscope cannot read is one to leave.
    Ok(word.and_then(|bytes| read(&bytes).ok()))
}

/// Measures, gathers and judges.
fn lead(member: &Member<'_>) -> Result<Exit> {
    let page = judge::page(&member.arguments.judging, member.common)?;
    let round = first_round(member);
    let gathered = gather(member, &round);
    let judged = gathered.and_then(|runs| judge(member, runs));
    // Whatever went wrong, the others may leave.
    let next = judged.as_ref().map(|(_, again)| again.as_ref());
    let next = next.ok().flatten().map(|again| again.next.clone());
    let published = member.publish(MEASURED, &next.unwrap_or_default());
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
    let exit = judge::show(&judged.fleet, page.as_ref(), member.common)?;
    Ok(match exit {
        Exit::Done => Exit::incomplete_if(judged.lacks_something),
        other => other,
    })
}

/// The runs of a round.
#[derive(Default)]
struct Runs {
    measured: Vec<Measured>,
    /// The reasons of processes that have no run.
    lacking: BTreeMap<u32, String>,
    /// False if a node has a gap that others have not.
    are_whole: bool,
}

/// The run of a process, which is in a file.
struct Measured {
    rank: u32,
    node: String,
    reading: Reading,
}

/// Measures with the others, and writes all runs that come in time to files.
fn gather(member: &Member<'_>, round: &Round) -> Result<Runs> {
    let mut runs = Runs {
        are_whole: true,
        ..Runs::default()
    };
    let mut gaps = Vec::new();
    if round.ranks.contains(&FIRST) {
        // It is in a file before the others are waited for.
        let answer = Some(Ok(turn::answer(member, round)));
        gaps.extend(runs.add(FIRST, answer, member));
    }
    let mut answers = member.gather(round)?;
    for rank in &round.ranks {
        if *rank != FIRST {
            gaps.extend(runs.add(*rank, answers.remove(rank), member));
        }
    }
    for sentence in node::sentences(&gaps) {
        output::say(&format!("oscope: {sentence}"));
        runs.are_whole = false;
    }
    Ok(runs)
}

impl Runs {
    /// Writes a run to a file, and returns the name of its process and its gaps; or
    /// prints the reason why there is no run.
    fn add(
        &mut self,
        rank: u32,
        answer: Option<Result<Answer>>,
        member: &Member<'_>,
    ) -> Option<(String, Vec<Gap>)> {
        let saved = match answer {
            Some(Ok(Answer::Beside)) => return None,
            Some(Ok(Answer::Run(run))) => node::save(&run, &member.arguments.output, member.common),
            Some(Ok(Answer::Failed(reason))) => Err(anyhow::Error::msg(reason)),
            Some(Err(error)) => Err(error),
            None => Err(anyhow::Error::msg(
                "has not answered in time: it died, hangs, or cannot be reached",
            )),
        };
        match saved {
            Ok(Saved {
                node,
                reading,
                gaps,
            }) => {
                self.measured.push(Measured {
                    rank,
                    node,
                    reading,
                });
                Some((member.name(rank), gaps))
            }
            Err(error) => {
                let reason = words(&error);
                self.are_whole = false;
                output::say(&format!("oscope: {}: {reason}", member.name(rank)));
                self.lacking.insert(rank, reason);
                None
            }
        }
    }
}

/// A judged fleet.
struct Judged {
    fleet: Fleet,
    /// True if a node has no result.
    lacks_something: bool,
}

/// The first judgement, and the second measurement that it asks for.
fn judge(member: &Member<'_>, measured: Runs) -> Result<(Judged, Option<Again>)> {
    let arguments = member.arguments;
    let lacks_something = !measured.are_whole;
    let mut runs = Gathering::default();
    let mut nodes = BTreeMap::new();
    for Measured {
        rank,
        node,
        reading,
    } in measured.measured
    {
        runs.add(&node, reading);
        nodes.insert(rank, node);
    }
    let kept = (!arguments.once).then(|| runs.clone());
    let fleet = judge::judged(runs, arguments.judging.margin)?;
    let judged = |fleet| Judged {
        fleet,
        lacks_something,
    };
    let Some(kept) = kept.filter(|_| !member.interrupt.is_set()) else {
        return Ok((judged(fleet), None));
    };
    let request = match Request::of(&fleet, new_run::seed(arguments.seed)?) {
        Ok(Some(request)) => request,
        Ok(None) => return Ok((judged(fleet), None)),
        Err(no_peers) => {
            let fleet = unmeasured(fleet, &no_peers.to_string());
            return Ok((judged(fleet), None));
        }
    };
    nodes.retain(|_, node| request.nodes().any(|name| name == node));
    if !member.common.quiet {
        output::say(&request.sentence);
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
    runs: Gathering,
}

impl Again {
    /// Measures again, and names what that bears out.
    fn measure(self, member: &Member<'_>, first: &Judged) -> Result<Judged> {
        let round = second_round(self.next);
        let measured = gather(member, &round);
        member.publish(AGAIN, &Next::default())?;
        let measured = measured?;
        let mut answers = Answers::default();
        for (rank, reason) in measured.lacking {
            answers.missing.insert(self.nodes[&rank].clone(), reason);
        }
        let runs = measured.measured.into_iter();
        answers.runs = runs.map(|it| (it.node, it.reading)).collect();
        let margin = member.arguments.judging.margin;
        let alone = answers.alone(&self.request, margin);
        let mut all = self.runs;
        for (node, reading) in answers.runs {
            all.add(&node, reading);
        }
        let together = judge::judged(all, margin)?;
        Ok(Judged {
            fleet: settled(&first.fleet, &self.request, &alone, together),
            lacks_something: first.lacks_something || !measured.are_whole,
        })
    }
}
