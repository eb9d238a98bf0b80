//! Caveats to read before the numbers of a comparison.

use super::conditions::Conditions;
use super::row::{Basis, Row};
use super::{Circumstance, Question, Side};
use crate::lists::{by_key, distinct};
use crate::show;
use crate::surroundings::CLOCK;
use instrument::quantity::counted;

/// Enough sessions to distinguish a change from a machine state that two sessions share by chance.
const ENOUGH_SESSIONS: usize = 3;

/// The remarks on a comparison, the most important first.
pub(super) fn remarks(
    question: &Question<'_>,
    basis: Basis,
    rows: &[Row<'_>],
    conditions: &Conditions,
    facts: &[Circumstance],
    by_clock: Option<String>,
) -> Vec<String> {
    let Question { a, b, .. } = question;
    let mut remarks: Vec<String> = [a, b].into_iter().filter_map(|it| stand_in(it)).collect();
    if basis != Basis::Unknown {
        remarks.extend(first_facts(facts));
        remarks.extend(not_alike(conditions, by_clock.is_some()));
        remarks.extend(by_clock);
    }
    match basis {
        Basis::Unknown => remarks.push(reported(a, b)),
        Basis::Processes => remarks.push(
            "One session on each side: nothing is called faster, slower or equivalent. The intervals \
             rest on what each session predicts of another within the hour; three sessions each \
             would decide."
                .into(),
        ),
        Basis::Sessions if a.runs.len().min(b.runs.len()) < ENOUGH_SESSIONS => remarks.push(
            "Fewer than three sessions on a side: what a single session has in common with itself, \
             such as a busy hour, cannot be distinguished from the change."
                .into(),
        ),
        Basis::Sessions => {}
    }
    remarks.extend([a, b].into_iter().filter_map(|side| mixed(side)));
    if basis != Basis::Unknown && a.machines() != b.machines() {
        remarks.push(
            "The machines are not the same: what differs may come from either what was changed or \
             the machine."
                .into(),
        );
    }
    remarks.extend(differences(rows));
    remarks.extend([a, b].into_iter().filter_map(|side| unfinished(side)));
    let doubtful = rows.iter().filter(|row| row.doubtful).count();
    if doubtful > 0 {
        remarks.push(format!(
            "Marked for a warning in some session: {doubtful} of {}.",
            counted(rows.len(), "value")
        ));
    }
    let left_out = rows.iter().filter(|row| row.left_out > 0).count();
    if left_out > 0 {
        remarks.push(format!(
            "In {left_out} of {} values one session was far worse than the others of its side, which \
             agree: it is left out.",
            rows.len()
        ));
    }
    remarks
}

/// The facts that matter most and differ between the two sides, one sentence for each.
fn first_facts(facts: &[Circumstance]) -> Vec<String> {
    /// The name of a fact, and the text between the two sides and their values.
    const FIRST: [(&str, [&str; 2]); 4] = [
        ("storage: file system", ["A's files were on", "B's on"]),
        ("environment: kernel release", ["A's kernel was", "B's"]),
        ("machine: cpu model", ["A's processor was", "B's"]),
        ("environment: cgroup cpus", ["A was limited to", "B to"]),
    ];
    let sentence = |(name, [first, second]): (&str, [&str; 2])| {
        let fact = facts.iter().find(|fact| fact.name == name)?;
        let known = |value: &str| match value {
            "" => "an unknown one".to_owned(),
            value => value.to_owned(),
        };
        Some(format!(
            "{first} {}, {second} {}.",
            known(&fact.a),
            known(&fact.b)
        ))
    };
    FIRST.into_iter().filter_map(sentence).collect()
}

/// The conditions that differed, and the consequence.
fn not_alike(conditions: &Conditions, is_at_one_clock: bool) -> Option<String> {
    if !conditions.reasons.is_empty() {
        return Some(format!(
            "The sides ran under different conditions: {}. That may explain any difference, so that none \
             is called faster or slower. Measure both sides under the same conditions.",
            conditions.reasons.join("; ")
        ));
    }
    let named: Vec<String> = (conditions.differences.iter())
        .filter(|condition| !(is_at_one_clock && condition.name == CLOCK.name))
        .map(|condition| {
            let name = condition.name.as_str();
            let name = name.split_once(": ").map_or(name, |(_, name)| name);
            format!("{name} ({} in A, {} in B)", condition.a, condition.b)
        })
        .collect();
    (!named.is_empty())
        .then(|| format!("The sides were not disturbed alike: {}.", named.join("; ")))
}

/// A side whose system is not the one that it reports.
fn stand_in(side: &Side) -> Option<String> {
    let caution = side.runs.iter().find_map(show::stand_in)?;
    Some(format!("{}: {caution}", side.label))
}

/// The differences between the operating systems that rows rest on, each once with its experiments.
fn differences(rows: &[Row<'_>]) -> Vec<String> {
    let differing = rows.iter().filter_map(|row| {
        let other = row.other_point?;
        Some((other.difference, row.definition.id.as_str()))
    });
    let differences = by_key(distinct(differing)).into_iter();
    let sentences =
        differences.map(|(difference, ids)| format!("{}: {difference}", ids.join(", ")));
    sentences.collect()
}

fn reported(a: &Side, b: &Side) -> String {
    let side = if a.is_reported() { a } else { b };
    format!(
        "The numbers of {} were printed in a published report, without their spread: ratios are \
         shown and nothing is tested.",
        side.label
    )
}

fn mixed(side: &Side) -> Option<String> {
    let machines = side.machines().len();
    (machines > 1).then(|| {
        format!(
            "The sessions of {} come from {machines} machines: their spread is that between machines.",
            side.label
        )
    })
}

fn unfinished(side: &Side) -> Option<String> {
    let cut_off = side.runs.iter().filter(|run| !run.is_finished()).count();
    (cut_off > 0 && !side.is_reported()).then(|| {
        format!(
            "{cut_off} of {} of {} did not come to the end of the plan: what they measured \
             is compared.",
            counted(side.runs.len(), "session"),
            side.label
        )
    })
}
