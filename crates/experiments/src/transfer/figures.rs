//! The report's four charts, and one of ratios.

use super::findings::curve;
use super::points::{PAIRS, PLAIN, Pair};
use super::reading::Reading;
use super::{RECEIVER_TIME, SIZE, TIME};
use crate::estimates::ratios;
use crate::figures::{curves, logarithmic};
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
            line(pair, TIME, "at the sender"),
            line(pair, RECEIVER_TIME, "at the receiver"),
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
                .map(|(size, gain)| {
                    let is_doubtful = |pair| is_doubtful(results, pair, *size);
                    drawn(*size, gain, is_doubtful(PLAIN) || is_doubtful(pair))
                })
                .collect(),
        })
    });
    curves(
        "gain",
        "How many times as fast as read and write on both sides",
        (
            logarithmic("file size", Unit::Bytes),
            logarithmic("gain", Unit::Ratio),
        ),
        series.collect(),
        Vec::new(),
    )
}

/// Whether a warning touches the time of a pair at a size.
fn is_doubtful(results: &Results<'_>, pair: Pair, size: u64) -> bool {
    let [sender, receiver, reading] = pair.levels(Reading::First);
    let found = results.at(&[sender, receiver, reading, (SIZE, size.into())]);
    found.is_some_and(|found| found.is_doubtful(TIME))
}

fn drawn(size: u64, gain: &Estimated, doubtful: bool) -> FigurePoint {
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
        doubtful,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{SIZE, TIME, TransferOfFiles};
    use super::{PAIRS, PLAIN, Pair, Reading};
    use crate::made_up::{cost_result, machine, results};
    use instrument::experiment::Experiment;
    use instrument::figure::FigurePoint;
    use instrument::noise::Warning;
    use instrument::point::Point;
    use instrument::results::PointResult;

    #[test]
    fn a_gain_is_as_doubtful_as_the_times_it_is_made_of() {
        let at = |pair: Pair, size: u64| {
            let levels = pair.levels(Reading::First).into_iter();
            let point = levels.fold(Point::new(), |point, (axis, level)| point.with(axis, level));
            cost_result(
                &TransferOfFiles,
                &point.with(SIZE, size),
                &[(TIME, 1e6, 1.0)],
            )
        };
        let missed = Warning::TargetMissed {
            metric: TIME.into(),
            reached: None,
            target: 0.05,
        };
        let doubtful = PointResult {
            warnings: vec![missed],
            ..at(PLAIN, 1)
        };
        let points = vec![
            doubtful,
            at(PLAIN, 1024),
            at(PAIRS[1], 1),
            at(PAIRS[1], 1024),
        ];
        let (definition, machine) = (TransferOfFiles.definition(), machine());
        let figures = TransferOfFiles.figures(&results(&definition, &machine, points));
        let gain = figures.iter().find(|figure| figure.key == "gain");
        let of_mapping = &gain.expect("it is the fifth").series[0].points;
        let is_doubtful: Vec<_> = of_mapping
            .iter()
            .map(|point: &FigurePoint| point.doubtful)
            .collect();
        assert_eq!(is_doubtful, [true, false]);
    }
}
