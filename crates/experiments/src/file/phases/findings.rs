//! What the phases mean.

use super::{
    BUFFER_SIZE, LOOP, MAP, MAP_LOOP, MAP_SYNC, MAP_TOTAL, METRICS, PAGE, READ, TOTAL, UNMAP, WRITE,
};
use crate::estimates::{WithEstimate, estimated, grade, known, ratio, ratio_within};
use crate::figures::{curves, logarithmic};
use instrument::figure::Figure;
use instrument::finding::{Finding, Grade};
use instrument::quantity::Unit;
use instrument::results::{Estimate, Results};

pub(super) fn all(results: &Results) -> Vec<Finding> {
    let shares = [BY_CALLS, BY_MAPPING].map(|way| shares(results, &way));
    shares
        .into_iter()
        .chain([without_waiting(results), best_buffer(results)])
        .flatten()
        .collect()
}

pub(super) fn figures(results: &Results) -> Vec<Figure> {
    let figure = |key: &str, title: &str, metrics: &[&str]| {
        let label = |metric: &str| {
            let known = METRICS.iter().find(|(name, _)| *name == metric);
            known.map_or("", |(_, title)| title)
        };
        let lines = metrics
            .iter()
            .map(|metric| results.series(label(metric), metric, BUFFER_SIZE, &[]));
        curves(
            key,
            title,
            (
                logarithmic("buffer size", Unit::Bytes),
                logarithmic("time for a KiB", Unit::Nanoseconds),
            ),
            lines.collect(),
            Vec::new(),
        )
    };
    vec![
        figure(
            "totals",
            "Changing a file in place",
            &[TOTAL, MAP_TOTAL, MAP_SYNC],
        ),
        figure("calls", "By read and write", &[READ, LOOP, WRITE]),
        figure("mapping", "By mmap", &[MAP, MAP_LOOP, UNMAP]),
    ]
}

/// The metrics of one way through the file.
struct Way {
    key: &'static str,
    name: &'static str,
    fetch: &'static str,
    compute: &'static str,
    put_back: &'static str,
    total: &'static str,
}

const BY_CALLS: Way = Way {
    key: "shares_calls",
    name: "read and write",
    fetch: READ,
    compute: LOOP,
    put_back: WRITE,
    total: TOTAL,
};

const BY_MAPPING: Way = Way {
    key: "shares_mapping",
    name: "mmap",
    fetch: MAP,
    compute: MAP_LOOP,
    put_back: UNMAP,
    total: MAP_TOTAL,
};

fn at<'r>(results: &'r Results, metric: &str, buffer: u64) -> Option<&'r Estimate> {
    let estimate = results
        .at(&[(BUFFER_SIZE, buffer.into())])?
        .estimate(metric)?;
    estimate.is_sound().then_some(estimate)
}

fn shares(results: &Results, way: &Way) -> Option<Finding> {
    let total = at(results, way.total, PAGE)?;
    let share = |metric| ratio_within(at(results, metric, PAGE)?, total);
    let (fetch, compute, put_back) = (share(way.fetch)?, share(way.compute)?, share(way.put_back)?);
    let template = format!(
        "By {}, changing a file in buffers of 4 KiB takes {{total}} for each KiB: {{fetch}} of it \
         to fetch, {{compute}} to compute, {{put_back}} to put back.",
        way.name
    );
    let finding = Finding::new(way.key, &template)
        .with("total", &estimated(total), Unit::Nanoseconds)
        .with("fetch", &fetch, Unit::Share)
        .with("compute", &compute, Unit::Share)
        .with("put_back", &put_back, Unit::Share);
    let grade = known(&[&estimated(total), &fetch, &compute, &put_back]);
    Some(finding.graded(grade).weighing(0.5))
}

/// What makes the mapping look so fast.
fn without_waiting(results: &Results) -> Option<Finding> {
    let calls = at(results, TOTAL, PAGE)?;
    let mapped = at(results, MAP_TOTAL, PAGE)?;
    let sync = at(results, MAP_SYNC, PAGE)?;
    let times = ratio_within(calls, mapped)?;
    let template = "To change a file in place in buffers of 4 KiB takes {mapped} for each KiB by mmap, \
                    and {times} as long by read and write with O_SYNC, which alone wait for the \
                    device at each turn. One fsync after all by mmap takes {sync} more for each KiB.";
    let finding = Finding::new("without_waiting", template)
        .with("mapped", &estimated(mapped), Unit::Nanoseconds)
        .with("times", &times, Unit::Ratio)
        .with("sync", &estimated(sync), Unit::Nanoseconds);
    Some(finding.graded(grade(&times, 1.0)).weighing(0.6))
}

/// The buffer in which the writes that wait cost least.
fn best_buffer(results: &Results) -> Option<Finding> {
    let totals = results.curve(TOTAL, BUFFER_SIZE, &[]);
    let (best, least) = totals
        .iter()
        .min_by(|(_, a), (_, b)| a.centre.total_cmp(&b.centre))?;
    let (smallest, most) = totals.first().filter(|_| totals.len() > 1)?;
    let times = ratio(most, least)?;
    let template = "By read and write with O_SYNC, buffers of {best} are the best: {least} for \
                    each KiB, and {times} that in buffers of {smallest}.";
    let finding = Finding::new("best_buffer", template)
        .given("best", *best as f64, Unit::Bytes)
        .with("least", &estimated(least), Unit::Nanoseconds)
        .with("times", &times, Unit::Ratio)
        .given("smallest", *smallest as f64, Unit::Bytes);
    let grade = grade(&times, 1.0).max(Grade::Likely);
    Some(finding.graded(grade).weighing(0.5))
}
