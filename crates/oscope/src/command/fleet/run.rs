//! `oscope fleet run`: the nodes of a job measure themselves, and the first process judges them. What it
//! would name is measured again.

use super::judge;
use super::member::{ARRIVAL, Answer, FIRST, Member, Next, Round, SILENT, duration};
use super::node::{self, Saved};
use super::turn;
use crate::arguments::Common;
use crate::arguments::fleet::Run as Arguments;
use crate::command::new_run;
use crate::exit::{Exit, refuse, words};
use crate::target::{Target, make_directory};
use crate::{output, selection};
use anyhow::Result;
use instrument::statistics::peers::FEWEST_NODES;
use report::fleet::{Answers, Fleet, Gathering, Request, settled, unmeasured};
use std::collections::BTreeMap;
use std::ffi::CStr;
use std::time::{Duration, Instant};

/// The name of the first answers, and of the first process's word on them.
const MEASURED: &CStr = c"oscope";
/// The name of the second answers, and of the first process's word on them.
const AGAIN: &CStr = c"oscope.again";
/// The first process needs at most this long to read and judge a run.
const JUDGING: Duration = Duration::from_secs(1);

pub fn execute(arguments: &Arguments, common: &Common) -> Result<Exit> {
    selection::experiments(&arguments.what)?;
    let otherwise = "`oscope run` and `oscope export` on each node, and `oscope fleet judge FILE…` judges the files";
    let member = Member::join("run", Some(otherwise), arguments, common)?;
    let size = member.job.size();
    if (size as usize) < FEWEST_NODES {
        refuse!(
            "the job is too small, with a size of {size}: start one process on each of {FEWEST_NODES} nodes or more"
        );
    }
    make_directory(&arguments.output)?;
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
    if let Answer::Here(exported) = &answer
        && let Err(error) = node::save(exported, &member.arguments.output, member.common)
    {
        let rank = member.name(member.job.rank());
        output::say(&format!("oscope: {rank}: {}", words(&error)));
    }
    member.publish(round.name, &answer)?;
    let patience = duration(member.arguments.wait) + ARRIVAL + JUDGING * member.job.size();
    let deadline = round.start + member.limit(round) + patience;
    member.hear_first(round.name, deadline)
}

/// Measures, gathers and judges.
fn lead(member: &Member<'_>) -> Result<Exit> {
    let judging = &member.arguments.judging;
    let page = Target::if_named(judging.page.as_ref(), judging.force, member.common)?;
    let round = first_round(member);
    let gathered = gather(member, &round);
    let judged = gathered.and_then(|runs| judge(member, runs));
    // Whatever went wrong, the others may leave.
    let again = judged.as_ref().ok().and_then(|(.., again)| again.as_ref());
    let published = member.publish(MEASURED, &again.map(Again::next).unwrap_or_default());
    if let Some(signal) = member.interrupt.signal() {
        return Ok(Exit::Stopped(signal));
    }
    let (mut fleet, mut are_whole, again) = judged?;
    published?;
    if let Some(again) = again {
        (fleet, are_whole) = again.measure(member, &fleet, are_whole)?;
    }
    if let Some(signal) = member.interrupt.signal() {
        return Ok(Exit::Stopped(signal));
    }
    let output = member.arguments.output.display();
    output::note(member.common, &format!("runs: {output}"));
    judge::show(&fleet, are_whole, page.as_ref(), member.common)
}

/// The runs of a round, by the rank of their process. Each is in a file.
#[derive(Default)]
struct Runs {
    measured: BTreeMap<u32, Saved>,
    /// The reasons of processes that have no run.
    missing: BTreeMap<u32, String>,
    /// False if a node has a gap that others have not.
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
        runs.add(FIRST, Some(Ok(turn::answer(member, round))), member);
    }
    let mut answers = member.gather(round)?;
    for rank in round.ranks.iter().filter(|rank| **rank != FIRST) {
        runs.add(*rank, answers.remove(rank), member);
    }
    let gaps = runs.measured.iter();
    let gaps: Vec<_> = gaps
        .map(|(rank, saved)| (member.name(*rank), saved.gaps.as_slice()))
        .collect();
    for sentence in node::sentences(&gaps) {
        output::say(&format!("oscope: {sentence}"));
        runs.are_whole = false;
    }
    Ok(runs)
}

impl Runs {
    /// Writes a run to a file, or prints the reason why there is none.
    fn add(&mut self, rank: u32, answer: Option<Result<Answer>>, member: &Member<'_>) {
        let saved = match answer {
            Some(Ok(Answer::Other)) => return,
            Some(Ok(Answer::Here(run))) => {
                node::save(&run, &member.arguments.output, member.common)
            }
            Some(Ok(Answer::Failed(reason))) => Err(anyhow::Error::msg(reason)),
            Some(Err(error)) => Err(error),
            None => Err(anyhow::Error::msg(SILENT)),
        };
        match saved {
            Ok(saved) => drop(self.measured.insert(rank, saved)),
            Err(error) => {
                let reason = words(&error);
                self.are_whole = false;
                output::say(&format!("oscope: {}: {reason}", member.name(rank)));
                self.missing.insert(rank, reason);
            }
        }
    }
}

/// The first judgement, false if a node has no result, and the second measurement that it asks for.
fn judge(member: &Member<'_>, measured: Runs) -> Result<(Fleet, bool, Option<Again>)> {
    let arguments = member.arguments;
    let are_whole = measured.are_whole;
    let mut runs = Gathering::default();
    let mut nodes = BTreeMap::new();
    for (rank, saved) in measured.measured {
        runs.add(&saved.node, saved.reading);
        nodes.insert(rank, saved.node);
    }
    let kept = (!arguments.once).then(|| runs.clone());
    let fleet = judge::judged(runs, arguments.judging.margin)?;
    let Some(kept) = kept.filter(|_| !member.interrupt.is_set()) else {
        return Ok((fleet, are_whole, None));
    };
    let request = match Request::of(&fleet, new_run::seed(arguments.seed)?) {
        Ok(Some(request)) => request,
        Ok(None) => return Ok((fleet, are_whole, None)),
        Err(no_peers) => {
            let fleet = unmeasured(fleet, &no_peers.to_string());
            return Ok((fleet, are_whole, None));
        }
    };
    nodes.retain(|_, node| request.nodes().any(|name| name == node));
    output::note(member.common, &request.sentence);
    let again = Again {
        request,
        nodes,
        runs: kept,
    };
    Ok((fleet, are_whole, Some(again)))
}

/// A second measurement to be made.
struct Again {
    request: Request,
    /// The nodes of the processes that take part.
    nodes: BTreeMap<u32, String>,
    /// The first runs.
    runs: Gathering,
}

impl Again {
    /// What the processes that take part are asked for.
    fn next(&self) -> Next {
        Next {
            ranks: self.nodes.keys().copied().collect(),
            experiments: self.request.experiments.clone(),
        }
    }

    /// Measures again, and names what both measurements show.
    fn measure(self, member: &Member<'_>, first: &Fleet, are_whole: bool) -> Result<(Fleet, bool)> {
        let round = second_round(self.next());
        let measured = gather(member, &round);
        member.publish(AGAIN, &Next::default())?;
        let measured = measured?;
        let mut answers = Answers::default();
        for (rank, reason) in measured.missing {
            answers.missing.insert(self.nodes[&rank].clone(), reason);
        }
        let runs = measured.measured.into_values();
        answers.runs = runs.map(|it| (it.node, it.reading)).collect();
        let margin = member.arguments.judging.margin;
        let mut all = self.runs;
        for (node, reading) in &answers.runs {
            all.add(node, reading.clone());
        }
        let together = judge::judged(all, margin)?;
        let fleet = settled(first, &self.request, &answers, together);
        Ok((fleet, are_whole && measured.are_whole))
    }
}
