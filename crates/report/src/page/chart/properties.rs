//! Property tests: every figure becomes a valid chart.

use super::render::{Names, render};
use super::svg::{FONT, text_width};
use instrument::figure::{
    Figure, FigureAxis, FigureKind, FigurePoint, FigureScale, Mark, MarkOrigin, Series,
};
use instrument::point::Level;
use instrument::quantity::Unit;
use instrument::results::{Estimate, Verdict};
use instrument::statistics::Interval;
use proptest::prelude::*;

/// Any number, with frequent edge cases.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>(),
        -1e3..1e12,
        Just(0.0),
        Just(f64::NAN),
        Just(f64::INFINITY),
        Just(f64::MAX),
        Just(f64::MIN_POSITIVE),
    ]
}

fn level() -> impl Strategy<Value = Level> {
    prop_oneof![
        any::<u64>().prop_map(Level::Number),
        (0_u64..64).prop_map(Level::Number),
        ".{0,12}".prop_map(Level::Choice),
    ]
}

fn estimate() -> impl Strategy<Value = Estimate> {
    let verdict = prop_oneof![
        3 => Just(Verdict::Sound),
        1 => Just(Verdict::BelowResolution),
        1 => Just(Verdict::TooFew),
        1 => ".*".prop_map(Verdict::Broken),
    ];
    let processes = prop::collection::vec(number(), 0..4);
    (number(), number(), number(), processes, verdict).prop_map(
        |(centre, low, high, by_process, verdict)| Estimate {
            centre,
            interval: Interval::new(low, high),
            by_process,
            verdict,
            uncorrected: Some(low),
            ..crate::made_up::estimate(1.0)
        },
    )
}

fn series() -> impl Strategy<Value = Series> {
    let point =
        (level(), estimate(), any::<bool>()).prop_map(|(x, estimate, doubtful)| FigurePoint {
            x,
            estimate,
            doubtful,
        });
    (".{0,20}", prop::collection::vec(point, 0..5))
        .prop_map(|(label, points)| Series { label, points })
}

fn figure() -> impl Strategy<Value = Figure> {
    let kind = prop_oneof![
        Just(FigureKind::Curve),
        Just(FigureKind::Bars),
        Just(FigureKind::Timeline),
        Just(FigureKind::Matrix),
    ];
    let scale = || prop_oneof![Just(FigureScale::Linear), Just(FigureScale::Logarithmic)];
    let unit = || {
        prop_oneof![
            Just(None),
            Just(Some(Unit::Bytes)),
            Just(Some(Unit::BytesPerSecond)),
            Just(Some(Unit::Nanoseconds)),
            Just(Some(Unit::Count)),
            Just(Some(Unit::Share)),
        ]
    };
    let mark = (number(), number(), number(), any::<bool>()).prop_map(|(at, low, high, found)| {
        let origin = if found {
            MarkOrigin::Found
        } else {
            MarkOrigin::Documented
        };
        Mark {
            label: "mark".into(),
            at,
            interval: Interval::new(low, high),
            origin,
        }
    });
    let lists = (
        prop::collection::vec(series(), 0..9),
        prop::collection::vec(mark, 0..4),
    );
    (kind, (unit(), scale()), (unit(), scale()), lists, ".{0,20}").prop_map(
        |(kind, (x, x_scale), (y, y_scale), (series, marks), title)| Figure {
            key: "any".into(),
            x: FigureAxis {
                title: title.clone(),
                unit: x,
                scale: x_scale,
            },
            y: FigureAxis {
                title: title.clone(),
                unit: y,
                scale: y_scale,
            },
            title,
            kind,
            series,
            marks,
        },
    )
}

/// The boxes of all texts of a chart: left, top, right, bottom.
fn boxes(chart: &roxmltree::Document<'_>) -> Vec<[f64; 4]> {
    let texts = chart.descendants().filter(|node| node.has_tag_name("text"));
    let area = |node: roxmltree::Node<'_, '_>| {
        let [x, y] = ["x", "y"].map(|name| node.attribute(name).and_then(|it| it.parse().ok()));
        let (x, y): (f64, f64) = (x?, y?);
        let width = text_width(node.text()?, FONT);
        let left = match node.attribute("text-anchor") {
            Some("end") => x - width,
            Some("middle") => x - width / 2.0,
            _ => x,
        };
        // Positions are printed to a tenth of a pixel.
        Some([left + 0.2, y - FONT * 0.7, left + width - 0.2, y])
    };
    texts.filter_map(area).collect()
}

proptest! {
    #[test]
    fn it_becomes_a_well_formed_chart_whose_coordinates_are_numbers(
        figure in figure(),
        logarithmic: bool,
    ) {
        let kind = if logarithmic { FigureScale::Logarithmic } else { FigureScale::Linear };
        let chart = render(&figure, kind, Names::InChart);
        let chart = roxmltree::Document::parse(&chart).expect("well-formed XML");
        for node in chart.descendants() {
            // Labels may contain any text.
            for attribute in node.attributes().filter(|attribute| attribute.name() != "aria-label") {
                let value = attribute.value();
                prop_assert!(!value.contains("NaN") && !value.contains("inf"), "{value}");
            }
        }
        let boxes = boxes(&chart);
        for (index, one) in boxes.iter().enumerate() {
            for other in &boxes[..index] {
                let apart = one[0] >= other[2] || other[0] >= one[2] || one[1] >= other[3]
                    || other[1] >= one[3];
                prop_assert!(apart, "two labels overlap: {one:?} {other:?}");
            }
        }
    }
}
