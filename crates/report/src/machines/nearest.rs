//! The reference machine that is nearest to the machine of a run.

use super::values::{Compared, compared, others};
use super::{Kind, ReferenceMachine};
use crate::Analysis;
use instrument::experiment::Better;
use instrument::quantity::Quantity;

/// The values of a machine next to those of the nearest reference machine.
pub(crate) struct Nearest<'a> {
    pub machine: &'a ReferenceMachine,
    pub values: Vec<InBoth>,
}

/// A value that both machines have.
pub(crate) struct InBoth {
    /// The subject of a sentence on it: `a system call`.
    pub what: String,
    pub here: Quantity,
    pub there: Quantity,
    /// How many times as fast it is here.
    pub speed: Option<Quantity>,
}

impl<'a> Nearest<'a> {
    /// Among other machines with the same system and a processor of the same family, one under the same hypervisor
    /// is nearest, then one with the same model of processor, then the newest. `None` if there is none.
    pub(crate) fn to(analysis: &'a Analysis<'_>) -> Option<Self> {
        Self::among(others(analysis), &Kind::of(analysis.run)?, || {
            compared(analysis)
        })
    }

    fn among(
        others: impl Iterator<Item = &'a ReferenceMachine>,
        kind: &Kind,
        own: impl FnOnce() -> Vec<Compared>,
    ) -> Option<Self> {
        fn family(kind: &Kind) -> (&str, &str, u32) {
            (&kind.system, &kind.vendor, kind.family)
        }
        let machine = others
            .filter(|it| family(&it.kind) == family(kind))
            .max_by_key(|it| {
                let is_alike = it.kind.hypervisor == kind.hypervisor;
                (
                    is_alike,
                    it.kind.model_number == kind.model_number,
                    it.started,
                )
            })?;
        let both = |own: Compared| {
            let mut known = machine.values.iter();
            let there = known.find(|it| it.key() == own.value.key())?.quantity();
            let here = own.value.quantity();
            Some(InBoth {
                what: own.what,
                here,
                there,
                speed: match own.better {
                    Better::Lower => there.over(here),
                    Better::Higher => here.over(there),
                    Better::Neither => None,
                },
            })
        };
        let values: Vec<InBoth> = own().into_iter().filter_map(both).collect();
        (!values.is_empty()).then_some(Self { machine, values })
    }
}

#[cfg(test)]
mod tests {
    use super::Nearest;
    use crate::machines::made_up::{machine, own, time};
    use crate::machines::{Kind, ReferenceMachine, shipped};

    fn machine_of(mark: &str, change: impl FnOnce(&mut Kind)) -> ReferenceMachine {
        let mut machine = machine(mark, vec![time("getpid", 100.0)]);
        change(&mut machine.kind);
        machine
    }

    #[test]
    fn the_hypervisor_counts_before_the_model_and_the_family_must_agree() {
        let bare = || machine_of("bare", |kind| kind.hypervisor = None);
        let older = || machine_of("older model", |kind| kind.model_number = 1);
        let other = || machine_of("other family", |kind| kind.family = 6);
        let system = || machine_of("other system", |kind| kind.system = "Darwin".into());
        let same = || machine_of("same", |_| ());
        for (machines, nearest) in [
            (vec![other(), system()], None),
            (vec![other(), bare()], Some("bare")),
            (vec![older(), bare()], Some("older model")),
            (vec![older(), same(), bare()], Some("same")),
        ] {
            let own = || vec![own(time("getpid", 50.0)), own(time("fork", 1.0))];
            let found = Nearest::among(machines.iter(), &shipped()[0].kind, own);
            assert_eq!(found.as_ref().map(|it| it.machine.mark.as_str()), nearest);
            for value in found.iter().flat_map(|it| &it.values) {
                assert_eq!(value.what, "getpid");
                assert_eq!(value.speed.map(|it| it.value), Some(2.0));
            }
        }
    }
}
