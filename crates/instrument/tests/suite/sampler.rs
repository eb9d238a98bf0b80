//! The sampler with a mock clock.

use crate::common::MockClock;
use oscope_instrument::clock::{Calibration, Clock, References};
use oscope_instrument::experiment::MeasureError;
use oscope_instrument::given::Givens;
use oscope_instrument::sample::{Batch, Legs, Reading};
use oscope_instrument::sampler::{Sampler, Task};
use oscope_instrument::setting::{Precision, Profile};
use platform::usage::Usage;
use std::cell::{Cell, RefCell};
use std::path::PathBuf;

type Result<T> = std::result::Result<T, MeasureError>;

fn task() -> Task {
    Task {
        precision: Precision {
            legs: 8,
            leg_ns: 1_000_000,
            batch_ns: 30_000_000,
            ..Profile::Quick.precision()
        },
        calibration: Calibration {
            resolution_ns: 1.0,
            cost_ns: 20.0,
        },
        scratch: PathBuf::from("nowhere"),
        given: Givens::default(),
        seed: 0,
    }
}

/// The batch of a sampler that `measure` drives.
fn taken(
    clock: &dyn Clock,
    task: &Task,
    measure: impl FnOnce(&mut Sampler<'_>) -> Result<()>,
) -> Batch {
    let mut batch = Batch {
        warm: true,
        ..Batch::default()
    };
    measure(&mut Sampler::new(clock, task, &mut batch)).expect("no body fails");
    batch
}

/// Work that takes so long.
fn takes(clock: &MockClock, ns: i64) -> impl FnMut() -> Result<()> {
    move || {
        clock.advance(ns);
        Ok(())
    }
}

fn readings(batch: &Batch) -> Vec<Reading> {
    let samples = batch.samples.iter();
    samples.map(|sample| sample.reading.clone()).collect()
}

/// The legs of a body that takes `ns` for a number of iterations.
fn repeated(task: &Task, mut ns: impl FnMut(i64) -> i64) -> (Batch, Legs) {
    let clock = MockClock::default();
    clock.advance(i64::MAX / 2);
    let batch = taken(&clock, task, |sampler| {
        sampler.repeat("cost", 1.0, |iterations| {
            clock.advance(ns(iterations.min(1 << 40).cast_signed()));
            Ok(())
        })
    });
    let readings = readings(&batch);
    let [Reading::Legs(legs)] = &readings[..] else {
        panic!("{readings:?}")
    };
    (batch, legs.clone())
}

/// The metric and the net cost of each timing of a batch.
fn net_ns(batch: &Batch) -> Vec<(&str, f64)> {
    let timings = batch.samples.iter().flat_map(|sample| {
        let costs = sample.reading.costs().into_iter();
        costs.map(|cost| (&*sample.metric, cost.net_ns))
    });
    timings.collect()
}

#[test]
fn a_repeated_loop_gives_its_net_cost_whatever_is_paid_once() {
    let (batch, legs) = repeated(&task(), |iterations| 50_000 + 7 * iterations);
    assert!((legs.fixed_ns() - 50_000.0).abs() < 1e-6, "{legs:?}");
    let costs = Reading::Legs(legs).costs();
    assert_eq!(costs.len(), 8);
    for cost in costs {
        assert!((cost.net_ns - 7.0).abs() < 1e-9, "{cost:?}");
        assert!(cost.raw_ns > 7.1, "{cost:?}");
    }
    assert!(batch.warm);
}

#[test]
fn a_leg_is_long_enough_for_the_clock_and_for_what_it_pays_once() {
    let mut coarse = task();
    coarse.calibration.resolution_ns = 4e6;
    let (_, legs) = repeated(&coarse, |iterations| 1000 * iterations);
    assert!(legs.wall_ns.iter().all(|ns| *ns >= 4_000_000_000));
    let (_, legs) = repeated(&task(), |iterations| 800_000 + 7 * iterations);
    assert!(legs.fixed_ns() < 0.2 * legs.wall_ns[0] as f64, "{legs:?}");
}

#[test]
fn at_least_one_leg_is_timed_however_long_it_lasts() {
    let (_, legs) = repeated(&task(), |iterations| 10_000_000_000 * iterations);
    assert_eq!(legs.wall_ns.len(), 1);
}

#[test]
fn a_loop_that_never_settles_is_cold() {
    let mut wild = 0;
    let (batch, _) = repeated(&task(), |iterations| {
        wild = (wild + 1) % 3;
        (100 + 400 * wild) * iterations
    });
    assert!(!batch.warm);
}

#[test]
fn a_clock_that_goes_backwards_neither_panics_nor_loops() {
    let mut turns = 0;
    repeated(&task(), |iterations| {
        turns += 1;
        // Every third turn goes back, the others forward.
        let ns = if turns % 3 == 0 { -500 } else { 1000 };
        ns * iterations
    });
}

#[test]
fn a_long_run_is_timed_as_a_whole_however_uneven_it_is() {
    let clock = MockClock::default();
    let batch = taken(&clock, &task(), |sampler| {
        sampler.long_runs("cost", 10.0, 20_000_000, |iterations| {
            // Most iterations are free; every hundredth is expensive.
            clock.advance(100_000 * (iterations.cast_signed() / 100));
            Ok(())
        })
    });
    for reading in readings(&batch) {
        let Reading::Once { work, wall_ns, .. } = reading else {
            panic!("{reading:?}")
        };
        assert!(wall_ns >= 20_000_000, "{wall_ns}");
        assert!((wall_ns as f64 / work - 100.0).abs() < 1.0, "{reading:?}");
    }
    assert!(!batch.samples.is_empty() && batch.warm);
}

#[test]
fn each_timing_lies_between_two_readings_of_both_reference_loops() {
    /// Runs the width loop in 2 µs, but in 3 µs on every second call. The chain takes as long each time.
    struct Wavering(MockClock, Cell<u64>);
    impl Clock for Wavering {
        fn now_ns(&self) -> u64 {
            self.0.now_ns()
        }
        fn usage(&self) -> platform::Result<Usage> {
            self.0.usage()
        }
        fn references(&self) -> Option<References> {
            self.1.set(self.1.get() + 1);
            Some(References {
                chain_ns: 2_400,
                width_ns: 2_000 + self.1.get() % 2 * 1_000,
                switches: self.1.get(),
                cpu: Some(0),
            })
        }
    }
    let clock = Wavering(MockClock::default(), Cell::new(0));
    let batch = taken(&clock, &task(), |sampler| {
        sampler.repeat("cost", 1.0, |iterations| {
            clock.0.advance(100 * iterations.cast_signed());
            Ok(())
        })?;
        sampler.once("once", 1.0, |_| Ok(()), || Ok(()))
    });
    let readings = readings(&batch);
    let counts: Vec<usize> = readings.iter().map(|it| it.costs().len()).collect();
    assert_eq!(counts, [8, 1, 1, 1]);
    for cost in readings.iter().flat_map(Reading::costs) {
        let (width_ns, around) = cost.references.expect("there are two readings");
        assert!((width_ns - 2_500.0).abs() < f64::EPSILON);
        assert_eq!(around.chain_ns, (2_400, 2_400));
        assert_eq!(around.width_change_ns.unsigned_abs(), 1_000);
        assert_eq!((around.switches, around.cpu), (1, Some(0)));
    }
}

#[test]
fn what_can_be_done_only_once_is_prepared_each_time_and_several_metrics_report_its_time() {
    let clock = MockClock::default();
    let batch = taken(&clock, &task(), |sampler| {
        let metrics = [("bytes", 64.0), ("pass", 1.0)];
        let prepare = |sampler: &mut Sampler<'_>| {
            clock.advance(5_000);
            sampler.value("resident", 0.0);
            Ok(())
        };
        sampler.once_as(&metrics, prepare, takes(&clock, 128))
    });
    assert_eq!(batch.samples.len(), 9);
    assert_eq!(net_ns(&batch), [("bytes", 2.0), ("pass", 128.0)].repeat(3));
}

#[test]
fn what_a_process_can_do_only_once_is_timed_a_single_time() {
    let clock = MockClock::default();
    let batch = taken(&clock, &task(), |sampler| {
        sampler.single("new", 64.0, takes(&clock, 128))
    });
    assert_eq!(net_ns(&batch), [("new", 2.0)]);
}

#[test]
fn latencies_are_net_of_the_clock() {
    for (usual_ns, tenth_ns) in [(100, 1000), (300_000, 300_000)] {
        let clock = MockClock::of_cost(20);
        let mut count = 0;
        let batch = taken(&clock, &task(), |sampler| {
            sampler.latencies("latency", || {
                count += 1;
                clock.advance(if count % 10 == 0 { tenth_ns } else { usual_ns });
                Ok(())
            })
        });
        let [Reading::Latencies { p50_ns, p99_ns, .. }] = readings(&batch)[..] else {
            panic!("one sample of latencies");
        };
        for (found_ns, expected_ns) in [(p50_ns, usual_ns), (p99_ns, tenth_ns)] {
            let error = (found_ns / expected_ns as f64 - 1.0).abs();
            assert!(error < 0.01, "{found_ns} of {expected_ns}");
        }
        assert!(usual_ns > 1000 || count > 1000);
    }
}

#[test]
fn an_error_of_the_body_ends_the_measurement() {
    let (clock, task, mut batch) = (MockClock::default(), task(), Batch::default());
    let mut sampler = Sampler::new(&clock, &task, &mut batch);
    let fails = |_| Err(MeasureError::Unsupported("not here".into()));
    let error = sampler.repeat("cost", 1.0, fails).unwrap_err();
    assert_eq!(error.to_string(), "not here");
    assert!(batch.samples.is_empty());
}

#[test]
fn phases_that_take_turns_are_timed_apart_less_the_clock() {
    let clock = MockClock::default();
    let batch = taken(&clock, &task(), |sampler| {
        sampler.phases(2.0, |phases| {
            for _ in 0..4 {
                phases.time(&["read", "total"], takes(&clock, 120))?;
                // Time between phases belongs to none of them.
                clock.advance(1_000_000);
                phases.time(&["write", "total"], takes(&clock, 220))?;
            }
            phases.time(&["nothing"], || Ok(()))
        })
    });
    // Each reading of the clock costs 20 ns.
    let expected = [
        ("read", 200.0),
        ("total", 600.0),
        ("write", 400.0),
        ("nothing", 0.0),
    ];
    assert_eq!(net_ns(&batch)[..4], expected);
}

#[test]
fn pieces_of_phases_are_legs() {
    let clock = MockClock::default();
    let batch = taken(&clock, &task(), |sampler| {
        sampler.pieces(|pieces| {
            for (operations, ns) in [(10, 70), (10, 70), (5, 35)] {
                pieces.time("create", operations, takes(&clock, ns))?;
                // Time between pieces belongs to none of them.
                clock.advance(1000);
            }
            pieces.time("remove", 10, takes(&clock, 200))
        })
    });
    let legs = |(metric, reading)| match reading {
        Reading::Legs(legs) => (metric, legs.iterations, legs.wall_ns),
        other => panic!("{other:?}"),
    };
    let metrics = batch.samples.iter().map(|sample| &*sample.metric);
    let samples: Vec<_> = metrics.zip(readings(&batch)).map(legs).collect();
    // Rounds go on until each has as many legs as the task wants.
    let rounds = samples[2].2.len();
    assert!(rounds >= task().precision.legs, "{rounds}");
    let expected = [
        ("create", 10, vec![70; 2 * rounds]),
        ("create", 5, vec![35; rounds]),
        ("remove", 10, vec![200; rounds]),
    ];
    assert_eq!(samples, expected);
}

#[test]
fn ways_that_take_turns_begin_and_end_equally_often() {
    for (seed, first) in [(0, "abbaab"), (1, "baabba")] {
        let clock = MockClock::default();
        let prepared = RefCell::new(String::new());
        let batch = taken(&clock, &Task { seed, ..task() }, |sampler| {
            let prepare = |_: &mut Sampler<'_>, way: usize| {
                prepared.borrow_mut().push_str(["a", "b"][way]);
                Ok(())
            };
            let ways = [("a", 1.0), ("b", 2.0)];
            sampler.in_turn(&ways, prepare, |_| takes(&clock, 1000)())
        });
        assert_eq!(prepared.into_inner(), first);
        let expected = first.chars().map(|way| match way {
            'a' => ("a", 1000.0),
            _ => ("b", 500.0),
        });
        assert_eq!(net_ns(&batch), expected.collect::<Vec<_>>());
    }
}

#[test]
fn latencies_that_the_body_took_are_reported_for_each_operation_net_of_the_clock() {
    let clock = MockClock::of_cost(20);
    let mut median_ns = 0.0;
    let batch = taken(&clock, &task(), |sampler| {
        median_ns = sampler.latencies_of("pass", 4.0, || {
            clock.advance(1_000_000);
            Ok(520)
        })?;
        Ok(())
    });
    let [Reading::Latencies { count, p50_ns, .. }] = readings(&batch)[..] else {
        panic!("one sample of latencies");
    };
    assert_eq!(count, 15);
    assert!((p50_ns - 125.0).abs() < 0.3, "{p50_ns}");
    assert!((median_ns - p50_ns).abs() < f64::EPSILON);
}
