//! The state of a core during timings, from the readings of the reference loops around them.

use crate::sample::{Around, Batch, FullSpeed, Reading, Sample};
use crate::statistics::prediction::Core;
use crate::statistics::summary::median;

/// Readings before and after a timing that differ by more than this share do not show its conditions.
const MOST_CHANGE: f64 = 0.02;

/// The full speed of the cores of `core_type` as `batches` of a run know it together.
pub(crate) fn full_speed<'b>(
    batches: impl Iterator<Item = &'b Batch>,
    core_type: Option<usize>,
) -> Option<FullSpeed> {
    let speeds = batches.filter_map(|batch| batch.full_speed);
    let same = speeds.filter(|speed| speed.core_type == core_type);
    same.reduce(|one, other| FullSpeed {
        core_type,
        chain_ns: one.chain_ns.min(other.chain_ns),
        best_chain_ns: one.best_chain_ns.min(other.best_chain_ns),
        alone_ratio: one.alone_ratio.min(other.alone_ratio),
        longest_chain_ns: [one, other]
            .iter()
            .filter_map(|speed| speed.longest_chain_ns)
            .reduce(f64::max),
        earlier_chain_ns: one.earlier_chain_ns.or(other.earlier_chain_ns),
    })
}

/// The state of the core during each timing of `samples`, which one process took of one metric, in the
/// order of [`Reading::costs`]; a [`Reading::Value`] is not timed and has one unknown state.
///
/// Work that by itself switches between threads has involuntary context switches in most of its
/// timings. There, a switch shows no other program, and the two readings alone decide.
pub fn core_states(samples: &[&Sample], full_speed: Option<FullSpeed>) -> Vec<Core> {
    let costs = samples.iter().flat_map(|sample| match sample.reading {
        Reading::Value(_) => vec![None],
        ref timed => (timed.costs().into_iter())
            .map(|cost| cost.reference_ns.zip(cost.around))
            .collect(),
    });
    let costs: Vec<Option<(f64, Around)>> = costs.collect();
    let switches = costs.iter().flatten().map(|(_, it)| it.switches as f64);
    let usual_switches = median(&switches.collect::<Vec<_>>());
    let switches_itself = costs.len() > 1 && usual_switches > Some(0.0);
    let state = |read: Option<(f64, Around)>| {
        let (width_ns, around) = read?;
        let is_known = is_steady(width_ns, &around) && (switches_itself || around.switches == 0);
        Some(core(width_ns, &around, full_speed.filter(|_| is_known)?))
    };
    costs
        .into_iter()
        .map(|read| state(read).unwrap_or_default())
        .collect()
}

/// The state of the core around a timing, from readings that are known to agree.
pub(crate) fn core(width_ns: f64, around: &Around, full_speed: FullSpeed) -> Core {
    let chain_ns = chain_ns(around);
    Core {
        clock: Some(chain_ns / full_speed.chain_ns),
        sharing: Some(width_ns / chain_ns / full_speed.alone_ratio),
    }
}

/// Mean wall time of the chain around a timing, in ns.
pub(crate) fn chain_ns(around: &Around) -> f64 {
    let (before_ns, after_ns) = around.chain_ns;
    f64::midpoint(before_ns as f64, after_ns as f64)
}

/// True if both loops took as long before as after, on the same core.
pub(crate) fn is_steady(width_ns: f64, around: &Around) -> bool {
    let (before_ns, after_ns) = around.chain_ns;
    let is_small = |change_ns: f64, of_ns: f64| of_ns > 0.0 && change_ns <= MOST_CHANGE * of_ns;
    around.cpu.is_some()
        && is_small(before_ns.abs_diff(after_ns) as f64, chain_ns(around))
        && is_small(around.width_change_ns.unsigned_abs() as f64, width_ns)
}

#[cfg(test)]
mod tests {
    use super::{Core, core_states, full_speed as together};
    use crate::sample::{Around, Batch, FullSpeed, Legs, Reading, Sample};

    const QUIET: Around = Around {
        chain_ns: (2400, 2400),
        width_change_ns: 0,
        switches: 0,
        cpu: Some(0),
    };

    fn full_speed() -> FullSpeed {
        FullSpeed {
            core_type: None,
            chain_ns: 2400.0,
            best_chain_ns: 2300.0,
            alone_ratio: 0.75,
            ..FullSpeed::default()
        }
    }

    fn legs(around: &[(u64, Around)]) -> Sample {
        let legs = Legs {
            iterations: 1,
            work: 1.0,
            wall_ns: vec![1000; around.len()],
            reference_ns: around.iter().map(|(width_ns, _)| *width_ns).collect(),
            around: around.iter().map(|(_, around)| *around).collect(),
            ..Legs::default()
        };
        Sample::new("cost", Reading::Legs(legs))
    }

    #[test]
    fn clock_and_sharing_are_told_apart() {
        let low = Around {
            chain_ns: (2880, 2880),
            ..QUIET
        };
        // At full speed, at a low clock, on a shared core, and at a low clock on a shared core.
        let sample = legs(&[(1800, QUIET), (2160, low), (2700, QUIET), (3240, low)]);
        let states = core_states(&[&sample], Some(full_speed()));
        let expected = [(1.0, 1.0), (1.2, 1.0), (1.0, 1.5), (1.2, 1.5)];
        assert_eq!(states.len(), expected.len());
        for (state, (clock, sharing)) in states.iter().zip(expected) {
            assert!((state.clock.unwrap() - clock).abs() < 1e-9, "{states:?}");
            assert!(
                (state.sharing.unwrap() - sharing).abs() < 1e-9,
                "{states:?}"
            );
        }
    }

    #[test]
    fn conditions_that_changed_around_a_timing_are_unknown() {
        let unknown = [
            Around {
                chain_ns: (2400, 2449),
                ..QUIET
            },
            Around {
                chain_ns: (2449, 2400),
                ..QUIET
            },
            Around {
                width_change_ns: 37,
                ..QUIET
            },
            Around {
                width_change_ns: -37,
                ..QUIET
            },
            Around {
                switches: 1,
                ..QUIET
            },
            Around { cpu: None, ..QUIET },
        ];
        let known = [
            QUIET,
            Around {
                chain_ns: (2400, 2447),
                ..QUIET
            },
            Around {
                width_change_ns: -36,
                ..QUIET
            },
            QUIET,
            QUIET,
            QUIET,
            QUIET,
        ];
        let all: Vec<(u64, Around)> = unknown.iter().chain(&known).map(|it| (1800, *it)).collect();
        let sample = legs(&all);
        let states = core_states(&[&sample], Some(full_speed()));
        let (first, last) = states.split_at(unknown.len());
        assert!(first.iter().all(|it| *it == Core::default()), "{first:?}");
        assert!(
            last.iter()
                .all(|it| it.clock.is_some() && it.sharing.is_some())
        );
    }

    #[test]
    fn work_that_switches_by_itself_has_known_conditions() {
        let switched = Around {
            switches: 3,
            ..QUIET
        };
        let mut around = [(1800, switched); 5];
        around[4].1.chain_ns = (2400, 2700);
        let states = core_states(&[&legs(&around)], Some(full_speed()));
        assert!(
            states[..4].iter().all(|it| it.clock == Some(1.0)),
            "{states:?}"
        );
        assert_eq!(states[4], Core::default());
    }

    #[test]
    fn one_reference_or_no_full_speed_shows_no_conditions() {
        let sample = legs(&[(1800, QUIET)]);
        assert_eq!(core_states(&[&sample], None), [Core::default()]);
        let legs = Legs {
            iterations: 1,
            work: 1.0,
            wall_ns: vec![1000, 1000],
            reference_ns: vec![1800, 1800],
            ..Legs::default()
        };
        let one_reference = Sample::new("cost", Reading::Legs(legs));
        let value = Sample::new("cost", Reading::Value(1.0));
        let states = core_states(&[&one_reference, &value], Some(full_speed()));
        assert_eq!(states, [Core::default(); 3]);
    }

    #[test]
    fn the_full_speed_of_a_core_type_is_the_best_of_its_batches() {
        let batch = |core_type, chain_ns, alone_ratio| Batch {
            full_speed: Some(FullSpeed {
                core_type,
                chain_ns,
                alone_ratio,
                ..full_speed()
            }),
            ..Batch::default()
        };
        let batches = [
            batch(Some(0), 2500.0, 0.75),
            batch(Some(1), 1000.0, 0.5),
            batch(Some(0), 2400.0, 0.8),
            Batch::default(),
        ];
        let known = together(batches.iter(), Some(0)).unwrap();
        assert_eq!((known.chain_ns, known.alone_ratio), (2400.0, 0.75));
        assert_eq!(together(batches.iter(), None), None);
    }
}
