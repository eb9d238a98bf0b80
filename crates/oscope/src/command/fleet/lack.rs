//! Experiments that some nodes could not measure, and others could: their disk is full, for example.

use instrument::quantity::counted;
use instrument::runner::Ending;
use record::ExperimentRecord;
use std::collections::BTreeMap;

/// An experiment that a node could not measure, or not at all points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lack {
    experiment: String,
    reason: String,
}

/// The experiments that a node could not measure.
pub fn of(experiments: &[ExperimentRecord]) -> Vec<Lack> {
    let lack = |record: &ExperimentRecord| {
        Some(Lack {
            experiment: record.definition.id.clone(),
            reason: record.skipped.clone().or_else(|| failure(record))?,
        })
    };
    experiments.iter().filter_map(lack).collect()
}

/// The points that failed, with the reason of the first.
fn failure(record: &ExperimentRecord) -> Option<String> {
    let endings = record.points.iter().filter_map(|it| it.closing.as_ref());
    let reasons = endings.filter_map(|closing| match &closing.ending {
        Ending::Failed(reason) => Some(reason),
        _ => None,
    });
    let reasons: Vec<&String> = reasons.collect();
    let reason = reasons.first()?;
    let (failed, all) = (reasons.len(), record.points.len());
    let all = counted(all, "point");
    Some(format!("{failed} of {all} failed: {reason}"))
}

/// A sentence for each experiment that some of the nodes lack, with the reason of the first of them. What all
/// lack says nothing of a node.
pub fn sentences(nodes: &[(String, Vec<Lack>)]) -> Vec<String> {
    let mut found: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
    for (node, lacks) in nodes {
        for lack in lacks {
            let of_experiment = found.entry(&lack.experiment).or_default();
            of_experiment.push((node, &lack.reason));
        }
    }
    let of_some = found.into_iter().filter(|(_, it)| it.len() < nodes.len());
    of_some
        .map(|(experiment, lacks)| {
            let (node, reason) = lacks[0];
            let more = match lacks.len() - 1 {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            format!("{node}{more}: {experiment}: {reason}")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{Lack, of, sentences};
    use instrument::definition::Definition;
    use instrument::point::Point;
    use instrument::runner::Ending;
    use record::{Closing, ExperimentRecord, PointRecord};

    fn record(skipped: Option<&str>, endings: &[Ending]) -> ExperimentRecord {
        let point = |ending: &Ending| PointRecord {
            point: Point::new(),
            batches: Vec::new(),
            closing: Some(Closing {
                ending: ending.clone(),
                warnings: Vec::new(),
            }),
        };
        ExperimentRecord {
            definition: Definition {
                id: "file.sync".into(),
                ..Definition::default()
            },
            skipped: skipped.map(Into::into),
            points: endings.iter().map(point).collect(),
        }
    }

    fn lack(reason: &str) -> Lack {
        Lack {
            experiment: "file.sync".into(),
            reason: reason.into(),
        }
    }

    #[test]
    fn a_skipped_experiment_and_failed_points_are_lacking() {
        assert_eq!(of(&[record(Some("no room"), &[])]), [lack("no room")]);
        let some = [Ending::BudgetUsed, Ending::Failed("no room".into())];
        let expected = [lack("1 of 2 points failed: no room")];
        assert_eq!(of(&[record(None, &some)]), expected);
        assert_eq!(of(&[record(None, &[Ending::TargetReached])]), []);
    }

    #[test]
    fn what_some_nodes_lack_is_told_and_what_all_lack_is_not() {
        let node = |name: &str, lacks: &[Lack]| (name.to_owned(), lacks.to_vec());
        let full = lack("it needs 32 MiB");
        let told = sentences(&[node("a", &[]), node("b", std::slice::from_ref(&full))]);
        assert_eq!(told, ["b: file.sync: it needs 32 MiB"]);
        let two = [full.clone()];
        let told = sentences(&[node("a", &two), node("b", &two), node("c", &[])]);
        assert_eq!(told, ["a and 1 more: file.sync: it needs 32 MiB"]);
        assert!(sentences(&[node("a", &two), node("b", &two)]).is_empty());
    }
}
