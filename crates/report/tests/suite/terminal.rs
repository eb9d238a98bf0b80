//! The terminal output as snapshots of a made-up run.

use crate::fixture;
use instrument::experiment::Experiment;
use instrument::finding::{Finding, Grade};
use instrument::fitness::{Check, Effect};
use instrument::point::Point;
use instrument::quantity::Unit;
use instrument::results::{Estimate, Verdict};
use instrument::statistics::Interval;
use oscope_report::document::Document;
use oscope_report::terminal::{self, Style};
use oscope_report::view;
use record::store::RunSummary;

const WIDE: Style = Style {
    width: 120,
    colour: false,
    unicode: true,
};
const USUAL: Style = Style { width: 80, ..WIDE };
const NARROW: Style = Style { width: 60, ..WIDE };

/// `text`, after a check that no line is wider than the terminal.
fn checked(text: String, style: &Style) -> String {
    for line in text.lines() {
        let width = textwrap::core::display_width(line);
        assert!(
            width <= style.width,
            "{width} of {} columns: {line}",
            style.width
        );
        assert_eq!(line.trim_end(), line, "blanks at the end of a line");
    }
    text
}

fn painted(document: &Document<'_>, style: &Style) -> String {
    checked(terminal::paint(document, style, false), style)
}

fn summary(style: &Style) -> String {
    painted(&view::summary(&fixture::analysis()), style)
}

#[test]
fn a_summary_fits_each_terminal() {
    let colour = Style {
        colour: true,
        ..USUAL
    };
    let ascii = Style {
        unicode: false,
        ..USUAL
    };
    for (name, style) in [
        ("summary_on_a_wide_terminal", WIDE),
        ("summary_on_the_usual_terminal", USUAL),
        ("summary_on_a_narrow_terminal", NARROW),
        ("summary_in_colour", colour),
        ("summary_in_ascii", ascii),
    ] {
        let text = summary(&style);
        assert!(style.unicode || text.is_ascii(), "{text}");
        insta::assert_snapshot!(name, text.replace('\u{1b}', "ESC"));
    }
}

#[test]
fn a_run_under_conditions_that_matter_begins_with_them() {
    let mut run = fixture::run();
    run.environment.is_traced = Some(true);
    let text = painted(&view::summary(&fixture::analysis_of(&run)), &WIDE);
    let traced = "trust    During this run, another program traced oscope. 78 of 113 values known";
    assert!(text.starts_with(traced), "{text}");
    assert!(!text.contains("Nothing disturbed this run."), "{text}");

    run.environment.kernel_name = Some("Windows NT".into());
    run.environment.kernel_release = Some("10.0.19043".into());
    run.environment.stand_in = Some("Wine 8.0".into());
    let text = painted(&view::summary(&fixture::analysis_of(&run)), &WIDE);
    let caution = "trust    Measured under Wine 8.0, not on Windows NT: its times say nothing";
    assert!(text.starts_with(caution), "{text}");
    assert!(text.contains("Windows NT 10.0.19043 of Wine 8.0"), "{text}");
}

/// The made-up run with more findings and experiments, which fill many screens.
fn long() -> oscope_report::Analysis<'static> {
    let mut analysis = fixture::analysis();
    let found = analysis.experiments[0].findings[0].clone();
    for (index, experiment) in analysis.experiments.iter_mut().enumerate() {
        let further = (0..60).map(|count| found.clone().weighing(1.0 - 0.01 * f64::from(count)));
        experiment.findings.extend(further.skip(index));
    }
    analysis
}

#[test]
fn a_brief_summary_has_what_to_do_on_two_screens() {
    for style in [&USUAL, &WIDE] {
        let text = checked(terminal::brief(&long(), style), style);
        assert!(text.lines().count() <= 90, "{text}");
        let parts = [
            "trust ",
            "\nrun ",
            "\nmachine ",
            "\nfiles ",
            "\nFindings\n",
            "\nWhat to set here\n",
            "\nClaims\n",
            "\nHow far to trust it\n",
            "`oscope show --all`",
        ];
        let places = parts.map(|part| text.find(part).unwrap_or_else(|| panic!("{part}: {text}")));
        assert!(places.is_sorted(), "{text}");
        assert!(!text.contains('│'), "{text}");
    }
}

#[test]
fn two_screens_hold_a_run_of_which_much_is_missing() {
    let mut analysis = long();
    let reasons: Vec<String> = (0..30)
        .map(|index| format!("it needs thing number {index}, which this machine has not: add it"))
        .collect();
    let failed = &analysis.experiments[1].failures;
    let (point, _) = *failed.first().expect("one has failed");
    analysis.experiments[1].failures = reasons
        .iter()
        .map(|reason| (point, record::Failure::Failed(reason)))
        .collect();
    let text = checked(terminal::brief(&analysis, &USUAL), &USUAL);
    assert!(text.lines().count() <= 90, "{text}");
    assert!(text.contains(" further reasons"), "{text}");
    let whole = painted(&view::summary(&analysis), &USUAL);
    assert!(whole.contains("thing number 29"));
}

#[test]
fn an_experiment_without_an_estimate_takes_a_line_and_no_table() {
    let mut analysis = fixture::analysis();
    let experiments = analysis.experiments.iter_mut();
    let points = experiments.flat_map(|experiment| &mut experiment.points);
    for estimate in points.flat_map(|point| &mut point.estimates) {
        estimate.verdict = Verdict::TooFew;
    }
    let text = painted(&view::summary(&analysis), &USUAL);
    assert!(text.contains("seen too seldom for an estimate"), "{text}");
    assert!(!text.contains("seen once"), "{text}");
}

#[test]
fn a_short_run_is_shown_whole() {
    let mut run = fixture::run();
    run.experiments
        .retain(|record| record.definition.id == "memory.swap");
    let analysis = fixture::analysis_of(&run);
    assert_eq!(
        terminal::brief(&analysis, &USUAL),
        painted(&view::summary(&analysis), &USUAL)
    );
}

#[test]
fn at_most_forty_findings_are_together_and_the_rest_with_their_experiments() {
    let analysis = long();
    let first = oscope_report::foremost(&analysis, oscope_report::MOST_FINDINGS);
    assert_eq!(first.len(), 40);
    let is_decided = |found: &Finding| found.grade != Grade::Undecided;
    assert!(first.iter().all(|(_, found)| is_decided(found)));
    let all = analysis.experiments.iter().flat_map(|one| &one.findings);
    let decided = all.filter(|it| is_decided(it)).count();
    let text = painted(&view::summary(&analysis), &WIDE);
    let rest = format!("and {} more, each with its experiment", decided - 40);
    assert!(text.contains(&rest), "{text}");
    let certain = text.matches("\n● certain").count();
    assert!(certain > 40 + 200, "{certain} findings in all");
}

#[test]
fn light_findings_are_in_their_chapter_only() {
    let mut analysis = fixture::analysis();
    let found = analysis.experiments[0].findings[0].clone();
    for (weight, is_foremost) in [(0.2, false), (0.3, true)] {
        analysis.experiments[0].findings = vec![found.clone().weighing(weight)];
        let first = oscope_report::foremost(&analysis, oscope_report::MOST_FINDINGS);
        let is_among = first.iter().any(|(_, it)| it.key == found.key);
        assert_eq!(is_among, is_foremost, "{weight}");
    }
}

#[test]
fn a_run_that_was_cut_off_has_a_summary() {
    let mut run = fixture::run();
    run.header.ended = None;
    run.experiments.clear();
    let analysis = fixture::analysis_of(&run);
    insta::assert_snapshot!(painted(&view::summary(&analysis), &USUAL));
}

#[test]
fn a_glance_says_what_is_missing_once_the_run_is_over() {
    let short = "the time was too short for 1";
    let wide = "processes differ too much to show a value at 1";
    for (is_over, seldom, apart, missing) in [
        (true, true, false, format!("{short} of ALL points")),
        (true, false, true, format!("{wide} of ALL points")),
        (true, true, true, format!("{short} of ALL points; {wide}")),
        (true, false, false, String::new()),
        (false, true, true, String::new()),
    ] {
        let mut run = fixture::run();
        run.header.ended = run.header.ended.filter(|_| is_over);
        let mut analysis = fixture::analysis_of(&run);
        let experiments = analysis.experiments.iter_mut();
        let points = experiments.flat_map(|it| &mut it.points);
        for (index, point) in points.enumerate() {
            for estimate in &mut point.estimates {
                estimate.verdict = match index {
                    0 if seldom => Verdict::TooFew,
                    _ => Verdict::Sound,
                };
                if apart && index == 1 {
                    estimate.interval = Interval::new(0.4 * estimate.centre, 2.0 * estimate.centre);
                }
            }
        }
        let text = painted(&view::glance(&analysis, None, true), &WIDE);
        let of_experiments = analysis.experiments.iter();
        let all: usize = of_experiments
            .map(|it| it.points.len() + it.failures.len())
            .sum();
        let missing = missing.replace("ALL", &all.to_string());
        let found = text.lines().find_map(|line| line.strip_prefix("missing"));
        assert_eq!(found.unwrap_or_default().trim(), missing, "{text}");
    }
}

#[test]
fn rungs_are_loads_from_pages_of_one_size_however_many_others_were_measured() {
    let definition = experiments::find("memory.latency").map(Experiment::definition);
    let definition = definition.expect("it is an experiment");
    let mut analysis = fixture::analysis();
    let loads = [
        ("2 MiB pages", 8_u64 << 10, 1.1),
        ("2 MiB pages", 1 << 20, 7.7),
        ("2 MiB pages", 1 << 30, 66.0),
        ("4 KiB pages", 16 << 10, 1.2),
        ("4 KiB pages", 1 << 30, 123.0),
    ];
    let load = |(pages, set, ns)| {
        let point = Point::new().with("working_set", set).with("stride", 64);
        let load = Estimate {
            unit: Unit::Nanoseconds,
            ..fixture::estimate("load", ns, 0.01)
        };
        fixture::result(point.with("pages", pages), vec![load])
    };
    let mut measured = analysis.experiments[0].clone();
    measured.definition = &definition;
    measured.figures.clear();
    measured.points = loads.map(load).into();
    for (points, memory) in [(5, "123 ns"), (3, "66.0 ns")] {
        measured.points.truncate(points);
        analysis.experiments = vec![measured.clone()];
        let text = painted(&view::ladder(&analysis), &USUAL);
        assert!(text.contains(memory), "{text}");
    }
}

#[test]
fn an_experiment_is_shown_in_full() {
    let analysis = fixture::analysis();
    let shown = |index: usize| {
        let document = view::experiment(&analysis.experiments[index], None);
        painted(&document, &USUAL)
    };
    insta::assert_snapshot!("memory_in_detail", shown(0));
    insta::assert_snapshot!("files_in_detail", shown(1));
    insta::assert_snapshot!("calls_in_detail", shown(2));
    insta::assert_snapshot!("skipped_in_detail", shown(3));
}

#[test]
fn runs_are_listed_on_wide_and_usual_terminals() {
    let stored = |number| {
        let header = fixture::run().header;
        RunSummary {
            number,
            id: header.id,
            name: header.name,
            started: header.started,
            ended: header.ended,
            interrupted: false,
            profile: header.profile,
            machine_fingerprint: header.machine_fingerprint,
            directory: header.directory,
            tags: header.tags,
            experiments: 3,
            points: 34,
            samples: 1250,
            damaged: false,
        }
    };
    let mut rows = [3, 2, 1].map(stored);
    (rows[1].interrupted, rows[1].name) = (true, None);
    rows[2].ended = None;
    insta::assert_snapshot!("runs_wide", painted(&view::runs(&rows), &WIDE));
    insta::assert_snapshot!("runs_usual", painted(&view::runs(&rows), &USUAL));
    let none = painted(&view::runs(&[]), &USUAL);
    assert_eq!(none, "No run has been stored yet.\n");
}

#[test]
fn each_check_has_its_effect_and_its_advice() {
    let check = |subject: &str, effect, advice: Option<&str>| Check {
        subject: subject.into(),
        effect,
        found: "what was found about it, in as many words as it takes".into(),
        advice: advice.map(Into::into),
    };
    let checks = [
        check("load", Effect::Disturbs, Some("stop other programs")),
        check("virtualisation", Effect::Shapes, None),
        check("rights", Effect::Limits, None),
        check("swap", Effect::None, None),
    ];
    insta::assert_snapshot!(painted(&view::checks(&checks), &USUAL));
}

#[test]
fn experiments_are_listed_and_explained() {
    let run = fixture::run();
    let definitions = run.experiments[..3].iter().map(|it| &it.definition);
    insta::assert_snapshot!("list", painted(&view::list(definitions), &USUAL));
    let needs = "64 MiB of free space in the scratch directory. All of it is there.";
    let levels = [
        "multiples of 4 KiB from 16 KiB to 1 GiB".to_owned(),
        "1; 2; 4".into(),
    ];
    let explained = view::explain(&run.experiments[0].definition, &levels, needs);
    insta::assert_snapshot!("explain", painted(&explained, &USUAL));
}

#[test]
fn claims_have_their_rulings_and_reasons() {
    let claims = view::claims(&fixture::analysis());
    insta::assert_snapshot!(painted(&claims, &USUAL));
}
