//! The second measurement of an alarm, and what it bears out.
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
//! The second condition has no test of its own: three nodes hardly know how healthy ones differ. The median of
//! three is the nearer of the two healthy nodes, so the deviation is the smaller one of both. What lacks one
//! of the conditions was seen once. An alarm that nobody could measure again stays, with the reason.

use super::request::Request;
use super::{Fleet, Gathering, Part, Reading, Standing, judge};
use crate::show;
use instrument::component::Component;
use instrument::point::Choice;
use std::collections::BTreeMap;

/// A second measurement with what it bears out.
#[derive(Clone, Debug, PartialEq)]
pub struct Second {
    /// The nodes beside which the named ones were measured again.
    pub healthy: Vec<String>,
    /// The experiments that were measured again.
    pub experiments: Vec<String>,
    /// The components of nodes that a judgement named.
    pub alarms: Vec<Alarm>,
}

/// A component of a node that a judgement named.
#[derive(Clone, Debug, PartialEq)]
pub struct Alarm {
    /// The name of the node.
    pub node: String,
    /// The component.
    pub component: Component,
    /// The component in the first judgement.
    pub first: Option<Part>,
    /// The component in the second runs alone, against the healthy nodes.
    pub alone: Option<Part>,
    /// The component in the judgement of all runs together.
    pub together: Option<Part>,
    /// The outcome of the alarm.
    pub outcome: Outcome,
}

/// The outcome of an alarm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The second measurement says the same.
    BorneOut,
    /// Only one of the measurements says it.
    SeenOnce,
    /// The alarm stands as it is, for this reason.
    NotMeasured(String),
}

/// The answers of the nodes to a [`Request`].
#[derive(Debug, Default)]
pub struct Answers {
    /// The second runs, each with the name of its node.
    pub runs: Vec<(String, Reading)>,
    /// The reasons of those that have none, by node.
    pub lacking: BTreeMap<String, String>,
}

/// Judgements of the second runs alone, by named node; the reason where there is none.
pub type Alone = BTreeMap<String, Result<Fleet, String>>;

impl Answers {
    /// Judges the second runs of each named node alone, against those of the healthy nodes.
    pub fn alone(&self, request: &Request, margin: f64) -> Alone {
        let of_suspect = |suspect: &str| {
            let lacking = |node: &str| {
                let reason = self.lacking.get(node);
                let reason = reason.map_or("there is no second run of it", String::as_str);
                format!("{node}: {reason}")
            };
            let mut gathering = Gathering::default();
            for node in std::iter::once(suspect).chain(request.healthy.iter().map(String::as_str)) {
                let runs = self.runs.iter().filter(|(name, _)| name == node);
                let mut runs = runs.peekable();
                if runs.peek().is_none() {
                    return Err(lacking(node));
                }
                for (name, reading) in runs {
                    gathering.add(name, reading.clone());
                }
            }
            gathering.judge(margin).map_err(|error| error.to_string())
        };
        let suspects = request.suspects.iter().map(|it| it.node.as_str());
        suspects
            .map(|node| (node.to_owned(), of_suspect(node)))
            .collect()
    }
}

/// The verdict on the judgement of all runs `together`: it names what the rule of this module bears out.
pub fn settled(first: &Fleet, request: &Request, alone: &Alone, together: Fleet) -> Fleet {
    let mut alarms: Vec<Alarm> = Vec::new();
    for judged in [first, &together] {
        for node in &judged.nodes {
            for (component, _) in node.differing(judged) {
                let is_there = |it: &Alarm| it.node == node.name && it.component == component;
                if !alarms.iter().any(is_there) {
                    alarms.push(Alarm::new(&node.name, component, first, alone, &together));
                }
            }
        }
    }
    with_verdicts(
        together,
        Second {
            healthy: request.healthy.clone(),
            experiments: request.experiments.clone(),
            alarms,
        },
    )
}

/// The first judgement where nobody could measure again, for this reason.
pub fn unmeasured(first: Fleet, reason: &str) -> Fleet {
    let alarms = first.nodes.iter().flat_map(|node| {
        node.differing(&first).map(|(component, part)| Alarm {
            node: node.name.clone(),
            component,
            first: Some(*part),
            alone: None,
            together: None,
            outcome: Outcome::NotMeasured(reason.to_owned()),
        })
    });
    let second = Second {
        healthy: Vec::new(),
        experiments: Vec::new(),
        alarms: alarms.collect(),
    };
    with_verdicts(first, second)
}

/// Names in `fleet` what its alarms bear out, and nothing else.
fn with_verdicts(mut fleet: Fleet, second: Second) -> Fleet {
    for alarm in &second.alarms {
        let node = fleet.nodes.iter_mut().find(|it| it.name == alarm.node);
        let place = fleet
            .components
            .iter()
            .position(|it| *it == alarm.component);
        let (Some(node), Some(place)) = (node, place) else {
            continue;
        };
        match &alarm.outcome {
            Outcome::BorneOut => {}
            Outcome::SeenOnce => {
                if let Some(part) = &mut node.parts[place] {
                    part.standing = Standing::Alike;
                }
            }
            Outcome::NotMeasured(_) => node.parts[place] = alarm.first,
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
        alone: &Alone,
        together: &Fleet,
    ) -> Self {
        let first = first.part(node, component).copied();
        let together = together.part(node, component).copied();
        let (alone, lack) = match alone.get(node) {
            Some(Ok(judged)) => match judged.part(node, component) {
                Some(part) => (Some((*part, judged.margin)), String::new()),
                None => (
                    None,
                    format!(
                        "{node}: its second run or that of a healthy node lacks values of the component"
                    ),
                ),
            },
            Some(Err(reason)) => (None, reason.clone()),
            None => (None, String::new()),
        };
        let named = standing(first.as_ref());
        let outcome = match alone {
            _ if named == Standing::Alike => Outcome::SeenOnce,
            None => Outcome::NotMeasured(lack),
            Some((alone, margin)) => {
                let is_again = direction(&alone, margin) == named;
                if is_again && standing(together.as_ref()) == named {
                    Outcome::BorneOut
                } else {
                    Outcome::SeenOnce
                }
            }
        };
        Self {
            node: node.to_owned(),
            component,
            first,
            alone: alone.map(|(part, _)| part),
            together,
            outcome,
        }
    }

    /// The alarm in words: `node3, disk: seen once, not again: 0.850 × as fast at first, 0.990 × again`.
    pub fn sentence(&self) -> String {
        let component = self.component.name();
        let outcome = match &self.outcome {
            Outcome::BorneOut => "borne out".to_owned(),
            Outcome::SeenOnce => "seen once, not again".to_owned(),
            Outcome::NotMeasured(reason) => format!("not measured again, because {reason}"),
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
        let parts: Vec<String> = parts.collect();
        format!(
            "{}, {component}: {outcome}. As fast as the others: {}",
            self.node,
            parts.join(", ")
        )
    }
}

fn standing(part: Option<&Part>) -> Standing {
    part.map_or(Standing::Alike, |part| part.standing)
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
