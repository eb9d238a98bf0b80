//! The second measurement of an alarm, and what it confirms.
//!
//! # Rule
//!
//! A component of a node is named in the verdict only if
//!
//! 1. the first judgement, of all nodes, names it,
//! 2. the second run of the node alone, against the second runs of the two healthy nodes, deviates in the
//!    same direction by more than the margin, and
//! 3. the judgement of all runs together still names it in that direction.
//!
//! The second condition is not tested: three nodes hardly show how healthy ones differ. The median of
//! three is the nearer of the two healthy nodes, so the deviation is the smaller one of both. What misses one
//! of the conditions was seen once. An alarm that nobody could measure again stays, with the reason.

use super::request::Request;
use super::{Fleet, Gathering, Part, Reading, Standing, by_name, judge};
use crate::lists::joined;
use crate::show;
use instrument::component::Component;
use instrument::point::Choice;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// A second measurement. What it does not confirm is in no verdict.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Second {
    /// The nodes with which the named ones were measured again.
    pub healthy: Vec<String>,
    /// The experiments that were measured again.
    pub experiments: Vec<String>,
    /// The components of nodes that a judgement named.
    pub alarms: Vec<Alarm>,
}

/// A component of a node that a judgement named.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Alarm {
    /// The name of the node.
    pub node: String,
    /// The component.
    #[serde(serialize_with = "by_name")]
    #[schemars(with = "String")]
    pub component: Component,
    /// The component in the first judgement.
    pub first: Option<Part>,
    /// The component in the second runs alone, against the healthy nodes.
    pub alone: Option<Part>,
    /// The component in the judgement of all runs together.
    pub together: Option<Part>,
    /// The outcome of the alarm.
    pub outcome: Outcome,
    /// The reason why it was not measured again.
    pub because: Option<String>,
}

/// The outcome of an alarm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The second measurement confirms it.
    Confirmed,
    /// Only one of the measurements shows it.
    SeenOnce,
    /// The alarm stays as it is.
    NotMeasured,
}

/// The answers of the nodes to a [`Request`].
#[derive(Debug, Default)]
pub struct Answers {
    /// The second runs, each with the name of its node.
    pub runs: Vec<(String, Reading)>,
    /// The reasons of those that have none, by node.
    pub missing: BTreeMap<String, String>,
}

impl Answers {
    /// Judges the second runs of a named node alone, against those of the healthy nodes; the reason if that is not
    /// possible.
    fn alone(&self, suspect: &str, request: &Request, margin: f64) -> Result<Fleet, String> {
        let mut gathering = Gathering::default();
        let healthy = request.healthy.iter().map(String::as_str);
        for node in std::iter::once(suspect).chain(healthy) {
            let mut runs = self.runs.iter().filter(|(name, _)| name == node).peekable();
            if runs.peek().is_none() {
                let reason = self.missing.get(node).map(String::as_str);
                let reason = reason.unwrap_or("there is no second run of it");
                return Err(format!("{node}: {reason}"));
            }
            for (name, reading) in runs {
                gathering.add(name, reading.clone());
            }
        }
        gathering.judge(margin).map_err(|error| error.to_string())
    }
}

/// The verdict on the judgement of all runs `together`: it names what the rule of this module confirms.
pub fn settled(first: &Fleet, request: &Request, answers: &Answers, together: Fleet) -> Fleet {
    let suspects = request.suspects.iter().map(String::as_str);
    let alone = suspects.map(|node| (node, answers.alone(node, request, first.margin)));
    let alone: BTreeMap<&str, Result<Fleet, String>> = alone.collect();
    let mut alarms: Vec<Alarm> = Vec::new();
    for judged in [first, &together] {
        for node in &judged.nodes {
            for (component, _) in node.differing() {
                let is_there = |it: &Alarm| it.node == node.name && it.component == component;
                if !alarms.iter().any(is_there) {
                    let alone = alone.get(node.name.as_str());
                    alarms.push(Alarm::new(&node.name, component, first, alone, &together));
                }
            }
        }
    }
    let second = Second {
        healthy: request.healthy.clone(),
        experiments: request.experiments.clone(),
        alarms,
    };
    with_verdicts(together, second)
}

/// The first judgement where nobody could measure again, for this reason.
pub fn unmeasured(first: Fleet, reason: &str) -> Fleet {
    let alarms = first.nodes.iter().flat_map(|node| {
        node.differing().map(|(component, part)| Alarm {
            node: node.name.clone(),
            component,
            first: Some(*part),
            alone: None,
            together: None,
            outcome: Outcome::NotMeasured,
            because: Some(reason.to_owned()),
        })
    });
    let second = Second {
        alarms: alarms.collect(),
        ..Second::default()
    };
    with_verdicts(first, second)
}

/// Names in `fleet` what its alarms confirm, and nothing else.
fn with_verdicts(mut fleet: Fleet, second: Second) -> Fleet {
    for alarm in &second.alarms {
        let mut nodes = fleet.nodes.iter_mut();
        let Some(node) = nodes.find(|it| it.name == alarm.node) else {
            continue;
        };
        let part = node.parts.get_mut(&alarm.component);
        match (alarm.outcome, part, alarm.first) {
            (Outcome::SeenOnce, Some(part), _) => part.standing = Standing::Alike,
            (Outcome::NotMeasured, _, Some(first)) => {
                node.parts.insert(alarm.component, first);
            }
            (Outcome::Confirmed | Outcome::SeenOnce | Outcome::NotMeasured, ..) => {}
        }
    }
    for node in &mut fleet.nodes {
        node.standing = judge::standing(&node.parts);
    }
    judge::sort(&mut fleet.nodes);
    fleet.second = Some(second);
    fleet
}

impl Alarm {
    fn new(
        node: &str,
        component: Component,
        first: &Fleet,
        alone: Option<&Result<Fleet, String>>,
        together: &Fleet,
    ) -> Self {
        let first = first.part(node, component);
        let together = together.part(node, component);
        let standing = |part: Option<Part>| part.map_or(Standing::Alike, |part| part.standing);
        let named = standing(first);
        let judged = alone.map(Result::as_ref);
        let again = judged.map(|judged| {
            let judged = judged.map_err(String::clone)?;
            let part = judged.part(node, component);
            part.map(|part| (part, judged.margin)).ok_or_else(|| {
                format!("{node}: its second run or that of a healthy node has no values of the component")
            })
        });
        let (outcome, because) = match &again {
            _ if named == Standing::Alike => (Outcome::SeenOnce, None),
            None => (Outcome::NotMeasured, None),
            Some(Err(reason)) => (Outcome::NotMeasured, Some(reason.clone())),
            Some(Ok((part, margin)))
                if direction(part, *margin) == named && standing(together) == named =>
            {
                (Outcome::Confirmed, None)
            }
            Some(Ok(_)) => (Outcome::SeenOnce, None),
        };
        Self {
            node: node.to_owned(),
            component,
            first,
            alone: again.and_then(Result::ok).map(|(part, _)| part),
            together,
            outcome,
            because,
        }
    }

    /// The alarm in words: `node3, disk: seen once, not again: 0.850 × as fast at first, 0.990 × again`.
    pub fn sentence(&self) -> String {
        let component = self.component.name();
        let because = self.because.as_deref().unwrap_or_default();
        let outcome = match &self.outcome {
            Outcome::Confirmed => "confirmed".to_owned(),
            Outcome::SeenOnce => "seen once, not again".to_owned(),
            Outcome::NotMeasured => format!("not measured again, because {because}"),
        };
        let parts = [
            (self.first, "at first"),
            (self.alone, "again"),
            (self.together, "in all runs together"),
        ];
        let parts = parts.into_iter().filter_map(|(part, when)| {
            let part = part?;
            let ratio = show::ratio_with_range(part.ratio, part.interval);
            Some(format!("{ratio} {when}"))
        });
        format!(
            "{}, {component}: {outcome}. As fast as the others: {}",
            self.node,
            joined(", ", parts)
        )
    }
}

/// The direction in which a component deviates by more than the margin, tested or not.
fn direction(part: &Part, margin: f64) -> Standing {
    let deviation = part.ratio.ln();
    if deviation.is_nan() || deviation.abs() <= margin.ln_1p() {
        Standing::Alike
    } else if deviation < 0.0 {
        Standing::Slower
    } else {
        Standing::Faster
    }
}

#[cfg(test)]
mod tests;
