//! All samples of a run as rows and typed columns, for CSV and Parquet.

use crate::run::{ExperimentRecord, PointRecord, Run};
use instrument::point::Level;
use instrument::quantity::Unit;
use instrument::sample::{Around, Legs, Reading, Sample};
use platform::usage::Usage;
use std::borrow::Cow;

/// A sample with its experiment, point and batch.
pub(crate) struct Row<'r> {
    run: &'r str,
    experiment: &'r ExperimentRecord,
    point: &'r PointRecord,
    batch: usize,
    index: usize,
    sample: &'r Sample,
    timing: Timing,
}

/// A column of the table.
pub(crate) struct Column<'t> {
    pub name: String,
    /// The unit of the column's numbers, if it is the same in all rows.
    #[cfg_attr(
        not(feature = "parquet"),
        expect(dead_code, reason = "CSV has no place for it")
    )]
    pub unit: Option<Unit>,
    pub cells: Cells<'t>,
}

/// Reads the cells of a column, by type; `None` for an empty cell.
pub(crate) enum Cells<'t> {
    Text(Reader<'t, Cow<'t, str>>),
    Integer(Reader<'t, u64>),
    Real(Reader<'t, f64>),
}

type Reader<'t, T> = Box<dyn Fn(&Row<'t>) -> Option<T> + 't>;

/// The cells of a row that depend on the kind of reading; those of other kinds are empty.
#[derive(Clone, Default)]
struct Timing {
    kind: &'static str,
    iterations: Option<u64>,
    work: Option<f64>,
    wall_ns: Option<u64>,
    count: Option<u64>,
    p5_ns: Option<f64>,
    p50_ns: Option<f64>,
    p95_ns: Option<f64>,
    p99_ns: Option<f64>,
    value: Option<f64>,
    reference_ns: Option<u64>,
    around: Option<Around>,
}

/// The legs of a reading one by one; a reading of another kind as one.
fn timings(reading: &Reading) -> Vec<Timing> {
    match *reading {
        Reading::Legs(ref legs) => timings_of_legs(legs),
        Reading::Once {
            work,
            wall_ns,
            reference_ns,
            around,
        } => vec![Timing {
            kind: "once",
            work: Some(work),
            wall_ns: Some(wall_ns),
            reference_ns,
            around,
            ..Timing::default()
        }],
        Reading::Latencies {
            count,
            p50_ns,
            p5_ns,
            p95_ns,
            p99_ns,
            reference_ns,
            around,
        } => vec![Timing {
            kind: "latencies",
            count: Some(count),
            p5_ns: Some(p5_ns),
            p50_ns: Some(p50_ns),
            p95_ns: Some(p95_ns),
            p99_ns: Some(p99_ns),
            reference_ns,
            around,
            ..Timing::default()
        }],
        Reading::Value(value) => vec![Timing {
            kind: "value",
            value: Some(value),
            ..Timing::default()
        }],
    }
}

/// The long legs, then the short ones.
fn timings_of_legs(legs: &Legs) -> Vec<Timing> {
    let timing = |kind, iterations, wall_ns| Timing {
        kind,
        iterations: Some(iterations),
        work: Some(legs.work),
        wall_ns: Some(wall_ns),
        ..Timing::default()
    };
    let long = legs.wall_ns.iter().enumerate();
    let long = long.map(|(index, wall_ns)| Timing {
        reference_ns: legs.reference_ns.get(index).copied(),
        around: legs.around.get(index).copied(),
        ..timing("leg", legs.iterations, *wall_ns)
    });
    let short = legs.short_wall_ns.iter();
    let short = short.map(|wall_ns| timing("short_leg", legs.short_iterations, *wall_ns));
    long.chain(short).collect()
}

/// One row per timing, in the order in which they were taken at each point.
pub(crate) fn rows(run: &Run) -> impl Iterator<Item = Row<'_>> {
    let points = run.experiments.iter().flat_map(|experiment| {
        let points = experiment.points.iter();
        points.map(move |point| (experiment, point))
    });
    let batches = points.flat_map(|(experiment, point)| {
        let batches = point.batches.iter().enumerate();
        batches.map(move |(index, batch)| (experiment, point, index, batch))
    });
    batches.flat_map(move |(experiment, point, batch_index, batch)| {
        let timings = batch.samples.iter().flat_map(|sample| {
            let timings = timings(&sample.reading).into_iter();
            timings.map(move |timing| (sample, timing))
        });
        timings
            .enumerate()
            .map(move |(index, (sample, timing))| Row {
                run: &run.header.id,
                experiment,
                point,
                batch: batch_index,
                index,
                sample,
                timing,
            })
    })
}

/// The columns of `run`. Each axis of any experiment has a column `axis.NAME`, empty for
/// experiments without that axis; columns of other kinds of readings are empty too. `unit` is the
/// unit of the metric's estimates and of `value`; `batch` and `sample` count from 0.
pub(crate) fn columns(run: &Run) -> Vec<Column<'_>> {
    let place = [
        text("run", |row| Some(row.run.into())),
        text("experiment", |row| {
            Some(row.experiment.definition.id.as_str().into())
        }),
    ];
    let sample = [
        integer("batch", None, |row| Some(row.batch as u64)),
        integer("pass", None, |row| {
            row.point.batches[row.batch].pass.map(u64::from)
        }),
        integer("sample", None, |row| Some(row.index as u64)),
        text("metric", |row| Some(row.sample.metric.as_str().into())),
        text("unit", unit_of),
        text("kind", |row| Some(row.timing.kind.into())),
        real("work", None, |row| row.timing.work),
        integer("iterations", COUNT, |row| row.timing.iterations),
        integer("wall_ns", NS, |row| row.timing.wall_ns),
        integer("reference_ns", NS, |row| row.timing.reference_ns),
        integer("chain_before_ns", NS, |row| {
            Some(row.timing.around?.chain_ns.0)
        }),
        integer("chain_after_ns", NS, |row| {
            Some(row.timing.around?.chain_ns.1)
        }),
        integer("switches_around", COUNT, |row| {
            Some(row.timing.around?.switches)
        }),
        integer("cpu", None, |row| Some(row.timing.around?.cpu? as u64)),
        integer("count", COUNT, |row| row.timing.count),
        real("p5_ns", NS, |row| row.timing.p5_ns),
        real("p50_ns", NS, |row| row.timing.p50_ns),
        real("p95_ns", NS, |row| row.timing.p95_ns),
        real("p99_ns", NS, |row| row.timing.p99_ns),
        real("value", None, |row| row.timing.value),
        used("user_ns", NS, |usage| usage.user_ns),
        used("system_ns", NS, |usage| usage.system_ns),
        used("minor_faults", COUNT, |usage| usage.minor_faults),
        used("major_faults", COUNT, |usage| usage.major_faults),
        used("voluntary_switches", COUNT, |usage| {
            usage.voluntary_switches
        }),
        used("involuntary_switches", COUNT, |usage| {
            usage.involuntary_switches
        }),
        integer("at_ns", NS, |row| Some(row.sample.at_ns)),
    ];
    let axes = axes(run).into_iter().map(|name| axis(run, name));
    place.into_iter().chain(axes).chain(sample).collect()
}

const NS: Option<Unit> = Some(Unit::Nanoseconds);
const COUNT: Option<Unit> = Some(Unit::Count);

/// The sample's use of one resource.
fn used<'t>(name: &str, unit: Option<Unit>, read: fn(&Usage) -> u64) -> Column<'t> {
    integer(name, unit, move |row| Some(read(&row.sample.usage)))
}

fn text<'t>(name: &str, read: impl Fn(&Row<'t>) -> Option<Cow<'t, str>> + 't) -> Column<'t> {
    column(name, None, Cells::Text(Box::new(read)))
}

fn integer<'t>(
    name: &str,
    unit: Option<Unit>,
    read: impl Fn(&Row<'t>) -> Option<u64> + 't,
) -> Column<'t> {
    column(name, unit, Cells::Integer(Box::new(read)))
}

fn real<'t>(
    name: &str,
    unit: Option<Unit>,
    read: impl Fn(&Row<'t>) -> Option<f64> + 't,
) -> Column<'t> {
    column(name, unit, Cells::Real(Box::new(read)))
}

fn column<'t>(name: &str, unit: Option<Unit>, cells: Cells<'t>) -> Column<'t> {
    Column {
        name: name.into(),
        unit,
        cells,
    }
}

fn unit_of<'t>(row: &Row<'t>) -> Option<Cow<'t, str>> {
    let metric = row.experiment.definition.metric(&row.sample.metric)?;
    Some(unit_name(metric.unit)?.into())
}

/// The unit's name for programs: `bytes_per_second`.
pub(crate) fn unit_name(unit: Unit) -> Option<String> {
    let value = serde_json::to_value(unit).ok()?;
    value.as_str().map(str::to_owned)
}

/// The names of all axes, in the order in which the experiments list them.
fn axes(run: &Run) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for (axis, _) in run.points().flat_map(|record| record.point.levels()) {
        if !names.contains(&axis) {
            names.push(axis);
        }
    }
    names
}

/// The levels on the axis `name`: numeric if all of them are numbers.
fn axis<'t>(run: &'t Run, name: &'t str) -> Column<'t> {
    let level = move |row: &Row<'t>| row.point.point.get(name);
    let mut levels = run.points().filter_map(|record| record.point.get(name));
    let title = format!("axis.{name}");
    if levels.all(|level| matches!(level, Level::Number(_))) {
        let definitions = run.experiments.iter().map(|record| &record.definition);
        let mut units = definitions.filter_map(|definition| definition.axis(name)?.unit());
        let first = units.next();
        let unit = first.filter(|first| units.all(|unit| unit == *first));
        integer(&title, unit, move |row| level(row)?.number())
    } else {
        text(&title, move |row| Some(level(row)?.to_string().into()))
    }
}
