//! Property tests: any figure becomes a valid chart, and any run can be shown.

use crate::page::plot;
use crate::terminal::{self, Style};
use crate::{ExperimentAnalysis, json, made_up, reference, view};
use instrument::experiment::{Better, Definition, Isolation, Metric};
use instrument::figure::{
    Figure, FigureAxis, FigureKind, FigurePoint, FigureScale, Mark, MarkOrigin, Series,
};
use instrument::finding::{Finding, sentence};
use instrument::noise::Warning;
use instrument::point::{Axis, Level, Point};
use instrument::quantity::{Quantity, Unit};
use instrument::results::{Estimate, Percentiles, PointResult, Verdict};
use instrument::statistics::Interval;
use proptest::prelude::*;
use proptest::sample::select;

const ESCAPE: char = '\u{1b}';
/// Words of any letters, and those that a terminal without Unicode shows.
const ANY: &str = ".{0,20}";
const ASCII: &str = "[ -~]{0,12}";

const UNITS: [Unit; 7] = [
    Unit::BytesPerSecond,
    Unit::OperationsPerSecond,
    Unit::Nanoseconds,
    Unit::Bytes,
    Unit::Count,
    Unit::Share,
    Unit::Ratio,
];

/// Any number, with frequent edge cases.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => 1e-3..1e12,
        1 => prop::num::f64::ANY,
        1 => -1e3..1e3,
        1 => select(vec![0.0, f64::NAN, f64::INFINITY, f64::MAX, f64::MIN_POSITIVE]),
    ]
}

fn level(words: &'static str) -> impl Strategy<Value = Level> {
    prop_oneof![
        4 => (0_u32..64).prop_map(|shift| Level::Number(1 << shift)),
        2 => (0_u64..64).prop_map(Level::Number),
        1 => any::<u64>().prop_map(Level::Number),
        2 => words.prop_map(Level::Choice),
    ]
}

fn estimate() -> impl Strategy<Value = Estimate> {
    let verdict = prop_oneof![
        3 => Just(Verdict::Sound),
        1 => Just(Verdict::TooFew),
        1 => Just(Verdict::BelowResolution),
        1 => Just(Verdict::Broken("it cannot be".into())),
    ];
    let metric = select(vec!["one", "two", "unheard of"]);
    let processes = prop::collection::vec(number(), 0..4);
    let all = (metric, number(), number(), number(), processes, verdict);
    all.prop_map(
        |(metric, centre, low, high, by_process, verdict)| Estimate {
            metric: metric.into(),
            centre,
            interval: Interval::new(low.min(high), high.max(low)),
            raw: Some(low),
            processes: by_process.len(),
            by_process,
            cpu_share: Some(high),
            percentiles: Some(Percentiles {
                p5_ns: low,
                p50_ns: centre,
                p95_ns: high,
                p99_ns: high,
            }),
            verdict,
            ..made_up::estimate(1.0)
        },
    )
}

fn figure(words: &'static str) -> impl Strategy<Value = Figure> {
    let kinds = [
        FigureKind::Curve,
        FigureKind::Bars,
        FigureKind::Timeline,
        FigureKind::Matrix,
    ];
    let axis = || {
        let scale = select(vec![FigureScale::Linear, FigureScale::Logarithmic]);
        let unit = prop::option::of(select(UNITS.to_vec()));
        (words, unit, scale).prop_map(|(title, unit, scale)| FigureAxis { title, unit, scale })
    };
    let point = (level(words), estimate(), any::<bool>());
    let point = point.prop_map(|(x, estimate, doubtful)| FigurePoint {
        x,
        estimate,
        doubtful,
    });
    let series = (words, prop::collection::vec(point, 0..5));
    let series = series.prop_map(|(label, points)| Series { label, points });
    let origin = select(vec![MarkOrigin::Found, MarkOrigin::Documented]);
    let mark = (number(), number(), number(), origin).prop_map(|(at, low, high, origin)| Mark {
        label: "mark".into(),
        at,
        interval: Interval::new(low, high),
        origin,
    });
    let series = prop::collection::vec(series, 0..9);
    let marks = prop::collection::vec(mark, 0..4);
    let all = (select(kinds.to_vec()), axis(), axis(), series, marks, words);
    all.prop_map(|(kind, x, y, series, marks, title)| Figure {
        key: "any".into(),
        title,
        kind,
        x,
        y,
        series,
        marks,
    })
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
    let levels = prop::collection::vec(level(ASCII), 0..3);
    let estimates = prop::collection::vec(estimate(), 0..3);
    let warnings = prop::collection::vec(warning(), 0..2);
    (levels, estimates, warnings).prop_map(|(levels, estimates, warnings)| {
        let levels = ["size", "threads", "pass"].into_iter().zip(levels);
        PointResult {
            point: levels.fold(Point::new(), |point, (axis, level)| point.with(axis, level)),
            estimates,
            warnings,
            remarks: vec!["a remark".into()],
        }
    })
}

fn definition(one: Unit, two: Unit) -> Definition {
    Definition {
        id: "made.up".into(),
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
        ..Definition::default()
    }
}

proptest! {
    #[test]
    fn any_figure_becomes_a_well_formed_chart_whose_coordinates_are_numbers(
        figure in figure(ANY),
    ) {
        let chart = plot(&figure, "A machine. Measured today.");
        let chart = roxmltree::Document::parse(&chart).expect("well-formed XML");
        for node in chart.descendants() {
            // Labels may contain any text.
            for attribute in node.attributes().filter(|it| it.name() != "aria-label") {
                let value = attribute.value();
                prop_assert!(!value.contains("NaN") && !value.contains("inf"), "{value}");
            }
        }
    }

    #[test]
    fn any_run_can_be_shown(
        points in prop::collection::vec(point(), 0..6),
        figure in figure(ASCII),
        (width, colour, unicode) in (0_usize..200, any::<bool>(), any::<bool>()),
        (one, two) in (select(UNITS.to_vec()), select(UNITS.to_vec())),
        value in number(),
    ) {
        let style = Style { width, colour, unicode };
        let definition = definition(one, two);
        let run = reference::ALL[0].run();
        let number = Quantity { value, interval: Interval::new(value / 2.0, value * 2.0), unit: one };
        let finding = Finding::new("key", sentence!("It is {number}, not {{nothing}}."));
        let experiment = ExperimentAnalysis {
            definition: &definition,
            skipped: None,
            failures: Vec::new(),
            findings: vec![finding],
            figures: vec![figure],
            points,
        };
        let document = view::experiment(&experiment, Some(4e9));
        let shown = terminal::paint(&document, &style, false);
        prop_assert!(shown.ends_with('\n'));
        let analysis = made_up::analysis(&run, vec![experiment]);
        let shown = terminal::paint(&view::summary(&analysis), &style, false);
        prop_assert!(shown.ends_with('\n'));
        prop_assert!(unicode || shown.is_ascii());
        prop_assert!(colour || !shown.contains(ESCAPE));
        prop_assert_eq!(json::analysis(&analysis)["format"].as_u64(), Some(u64::from(json::FORMAT)));
    }
}
