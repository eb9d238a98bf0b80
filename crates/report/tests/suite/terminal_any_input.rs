//! Any run can be shown: nothing panics, and no number is broken across lines.

use crate::fixture;
use instrument::experiment::{Better, Definition, Isolation, Metric};
use instrument::figure::{Figure, FigureKind, FigureScale, Mark, MarkOrigin, Series};
use instrument::finding::{Finding, sentence};
use instrument::noise::Warning;
use instrument::point::{Axis, Level, Point};
use instrument::quantity::{Quantity, Unit};
use instrument::results::{Estimate, Percentiles, PointResult, Results, Verdict};
use instrument::statistics::Interval;
use oscope_report::terminal::{self, Style};
use oscope_report::{Analysis, ExperimentAnalysis, Surroundings, json, view};
use proptest::prelude::*;

const ESCAPE: char = '\u{1b}';

const UNITS: [Unit; 7] = [
    Unit::BytesPerSecond,
    Unit::OperationsPerSecond,
    Unit::Nanoseconds,
    Unit::Bytes,
    Unit::Count,
    Unit::Share,
    Unit::Ratio,
];

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => 1e-3..1e12,
        1 => prop::num::f64::ANY,
        1 => Just(0.0),
        1 => Just(f64::MAX),
        1 => Just(f64::MIN_POSITIVE),
    ]
}

fn level() -> impl Strategy<Value = Level> {
    prop_oneof![
        4 => (0_u32..64).prop_map(|shift| Level::Number(1 << shift)),
        1 => any::<u64>().prop_map(Level::Number),
        1 => "[a-z+ ]{0,12}".prop_map(|choice| Level::from(choice.as_str())),
    ]
}

fn estimate() -> impl Strategy<Value = Estimate> {
    let verdict = prop_oneof![
        3 => Just(Verdict::Sound),
        1 => Just(Verdict::TooFew),
        1 => Just(Verdict::BelowResolution),
        1 => Just(Verdict::Broken("it cannot be".into())),
    ];
    let numbers = (
        number(),
        number(),
        number(),
        prop::collection::vec(number(), 0..4),
    );
    (
        numbers,
        verdict,
        prop::sample::select(vec!["one", "two", "unheard of"]),
    )
        .prop_map(
            |((centre, low, high, by_process), verdict, metric)| Estimate {
                unit: Unit::Count,
                metric: metric.into(),
                centre,
                interval: Interval::new(low.min(high), high.max(low)),
                raw: Some(low),
                uncorrected: Some(high),
                passes: by_process.len(),
                processes: by_process.len(),
                samples: 1,
                impossible: 0,
                disturbed: Some(0.0),
                by_next_clock: 0.0,
                clock_slope: None,
                by_process,
                pass_of: Vec::new(),
                cpu_share: Some(high),
                system_share: None,
                percentiles: Some(Percentiles {
                    p5_ns: low,
                    p50_ns: centre,
                    p95_ns: high,
                    p99_ns: high,
                }),
                verdict,
            },
        )
}

fn warning() -> impl Strategy<Value = Warning> {
    prop_oneof![
        Just(Warning::NotWarm),
        number().prop_map(|change| Warning::Drift {
            metric: "one".into(),
            change
        }),
        prop::collection::vec(number(), 0..3).prop_map(|centres| Warning::SeveralModes {
            metric: "two".into(),
            centres
        }),
    ]
}

fn point() -> impl Strategy<Value = PointResult> {
    (
        prop::collection::vec(level(), 0..3),
        prop::collection::vec(estimate(), 0..3),
        prop::collection::vec(warning(), 0..2),
    )
        .prop_map(|(levels, estimates, warnings)| {
            let axes = ["size", "threads", "pass"];
            let point = axes
                .iter()
                .zip(levels)
                .fold(Point::new(), |point, (axis, level)| match level {
                    Level::Number(number) => point.with(axis, number),
                    Level::Choice(choice) => point.with(axis, choice.as_str()),
                });
            PointResult {
                point,
                estimates,
                warnings,
                remarks: vec!["a remark".into()],
            }
        })
}

fn style() -> impl Strategy<Value = Style> {
    (0_usize..200, any::<bool>(), any::<bool>()).prop_map(|(width, colour, unicode)| Style {
        width,
        colour,
        unicode,
    })
}

fn definition(one: Unit, two: Unit) -> Definition {
    Definition {
        id: "made.up".into(),
        title: "Made up".into(),
        question: "What if?".into(),
        method: "By chance.".into(),
        source: "nowhere".into(),
        axes: vec![
            Axis::bytes("size", "size"),
            Axis::count("threads", "threads"),
            Axis::choice("pass", "pass"),
        ],
        metrics: vec![
            Metric::new("one", "one", one, Better::Higher),
            Metric::new("two", "two", two, Better::Neither),
        ],
        isolation: Isolation::FreshProcess,
    }
}

const KINDS: [FigureKind; 4] = [
    FigureKind::Curve,
    FigureKind::Bars,
    FigureKind::Timeline,
    FigureKind::Matrix,
];

fn figure(results: &Results, kind: FigureKind, scale: FigureScale, unit: Unit, at: f64) -> Figure {
    let series = |metric: &str| -> Series { results.series(metric, metric, "size", &[]) };
    let mark = |at, interval| Mark {
        label: "here".into(),
        at,
        interval,
        origin: MarkOrigin::Found,
    };
    Figure {
        key: "figure".into(),
        title: "A figure".into(),
        kind,
        x: fixture::axis("size", Some(Unit::Bytes), FigureScale::Logarithmic),
        y: fixture::axis("one", Some(unit), scale),
        series: vec![series("one"), series("two"), series("missing")],
        marks: vec![
            mark(at, None),
            mark(4096.0, Interval::new(1024.0, 65_536.0)),
        ],
    }
}

proptest! {
    #[test]
    fn anything_can_be_shown(
        points in prop::collection::vec(point(), 0..6),
        style in style(),
        units in (prop::sample::select(UNITS.to_vec()), prop::sample::select(UNITS.to_vec())),
        at in number(),
        kind in prop::sample::select(KINDS.to_vec()),
        logarithmic: bool,
    ) {
        let definition = definition(units.0, units.1);
        let run = fixture::run();
        let results = Results { definition: &definition, machine: &run.machine, points };
        let scale = if logarithmic { FigureScale::Logarithmic } else { FigureScale::Linear };
        let number = Quantity { value: at, interval: Interval::new(at / 2.0, at * 2.0), unit: units.0 };
        let finding = Finding::new("key", sentence!("It is {number}, not {{nothing}}."));
        let experiment = ExperimentAnalysis {
            definition: &definition,
            skipped: None,
            failures: Vec::new(),
            findings: vec![finding],
            figures: vec![figure(&results, kind, scale, units.0, at)],
            points: results.points,
        };
        let document = view::experiment(&experiment, Some(4e9));
        let shown = terminal::paint(&document, &style, false);
        prop_assert!(shown.ends_with('\n'));
        let analysis = Analysis {
            run: &run,
            experiments: vec![experiment],
            claims: Vec::new(),
            advice: advice::Advice::default(),
            surroundings: Surroundings::default(),
            samples: run.sample_count(),
        };
        let shown = terminal::paint(&view::summary(&analysis), &style, false);
        prop_assert!(shown.ends_with('\n'));
        prop_assert!(style.unicode || shown.is_ascii());
        prop_assert!(style.colour || !shown.contains(ESCAPE));
        prop_assert_eq!(json::analysis(&analysis)["format"].as_u64(), Some(u64::from(json::FORMAT)));
    }
}
