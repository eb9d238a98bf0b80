//! Invariants of a run, checked before it is stored, exported or analysed.
//!
//! A file may come from anywhere. So everything that the analysis relies on is checked here once:
//! finite numbers, unique names, and times whose sums fit into a 64-bit integer.

use crate::run::{ExperimentRecord, Header, PointRecord, Run};
use instrument::experiment::Definition;
use instrument::point::Point;
use instrument::sample::{Around, Batch, FullSpeed, Legs, Reading, Sample};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::HashSet;
use std::hash::Hash;

/// An invalid value in a run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {reason}")]
pub struct Invalid {
    /// The location in the run, such as `experiment group.name`.
    pub place: String,
    /// The violated rule.
    pub reason: String,
}

/// Maximum number of experiments in a run.
const MAX_EXPERIMENTS: usize = 1_000;
/// Maximum number of points in an experiment.
const MAX_POINTS: usize = 1_000_000;
/// Maximum number of legs in a sample. It is more than any profile takes in one process.
const MAX_LEGS: usize = 100_000;
/// Maximum number of axes, or of metrics, of an experiment.
const MAX_NAMES: usize = 1_000;
/// Maximum length of the name of an experiment, metric or axis, in bytes.
const MAX_NAME_BYTES: usize = 200;
/// Largest time or count, and largest sum of those of a point.
const MAX_INTEGER: u64 = i64::MAX as u64;

impl Run {
    /// Checks that the run can be stored, exported and analysed.
    ///
    /// # Errors
    /// The first violation found.
    pub fn validate(&self) -> Result<(), Invalid> {
        header(&self.header)?;
        survives("the machine", &self.machine)?;
        survives("the environment", &self.environment)?;
        survives("the storage", &self.storage)?;
        survives("the clock's calibration", &self.calibration)?;
        let all = &self.experiments;
        at_most("the run", "experiments", all.len(), MAX_EXPERIMENTS)?;
        let ids = all.iter().map(|it| it.definition.id.as_str());
        unique("the run", "experiment", ids)?;
        all.iter().try_for_each(experiment)
    }
}

fn header(header: &Header) -> Result<(), Invalid> {
    survives("the header", header)?;
    let is_digit = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let is_id = header.id.len() == 32 && header.id.bytes().all(is_digit);
    ensure(is_id, "the header", || {
        "the id is not 32 hexadecimal digits".into()
    })?;
    amount("the header", "budget_ns", header.budget_ns)
}

fn experiment(record: &ExperimentRecord) -> Result<(), Invalid> {
    definition(&record.definition)?;
    let place = format!("experiment {}", record.definition.id);
    points(&place, record.points.iter().map(|record| &record.point))?;
    for PointRecord {
        point,
        batches,
        closing,
    } in &record.points
    {
        let place = format!("{place}, point {point}");
        batches.iter().try_for_each(|taken| batch(&place, taken))?;
        sums(&place, batches)?;
        survives(&place, closing)?;
    }
    Ok(())
}

/// Checks the definition of an experiment.
pub(crate) fn definition(definition: &Definition) -> Result<(), Invalid> {
    name("an experiment", "id", &definition.id)?;
    let place = format!("experiment {}", definition.id);
    survives(&place, definition)?;
    let axes = definition.axes.iter().map(|axis| axis.name.as_str());
    let words = ["axes", "axis", "name of an axis"];
    names(&place, words, axes.collect())?;
    let metrics = definition.metrics.iter().map(|it| it.name.as_str());
    let words = ["metrics", "metric", "name of a metric"];
    names(&place, words, metrics.collect())
}

/// Checks the names of the axes or metrics of the experiment at `place`.
fn names(place: &str, [all, one, what]: [&str; 3], names: Vec<&str>) -> Result<(), Invalid> {
    at_most(place, all, names.len(), MAX_NAMES)?;
    names.iter().try_for_each(|it| name(place, what, it))?;
    unique(place, one, names)
}

/// Checks the points of the experiment at `place`.
pub(crate) fn points<'a>(
    place: &str,
    points: impl ExactSizeIterator<Item = &'a Point> + Clone,
) -> Result<(), Invalid> {
    at_most(place, "points", points.len(), MAX_POINTS)?;
    unique(place, "point", points.clone())?;
    for point in points {
        let place = format!("{place}, point {point}");
        at_most(&place, "levels", point.levels().count(), MAX_NAMES)?;
        unique(&place, "axis", point.levels().map(|(axis, _)| axis))?;
    }
    Ok(())
}

/// Checks one batch of the point at `place`.
pub(crate) fn batch(place: &str, batch: &Batch) -> Result<(), Invalid> {
    let is_timed = |sample: &Sample| sample.reading.is_timed();
    let has_pass = batch.pass.is_some() || !batch.samples.iter().any(is_timed);
    ensure(has_pass, place, || {
        "a timing belongs to no pass of the run".into()
    })?;
    integer(place, "started_ns", batch.started_ns)?;
    if let Some(of) = &batch.full_speed {
        full_speed(place, of)?;
    }
    let mut samples = batch.samples.iter();
    samples.try_for_each(|taken| sample(place, taken))?;
    sums(place, std::slice::from_ref(batch))
}

/// Checks that what is divided by is positive.
fn full_speed(place: &str, of: &FullSpeed) -> Result<(), Invalid> {
    let earlier = of.earlier_chain_ns;
    let amounts = [
        ("chain_ns", Some(of.chain_ns)),
        ("best_chain_ns", Some(of.best_chain_ns)),
        ("alone_ratio", Some(of.alone_ratio)),
        ("longest_chain_ns", of.longest_chain_ns),
        ("earlier_chain_ns", earlier.map(|(least, _)| least)),
        ("earlier_chain_ns", earlier.map(|(_, greatest)| greatest)),
    ];
    let known = amounts.into_iter();
    let mut known = known.filter_map(|(what, value)| Some((what, value?)));
    known.try_for_each(|(what, value)| {
        amount(place, what, value)?;
        ensure(value > 0.0, place, || format!("{what} is 0"))
    })
}

fn sample(place: &str, sample: &Sample) -> Result<(), Invalid> {
    name(place, "metric of a sample", &sample.metric)?;
    let place = format!("{place}, a sample of {}", sample.metric);
    integer(&place, "at_ns", sample.at_ns)?;
    match sample.reading {
        Reading::Legs(ref of) => legs(&place, of),
        Reading::Once {
            work,
            reference_ns,
            around,
            ..
        } => {
            amount(&place, "work", work)?;
            both_references(&place, reference_ns.as_slice(), around.as_slice())
        }
        Reading::Latencies {
            p50_ns,
            p5_ns,
            p95_ns,
            p99_ns,
            reference_ns,
            around,
            ..
        } => {
            for percentile in [p5_ns, p50_ns, p95_ns, p99_ns] {
                amount(&place, "a percentile", percentile)?;
            }
            both_references(&place, reference_ns.as_slice(), around.as_slice())
        }
        Reading::Value(value) => finite(&place, "value", value),
    }
}

/// Checks that both reference loops were read around each timing of the sample at `place`, or neither.
fn both_references(place: &str, widths: &[u64], arounds: &[Around]) -> Result<(), Invalid> {
    let [widths, arounds] = [widths.len(), arounds.len()];
    ensure(widths == arounds, place, || {
        format!("it has {widths} readings of one reference loop and {arounds} of the other")
    })
}

/// Checks the legs of the sample at `place`.
fn legs(place: &str, legs: &Legs) -> Result<(), Invalid> {
    let lists = [&legs.wall_ns, &legs.reference_ns, &legs.short_wall_ns];
    let [timed, references, short] = lists.map(Vec::len);
    amount(place, "work", legs.work)?;
    at_most(place, "legs", timed, MAX_LEGS)?;
    at_most(place, "short legs", short, MAX_LEGS)?;
    ensure(references == 0 || references == timed, place, || {
        format!("{timed} legs have {references} readings of the reference loop")
    })?;
    both_references(place, &legs.reference_ns, &legs.around)
}

/// Checks that every sum that the analysis takes over a point fits into a 64-bit integer.
fn sums(place: &str, batches: &[Batch]) -> Result<(), Invalid> {
    let total = batches.iter().flat_map(counts).fold(0, u64::saturating_add);
    ensure(total <= MAX_INTEGER, place, || {
        "its times and counts add up to more than any machine can reach".into()
    })
}

/// All times and counts of a batch, except the moments at which something happened.
fn counts(batch: &Batch) -> Vec<u64> {
    let other = &batch.disturbance;
    let mut counts = vec![
        batch.wall_ns,
        other.stolen_ns.unwrap_or(0),
        other.others_ns.unwrap_or(0).unsigned_abs(),
    ];
    for Sample { reading, usage, .. } in &batch.samples {
        counts.extend([
            usage.user_ns,
            usage.system_ns,
            usage.minor_faults,
            usage.major_faults,
            usage.voluntary_switches,
            usage.involuntary_switches,
        ]);
        let arounds = match reading {
            Reading::Legs(legs) => {
                counts.extend([legs.iterations, legs.short_iterations]);
                let times = legs.wall_ns.iter().chain(&legs.reference_ns);
                counts.extend(times.chain(&legs.short_wall_ns));
                legs.around.as_slice()
            }
            Reading::Once {
                wall_ns: amount,
                reference_ns,
                around,
                ..
            }
            | Reading::Latencies {
                count: amount,
                reference_ns,
                around,
                ..
            } => {
                counts.extend([*amount, reference_ns.unwrap_or(0)]);
                around.as_slice()
            }
            Reading::Value(_) => &[],
        };
        for around in arounds {
            let (before_ns, after_ns) = around.chain_ns;
            let change_ns = around.width_change_ns.unsigned_abs();
            counts.extend([before_ns, after_ns, change_ns, around.switches]);
        }
    }
    counts
}

/// Checks that `value` survives a round trip through JSON, which has no infinities and only Unicode
/// text.
pub(crate) fn survives<T>(place: &str, value: &T) -> Result<(), Invalid>
where
    T: Serialize + DeserializeOwned + PartialEq,
{
    let read_back = serde_json::to_string(value).and_then(|text| serde_json::from_str::<T>(&text));
    match read_back {
        Ok(read_back) if read_back == *value => Ok(()),
        Ok(_) => Err(invalid(
            place,
            "it holds a number that is not finite".into(),
        )),
        Err(error) => Err(invalid(place, format!("it cannot be written: {error}"))),
    }
}

fn amount(place: &str, what: &str, value: f64) -> Result<(), Invalid> {
    finite(place, what, value)?;
    ensure(value >= 0.0, place, || {
        format!("{what} is {value}, which is negative")
    })
}

fn finite(place: &str, what: &str, value: f64) -> Result<(), Invalid> {
    ensure(value.is_finite(), place, || {
        format!("{what} is {value}, which is not finite")
    })
}

fn integer(place: &str, what: &str, value: u64) -> Result<(), Invalid> {
    ensure(value <= MAX_INTEGER, place, || {
        format!("{what} is {value}, which is more than {MAX_INTEGER}")
    })
}

fn name(place: &str, what: &str, name: &str) -> Result<(), Invalid> {
    ensure(!name.is_empty(), place, || format!("the {what} is empty"))?;
    ensure(name.len() <= MAX_NAME_BYTES, place, || {
        format!("the {what} is longer than {MAX_NAME_BYTES} bytes")
    })?;
    ensure(!name.chars().any(char::is_control), place, || {
        format!("the {what} holds a control character")
    })
}

fn at_most(place: &str, what: &str, count: usize, limit: usize) -> Result<(), Invalid> {
    ensure(count <= limit, place, || {
        format!("it has {count} {what}; the most is {limit}")
    })
}

fn unique<T: Eq + Hash + ToString>(
    place: &str,
    what: &str,
    names: impl IntoIterator<Item = T>,
) -> Result<(), Invalid> {
    let mut seen = HashSet::new();
    for name in names {
        let shown = name.to_string();
        ensure(seen.insert(name), place, || {
            format!("the {what} '{shown}' occurs twice")
        })?;
    }
    Ok(())
}

fn ensure(holds: bool, place: &str, reason: impl FnOnce() -> String) -> Result<(), Invalid> {
    if holds {
        Ok(())
    } else {
        Err(invalid(place, reason()))
    }
}

fn invalid(place: &str, reason: String) -> Invalid {
    Invalid {
        place: place.to_owned(),
        reason,
    }
}
