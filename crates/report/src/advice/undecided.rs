//! The settings that a run does not decide, each with the reason.

use super::{Tried, gaining};
use crate::Analysis;
use crate::lists::and;
use instrument::advice::Rule;

/// A sentence, with commands in backquotes, in place of settings that gain; `None` if there are some.
pub(crate) fn without_settings(analysis: &Analysis<'_>) -> Option<&'static str> {
    if analysis.run.header.is_reported() {
        Some(
            "No settings are named: these values were printed about another machine, without their spread. \
             `oscope run` measures yours, and `oscope advise` names its settings.",
        )
    } else if analysis.advice.settings.is_empty() {
        Some("This run decides nothing that programs could use.")
    } else if !gaining(analysis).is_empty() {
        None
    } else if is_untried(analysis) {
        Some("No setting has been tried in this run. Each below says how to try it.")
    } else {
        Some("No setting surely gains over what programs use already.")
    }
}

/// True if a setting may gain and was not tried.
pub(crate) fn is_untried(analysis: &Analysis<'_>) -> bool {
    let mut guides = analysis.guides.values();
    guides.any(|guide| guide.tried == Tried::Open)
}

/// The title of each setting that the run of `analysis` does not decide, with the reason, or the command that may
/// decide it in backquotes. None for printed values: no run here decides anything about the machine of a report.
pub(crate) fn undecided(analysis: &Analysis<'_>) -> Vec<(&'static str, String)> {
    if analysis.run.header.is_reported() {
        return Vec::new();
    }
    let decided = &analysis.advice.settings;
    let rules = experiments::advice().filter(|rule| !decided.contains_key(rule.setting));
    rules
        .map(|rule| match analysis.guides.get(rule.setting) {
            Some(refuted) => (rule.title, refuted.state(rule.setting)),
            None => (rule.title, reason(rule, analysis)),
        })
        .collect()
}

fn reason(rule: &Rule, analysis: &Analysis<'_>) -> String {
    let (mut measured, mut failed, mut absent) = (Vec::new(), Vec::new(), Vec::new());
    for &id in rule.basis.experiments() {
        match analysis.experiment(id) {
            None => absent.push(id),
            Some(experiment) if experiment.points.is_empty() => failed.push(id),
            Some(_) => measured.push(id),
        }
    }
    let command = format!("`oscope run {}`", rule.basis.experiments().join(" "));
    match (&measured[..], &failed[..], &absent[..]) {
        (measured, [], []) => format!("{} measured and did not decide", subject(measured)),
        (_, failed @ [_, ..], []) => format!("{} tried and could not be measured", subject(failed)),
        ([], _, _) => format!("{command} may decide"),
        (measured, ..) => format!("{} measured alone; {command} may decide", subject(measured)),
    }
}

/// `one was` or `one and two were`.
fn subject(names: &[&str]) -> String {
    let verb = if names.len() == 1 { "was" } else { "were" };
    format!("{} {verb}", and(names))
}

#[cfg(test)]
mod tests {
    use super::{undecided, without_settings};
    use crate::Analysis;
    use crate::reference;
    use record::{ExperimentRecord, Run};

    const TITLE: &str = "pages for large blocks of memory";
    const ALL: [&str; 3] = ["memory.latency", "memory.tlb", "memory.bandwidth"];

    /// The reason for the pages of large blocks, after a run with `measured` experiments, and others that
    /// gave no value.
    fn reason(measured: &[&str], failed: &[&str]) -> String {
        let mut published = reference::ALL.first().expect("there are some").run();
        published.header.version = "0.1.0".into();
        let first = published.experiments.first().expect("it has some").clone();
        let record = |(id, is_measured): (&str, bool)| {
            let mut record: ExperimentRecord = first.clone();
            record.definition.id = id.into();
            if !is_measured {
                record.points.clear();
            }
            record
        };
        let measured = measured.iter().map(|id| (*id, true));
        let failed = failed.iter().map(|id| (*id, false));
        let run = Run {
            experiments: measured.chain(failed).map(record).collect(),
            ..published
        };
        let mut undecided = undecided(&Analysis::new(&run)).into_iter();
        let found = undecided.find(|(title, _)| *title == TITLE);
        found.expect("nothing decides it").1
    }

    #[test]
    fn printed_values_have_a_reason_and_no_command_that_would_measure_another_machine() {
        let run = reference::ALL.first().expect("there are some").run();
        let analysis = Analysis::new(&run);
        assert!(undecided(&analysis).is_empty());
        let said = without_settings(&analysis).expect("there are none");
        assert!(said.contains("printed about another machine"), "{said}");
    }

    #[test]
    fn a_run_is_asked_for_only_where_it_may_decide_more() {
        let command = "`oscope run memory.latency memory.tlb memory.bandwidth` may decide";
        assert_eq!(reason(&[], &[]), command);
        assert_eq!(
            reason(&["memory.tlb"], &[]),
            format!("memory.tlb was measured alone; {command}")
        );
        assert_eq!(
            reason(&ALL, &[]),
            "memory.latency, memory.tlb and memory.bandwidth were measured and did not decide"
        );
        assert_eq!(
            reason(&ALL[..2], &ALL[2..]),
            "memory.bandwidth was tried and could not be measured"
        );
        assert_eq!(reason(&[], &ALL[2..]), command);
    }
}
