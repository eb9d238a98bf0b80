//! Random runs within the limits of real ones.

use super::begun;
use instrument::clock::Calibration;
use instrument::experiment::{Better, Definition, Isolation, Metric};
use instrument::limits::{Limited, Limits, Used};
use instrument::noise::Warning;
use instrument::plan::Profile;
use instrument::point::{Axis, Level, Point};
use instrument::quantity::Unit;
use instrument::runner::Ending;
use instrument::sample::{Around, Batch, Disturbance, FullSpeed, Legs, Reading, Sample};
use oscope_record::{Closing, ExperimentRecord, Header, PointRecord, Run};
use platform::environment::Environment;
use platform::machine::{Cache, CacheKind, Machine};
use platform::storage::Storage;
use platform::usage::Usage;
use proptest::collection::{btree_map, btree_set, vec};
use proptest::num::f64::{NEGATIVE, NORMAL, POSITIVE, SUBNORMAL, ZERO};
use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::select;
use std::collections::BTreeSet;

/// Bound of times and counts that keeps their sums within a 64-bit integer.
const LARGE: u64 = 1 << 40;

/// A whole run.
pub fn run() -> impl Strategy<Value = Run> {
    let experiments = btree_set(name(), 0..4)
        .prop_flat_map(|ids| ids.into_iter().map(experiment).collect::<Vec<_>>());
    let calibration = (amount(), amount()).prop_map(|(resolution_ns, cost_ns)| Calibration {
        resolution_ns,
        cost_ns,
    });
    (
        header(),
        machine(),
        environment(),
        of(storage()),
        calibration,
        experiments,
    )
        .prop_map(
            |(header, machine, environment, storage, calibration, experiments)| Run {
                header,
                machine,
                environment,
                storage,
                calibration,
                experiments,
            },
        )
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ -~]{0,20}",
        any::<String>(),
        Just("NUL \0, \"quotes\", 'these', \u{1b}[31m, \r\n; ü ☃ 💾".to_owned()),
    ]
}

fn name() -> impl Strategy<Value = String> {
    "[a-z]{1,6}(\\.[a-z_]{1,6})?"
}

/// Any number that is not negative.
fn amount() -> impl Strategy<Value = f64> {
    POSITIVE | NORMAL | SUBNORMAL | ZERO
}

fn number() -> impl Strategy<Value = f64> {
    POSITIVE | NEGATIVE | NORMAL | SUBNORMAL | ZERO
}

fn integer() -> impl Strategy<Value = u64> {
    prop_oneof![0..=i64::MAX as u64, Just(i64::MAX as u64), Just(0)]
}

fn header() -> impl Strategy<Value = Header> {
    let time = (-9_000_000_000_i64..9_000_000_000, 0..1_000_000_000_i32).prop_map(
        |(second, nanosecond)| jiff::Timestamp::new(second, nanosecond).unwrap_or_default(),
    );
    let who = (any::<u128>(), of(text()), btree_map(text(), text(), 0..3));
    let what = (
        profile(),
        amount(),
        any::<u64>(),
        vec(text(), 0..4),
        text(),
        text(),
        text(),
    );
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), of(limited()));
    (who, time.clone(), of(time), flags, what).prop_map(
        |((id, name, tags), started, ended, (interrupted, proven, redacted, limited), what)| {
            let (profile, budget_ns, seed, command_line, version, directory, fingerprint) = what;
            Header {
                id: format!("{id:032x}"),
                name,
                tags,
                started,
                ended,
                interrupted,
                profile,
                budget_ns,
                seed,
                command_line,
                version,
                directory: directory.into(),
                machine_fingerprint: fingerprint,
                proven,
                limited,
                redacted,
            }
        },
    )
}

fn limited() -> impl Strategy<Value = Limited> {
    let limits = (of(1.0_f64..1e4), of(any::<u64>()), of(any::<bool>()));
    let limits = limits.prop_map(|(processor_percent, memory_bytes, idle_io)| Limits {
        processor_percent,
        memory_bytes,
        idle_io,
        ..Limits::default()
    });
    let used = (any::<u64>(), any::<u64>(), any::<bool>());
    let used = used.prop_map(|(cpu_ns, memory_bytes, memory_of_group)| Used {
        cpu_ns,
        memory_bytes,
        memory_of_group,
        ..Used::default()
    });
    (limits, of(used)).prop_map(|(limits, used)| Limited { limits, used })
}

fn profile() -> impl Strategy<Value = Profile> {
    select(vec![Profile::Quick, Profile::Standard, Profile::Thorough])
}

fn machine() -> impl Strategy<Value = Machine> {
    let kinds = select(vec![
        CacheKind::Data,
        CacheKind::Instruction,
        CacheKind::Unified,
    ]);
    let cache = (any::<u32>(), kinds, of(any::<u64>()), 0..999_usize).prop_map(
        |(level, kind, size_bytes, instances)| Cache {
            level,
            kind,
            size_bytes,
            line_bytes: Some(64),
            ways: None,
            shared_by_cpus: 1,
            instances,
        },
    );
    (
        of(text()),
        vec(text(), 0..4),
        vec(cache, 0..4),
        of(any::<u64>()),
    )
        .prop_map(|(model, features, caches, memory_bytes)| {
            let mut machine = Machine {
                caches,
                memory_bytes,
                ..Machine::default()
            };
            machine.cpu.model = model;
            machine.cpu.features = features;
            machine
        })
}

fn environment() -> impl Strategy<Value = Environment> {
    (
        of(text()),
        btree_map(text(), text(), 0..3),
        of([number(), number(), number()]),
    )
        .prop_map(|(os_name, mitigations, load_average)| Environment {
            os_name,
            mitigations,
            load_average,
            ..begun(0).environment
        })
}

fn storage() -> impl Strategy<Value = Storage> {
    (text(), text(), vec(text(), 0..3), any::<u64>()).prop_map(
        |(file_system, mount_point, mount_options, total_bytes)| Storage {
            file_system,
            mount_point: mount_point.into(),
            mount_options,
            source: None,
            block_device: None,
            rotational: Some(true),
            scheduler: None,
            read_ahead_bytes: None,
            logical_block_bytes: None,
            physical_block_bytes: None,
            total_bytes,
            free_bytes: 0,
        },
    )
}

fn experiment(id: String) -> impl Strategy<Value = ExperimentRecord> {
    let definition = (btree_set(name(), 1..4), btree_set(name(), 1..4))
        .prop_flat_map(move |(axes, metrics)| definition(id.clone(), &axes, metrics));
    definition.prop_flat_map(|definition| {
        let skipped = text().prop_map(|reason| (Some(reason), Vec::new()));
        let measured = points(&definition).prop_map(|points| (None, points));
        prop_oneof![1 => skipped, 4 => measured].prop_map(move |(skipped, points)| {
            ExperimentRecord {
                definition: definition.clone(),
                skipped,
                points,
            }
        })
    })
}

fn definition(
    id: String,
    axes: &BTreeSet<String>,
    metrics: BTreeSet<String>,
) -> impl Strategy<Value = Definition> + use<> {
    let axes: Vec<Axis> = axes.iter().map(|axis| Axis::bytes(axis, axis)).collect();
    let metrics: Vec<_> = metrics.into_iter().map(metric).collect();
    let isolation = select(vec![Isolation::FreshProcess, Isolation::OneProcess]);
    (metrics, text(), text(), isolation).prop_map(move |(metrics, title, method, isolation)| {
        Definition {
            id: id.clone(),
            question: title.clone(),
            title,
            method,
            source: String::new(),
            axes: axes.clone(),
            metrics,
            isolation,
        }
    })
}

fn metric(name: String) -> impl Strategy<Value = Metric> {
    let units = select(vec![
        Unit::BytesPerSecond,
        Unit::OperationsPerSecond,
        Unit::Nanoseconds,
        Unit::Bytes,
        Unit::Count,
        Unit::Share,
        Unit::Ratio,
    ]);
    let better = select(vec![Better::Higher, Better::Lower, Better::Neither]);
    let numbers = (any::<u32>(), of(number()));
    (text(), units, better, numbers).prop_map(move |(title, unit, better, (version, bound))| {
        Metric {
            name: name.clone(),
            title,
            unit,
            better,
            version,
            bound,
        }
    })
}

fn points(definition: &Definition) -> impl Strategy<Value = Vec<PointRecord>> + use<> {
    let axes: Vec<String> = definition
        .axes
        .iter()
        .map(|axis| axis.name.clone())
        .collect();
    let metrics: Vec<String> = definition
        .metrics
        .iter()
        .map(|metric| metric.name.clone())
        .collect();
    let level = prop_oneof![
        any::<u64>().prop_map(Level::Number),
        text().prop_map(Level::Choice),
        Just(Level::Choice("4096".into())),
    ];
    let point = vec(level, axes.len()).prop_map(move |levels| {
        axes.iter()
            .zip(levels)
            .fold(Point::new(), |point, (axis, level)| point.with(axis, level))
    });
    btree_set(point, 0..4).prop_flat_map(move |points| {
        let batches = vec(batch(metrics.clone()), 0..8);
        vec((batches, of(closing(metrics.clone()))), points.len()).prop_map(move |results| {
            let records = points.iter().cloned().zip(results);
            records
                .map(|(point, (batches, closing))| PointRecord {
                    point,
                    batches,
                    closing,
                })
                .collect()
        })
    })
}

fn closing(metrics: Vec<String>) -> impl Strategy<Value = Closing> {
    let warning = prop_oneof![
        (select(metrics.clone()), number())
            .prop_map(|(metric, change)| Warning::Drift { metric, change }),
        Just(Warning::NotWarm),
        (select(metrics.clone()), vec(number(), 0..3))
            .prop_map(|(metric, centres)| Warning::SeveralModes { metric, centres }),
        (select(metrics), of(number()), number()).prop_map(|(metric, reached, target)| {
            Warning::TargetMissed {
                metric,
                reached,
                target,
            }
        }),
    ];
    let ending = prop_oneof![
        Just(Ending::TargetReached),
        Just(Ending::BudgetUsed),
        Just(Ending::Interrupted),
        text().prop_map(Ending::Failed),
    ];
    (ending, vec(warning, 0..4)).prop_map(|(ending, warnings)| Closing { ending, warnings })
}

fn batch(metrics: Vec<String>) -> impl Strategy<Value = Batch> {
    let around = (of(0..LARGE), of(-(1_i64 << 40)..1 << 40)).prop_map(|(stolen_ns, others_ns)| {
        Disturbance {
            stolen_ns,
            others_ns,
        }
    });
    let facts = (any::<bool>(), of(0..4096_usize), integer(), 0..LARGE);
    let speeds = (any::<u32>(), of(amount()), of(full_speed()));
    let samples = vec(sample(metrics), 0..6);
    (samples, vec(text(), 0..3), facts, around, speeds).prop_map(
        |(samples, remarks, facts, disturbance, (pass, full_speed_ns, full_speed))| {
            let (warm, cpu, started_ns, wall_ns) = facts;
            Batch {
                samples,
                remarks,
                warm,
                cpu,
                started_ns,
                wall_ns,
                disturbance,
                pass: Some(pass),
                full_speed_ns,
                full_speed,
            }
        },
    )
}

fn full_speed() -> impl Strategy<Value = FullSpeed> {
    let positive = || 1e-9..1e9_f64;
    let earlier = of((positive(), positive()));
    let clocks = (positive(), positive(), of(positive()), earlier);
    (of(0..3_usize), positive(), clocks).prop_map(|(core_type, alone_ratio, clocks)| {
        let (chain_ns, best_chain_ns, longest_chain_ns, earlier_chain_ns) = clocks;
        FullSpeed {
            core_type,
            chain_ns,
            best_chain_ns,
            alone_ratio,
            longest_chain_ns,
            earlier_chain_ns,
        }
    })
}

fn around() -> impl Strategy<Value = Around> {
    let change = -LARGE.cast_signed()..LARGE.cast_signed();
    (0..LARGE, 0..LARGE, change, 0..LARGE, of(0..4096_usize)).prop_map(
        |(before_ns, after_ns, width_change_ns, switches, cpu)| Around {
            chain_ns: (before_ns, after_ns),
            width_change_ns,
            switches,
            cpu,
        },
    )
}

fn sample(metrics: Vec<String>) -> impl Strategy<Value = Sample> {
    let usage = (0..LARGE, 0..LARGE, 0..LARGE, 0..LARGE, 0..LARGE, 0..LARGE).prop_map(
        |(user_ns, system_ns, minor_faults, major_faults, voluntary, involuntary)| Usage {
            user_ns,
            system_ns,
            minor_faults,
            major_faults,
            voluntary_switches: voluntary,
            involuntary_switches: involuntary,
        },
    );
    (select(metrics), reading(), usage, integer()).prop_map(|(metric, reading, usage, at_ns)| {
        Sample {
            metric,
            reading,
            usage,
            at_ns,
        }
    })
}

fn reading() -> impl Strategy<Value = Reading> {
    prop_oneof![
        legs().prop_map(Reading::Legs),
        (amount(), 0..LARGE, of(0..LARGE), of(around())).prop_map(
            |(work, wall_ns, reference_ns, around)| Reading::Once {
                work,
                wall_ns,
                reference_ns,
                around,
            }
        ),
        (
            0..LARGE,
            [amount(), amount(), amount(), amount()],
            of(0..LARGE),
            of(around())
        )
            .prop_map(
                |(count, [p50_ns, p5_ns, p95_ns, p99_ns], reference_ns, around)| {
                    Reading::Latencies {
                        count,
                        p50_ns,
                        p5_ns,
                        p95_ns,
                        p99_ns,
                        reference_ns,
                        around,
                    }
                }
            ),
        number().prop_map(Reading::Value),
    ]
}

/// Legs that all have readings of both reference loops, of one, or of none.
fn legs() -> impl Strategy<Value = Legs> {
    let long = vec((0..LARGE, 0..LARGE, around()), 0..5);
    let short = (0..LARGE, vec(0..LARGE, 0..3));
    (0..LARGE, amount(), long, 0..3_usize, short).prop_map(
        |(iterations, work, long, references, (short_iterations, short_wall_ns))| {
            let wall_ns = long.iter().map(|(wall_ns, _, _)| *wall_ns).collect();
            let with_one = long.iter().filter(|_| references > 0);
            let with_both = long.iter().filter(|_| references > 1);
            Legs {
                iterations,
                work,
                wall_ns,
                reference_ns: with_one.map(|(_, reference_ns, _)| *reference_ns).collect(),
                around: with_both.map(|(_, _, around)| *around).collect(),
                short_iterations,
                short_wall_ns,
            }
        },
    )
}
