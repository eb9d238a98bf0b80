//! A reference from a run.

use super::values::compared;
use super::{FORMAT, Kind, ReferenceMachine};
use crate::{Analysis, show};

/// The reason why a run cannot be a reference, for readers.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Unfit(String);

impl ReferenceMachine {
    /// The reference that a redacted run gives; `fingerprint` is that of its machine before it was redacted.
    ///
    /// # Errors
    /// The reason why it gives none.
    pub fn of(analysis: &Analysis<'_>, fingerprint: &str) -> Result<Self, Unfit> {
        let run = analysis.run;
        let header = &run.header;
        let unfit = |reason: &str| Unfit(reason.to_owned());
        if header.is_reported() {
            return Err(unfit(
                "these values were printed, not measured by oscope: name a run or an exported file",
            ));
        }
        if let Some(caution) = show::stand_in(run) {
            return Err(Unfit(caution));
        }
        let unknown_kind = "the run does not show vendor, family and model of its processor, by which machines are \
                            compared";
        let kind = Kind::of(run).ok_or_else(|| unfit(unknown_kind))?;
        let surroundings = &analysis.surroundings;
        if surroundings.are_disturbed() {
            let disturbed = surroundings.first().unwrap_or_default();
            return Err(Unfit(format!(
                "{disturbed} Quiet the machine as `oscope doctor` says, and measure again."
            )));
        }
        let (disturbed, values): (Vec<_>, Vec<_>) =
            (compared(analysis).into_iter()).partition(|compared| compared.is_disturbed);
        if values.is_empty() {
            return Err(unfit(
                "the run has no undisturbed value by which machines are compared: measure everything with `oscope run`",
            ));
        }
        let (first, further) = (surroundings.first(), surroundings.text());
        let conditions = [first, further, surroundings.clock_text()];
        Ok(Self {
            format: FORMAT,
            mark: record::machine_mark(fingerprint),
            run: header.id.clone(),
            kind,
            machine: show::machine(run),
            started: header.started,
            profile: header.profile,
            version: header.version.clone(),
            conditions: conditions.into_iter().flatten().collect(),
            values: values.into_iter().map(|it| it.value).collect(),
            disturbed: disturbed.into_iter().map(|it| it.what).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Kind, ReferenceMachine};
    use crate::Analysis;
    use crate::reference;

    #[test]
    fn printed_values_and_unknown_or_imitated_systems_have_no_kind() {
        let mut run = reference::ALL[0].run();
        let refused = |run: &_, expected: &str| {
            let refused = ReferenceMachine::of(&Analysis::new(run), "print").unwrap_err();
            let reason = refused.to_string();
            assert!(reason.contains(expected), "{reason}");
        };
        refused(&run, "were printed");
        run.header.version = "0.1.0".into();
        refused(&run, "does not show vendor");
        run.machine.cpu.vendor = Some("AuthenticAMD".into());
        (run.machine.cpu.family, run.machine.cpu.model_number) = (Some(25), Some(17));
        run.environment.kernel_name = Some("Linux".into());
        assert!(Kind::of(&run).is_some());
        refused(&run, "has no undisturbed value");
        run.environment.is_traced = Some(true);
        refused(&run, "another program traced oscope");
        run.environment.stand_in = Some("Wine 8.0".into());
        assert_eq!(Kind::of(&run), None);
        refused(&run, "Measured under Wine 8.0");
    }
}
