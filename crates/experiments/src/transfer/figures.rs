//! The times of the report's pairs, and one chart of ratios.

use super::levels::{
    FROM_MAPPING, INTO_MAPPING, PAIRS, PLAIN, Pair, Reading, SIZE, TIME, curve, is_in_turn,
    times_over,
};
use crate::estimates::value_at;
use crate::figures::{curves, logarithmic};
use crate::prelude::*;
use instrument::figure::{FigurePoint, Series};

pub(super) fn all(results: &Results) -> Vec<Figure> {
    let by_pair =
        |pair: Pair| results.series(&pair.label(), TIME, SIZE, &pair.levels(Reading::First));
    let times = [
        (
            "receiver",
            "Time of a file: receiver by mmap and by write",
            vec![by_pair(PLAIN), by_pair(INTO_MAPPING)],
        ),
        (
            "sender",
            "Time of a file: sender by mmap and by read",
            vec![by_pair(PLAIN), by_pair(FROM_MAPPING)],
        ),
    ];
    let times = times.into_iter().map(|(key, title, series)| {
        curves(key, title, (SIZE, logarithmic("time", TIME.unit)), series)
    });
    times.chain([gains(results)]).collect()
}

/// The speed of each pair relative to read and write on both sides.
fn gains(results: &Results) -> Figure {
    let others = PAIRS.into_iter().filter(|pair| *pair != PLAIN);
    let series = others.filter_map(|pair| {
        let involved = if is_in_turn(results, pair, Reading::First) {
            vec![pair]
        } else {
            vec![pair, PLAIN]
        };
        let times = curve(results, pair, Reading::First);
        let gains = times_over(results, [PLAIN, pair], Reading::First);
        let points = gains.iter().filter_map(|(size, gain)| {
            let time = value_at(&times, *size)?;
            let is_doubtful = |pair: &Pair| is_doubtful(results, *pair, *size);
            let doubtful = involved.iter().any(is_doubtful);
            Some(point(*size, gain, time.processes, doubtful))
        });
        let points: Vec<FigurePoint> = points.collect();
        (!points.is_empty()).then(|| Series {
            label: pair.label(),
            points,
        })
    });
    curves(
        "gain",
        "How many times as fast as read and write on both sides",
        (SIZE, logarithmic("gain", Unit::Ratio)),
        series.collect(),
    )
}

/// True if a warning concerns the time of a pair at a size.
fn is_doubtful(results: &Results<'_>, pair: Pair, size: Bytes) -> bool {
    let [sender, receiver, reading] = pair.levels(Reading::First);
    let found = results.at(&[sender, receiver, reading, SIZE.at(size)]);
    found.is_some_and(|found| found.is_doubtful(TIME.name))
}

fn point(size: Bytes, gain: &Quantity, processes: usize, doubtful: bool) -> FigurePoint {
    FigurePoint {
        x: size.0.into(),
        estimate: Estimate {
            metric: "gain".into(),
            processes,
            samples: processes,
            ..(*gain).into()
        },
        doubtful,
    }
}

#[cfg(test)]
mod tests {
    use super::super::TransferOfFiles;
    use super::{FROM_MAPPING, PLAIN, Pair, Reading, TIME};
    use crate::made_up::{figures, measured};
    use crate::prelude::*;
    use instrument::figure::FigurePoint;
    use instrument::noise::Warning;

    #[test]
    fn a_gain_is_as_doubtful_as_the_times_it_is_made_of() {
        let at = |pair: Pair, size| {
            let point = pair.point(&Point::new(), Reading::First, Bytes(size));
            measured(point, &[(TIME, 1e6)])
        };
        let missed = Warning::TargetMissed {
            metric: TIME.name.into(),
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
            at(FROM_MAPPING, 1),
            at(FROM_MAPPING, 1024),
        ];
        let figures = figures(&TransferOfFiles, points);
        let gain = figures.iter().find(|figure| figure.key == "gain");
        let of_mapping = &gain.expect("it is the third").series[0].points;
        let is_doubtful: Vec<_> = of_mapping
            .iter()
            .map(|point: &FigurePoint| point.doubtful)
            .collect();
        assert_eq!(is_doubtful, [true, false]);
    }
}
