//! The page of a full run stays small enough for e-mail.

use super::charts::by_size;
use crate::fixture;
use instrument::figure::Figure;
use instrument::noise::Warning;
use instrument::point::{Level, Point};
use instrument::results::{PointResult, Results};
use oscope_report::{ExperimentAnalysis, page};

const LIMIT_BYTES: usize = 2_000_000;
const KINDS: [&str; 5] = ["a", "b", "c", "d", "e"];

/// 100 points for each of five experiments, with two metrics and ten processes each.
fn full_points() -> Vec<PointResult> {
    let mut points = Vec::new();
    for kind in KINDS {
        for step in 0..20_u32 {
            let point = Point::new()
                .with("pass", kind)
                .with("block_size", 1024_u64 << step);
            let estimates = ["speed", "cpu"].map(|metric| {
                let centre = 1.234_567e9 * f64::from(step + 1);
                let mut estimate = fixture::estimate(metric, centre, 0.0321);
                let process = |index: u32| centre * (1.0 + f64::from(index).sin() / 33.3);
                estimate.by_process = (0..10).map(process).collect();
                estimate
            });
            let mut result = fixture::result(point, estimates.into());
            if step % 5 == 0 {
                result.warnings.push(Warning::Drift {
                    metric: "speed".into(),
                    change: 0.13,
                });
            }
            points.push(result);
        }
    }
    points
}

fn full_figure(results: &Results, metric: &str) -> Figure {
    let series =
        |kind: &str| results.series(kind, metric, "block_size", &[("pass", Level::from(kind))]);
    let title = format!("{metric} against block size");
    by_size(&title, KINDS.map(series).into(), Vec::new())
}

#[test]
fn five_hundred_points_of_ten_processes_stay_below_the_limit() {
    let run = fixture::run();
    let definition = fixture::files();
    let experiments = (0..5).map(|_| {
        let results = Results {
            definition: &definition,
            machine: &run.machine,
            points: full_points(),
        };
        let figures = ["speed", "cpu"].map(|metric| full_figure(&results, metric));
        ExperimentAnalysis {
            figures: figures.into(),
            ..fixture::analysed(&definition, results.points)
        }
    });
    let mut analysis = fixture::analysis(&run);
    analysis.experiments = experiments.collect();
    let page = page::render(&analysis).expect("a page");
    assert!(page.len() < LIMIT_BYTES, "{} bytes", page.len());
}
