//! Tables of made-up results in `tests/cases`, one file for each experiment, with all that follows from them:
//! findings, rulings on claims, and advice.
//!
//! A case begins with `# ` and its title. The first line of its table names the columns: axes, metrics,
//! and `METRIC @ AXIS=LEVEL & AXIS=LEVEL` for a metric at other levels than those of the row. `AXIS=LEVEL`
//! alone holds for all rows. How far apart the processes are is the column `spread`, or `spread=SHARE`. Three
//! numbers in a cell are the median of a time and what 5 % and 1 % of times exceed. After the line `next to ID` comes a
//! table of another experiment of the same run, after `on Windows` one of a second run: then the claims about both systems
//! are judged, and no others. After an empty line comes what follows, or the figures if the title begins with `Figures`.
//! `OSCOPE_RENEW_CASES=1 cargo test -p oscope-experiments cases` writes that anew.

use crate::made_up::{self, measured_apart};
use crate::{advice, claims, find, systems};
use instrument::claim::{Claim, Evidence, Ruling};
use instrument::experiment::{Definition, Design, Experiment};
use instrument::figure::FigurePoint;
use instrument::finding::{Finding, Grade};
use instrument::point::{AxisKind, Level, Point};
use instrument::quantity::Bytes;
use instrument::results::{Percentiles, PointResult};
use platform::machine::{Cpu, Machine, Topology};
use std::ffi::OsStr;
use std::fs;

/// Distance of neighbouring processes where a table sets none, as a share of the value.
const USUAL_SPREAD: f64 = 0.002;

#[test]
fn findings_rulings_and_advice_follow_from_the_numbers() {
    let renews = std::env::var_os("OSCOPE_RENEW_CASES").is_some();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases");
    for file in fs::read_dir(folder).expect("it is there") {
        let path = file.expect("it is there").path();
        let id = path.file_stem().and_then(OsStr::to_str);
        let experiment = id.and_then(find);
        let experiment = experiment.unwrap_or_else(|| panic!("{}", path.display()));
        let file = fs::read_to_string(&path).expect("a text");
        let file = file.replace("\r\n", "\n");
        let cases = file.split("# ").skip(1);
        let renewed: Vec<String> = cases.map(|case| renewed(experiment, case)).collect();
        let renewed = renewed.join("\n");
        if renews {
            fs::write(&path, &renewed).expect("the sources can be written");
            continue;
        }
        for (expected, found) in file.lines().zip(renewed.lines()) {
            assert_eq!(expected, found, "{}", path.display());
        }
        assert_eq!(file, renewed, "{}", path.display());
    }
}

/// The usual machine as a Zen 5 of four cores.
fn machine() -> Machine {
    Machine {
        cpu: Cpu {
            vendor: Some("AuthenticAMD".into()),
            family: Some(26),
            model_number: Some(2),
            ..Cpu::default()
        },
        topology: Topology {
            cores: Some(4),
            threads: Some(4),
            ..Topology::default()
        },
        ..made_up::machine()
    }
}

/// The case with what follows from its tables.
fn renewed(experiment: &dyn Experiment, case: &str) -> String {
    let (case, _) = case.split_once("\n\n").unwrap_or((case, ""));
    let case = case.trim_end();
    let (title, tables) = case.split_once('\n').expect("a case has a title");
    let of = |experiment: &dyn Experiment, table: &str| {
        let points = points(experiment.design(), title, table.lines());
        (experiment.definition(), points)
    };
    let of_run = |tables: &str| -> Vec<Table> {
        let mut tables = tables.split("\nnext to ");
        let own = tables.next().map(|table| of(experiment, table));
        let others = tables.map(|table| {
            let (id, table) = table.split_once('\n').expect(title);
            of(find(id).expect(id), table)
        });
        own.into_iter().chain(others).collect()
    };
    let (here, windows) = tables.split_once("\non Windows\n").unwrap_or((tables, ""));
    let (here, mut windows) = (of_run(here), of_run(windows));
    windows.retain(|(_, points)| !points.is_empty());
    let outcome = if title.starts_with("Figures ") {
        figures(experiment, &here[0])
    } else {
        outcome(experiment, &here, &windows)
    };
    let outcome = match outcome {
        nothing if nothing.is_empty() => "nothing\n".to_owned(),
        lines => lines,
    };
    format!("# {case}\n\n{outcome}")
}

/// The points of an experiment.
type Table = (Definition, Vec<PointResult>);

/// A line for each finding, each claim that can be judged and each setting that can be advised, from the tables of a run
/// here, of which the first is that of `experiment`, and of one on Windows.
fn outcome(experiment: &dyn Experiment, here: &[Table], windows: &[Table]) -> String {
    let (id, machine) = (experiment.id(), machine());
    let [results, windows] = [here, windows].map(|run| {
        let results = run
            .iter()
            .map(|(definition, points)| made_up::results(definition, &machine, points.clone()));
        results.collect::<Vec<_>>()
    });
    let evidence = Evidence::new(&results).next_to_windows(&windows);
    let found = experiment.findings(&results[0]).into_iter();
    let found = found.map(|finding| line(&finding.key, grade(finding.grade), &finding));
    let is_of_two = |claim: &Claim| systems::CLAIMS.iter().any(|it| it.key == claim.key);
    let judged = claims().filter(|claim| claim.basis.experiments().contains(&id));
    let judged = judged.filter(|claim| is_of_two(claim) != windows.is_empty());
    let judged = judged.filter_map(|claim| {
        let judgement = claim.basis.follows_from(&evidence)?;
        let key = format!("claim {}", claim.key);
        Some(line(&key, ruling(judgement.ruling), &judgement.because))
    });
    let advised = advice().filter(|rule| rule.basis.experiments().contains(&id));
    let advised = advised.filter_map(|rule| {
        let advice = rule.basis.follows_from(&evidence)?;
        let key = format!("set {}={}", rule.setting, advice.value);
        let usual = format!("usual {}", advice.usual);
        let because = match advice.gain {
            Some(gain) => advice.because.with_number("gain", gain),
            None => advice.because,
        };
        let mut line = line(&key, &usual, &because);
        if let Some(trial) = advice.trial {
            let [usual, advised] = trial.points;
            let tried = format!("  tried: {usual}; {advised}\n");
            line.push_str(&tried);
        }
        Some(line)
    });
    found.chain(judged).chain(advised).collect()
}

/// A line for each figure, and for each of its lines with the places and their values, and for each mark.
fn figures(experiment: &dyn Experiment, (_, points): &Table) -> String {
    let figures = made_up::figures(experiment, points.clone()).into_iter();
    let figures = figures.map(|figure| {
        let series = figure.series.iter().map(|series| {
            let points = series.points.iter().map(|FigurePoint { x, estimate, .. }| {
                format!(" [{x} {}]", estimate.unit.show(estimate.centre, 3))
            });
            format!("  {}:{}\n", series.label, points.collect::<String>())
        });
        let marks = figure.marks.iter();
        let marks =
            marks.map(|mark| format!("  {:?} {}: {:.0}\n", mark.origin, mark.label, mark.at));
        let lines: String = series.chain(marks).collect();
        format!(
            "{:?} {}: {}\n{lines}",
            figure.kind, figure.key, figure.title
        )
    });
    figures.collect()
}

/// The sentence, and the numbers that support it.
fn line(key: &str, verdict: &str, finding: &Finding) -> String {
    let numbers = finding.further_numbers.iter().map(|number| {
        let shown = number.quantity.unit.show(number.quantity.value, 3);
        format!(" [{} {shown}]", number.name)
    });
    let numbers: String = numbers.collect();
    let is_shown = if finding.is_sayable() {
        ""
    } else {
        " [not shown]"
    };
    format!(
        "{key} ({verdict}): {}{numbers}{is_shown}\n",
        finding.sentence
    )
}

fn grade(grade: Grade) -> &'static str {
    match grade {
        Grade::Certain => "certain",
        Grade::Likely => "likely",
        Grade::Undecided => "undecided",
    }
}

fn ruling(ruling: Ruling) -> &'static str {
    match ruling {
        Ruling::Holds => "holds",
        Ruling::HoldsInPart => "holds in part",
        Ruling::DoesNotHold => "does not hold",
        Ruling::Undecided => "undecided",
    }
}

/// The points of a table.
fn points<'t>(
    design: &'static Design,
    title: &str,
    mut lines: impl Iterator<Item = &'t str>,
) -> Vec<PointResult> {
    let cells = |line: &'t str| line.split('|').map(str::trim);
    let header = cells(lines.next().unwrap_or_default());
    let (fixed, columns): (Vec<_>, Vec<_>) =
        header.partition(|column| column.contains('=') && !column.contains('@'));
    let mut start = Point::new();
    let mut spread = USUAL_SPREAD;
    for pair in fixed.iter().map(|pair| pair.split_once('=').expect(title)) {
        match pair {
            ("spread", share) => spread = share.parse().expect(title),
            (axis, level) => start = at(design, start, axis, level),
        }
    }
    let mut points: Vec<(Point, f64, Vec<_>)> = Vec::new();
    for row in lines {
        let mut point = start.clone();
        let of_row = columns
            .iter()
            .zip(cells(row))
            .find(|(it, _)| **it == "spread");
        let spread = of_row.map_or(spread, |(_, share)| share.parse().expect(title));
        for (column, cell) in columns
            .iter()
            .zip(cells(row))
            .filter(|(column, cell)| **column != "spread" && *cell != "-")
        {
            if design.axes.iter().any(|axis| axis.name == *column) {
                point = at(design, point, column, cell);
                continue;
            }
            let (metric, levels) = column.split_once(" @ ").unwrap_or((column, ""));
            let there = with_levels(design, point.clone(), levels);
            let metric = design.metrics.iter().find(|it| it.name == metric);
            let metric = metric.unwrap_or_else(|| panic!("{title}: no metric {column}"));
            let number = |it: &str| it.parse().unwrap_or_else(|_| panic!("{title}: {it}"));
            let numbers: Vec<f64> = cell.split(' ').map(number).collect();
            match points.iter_mut().find(|(point, ..)| *point == there) {
                Some((.., values)) => values.push((*metric, numbers)),
                None => points.push((there, spread, vec![(*metric, numbers)])),
            }
        }
    }
    let points = points.into_iter();
    points
        .map(|(point, spread, values)| {
            let centres = values.iter().map(|(metric, numbers)| (*metric, numbers[0]));
            let mut measured = measured_apart(point, &centres.collect::<Vec<_>>(), spread);
            for (estimate, (_, numbers)) in measured.estimates.iter_mut().zip(values) {
                if let [p50_ns, p95_ns, p99_ns] = numbers[..] {
                    estimate.percentiles = Some(Percentiles {
                        p5_ns: p50_ns / 2.0,
                        p50_ns,
                        p95_ns,
                        p99_ns,
                    });
                }
            }
            measured
        })
        .collect()
}

/// The point with these levels too: `AXIS=LEVEL & AXIS=LEVEL`.
pub(crate) fn with_levels(design: &Design, start: Point, levels: &str) -> Point {
    let mut pairs = levels.split_terminator(" & ");
    pairs
        .try_fold(start, |point, pair| {
            let (axis, level) = pair.split_once('=')?;
            Some(at(design, point, axis, level))
        })
        .unwrap_or_else(|| panic!("{levels}"))
}

/// The point with this level too, in the order of the axes.
fn at(design: &Design, point: Point, axis: &str, level: &str) -> Point {
    let known = design.axes.iter().find(|known| known.name == axis);
    let kind = known.map(|axis| axis.kind);
    let level = match kind.unwrap_or_else(|| panic!("{} has no axis {axis}", design.id)) {
        AxisKind::Bytes => level.parse().ok().map(|Bytes(bytes)| Level::from(bytes)),
        AxisKind::Count => level.parse().ok().map(Level::Number),
        AxisKind::Choice => None,
    }
    .unwrap_or_else(|| level.into());
    let point = point.with(axis, level);
    let levels = design.axes.iter().filter_map(|axis| {
        let level = point.get(axis.name)?;
        Some((axis.name, level.clone()))
    });
    levels.fold(Point::new(), |point, (axis, level)| point.with(axis, level))
}
