//! The own measurement of a process: in its turn, and with the meetings of the others.

use super::meetings::Meetings;
use super::member::{FIRST, Member, Round};
use super::message::Answer;
use super::node;
use super::place::{self, Part};
use crate::arguments::Common;
use crate::exit::words;
use anyhow::Result;
use platform::job::host_name;
use report::fleet::{HOST, PART, SWITCH};

/// Measures the node of `member` in its turn, unless another process does.
pub fn answer(member: &Member<'_>, round: &Round) -> Answer {
    let mut meetings = Meetings::new(member, round);
    let rank_on_node = member.job.rank_on_node();
    let answer = rank_on_node.map_err(Into::into).and_then(|rank| {
        let part = place::part(member.arguments.per, rank)?;
        wait(member, round)?;
        if rank > 0 && part.is_none() {
            return Ok(Answer::Beside);
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
        member.hear(round.name, &[*before], round.start + turns)?;
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
        part.keep()?;
        tags.push((PART.to_owned(), part.name.clone()));
    }
    tags.extend(place::switch().map(|switch| (SWITCH.to_owned(), switch)));
    let run = node::run(member.arguments, &round.what, tags);
    let exported = node::measure(&run, &common, meetings)?;
    Ok(Answer::Run(exported))
}
