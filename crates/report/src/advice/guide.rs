//! How to follow advice, and how far the run has tried it.

use super::{Found, found};
use crate::show;
use instrument::advice::Action;
use instrument::quantity::{Quantity, Unit};
use instrument::sample::Batch;
use instrument::trial::{self, Outcome, Trial};
use platform::environment::System;
use record::{PointRecord, Run};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How to follow the advice for one setting, and how far the run has tried it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Guide {
    /// What to do.
    pub action: Action,
    /// What the run knows of it from pairs.
    pub tried: Tried,
    /// The pair of measurements that tries it; `None` if no experiment has both.
    pub trial: Option<Trial>,
}

/// Guides by the names of their settings, only for settings that change something.
pub type Guides = BTreeMap<String, Guide>;

/// What the pairs of a run say of a setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Tried {
    /// It gains.
    Confirmed(Outcome),
    /// It is not shown to gain, and so not advised.
    Refuted(Outcome),
    /// There are none, or too few.
    Open,
}

/// A setting to try at the end of a run.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Its name.
    pub setting: &'static str,
    /// Its title for readers.
    pub title: &'static str,
    /// The pair of measurements.
    pub trial: Trial,
    /// Wall time of one pair, in ns, as the run measured both points.
    pub pair_ns: f64,
}

/// The settings that `run` would advise and has not tried, the largest sure gain first.
pub fn candidates(run: &Run) -> Vec<Candidate> {
    let mut found = found(&run.results());
    let gain = |(_, advice): &Found| {
        let interval = advice.gain.and_then(|gain| gain.interval);
        interval.map_or(0.0, |interval| interval.low)
    };
    found.sort_by(|one, other| gain(other).total_cmp(&gain(one)));
    let is_open = |(rule, _): &Found| run.experiment(&trial::id(rule.setting)).is_none();
    let open = found.into_iter().filter(is_open);
    open.filter_map(|(rule, advice)| {
        let trial = advice.trial?;
        let record = run.experiment(&trial.experiment)?;
        let visits = trial.points.iter().map(|wanted| {
            let found = record.points.iter().find(|it| it.point == *wanted)?;
            found.batches.iter().map(|batch| batch.wall_ns).min()
        });
        Some(Candidate {
            setting: rule.setting,
            title: rule.title,
            pair_ns: visits.sum::<Option<u64>>()? as f64,
            trial,
        })
    })
    .collect()
}

/// The guides of what was `found` in `run`.
pub(super) fn guides(run: &Run, found: &[Found]) -> Guides {
    let system = run.environment.system().unwrap_or(System::Linux);
    let changes = found.iter().filter(|(_, it)| it.value != it.usual);
    let guides = changes.map(|(rule, advice)| {
        let guide = Guide {
            action: (rule.act)(&advice.value, system),
            tried: tried(run, rule.setting, advice.trial.as_ref()),
            trial: advice.trial.clone(),
        };
        (rule.setting.to_owned(), guide)
    });
    guides.collect()
}

/// What the record of `run` says of this trial. A trial of other values says nothing.
fn tried(run: &Run, setting: &str, trial: Option<&Trial>) -> Tried {
    let outcome = || {
        let (trial, record) = (trial?, run.experiment(&trial::id(setting))?);
        let [usual, advised] = trial.points.each_ref().map(|wanted| {
            let is_wanted = |record: &&PointRecord| record.point == *wanted;
            let found = record.points.iter().find(is_wanted);
            found.map(|record| record.batches.as_slice())
        });
        let batches: [&[Batch]; 2] = [usual?, advised?];
        trial.outcome(batches)
    };
    match outcome() {
        Some(outcome) if outcome.is_confirmed() => Tried::Confirmed(outcome),
        Some(outcome) if outcome.is_complete() => Tried::Refuted(outcome),
        _ => Tried::Open,
    }
}

impl Guide {
    /// The state of the trial in words; `name` is the setting.
    pub(crate) fn state(&self, name: &str) -> String {
        match (&self.tried, &self.trial) {
            (Tried::Confirmed(outcome), _) => {
                format!("Tried in {} pairs within this run.", outcome.pairs)
            }
            (Tried::Refuted(outcome), _) => {
                let gain = Quantity::new(outcome.gain, outcome.interval, Unit::Ratio);
                format!(
                    "tried in {} pairs within this run and not shown to gain: {} as fast",
                    outcome.pairs,
                    show::quantity(&gain)
                )
            }
            (Tried::Open, Some(_)) => format!("Not tried: `oscope advise --try {name}` does."),
            (Tried::Open, None) => "Not tried: no experiment measures both ways in pairs.".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Guide, Tried, tried};
    use crate::made_up;
    use crate::reference;
    use instrument::definition::Definition;
    use instrument::point::Point;
    use instrument::sample::{Batch, Reading, Sample};
    use instrument::trial::Trial;
    use record::{ExperimentRecord, PointRecord, Run};

    fn point(blocks: u64) -> Point {
        Point::new().with("blocks", blocks)
    }

    /// The trial of blocks of 64 against those of 4.
    fn trial() -> Trial {
        Trial {
            experiment: "made.up".into(),
            metric: "time".into(),
            points: [point(4), point(64)],
        }
    }

    /// A run that tried these blocks in this number of pairs, each with its time in ns.
    fn run(pairs: u32, took: [(u64, f64); 2]) -> Run {
        let record = |(blocks, ns): (u64, f64)| {
            let step = if blocks == 4 { 7 } else { 3 };
            let batch = |pass: u32| {
                let reading = Reading::Once {
                    work: 1.0,
                    wall_ns: (ns * (1.0 + 0.002 * f64::from(pass * step % 5))) as u64,
                    reference_ns: None,
                    around: None,
                };
                Batch {
                    pass: Some(pass),
                    samples: vec![Sample::new("time", reading)],
                    ..Batch::default()
                }
            };
            PointRecord {
                point: point(blocks),
                batches: (0..pairs).map(batch).collect(),
                closing: None,
            }
        };
        let definition = trial().definition("block_size", &Definition::default());
        Run {
            experiments: vec![ExperimentRecord {
                definition,
                skipped: None,
                points: took.map(record).into(),
            }],
            ..reference::ALL.first().expect("there are some").run()
        }
    }

    fn state(run: &Run, trial: Option<&Trial>) -> &'static str {
        match tried(run, "block_size", trial) {
            Tried::Confirmed(_) => "confirmed",
            Tried::Refuted(_) => "refuted",
            Tried::Open => "open",
        }
    }

    #[test]
    fn pairs_confirm_or_refute_the_value_that_they_tried() {
        let trial = &trial();
        for (pairs, took, expected) in [
            (24, [(4, 1e6), (64, 5e5)], "confirmed"),
            (24, [(4, 1e6), (64, 9.9e5)], "refuted"),
            (24, [(4, 1e6), (64, 2e6)], "refuted"),
            // Too few pairs, and another value.
            (5, [(4, 1e6), (64, 5e5)], "open"),
            (24, [(4, 1e6), (16, 5e5)], "open"),
        ] {
            assert_eq!(state(&run(pairs, took), Some(trial)), expected, "{took:?}");
        }
        let run = run(24, [(4, 1e6), (64, 5e5)]);
        assert_eq!(state(&run, None), "open");
        assert_eq!(
            run.measured().count(),
            0,
            "a trial is no experiment of the plan"
        );
    }

    #[test]
    fn what_was_not_tried_says_how_to_try_it() {
        let open = made_up::guide(Tried::Open);
        assert!(open.state("x").contains("no experiment"));
        let trial = Some(trial());
        let said = Guide { trial, ..open }.state("x");
        assert!(said.contains("`oscope advise --try x`"), "{said}");
    }
}
