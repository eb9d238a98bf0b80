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

/// Bound of times and counts that keeps their sums within a 64-bit integer.
const LARGE: u64 = 1 << 40;

prop_compose! {
    /// A whole run.
    pub fn run()(
        header in header(),
        machine in machine(),
        environment in environment(),
        storage in of(storage()),
        (resolution_ns, cost_ns) in (amount(), amount()),
        experiments in btree_set(name(), 0..4)
            .prop_flat_map(|ids| ids.into_iter().map(experiment).collect::<Vec<_>>()),
    ) -> Run {
        let calibration = Calibration { resolution_ns, cost_ns };
        Run { header, machine, environment, storage, calibration, experiments }
    }
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

prop_compose! {
    fn time()(
        second in -9_000_000_000_i64..9_000_000_000,
        nanosecond in 0..1_000_000_000_i32,
    ) -> jiff::Timestamp {
        jiff::Timestamp::new(second, nanosecond).unwrap_or_default()
    }
}

prop_compose! {
    fn header()(
        id in any::<u128>(),
        name in of(text()),
        tags in btree_map(text(), text(), 0..3),
        (started, ended) in (time(), of(time())),
        [interrupted, proven, redacted] in any::<[bool; 3]>(),
        limited in of(limited()),
        profile in profile(),
        budget_ns in amount(),
        seed in any::<u64>(),
        command_line in vec(text(), 0..4),
        [version, directory, machine_fingerprint] in [text(), text(), text()],
    ) -> Header {
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
            machine_fingerprint,
            proven,
            limited,
            redacted,
        }
    }
}

prop_compose! {
    fn limited()(
        processor_percent in of(1.0_f64..1e4),
        memory_bytes in of(any::<u64>()),
        idle_io in of(any::<bool>()),
        used in of(used()),
    ) -> Limited {
        let limits = Limits { processor_percent, memory_bytes, idle_io, ..Limits::default() };
        Limited { limits, used }
    }
}

prop_compose! {
    fn used()(
        [cpu_ns, memory_bytes] in any::<[u64; 2]>(),
        memory_of_group in any::<bool>(),
    ) -> Used {
        Used { cpu_ns, memory_bytes, memory_of_group, ..Used::default() }
    }
}

fn profile() -> impl Strategy<Value = Profile> {
    select(vec![Profile::Quick, Profile::Standard, Profile::Thorough])
}

prop_compose! {
    fn cache()(
        level in any::<u32>(),
        kind in select(vec![CacheKind::Data, CacheKind::Instruction, CacheKind::Unified]),
        size_bytes in of(any::<u64>()),
        instances in 0..999_usize,
    ) -> Cache {
        let (line_bytes, ways, shared_by_cpus) = (Some(64), None, 1);
        Cache { level, kind, size_bytes, line_bytes, ways, shared_by_cpus, instances }
    }
}

prop_compose! {
    fn machine()(
        model in of(text()),
        features in vec(text(), 0..4),
        caches in vec(cache(), 0..4),
        memory_bytes in of(any::<u64>()),
    ) -> Machine {
        let mut machine = Machine { caches, memory_bytes, ..Machine::default() };
        machine.cpu.model = model;
        machine.cpu.features = features;
        machine
    }
}

prop_compose! {
    fn environment()(
        os_name in of(text()),
        mitigations in btree_map(text(), text(), 0..3),
        load_average in of([number(), number(), number()]),
    ) -> Environment {
        Environment { os_name, mitigations, load_average, ..begun(0).environment }
    }
}

prop_compose! {
    fn storage()(
        [file_system, mount_point] in [text(), text()],
        mount_options in vec(text(), 0..3),
        total_bytes in any::<u64>(),
    ) -> Storage {
        Storage {
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
        }
    }
}

fn experiment(id: String) -> impl Strategy<Value = ExperimentRecord> {
    definition(id).prop_flat_map(|definition| {
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

prop_compose! {
    fn definition(id: String)(
        axes in btree_set(name(), 1..4),
        metrics in btree_set(name(), 1..4)
            .prop_flat_map(|names| names.into_iter().map(metric).collect::<Vec<_>>()),
        [title, method] in [text(), text()],
        isolation in select(vec![Isolation::FreshProcess, Isolation::OneProcess]),
    ) -> Definition {
        Definition {
            id: id.clone(),
            question: title.clone(),
            title,
            method,
            source: String::new(),
            axes: axes.iter().map(|axis| Axis::bytes(axis, axis)).collect(),
            metrics,
            isolation,
        }
    }
}

prop_compose! {
    fn metric(name: String)(
        title in text(),
        unit in select(vec![
            Unit::BytesPerSecond,
            Unit::OperationsPerSecond,
            Unit::Nanoseconds,
            Unit::Bytes,
            Unit::Count,
            Unit::Share,
            Unit::Ratio,
        ]),
        better in select(vec![Better::Higher, Better::Lower, Better::Neither]),
        version in any::<u32>(),
        bound in of(number()),
    ) -> Metric {
        Metric { name: name.clone(), title, unit, better, version, bound }
    }
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

prop_compose! {
    fn batch(metrics: Vec<String>)(
        samples in vec(sample(metrics), 0..6),
        remarks in vec(text(), 0..3),
        warm in any::<bool>(),
        cpu in of(0..4096_usize),
        (started_ns, wall_ns) in (integer(), 0..LARGE),
        (stolen_ns, others_ns) in (of(0..LARGE), of(-(1_i64 << 40)..1 << 40)),
        pass in any::<u32>(),
        full_speed_ns in of(amount()),
        full_speed in of(full_speed()),
    ) -> Batch {
        Batch {
            samples,
            remarks,
            warm,
            cpu,
            started_ns,
            wall_ns,
            disturbance: Disturbance { stolen_ns, others_ns },
            pass: Some(pass),
            full_speed_ns,
            full_speed,
        }
    }
}

fn positive() -> impl Strategy<Value = f64> {
    1e-9..1e9_f64
}

prop_compose! {
    fn full_speed()(
        core_type in of(0..3_usize),
        [chain_ns, best_chain_ns, alone_ratio] in [positive(), positive(), positive()],
        longest_chain_ns in of(positive()),
        earlier_chain_ns in of((positive(), positive())),
    ) -> FullSpeed {
        FullSpeed {
            core_type,
            chain_ns,
            best_chain_ns,
            alone_ratio,
            longest_chain_ns,
            earlier_chain_ns,
        }
    }
}

prop_compose! {
    fn around()(
        chain_ns in (0..LARGE, 0..LARGE),
        width_change_ns in -LARGE.cast_signed()..LARGE.cast_signed(),
        switches in 0..LARGE,
        cpu in of(0..4096_usize),
    ) -> Around {
        Around { chain_ns, width_change_ns, switches, cpu }
    }
}

prop_compose! {
    fn usage()(
        (user_ns, system_ns) in (0..LARGE, 0..LARGE),
        (minor_faults, major_faults) in (0..LARGE, 0..LARGE),
        (voluntary_switches, involuntary_switches) in (0..LARGE, 0..LARGE),
    ) -> Usage {
        Usage {
            user_ns,
            system_ns,
            minor_faults,
            major_faults,
            voluntary_switches,
            involuntary_switches,
        }
    }
}

prop_compose! {
    fn sample(metrics: Vec<String>)(
        metric in select(metrics),
        reading in reading(),
        usage in usage(),
        at_ns in integer(),
    ) -> Sample {
        Sample { metric, reading, usage, at_ns }
    }
}

fn reading() -> impl Strategy<Value = Reading> {
    prop_oneof![
        legs().prop_map(Reading::Legs),
        once(),
        latencies(),
        number().prop_map(Reading::Value),
    ]
}

prop_compose! {
    fn once()(
        work in amount(),
        wall_ns in 0..LARGE,
        reference_ns in of(0..LARGE),
        around in of(around()),
    ) -> Reading {
        Reading::Once { work, wall_ns, reference_ns, around }
    }
}

prop_compose! {
    fn latencies()(
        count in 0..LARGE,
        [p50_ns, p5_ns, p95_ns, p99_ns] in [amount(), amount(), amount(), amount()],
        reference_ns in of(0..LARGE),
        around in of(around()),
    ) -> Reading {
        Reading::Latencies { count, p50_ns, p5_ns, p95_ns, p99_ns, reference_ns, around }
    }
}

prop_compose! {
    /// Legs that all have readings of both reference loops, of one, or of none.
    fn legs()(
        iterations in 0..LARGE,
        work in amount(),
        long in vec((0..LARGE, 0..LARGE, around()), 0..5),
        references in 0..3_usize,
        short_iterations in 0..LARGE,
        short_wall_ns in vec(0..LARGE, 0..3),
    ) -> Legs {
        let with_one = long.iter().filter(|_| references > 0);
        let with_both = long.iter().filter(|_| references > 1);
        Legs {
            iterations,
            work,
            wall_ns: long.iter().map(|(wall_ns, _, _)| *wall_ns).collect(),
            reference_ns: with_one.map(|(_, reference_ns, _)| *reference_ns).collect(),
            around: with_both.map(|(_, _, around)| *around).collect(),
            short_iterations,
            short_wall_ns,
        }
    }
}
