//! The state of a core: its full speed, as far as the run has seen it, and its clock and sharing during
//! timings, from the readings of the reference loops around them.

use crate::sample::{Around, Batch, FullSpeed, Reading, Sample};
use crate::statistics::prediction::Core;
use crate::statistics::summary::median;
use platform::machine::Topology;
use std::collections::BTreeMap;

/// Readings before and after a timing that differ by more than this share do not show its conditions.
const MOST_CHANGE: f64 = 0.02;

/// The full speed of the cores of `core_type` as `batches` of a run know it together.
pub(crate) fn full_speed<'b>(
    batches: impl Iterator<Item = &'b Batch>,
    core_type: Option<usize>,
) -> Option<FullSpeed> {
    let speeds = batches.filter_map(|batch| batch.full_speed);
    let same = speeds.filter(|speed| speed.core_type == core_type);
    same.reduce(FullSpeed::and)
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
            .map(|cost| cost.references)
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
fn chain_ns(around: &Around) -> f64 {
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

/// The full speed is taken from the fastest visits of the run: one reading alone may be an error of
/// the clock.
const FASTEST: f64 = 0.05;

/// If earlier runs were this many times as fast, the machine has changed since.
const MOST_FASTER: f64 = 2.0;

/// Watches the reference loops over the whole run, for each type of core.
#[derive(Debug, Default)]
pub(crate) struct Speeds {
    topology: Topology,
    /// In earlier runs of this machine.
    known: Vec<FullSpeed>,
    by_core_type: BTreeMap<Option<usize>, Seen>,
}

/// The readings of the visits to cores of one type.
#[derive(Debug, Default)]
struct Seen {
    /// The fastest chain of each visit.
    chains_ns: Fastest,
    /// The usual ratio of width to chain in each visit.
    ratios: Fastest,
}

/// The values of all visits, in ascending order.
#[derive(Debug, Default)]
struct Fastest(Vec<f64>);

impl Fastest {
    fn add(&mut self, value: Option<f64>) {
        if let Some(value) = value.filter(|value| *value > 0.0) {
            let at = self.0.partition_point(|other| *other < value);
            self.0.insert(at, value);
        }
    }

    fn sustained(&self) -> Option<f64> {
        self.0.get(self.left_out()).copied()
    }

    /// The same at the other end.
    fn slowest(&self) -> Option<f64> {
        self.0.iter().rev().nth(self.left_out()).copied()
    }

    fn left_out(&self) -> usize {
        (self.0.len() as f64 * FASTEST) as usize
    }
}

impl Speeds {
    /// Starts with what earlier runs of the machine have shown.
    pub fn new(topology: Topology, known: Vec<FullSpeed>) -> Self {
        Self {
            topology,
            known,
            ..Self::default()
        }
    }

    /// Adds the readings of `batch` and notes in it the full speed known by now. A batch on cores of
    /// several types has none.
    pub fn note(&mut self, batch: &mut Batch) {
        let samples = batch.samples.iter();
        let costs = samples.flat_map(|sample| sample.reading.costs());
        let references = costs.filter_map(|cost| cost.references);
        let steady: Vec<(f64, Around)> = references
            .filter(|(width_ns, around)| is_steady(*width_ns, around))
            .collect();
        let types = steady.iter().filter_map(|(_, around)| around.cpu);
        let mut types: Vec<Option<usize>> = types.map(|cpu| self.topology.core_type(cpu)).collect();
        types.sort_unstable();
        types.dedup();
        let [core_type] = types[..] else {
            return;
        };
        let seen = self.by_core_type.entry(core_type).or_default();
        let chains_ns = steady.iter().map(|(_, around)| chain_ns(around));
        seen.chains_ns.add(chains_ns.reduce(f64::min));
        let ratios = steady
            .iter()
            .map(|(width_ns, around)| width_ns / chain_ns(around));
        seen.ratios.add(median(&ratios.collect::<Vec<_>>()));
        let known = self.known.iter().find(|known| known.core_type == core_type);
        batch.full_speed = seen.full_speed(core_type, known);
    }
}

impl Seen {
    fn full_speed(&self, core_type: Option<usize>, known: Option<&FullSpeed>) -> Option<FullSpeed> {
        let best = |seen: f64, known: Option<f64>| {
            let known = known.filter(|known| *known > seen / MOST_FASTER);
            known.map_or(seen, |known| known.min(seen))
        };
        let chain_ns = self.chains_ns.sustained()?;
        Some(FullSpeed {
            core_type,
            chain_ns,
            best_chain_ns: best(chain_ns, known.map(|known| known.best_chain_ns)),
            alone_ratio: best(
                self.ratios.sustained()?,
                known.map(|known| known.alone_ratio),
            ),
            longest_chain_ns: self.chains_ns.slowest(),
            earlier_chain_ns: known.map(|known| {
                let (least, greatest) = known
                    .earlier_chain_ns
                    .unwrap_or((known.chain_ns, known.chain_ns));
                (least.min(known.chain_ns), greatest.max(known.chain_ns))
            }),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Core, Speeds, core_states, full_speed as together};
    use crate::made_up::{self, cost, quiet};
    use crate::sample::{Around, Batch, FullSpeed, Reading, Sample};
    use platform::machine::Topology;

    const QUIET: Around = quiet(2400);

    /// Conditions with these times of the chain.
    fn chain(before_ns: u64, after_ns: u64) -> Around {
        Around {
            chain_ns: (before_ns, after_ns),
            ..QUIET
        }
    }

    fn full_speed() -> FullSpeed {
        FullSpeed {
            best_chain_ns: 2300.0,
            ..made_up::full_speed(2400.0, 0.75)
        }
    }

    /// Legs with these times of the width loop.
    fn legs(times_ns: &[(u64, Around)]) -> Sample {
        cost(vec![1000; times_ns.len()], times_ns)
    }

    fn batch(sample: Sample) -> Batch {
        Batch {
            samples: vec![sample],
            ..Batch::default()
        }
    }

    /// A batch on `cpu` whose chains and widths take these times.
    fn on(cpu: usize, times_ns: &[(u64, u64)]) -> Batch {
        let at = |&(chain_ns, width_ns): &(u64, u64)| {
            let cpu = Some(cpu);
            (
                width_ns,
                Around {
                    cpu,
                    ..quiet(chain_ns)
                },
            )
        };
        batch(legs(&times_ns.iter().map(at).collect::<Vec<_>>()))
    }

    fn noted(speeds: &mut Speeds, mut batch: Batch) -> Option<FullSpeed> {
        speeds.note(&mut batch);
        batch.full_speed
    }

    #[test]
    fn clock_and_sharing_are_distinguished() {
        let low = chain(2880, 2880);
        // At full speed, at a low clock, on a shared core, and at a low clock on a shared core.
        let sample = legs(&[(1800, QUIET), (2160, low), (2700, QUIET), (3240, low)]);
        let states = core_states(&[&sample], Some(full_speed()));
        let expected = [(1.0, 1.0), (1.2, 1.0), (1.0, 1.5), (1.2, 1.5)];
        assert_eq!(states.len(), expected.len());
        let is_close = |found: Option<f64>, expected: f64| (found.unwrap() - expected).abs() < 1e-9;
        for (state, (clock, sharing)) in states.iter().zip(expected) {
            assert!(is_close(state.clock, clock), "{states:?}");
            assert!(is_close(state.sharing, sharing), "{states:?}");
        }
    }

    #[test]
    fn conditions_that_changed_around_a_timing_are_unknown() {
        let changed = |width_change_ns| Around {
            width_change_ns,
            ..QUIET
        };
        let switched = Around {
            switches: 1,
            ..QUIET
        };
        let moved = Around { cpu: None, ..QUIET };
        let unknown = [
            chain(2400, 2449),
            chain(2449, 2400),
            changed(37),
            changed(-37),
            switched,
            moved,
        ];
        let known = [[chain(2400, 2447), changed(-36)].as_slice(), &[QUIET; 5]].concat();
        let all: Vec<(u64, Around)> = unknown.iter().chain(&known).map(|it| (1800, *it)).collect();
        let states = core_states(&[&legs(&all)], Some(full_speed()));
        let (first, last) = states.split_at(unknown.len());
        assert!(first.iter().all(|it| *it == Core::default()), "{first:?}");
        let is_known = |core: &Core| core.clock.is_some() && core.sharing.is_some();
        assert!(last.iter().all(is_known), "{last:?}");
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
        let (known, unknown) = states.split_at(4);
        assert!(known.iter().all(|it| it.clock == Some(1.0)), "{known:?}");
        assert_eq!(unknown, [Core::default()]);
    }

    #[test]
    fn no_references_or_no_full_speed_show_no_conditions() {
        let sample = legs(&[(1800, QUIET), (1800, QUIET)]);
        assert_eq!(core_states(&[&sample], None), [Core::default(); 2]);
        let sample = cost(vec![1000; 2], &[]);
        let value = Sample::new("cost", Reading::Value(1.0));
        let states = core_states(&[&sample, &value], Some(full_speed()));
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

    #[test]
    fn the_fastest_visits_show_the_full_speed() {
        let mut speeds = Speeds::default();
        let mut noted = |times_ns: &[(u64, u64)]| {
            let full_speed = noted(&mut speeds, on(0, times_ns))?;
            assert!((full_speed.best_chain_ns - full_speed.chain_ns).abs() < 1e-9);
            Some((full_speed.chain_ns, full_speed.alone_ratio))
        };
        assert_eq!(noted(&[]), None);
        assert_eq!(noted(&[(1300, 1300), (1200, 1200)]), Some((1200.0, 1.0)));
        assert_eq!(noted(&[(1000, 1500), (1200, 1800)]), Some((1000.0, 1.0)));
        assert_eq!(noted(&[(1100, 880), (1500, 1200)]), Some((1000.0, 0.8)));
    }

    #[test]
    fn earlier_runs_may_have_seen_the_processor_faster_and_alone() {
        let known = |best_chain_ns, alone_ratio| {
            let known = made_up::full_speed(best_chain_ns, alone_ratio);
            let mut speeds = Speeds::new(Topology::default(), vec![known]);
            let seen = noted(&mut speeds, on(0, &[(1200, 1200)])).unwrap();
            assert!((seen.chain_ns - 1200.0).abs() < 1e-9);
            (seen.best_chain_ns, seen.alone_ratio)
        };
        assert_eq!(known(900.0, 0.7), (900.0, 0.7));
        assert_eq!(known(1300.0, 1.3), (1200.0, 1.0));
        assert_eq!(known(100.0, 0.1), (1200.0, 1.0));
    }

    #[test]
    fn the_clocks_of_all_earlier_runs_are_known_and_the_lowest_of_this_one() {
        let after = |earlier: Option<FullSpeed>| {
            Speeds::new(Topology::default(), earlier.into_iter().collect())
        };
        let first = noted(&mut after(None), on(0, &[(1200, 1200)])).unwrap();
        assert_eq!(first.earlier_chain_ns, None);
        let slow = noted(&mut after(Some(first)), on(0, &[(1400, 1400)])).unwrap();
        assert_eq!(slow.earlier_chain_ns, Some((1200.0, 1200.0)));
        let mut third = after(Some(slow));
        noted(&mut third, on(0, &[(1300, 1300)]));
        let both = noted(&mut third, on(0, &[(1500, 1500)])).unwrap();
        assert_eq!(both.earlier_chain_ns, Some((1200.0, 1400.0)));
        let clocks = (both.chain_ns, both.longest_chain_ns);
        assert_eq!(clocks, (1300.0, Some(1500.0)));
    }

    #[test]
    fn each_type_of_core_has_its_own_full_speed() {
        let topology = Topology {
            core_types: vec![vec![0, 1], vec![2]],
            ..Topology::default()
        };
        let known = FullSpeed {
            core_type: Some(1),
            ..made_up::full_speed(1500.0, 1.5)
        };
        let mut speeds = Speeds::new(topology, vec![known]);
        let mut seen = |batch| {
            let seen = noted(&mut speeds, batch)?;
            let ratio = seen.alone_ratio;
            Some((seen.core_type, seen.chain_ns, seen.best_chain_ns, ratio))
        };
        assert_eq!(
            seen(on(1, &[(1000, 800)])),
            Some((Some(0), 1000.0, 1000.0, 0.8))
        );
        assert_eq!(
            seen(on(2, &[(1600, 2560)])),
            Some((Some(1), 1600.0, 1500.0, 1.5))
        );
        let mut on_both = on(0, &[(1000, 800)]);
        on_both.samples.extend(on(2, &[(1600, 2560)]).samples);
        assert_eq!(seen(on_both), None);
    }

    #[test]
    fn readings_that_changed_around_a_timing_do_not_count() {
        let changed = batch(legs(&[(800, chain(900, 1100))]));
        assert_eq!(noted(&mut Speeds::default(), changed), None);
    }
}
