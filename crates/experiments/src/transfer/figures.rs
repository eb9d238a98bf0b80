//! The report's four charts, and one of ratios.

use super::findings::curve;
use super::points::{PAIRS, PLAIN, Pair};
use super::reading::Reading;
use super::{RECEIVER_TIME, SIZE, TIME};
use crate::estimates::ratios;
use crate::figures::{curves, linear, logarithmic};
use instrument::figure::{Figure, FigurePoint, Series};
use instrument::quantity::Unit;
use instrument::results::{Estimate, Results, Verdict};
use instrument::statistics::Estimated;

pub(super) fn all(results: &Results) -> Vec<Figure> {
    let line = |pair: Pair, metric, label: &str| {
        results.series(label, metric, SIZE, &pair.levels(Reading::First))
    };
    let by_pair = |pair: Pair| line(pair, TIME, &pair.label());
    let both_ends = |pair| {
        vec![
            line(pair, TIME, "as the sender sees it"),
            line(pair, RECEIVER_TIME, "as the receiver sees it"),
        ]
    };
    let [_, mapped_sender, mapped_receiver, mapped_both, ..] = PAIRS;
    let times = [
        (
            "receiver",
            "Time of a file: receiver by mmap and by write",
            vec![by_pair(PLAIN), by_pair(mapped_receiver)],
        ),
        (
            "sender",
            "Time of a file: sender by mmap and by read",
            vec![by_pair(PLAIN), by_pair(mapped_sender)],
        ),
        (
            "file",
            "Time of a file by read and write, at both ends",
            both_ends(PLAIN),
        ),
        (
            "mmap",
            "Time of a file by mmap, at both ends",
            both_ends(mapped_both),
        ),
    ];
    let times = times.into_iter().map(|(key, title, series)| {
        let axes = (
            logarithmic("file size", Unit::Bytes),
            logarithmic("time", Unit::Nanoseconds),
        );
        curves(key, title, axes, series, Vec::new())
    });
    times.chain([gains(results)]).collect()
}

/// How much faster each pair is than read and write on both sides.
fn gains(results: &Results) -> Figure {
    let plain = curve(results, PLAIN, Reading::First);
    let others = PAIRS.into_iter().filter(|pair| *pair != PLAIN);
    let series = others.filter_map(|pair| {
        let other = curve(results, pair, Reading::First);
        let gains = ratios(&plain, &other);
        (!gains.is_empty()).then(|| Series {
            label: pair.label(),
            points: gains
                .iter()
                .map(|(size, gain)| drawn(*size, gain))
                .collect(),
        })
    });
    curves(
        "gain",
        "How many times as fast as read and write on both sides",
        (
            logarithmic("file size", Unit::Bytes),
            linear("gain", Unit::Ratio),
        ),
        series.collect(),
        Vec::new(),
    )
}

fn drawn(size: u64, gain: &Estimated) -> FigurePoint {
    FigurePoint {
        x: size.into(),
        estimate: Estimate {
            metric: "gain".into(),
            centre: gain.centre,
            interval: gain.interval,
            raw: None,
            processes: gain.n,
            samples: gain.n,
            by_process: Vec::new(),
            cpu_share: None,
            system_share: None,
            percentiles: None,
            verdict: Verdict::Sound,
        },
        doubtful: false,
    }
}
