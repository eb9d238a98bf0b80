//! The published reports, reproduced by made-up values.

use crate::fixture::{estimate, measured, result};
use crate::page::select;
use instrument::definition::Definition;
use instrument::point::Point;
use instrument::results::{PointResult, Results};
use oscope_report::reproduce::{
    self, Choice, Measured, Outcome, Report, Reproduction, Shape, ShapeKind,
};
use oscope_report::terminal::{self, Style};
use oscope_report::{markdown, page, view};
use platform::machine::Machine;

const STYLE: Style = Style {
    width: 100,
    colour: false,
    unicode: true,
};

fn reproduced(
    report: Report,
    place: &str,
    experiment: &str,
    points: Vec<PointResult>,
) -> Reproduction {
    reproduced_next_to_windows(report, place, experiment, points, None)
}

fn reproduced_next_to_windows(
    report: Report,
    place: &str,
    experiment: &str,
    points: Vec<PointResult>,
    on_windows: Option<Vec<PointResult>>,
) -> Reproduction {
    let definition: Definition = experiments::find(experiment)
        .expect("it exists")
        .definition();
    let mut machine = Machine::default();
    machine.cpu.model = Some("a made-up processor".into());
    let results = |points| Results {
        definition: &definition,
        machine: &machine,
        points,
    };
    let here = [results(points)];
    let on_windows: Vec<_> = on_windows.into_iter().map(results).collect();
    let choice = Choice {
        report: Some(report),
        place: Some(place.to_owned()),
    };
    let measured = Measured {
        results: &here,
        together: &here,
        on_windows: &on_windows,
        ..Measured::default()
    };
    Reproduction::new(&choice, &measured)
}

/// Calls that are all ten times as fast as the report's, but for one that is as fast as there and one that
/// is not known well; one is missing.
fn calls() -> Reproduction {
    let rates = [
        ("getpid", 14.866e6, 0.02),
        ("fopen w+fclose", 0.946e6, 0.02),
        ("open O_SYNC+close", 0.3895e6, 0.02),
        ("malloc+free", 116.9e6, 0.6),
        ("fork+exit+wait", 0.0333e6, 0.02),
    ];
    let points = rates.map(|(call, rate, relative)| {
        let point = Point::new().with("call", call).with("optimisation", 3);
        measured(point, [("rate", rate)], relative)
    });
    reproduced(Report::E, "Figure 26", "process.calls", points.into())
}

/// A simple body under `lock`.
fn run(lock: &str, threads: u64, us: f64) -> PointResult {
    let point = Point::new().with("body", "simple").with("lock", lock);
    measured(point.with("threads", threads), [("run", us * 1e3)], 0.02)
}

/// The numbers of threads of Table 1 in report D.
const THREADS: [u64; 5] = [1, 3, 10, 30, 99];

/// The shape of this kind in Table 1 of report D, of series whose names begin so.
fn shape(kind: ShapeKind, of: &str, points: Vec<PointResult>) -> Shape {
    let judged = reproduced(Report::D, "Table 1", "threads.lock", points);
    let shapes = judged.tables[0].shapes.clone();
    let name = |it: &Shape| format!("{} {}", it.series, it.of).trim_start().to_owned();
    let is_meant = |it: &Shape| it.kind == kind && name(it).starts_with(of);
    shapes.into_iter().find(is_meant).expect("it is judged")
}

#[test]
fn calls_are_reproduced_on_the_terminal() {
    let text = terminal::paint(&view::reproduction(&calls()), &STYLE, false);
    // Commands stay whole, to be copied.
    for line in text.lines().filter(|line| !line.starts_with("- oscope ")) {
        assert!(textwrap::core::display_width(line) <= STYLE.width, "{line}");
    }
    insta::assert_snapshot!(text);
}

#[test]
fn calls_are_reproduced_in_markdown() {
    insta::assert_snapshot!(markdown::paint(&view::reproduction(&calls()), 1));
}

#[test]
fn figure_22_is_judged_by_its_own_file_and_by_its_shape_with_any() {
    let total = |file: u64, seconds: f64| {
        let point = Point::new().with("buffer_size", 1024);
        let per_kib = seconds * 1e9 / 524_288.0;
        let total = estimate("total_timed", per_kib, 0.02);
        let points = vec![result(point.with("file_size", file), vec![total])];
        let judged = reproduced(Report::E, "Figure 22", "file.phases", points);
        let mut figures = judged.tables[0].figures.iter();
        let figure = figures.find(|it| it.figure.printed == "519.436");
        let figure = figure.expect("it was printed");
        (figure.outcome, figure.wanted.len())
    };
    // 512 MB of a KiB each, in all 519.436 s.
    assert_eq!(total(512 << 20, 519.4), (Outcome::AsReported, 0));
    assert_eq!(total(512 << 20, 5.19), (Outcome::Differs, 0));
    assert_eq!(total(1 << 20, 519.4), (Outcome::Undecided, 1));
}

/// Blocks of report B, warm and cold, at these multiples of the reported speed.
#[test]
fn blocks_are_judged_warm_and_cold() {
    let judged = |warm: Option<f64>, cold: Option<f64>| {
        let point = |(state, times): (&str, Option<f64>)| {
            let point = Point::new().with("state", state).with("threads", 16);
            let point = point.with("method", "lseek, read").with("block_size", 4096);
            let speed = 1_526.655_714 * 1_048_576.0 * times?;
            Some(result(point, vec![estimate("throughput", speed, 0.02)]))
        };
        let points = [("warm", warm), ("cold", cold)];
        let points = points.into_iter().filter_map(point).collect();
        let judged = reproduced(Report::B, "b_blocks", "file.sum", points);
        let first = &judged.tables[0].figures[0];
        (first.outcome, first.reason.clone().unwrap_or_default())
    };
    let (outcome, reason) = judged(Some(6.0), Some(1.0));
    assert_eq!(outcome, Outcome::AsReported);
    assert!(
        reason.contains("warm (") && reason.contains("cold ("),
        "{reason}"
    );
    assert_eq!(judged(Some(1.0), Some(0.2)).0, Outcome::AsReported);
    assert_eq!(judged(Some(6.0), Some(0.2)).0, Outcome::Differs);
    let (outcome, reason) = judged(Some(6.0), None);
    assert_eq!(outcome, Outcome::Undecided);
    assert!(reason.contains("cold (not measured)"), "{reason}");
}

#[test]
fn times_of_files_of_different_sizes_grow_with_their_work() {
    let points = [409_600_u64, 4_096_000_000].map(|size| {
        let point = Point::new().with("block_size", 4096).with("work", "copy");
        let point = point.with("program", "dd").with("file_size", size);
        result(point, vec![estimate("throughput", 1e9, 0.01)])
    });
    let judged = reproduced(Report::A, "a_dd", "file.against_dd", points.into());
    let shapes = judged.tables[0].shapes.iter();
    let mut growth = shapes.filter(|it| it.kind == ShapeKind::Growth && it.series == "dd");
    let here = growth.next().and_then(|it| it.here).expect("both ends");
    assert!((here.value - 1.0).abs() < 0.01, "{here:?}");
}

#[test]
fn two_series_cross_where_the_report_has_it_or_elsewhere() {
    // Of each number of threads: the spin lock's time, and the lock's.
    let later = [(10.0, 20.0), (30.0, 60.0), (99.0, 200.0)];
    for (first, second, expected) in [
        ((1.0, 2.0), (3.0, 6.0), Outcome::AsReported),
        ((2.0, 1.0), (6.0, 3.0), Outcome::Differs),
        ((2.0, 2.0), (6.0, 6.0), Outcome::Undecided),
    ] {
        let times = [first, second].into_iter().chain(later);
        let points = THREADS
            .into_iter()
            .zip(times)
            .flat_map(|(threads, (spin, lock))| {
                [run("SpinLock", threads, spin), run("Lock", threads, lock)]
            });
        let found = shape(ShapeKind::Crossover, "Simple SpinLock", points.collect());
        assert_eq!(found.outcome, expected, "{found:?}");
    }
}

#[test]
fn a_crossover_has_the_unit_of_its_axis_and_places_that_were_not_measured_decide_nothing() {
    let crossing = |mapped_ns: [f64; 4]| {
        let sizes = [1 << 10, 4 << 10, 1 << 20, 64 << 20];
        let points = sizes.into_iter().zip(mapped_ns).map(|(size, mapped)| {
            let point = Point::new()
                .with("buffer_size", size)
                .with("file_size", 64 << 20);
            let totals = [("start_total_timed", mapped), ("total_timed", 1000.0)];
            measured(point, totals, 0.02)
        });
        let judged = reproduced(Report::E, "Figure 22", "file.phases", points.collect());
        let shown = terminal::paint(&view::reproduction(&judged), &STYLE, false);
        assert!(
            !shown.contains("Nothing of it was measured here"),
            "{shown}"
        );
        let shapes = judged.tables[0].shapes.clone().into_iter();
        let mut crossings = shapes.filter(|it| it.kind == ShapeKind::Crossover);
        let found = crossings.next().expect("it is judged");
        (found.outcome, found.remark.expect("both places"))
    };
    let (outcome, remark) = crossing([500.0; 4]);
    assert_eq!(outcome, Outcome::AsReported);
    let expected = "reported from 1 KiB on; here from 1 KiB on, in 4 of 17 places";
    assert_eq!(remark, expected);
    let (outcome, remark) = crossing([2000.0, 500.0, 500.0, 500.0]);
    assert_eq!(outcome, Outcome::Differs);
    assert!(remark.contains("here from 4 KiB on"), "{remark}");
}

#[test]
fn the_gap_of_the_page_cache_is_the_difference_of_two_speeds() {
    let stable = |speeds: [(f64, f64); 5]| {
        let sizes = [512, 4 << 10, 8 << 10, 64 << 10, 1 << 20];
        let points = sizes.into_iter().zip(speeds).map(|(size, (cold, warm))| {
            let point = Point::new()
                .with("block_size", size)
                .with("file_size", 16 << 20);
            measured(point, [("cold", cold), ("warm", warm)], 0.01)
        });
        let judged = reproduced(Report::B, "section 4", "file.cold_warm", points.collect());
        judged.tables[0].figures[0].outcome
    };
    let as_reported = [(1e8, 2e8), (1e8, 6e8), (1e8, 9e8), (1e8, 9e8), (1e8, 9e8)];
    assert_eq!(stable(as_reported), Outcome::AsReported);
    // Warm alone is stable from 8 KiB on as well.
    let colder = [(8e8, 9e8), (6e8, 9e8), (4e8, 9e8), (3e8, 9e8), (1e8, 9e8)];
    assert_eq!(stable(colder), Outcome::Differs);
}

#[test]
fn figures_of_windows_are_judged_by_a_run_made_on_windows_and_by_no_other() {
    const REPORTED: f64 = 2_749.247_28 * 1_048_576.0;
    let cache = |read: f64| {
        let point = Point::new().with("block_size", 64 << 10);
        let point = point.with("listing", "as printed");
        vec![measured(point, [("read", read)], 0.02)]
    };
    let judged = |on_windows: Option<f64>| {
        let reproduced = reproduced_next_to_windows(
            Report::E,
            "e_bandwidth",
            "memory.bandwidth",
            cache(REPORTED),
            on_windows.map(cache),
        );
        let mut figures = reproduced.tables[0].figures.iter();
        let figure =
            figures.find(|it| it.figure.series == "Windows read" && it.figure.what == "Cache");
        let figure = figure.expect("it was printed");
        (figure.outcome, figure.reason.clone().unwrap_or_default())
    };
    assert_eq!(judged(Some(REPORTED)).0, Outcome::AsReported);
    assert_eq!(judged(Some(2.0 * REPORTED)).0, Outcome::Differs);
    let (outcome, reason) = judged(None);
    assert_eq!(outcome, Outcome::Undecided);
    assert!(
        reason.contains("needs a run that was made on Windows"),
        "{reason}"
    );
}

#[test]
fn a_picture_has_the_words_of_the_report_and_the_chart_of_this_machine() {
    let point = |size: u64| {
        let point = Point::new().with("sender", "mmap").with("receiver", "mmap");
        let times = [("sender_time", 1e5), ("receiver_time", 2e5)];
        let times = times.map(|(metric, ns)| (metric, ns * size as f64));
        measured(point.with("step", 4096).with("size", size), times, 0.02)
    };
    let drawn = |points| {
        let place = "mmap I/O: master vs slave";
        let judged = reproduced(Report::C, place, "transfer.growth", points);
        terminal::paint(&view::reproduction(&judged), &STYLE, false)
    };
    let text = drawn(vec![point(1 << 10), point(1 << 20)]);
    assert!(
        text.contains("The slave takes longer than the master"),
        "{text}"
    );
    assert!(text.contains("to the receiver's end"), "{text}");
    assert!(!text.contains("not measured here yet"), "{text}");
    // One size makes no curve: the run that makes one is named.
    let text = drawn(vec![point(1 << 20)]);
    assert!(
        text.contains("oscope run transfer.growth --profile standard --at step=4096"),
        "{text}"
    );
}

#[test]
fn growth_is_the_exponent_along_the_axis() {
    let points = THREADS.map(|threads| run("Lock", threads, 10.0 * (threads as f64).powf(0.84)));
    let growth = shape(ShapeKind::Growth, "Simple Lock", points.into());
    let here = growth.here.expect("it was measured");
    assert!((here.value - 0.84).abs() < 0.01, "{growth:?}");
    assert_eq!(growth.outcome, Outcome::AsReported, "{growth:?}");
}

#[test]
fn the_page_has_each_number_with_its_verdict_and_reason() {
    let reproduction = calls();
    let data = reproduce::json(&reproduction);
    let page = page::paint(&view::reproduction(&reproduction), Some(&data));
    let document = scraper::Html::parse_document(&page);
    assert_eq!(document.errors, Vec::<String>::new());
    let all = |text: &str| select(&document, text);
    let words = |row: &scraper::ElementRef<'_>| row.text().collect::<Vec<_>>().join(" ");
    let rows = all("tbody tr");
    let getpid = rows
        .iter()
        .map(words)
        .find(|row| row.contains("1.486661667"));
    assert!(getpid.is_some_and(|row| row.contains("differs")));
    // Another machine, another system, and not measured.
    let reasons: Vec<String> = all("article > ul li").iter().map(words).collect();
    assert_eq!(reasons.len(), 3, "{reasons:?}");
    // As printed, and here.
    assert_eq!(all(".pair svg.chart").len(), 2);
    let counts: Vec<String> = all("[aria-label=counts] td").iter().map(words).collect();
    assert_eq!(counts[..3], ["1", "4", "19"]);
}

#[test]
fn both_graphs_have_the_same_axes_and_a_value_printed_in_two_units_is_drawn_once() {
    let points = [281_873_817_u64, 563_747_634].map(|size| {
        let point = Point::new()
            .with("call", "read 1 byte")
            .with("file_size", size);
        measured(point, [("wall", size as f64), ("throughput", 1e9)], 0.01)
    });
    let judged = reproduced(Report::A, "section 5, table", "file.call", points.into());
    let graphs = reproduce::graphs(&judged.tables[0]);
    let labels = |graph: &reproduce::Graph| {
        let series = graph.reported.series.iter();
        series.map(|it| it.label.clone()).collect::<Vec<_>>()
    };
    let drawn: Vec<_> = graphs.iter().map(labels).collect();
    assert_eq!(
        drawn,
        [
            ["READ Wall Time", "LSEEK Wall Time"],
            ["READ Speed (B/s)", "LSEEK Speed (B/s)"]
        ]
    );
    for graph in &graphs {
        assert!(graph.has_reported_axes);
        let here = graph.here.as_ref().expect("two places are measured");
        assert_eq!((&here.x, &here.y), (&graph.reported.x, &graph.reported.y));
        let ends = |figure: &instrument::figure::Figure| {
            let points = &figure.series[0].points;
            [&points[0], &points[points.len() - 1]].map(|it| it.x.clone())
        };
        assert_eq!(ends(here), ends(&graph.reported));
        assert_eq!(graph.missing, 18);
        let sound = here.series[0].points.iter();
        assert_eq!(sound.filter(|it| it.estimate.is_sound()).count(), 2);
    }
}
