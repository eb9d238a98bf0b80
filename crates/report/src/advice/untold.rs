//! Settings that a run does not tell, each with the reason.

use super::words::{FIRST, foremost};
use crate::Analysis;
use instrument::advice::Rule;

/// A setting that a run does not tell.
#[derive(Debug)]
pub struct Untold {
    /// Title of the setting.
    pub title: &'static str,
    /// The reason, or the command that may tell it, in backquotes.
    pub reason: String,
}

/// A sentence, with commands in backquotes, in place of settings that gain; `None` if there are some.
pub fn without_settings(analysis: &Analysis<'_>) -> Option<&'static str> {
    let advice = &analysis.advice;
    if analysis.run.header.is_reported() {
        Some(
            "No settings are named: these values were printed about another machine, without their spread. \
             `oscope run` measures yours, and `oscope advise` names its settings.",
        )
    } else if advice.settings.is_empty() {
        Some("This run tells nothing that programs could use.")
    } else if foremost(advice, FIRST).is_empty() {
        Some("No setting surely gains over what programs use already.")
    } else {
        None
    }
}

/// The settings that the run of `analysis` does not tell. None for printed values: no run here tells
/// anything of the machine of a report.
pub fn untold(analysis: &Analysis<'_>) -> Vec<Untold> {
    if analysis.run.header.is_reported() {
        return Vec::new();
    }
    let told = &analysis.advice.settings;
    let rules = experiments::advice().filter(|rule| !told.contains_key(rule.setting));
    let untold = rules.map(|rule| Untold {
        title: rule.title,
        reason: reason(rule, analysis),
    });
    untold.collect()
}

/// The experiments of a rule, by what a run has of them.
#[derive(Default)]
struct Had {
    measured: Vec<&'static str>,
    /// Tried without any value.
    failed: Vec<&'static str>,
    absent: Vec<&'static str>,
}

impl Had {
    fn new(rule: &Rule, analysis: &Analysis<'_>) -> Self {
        let mut had = Self::default();
        for &id in rule.experiments {
            let mut all = analysis.experiments.iter();
            match all.find(|experiment| experiment.definition.id == id) {
                None => had.absent.push(id),
                Some(experiment) if experiment.points.is_empty() => had.failed.push(id),
                Some(_) => had.measured.push(id),
            }
        }
        had
    }
}

fn reason(rule: &Rule, analysis: &Analysis<'_>) -> String {
    let had = Had::new(rule, analysis);
    let command = format!("`oscope run {}`", rule.experiments.join(" "));
    match (&had.measured[..], &had.failed[..], &had.absent[..]) {
        (measured, [], []) => format!("{} measured and could not tell", subject(measured)),
        (_, failed @ [_, ..], []) => format!("{} tried and could not be measured", subject(failed)),
        ([], _, _) => format!("{command} may tell"),
        (measured, ..) => format!("{} measured alone; {command} may tell", subject(measured)),
    }
}

/// `one was` or `one and two were`.
fn subject(names: &[&str]) -> String {
    match names {
        [name] => format!("{name} was"),
        [first @ .., last] => format!("{} and {last} were", first.join(", ")),
        [] => "nothing was".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::{untold, without_settings};
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
        let untold = untold(&Analysis::new(&run));
        let found = untold.into_iter().find(|untold| untold.title == TITLE);
        found.expect("nothing decides it").reason
    }

    #[test]
    fn printed_values_have_a_reason_and_no_command_that_would_measure_another_machine() {
        let run = reference::ALL.first().expect("there are some").run();
        let analysis = Analysis::new(&run);
        assert!(untold(&analysis).is_empty());
        let said = without_settings(&analysis).expect("there are none");
        assert!(said.contains("printed about another machine"), "{said}");
    }

    #[test]
    fn a_run_is_asked_for_only_where_it_may_tell_more() {
        let command = "`oscope run memory.latency memory.tlb memory.bandwidth` may tell";
        assert_eq!(reason(&[], &[]), command);
        assert_eq!(
            reason(&["memory.tlb"], &[]),
            format!("memory.tlb was measured alone; {command}")
        );
        assert_eq!(
            reason(&ALL, &[]),
            "memory.latency, memory.tlb and memory.bandwidth were measured and could not tell"
        );
        assert_eq!(
            reason(&ALL[..2], &ALL[2..]),
            "memory.bandwidth was tried and could not be measured"
        );
        assert_eq!(reason(&[], &ALL[2..]), command);
    }
}
