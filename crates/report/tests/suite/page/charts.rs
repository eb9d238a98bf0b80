//! Charts in the page.

use super::packed::whole;
use crate::fixture;
use instrument::figure::{Figure, FigureAxis, FigureKind, FigurePoint, FigureScale, Mark, Series};
use instrument::quantity::Unit;
use oscope_report::page;

/// The `svg` elements of the charts in a page, without the pictures of the machine.
fn charts(page: &str) -> Vec<&str> {
    let starts = page.match_indices("<svg xmlns=").map(|(start, _)| start);
    let chart = |start: usize| {
        let rest = &page[start..];
        &rest[..rest.find("</svg>").expect("an end") + "</svg>".len()]
    };
    let charts = starts.map(chart);
    charts
        .filter(|chart| !chart.contains("class=\"chart glance\""))
        .collect()
}

/// The page of a run whose first experiment has only this figure.
fn page_with(figure: Figure) -> String {
    let mut analysis = fixture::analysis();
    analysis.experiments.truncate(1);
    analysis.experiments[0].figures = vec![figure];
    page::render(&analysis)
}

fn parsed(chart: &str) -> roxmltree::Document<'_> {
    roxmltree::Document::parse(chart).unwrap_or_else(|error| panic!("{error} in {chart}"))
}

#[test]
fn every_chart_is_well_formed_named_and_described() {
    let page = whole(&page::render(&fixture::analysis()));
    let charts = charts(&page);
    // Four figures, two scales.
    assert_eq!(charts.len(), 8);
    for chart in charts {
        let chart = parsed(chart);
        let root = chart.root_element();
        assert_eq!(root.attribute("role"), Some("img"));
        let label = root.attribute("aria-label");
        assert!(label.is_some_and(|label| !label.is_empty()));
        let mut children = root.children();
        assert!(children.any(|it| it.has_tag_name("desc") && it.text().is_some()));
    }
}

/// Curves of speeds along block sizes.
fn by_size(title: &str, series: Vec<Series>, marks: Vec<Mark>) -> Figure {
    Figure {
        key: "by_size".into(),
        title: title.into(),
        kind: FigureKind::Curve,
        x: FigureAxis::new("block size", Some(Unit::Bytes), FigureScale::Logarithmic),
        y: FigureAxis::new("speed", Some(Unit::BytesPerSecond), FigureScale::Linear),
        series,
        marks,
    }
}

fn point(x: u64, centre: f64, doubtful: bool) -> FigurePoint {
    FigurePoint {
        x: x.into(),
        estimate: fixture::estimate("speed", centre, 0.05),
        doubtful,
    }
}

#[test]
fn a_small_chart_is_drawn_as_before() {
    let series = Series {
        label: "read".into(),
        // The last is behind a cliff.
        points: vec![
            point(1024, 1e9, false),
            point(4096, 2e9, true),
            point(8192, 2e10, false),
        ],
    };
    let place = fixture::quantity(2048.0, (1800.0, 2500.0), Unit::Bytes);
    let mark = Mark::found("page", place);
    let page = page_with(by_size("Speed", vec![series], vec![mark]));
    insta::assert_snapshot!(charts(&page)[0].replace("><", ">\n<"));
}

#[test]
fn many_series_get_a_panel_each() {
    let series = |index: u64| Series {
        label: format!("thread {index}"),
        points: vec![point(1024, 1e9, false)],
    };
    let page = page_with(by_size("Many", (0..9).map(series).collect(), Vec::new()));
    let chart = parsed(charts(&page)[0]);
    let nodes = chart.descendants();
    let panels = nodes.filter(|node| node.attribute("class") == Some("panel"));
    assert_eq!(panels.count(), 9);
}
