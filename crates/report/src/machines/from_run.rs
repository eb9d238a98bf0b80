//! A reference from a run.

use super::values::compared;
use super::{FORMAT, Kind, ReferenceMachine};
use crate::{Analysis, show};

/// The reason why a run cannot be a reference.
#[derive(Debug, thiserror::Error)]
pub enum Unfit {
    /// A publication printed its values.
    #[error("these values were printed, not measured by oscope: name a run or an exported file")]
    Reported,
    /// The system was another than it seemed.
    #[error("{0}")]
    StandIn(String),
    /// The record does not show the kind of the machine.
    #[error(
        "the run does not show vendor, family and model of its processor, by which machines are compared"
    )]
    UnknownKind,
    /// The conditions may have moved all values.
    #[error("{0} Quiet the machine as `oscope doctor` says, and measure again.")]
    Disturbed(String),
    /// It has none of the values.
    #[error(
        "the run has no undisturbed value by which machines are compared: measure everything with `oscope run`"
    )]
    NoValues,
}

impl ReferenceMachine {
    /// The reference that a redacted run gives; `fingerprint` is that of its machine before it was redacted.
    ///
    /// # Errors
    /// The reason why it gives none.
    pub fn of(analysis: &Analysis<'_>, fingerprint: &str) -> Result<Self, Unfit> {
        let run = analysis.run;
        let header = &run.header;
        if header.is_reported() {
            return Err(Unfit::Reported);
        }
        if let Some(caution) = show::stand_in(run) {
            return Err(Unfit::StandIn(caution));
        }
        let kind = Kind::of(run).ok_or(Unfit::UnknownKind)?;
        let surroundings = &analysis.surroundings;
        if surroundings.are_disturbed() {
            return Err(Unfit::Disturbed(surroundings.first().unwrap_or_default()));
        }
        let (disturbed, values): (Vec<_>, Vec<_>) =
            (compared(analysis).into_iter()).partition(|compared| compared.is_disturbed);
        if values.is_empty() {
            return Err(Unfit::NoValues);
        }
        Ok(Self {
            format: FORMAT,
            mark: record::machine_mark(fingerprint),
            run: header.id.clone(),
            kind,
            machine: show::machine(run),
            started: header.started,
            profile: header.profile,
            version: header.version.clone(),
            conditions: [
                surroundings.first(),
                surroundings.text(),
                surroundings.clock_text(),
            ]
            .into_iter()
            .flatten()
            .collect(),
            values: values.into_iter().map(|it| it.value).collect(),
            disturbed: disturbed.into_iter().map(|it| it.what).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Kind, ReferenceMachine, Unfit};
    use crate::Analysis;
    use crate::reference;

    #[test]
    fn printed_values_and_unknown_or_imitated_systems_have_no_kind() {
        let mut run = reference::ALL[0].run();
        let of = |run: &_| ReferenceMachine::of(&Analysis::new(run), "print").unwrap_err();
        assert!(matches!(of(&run), Unfit::Reported));
        run.header.version = "0.1.0".into();
        assert!(matches!(of(&run), Unfit::UnknownKind));
        run.machine.cpu.vendor = Some("AuthenticAMD".into());
        (run.machine.cpu.family, run.machine.cpu.model_number) = (Some(25), Some(17));
        run.environment.kernel_name = Some("Linux".into());
        assert!(Kind::of(&run).is_some());
        assert!(matches!(of(&run), Unfit::NoValues));
        run.environment.is_traced = Some(true);
        let refused = of(&run).to_string();
        assert!(
            refused.contains("another program traced oscope"),
            "{refused}"
        );
        run.environment.stand_in = Some("Wine 8.0".into());
        assert_eq!(Kind::of(&run), None);
        assert!(matches!(of(&run), Unfit::StandIn(_)));
    }
}
