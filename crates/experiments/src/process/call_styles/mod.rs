//! `process.call_styles`: the same loop inline, by function, by recursion and with a process for each row.

pub(crate) mod claims;
mod findings;

use super::calls::operations::PROGRAM;
use crate::lines::{line_through, power_through, values};
use crate::listing::{LISTING, NAMED, is_listed};
use crate::optimisation::{COMPILER, Compiler, Optimisation, loops};
use crate::prelude::*;
use kernels::levels::{Level, Loops};
use platform::{call, child, stack};
use std::ffi::{CStr, CString};
use std::hint::black_box;
use std::io;

const STYLE: AxisOf<Style> = AxisOf::new("style", "style");
const ROWS: AxisOf<Count> = AxisOf::new("rows", "rows");

const UNOPTIMISED: Metric = Metric::time("unoptimised", "time, optimisation 0");
const OPTIMISED: Metric = Metric::time("optimised", "time, optimisation 3");
const DEEPEST: Metric = Metric::gain("deepest", "deepest, optimisation 0", Unit::Count);
/// A time, and the level of the loops that take it.
type Time = (Metric, Optimisation);
const TIMES: [Time; 2] = [
    (UNOPTIMISED, Optimisation::NONE),
    (OPTIMISED, Optimisation::FULL),
];

#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    Inline,
    Function,
    Recursion,
    Fork,
    /// A program that does nothing is started for each row, which the parent then adds itself.
    Program,
}

impl Style {
    fn of(system: System) -> impl Iterator<Item = Self> {
        let styles = Self::ALL.iter().copied();
        styles.filter(move |style| *style != Self::Fork || system != System::Windows)
    }

    fn starts_processes(self) -> bool {
        matches!(self, Self::Fork | Self::Program)
    }
}

/// Steps of the inner loop.
const STEPS: u64 = 16;

const DESIGN: Design = Design {
    id: "process.call_styles",
    title: "Ways to call",
    question: "What does the same work cost inline, in a function, by recursion and in child \
               processes?",
    method: formatcp!(
        "A nested loop of rows, each of {STEPS} steps, adds up the exclusive or of its two \
         counters. Inline: both loops are in one function. Function: a function is called for \
         each row. Recursion: each row is a call from the previous row, so the recursion is as \
         deep as there are rows. The result of the inner call is hidden from the compiler, which \
         would otherwise turn the recursion into a loop. Fork: for each row the parent forks a \
         child, which returns its part of the sum through a pipe, and waits for it. Program: for \
         each row the parent starts a program that does nothing, waits for it, and adds the row \
         itself. Windows has no fork. All styles \
         give the same sum, which is checked each time. The loops are one source, compiled \
         without optimisation (0) and with full optimisation (3). Each process times both, in random \
         order. The time is that of the whole loop. The deepest recursion is the number of calls that the stack of this process holds, \
         computed from the size of a frame. With `--at 'listing=as printed' --at compiler=C` the rows are \
         those of the report: each allocates an array, fills it with its indices, adds both counters to each \
         element and adds them up, one `int` after the other, and frees it. The report does not say how \
         many elements it has: here {STEPS}."
    ),
    source: "Report E, section 5.2",
    axes: &[STYLE.axis(), ROWS.axis(), COMPILER.axis(), NAMED],
    metrics: &[UNOPTIMISED, OPTIMISED, DEEPEST],
};

/// The points of the usual loops in Rust.
fn in_rust<'r>(results: &Results<'r>) -> Results<'r> {
    results
        .without(LISTING)
        .only(|point| point.level(COMPILER) == Ok(Compiler::Rust))
}

/// The time of a row more.
fn slope(results: &Results, metric: Metric, style: Style) -> Option<Quantity> {
    let line = line_through(&times(results, metric, style))?;
    Some(Quantity::estimated(&line.slope, Unit::Nanoseconds))
}

/// The power of the number of rows to which the time grows: 1 where it is linear.
fn power(results: &Results, metric: Metric, style: Style) -> Option<Quantity> {
    let power = power_through(&times(results, metric, style))?;
    Some(Quantity::estimated(&power, Unit::Count))
}

fn times(results: &Results, metric: Metric, style: Style) -> Vec<(Count, Quantity)> {
    let levels = [STYLE.at(style)];
    values(&results.along(ROWS, metric, &levels))
}

/// The style that starts a process for each row: forks, or programs where a system has no fork.
fn process_style(results: &Results) -> Style {
    let styles = results.points.iter().map(|it| it.point.level(STYLE));
    if styles.into_iter().any(|style| style == Ok(Style::Fork)) {
        Style::Fork
    } else {
        Style::Program
    }
}

pub(crate) struct CallStyles;

/// The part of the stack that a recursion leaves free.
const RESERVED_STACK_BYTES: u64 = 128 << 10;

impl Experiment for CallStyles {
    fn design(&self) -> &'static Design {
        &DESIGN
    }

    /// Rows from few to as many as take about a second in the thorough profile, which alone has C.
    fn points(&self, setting: &Setting) -> Vec<Point> {
        let (most, most_children) = match setting.profile {
            Profile::Quick => (6_400, 16),
            Profile::Standard => (409_600, 256),
            Profile::Thorough => (26_214_400, 4096),
        };
        let compilers = match setting.profile {
            Profile::Quick | Profile::Standard => &[Compiler::Rust],
            Profile::Thorough => Compiler::ALL,
        };
        let mut points = Vec::new();
        for style in Style::of(System::here()) {
            let range = match style {
                Style::Fork | Style::Program => (1, most_children),
                Style::Recursion => (FEWEST, most.min(DEEPEST_RECURSION)),
                Style::Inline | Style::Function => (FEWEST, most),
            };
            for rows in steps(range) {
                let with = compilers.iter().map(|it| point(style, rows, *it));
                points.extend(with);
            }
        }
        points
    }

    /// A new process costs more from one that has visited other points.
    fn shares_process(&self, point: &Point) -> bool {
        let style = point.level(STYLE);
        style.is_ok_and(|style| !style.starts_processes())
    }

    fn component(&self, point: &Point, _metric: &str) -> Option<Component> {
        let style = point.level(STYLE);
        let is_call = style.is_ok_and(|style| !style.starts_processes());
        is_call.then_some(Component::Core)
    }

    fn counterpart(&self, point: &Point, _metric: &str, _other: System) -> Option<Counterpart> {
        Some(match point.level(STYLE).ok()? {
            Style::Inline | Style::Function | Style::Recursion => Counterpart::Same,
            Style::Fork => Counterpart::Missing("Windows has no fork"),
            Style::Program => Counterpart::Like {
                point: point.clone(),
                difference: PROGRAM,
            },
        })
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let (style, Count(rows)) = (point.level(STYLE)?, point.level(ROWS)?);
        let (is_listed, compiler) = (is_listed(point), point.level(COMPILER)?);
        if is_listed && compiler != Compiler::C {
            return Err(unsupported(
                "the report's listing is C: `--at compiler=C` measures it",
            ));
        }
        // The expected sum, computed independently.
        let sum = if is_listed {
            listed_sum(style, rows)
        } else {
            (Loops::rust(Level::O1).inline)(rows, STEPS)
        };
        let program = match style {
            Style::Program => call::program_that_does_nothing()?,
            _ => CString::default(),
        };
        // The first forks of a process cost less than later ones.
        let mut times = TIMES;
        Random::new(sampler.seed()).shuffle(&mut times);
        for (metric, optimisation) in times {
            let loops = match loops(compiler, optimisation, sampler) {
                _ if is_listed => Loops::listed(optimisation.0),
                loops => loops,
            };
            if style == Style::Recursion {
                guard(&loops, rows)?;
            }
            sampler.repeat(metric, 1.0, |iterations| {
                (0..iterations).try_for_each(|_| check(run(&loops, style, rows, &program)?, sum))
            })?;
            if style == Style::Recursion
                && optimisation == Optimisation::NONE
                && let Some(deepest) = deepest(&loops)
            {
                sampler.value(DEEPEST, deepest as f64);
            }
        }
        Ok(())
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        findings::all(results)
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        findings::figures(results)
    }
}

/// The sum of all rows in one of the styles, the last of which starts `program` for each.
fn run(loops: &Loops, style: Style, rows: u64, program: &CStr) -> Result<u64, MeasureError> {
    let (rows, steps) = (black_box(rows), black_box(STEPS));
    match style {
        Style::Inline => Ok((loops.inline)(rows, steps)),
        Style::Function => Ok((loops.by_function)(rows, steps)),
        Style::Recursion => Ok((loops.by_recursion)(rows, steps)),
        Style::Fork => (0..rows).try_fold(0, |sum, at| {
            let part = child::value(|| (loops.row)(at, steps))?;
            Ok(sum + part)
        }),
        Style::Program => (0..rows).try_fold(0, |sum, at| {
            call::spawn_wait(program)?;
            Ok(sum + (loops.row)(at, steps))
        }),
    }
}

/// The sum of the listing's rows in 32 bits; inline it is twice the last row's, as printed.
fn listed_sum(style: Style, rows: u64) -> u64 {
    let row = |at: u64| STEPS * (STEPS - 1) + STEPS * at;
    match style {
        Style::Inline => 2 * row(rows - 1),
        // The parent adds up what each row gave.
        Style::Fork | Style::Program => (0..rows).map(row).sum(),
        Style::Function | Style::Recursion => {
            let sum: u64 = (0..rows).map(row).sum();
            sum & u64::from(u32::MAX)
        }
    }
}

fn check(found: u64, expected: u64) -> Result<(), MeasureError> {
    if found == expected {
        return Ok(());
    }
    let wrong = io::Error::other(format!("it is {found} and should be {expected}"));
    Err(MeasureError::system("get the same sum in every style")(
        wrong,
    ))
}

/// The number of calls that a recursion may be deep on this thread's stack; `None` where the system
/// does not report the size of the stack.
fn deepest(loops: &Loops) -> Option<u64> {
    let frame_bytes = loops.frame_bytes().max(1) as u64;
    let left_bytes = stack::left_bytes()?.saturating_sub(RESERVED_STACK_BYTES);
    Some(left_bytes / frame_bytes)
}

/// Refuses a recursion for which the stack is too short or of unknown size.
fn guard(loops: &Loops, rows: u64) -> Result<(), MeasureError> {
    let refuse = |why: String| Err(MeasureError::Unsupported(why));
    match deepest(loops) {
        Some(deepest) if rows < deepest => Ok(()),
        Some(deepest) => refuse(format!(
            "the stack holds {deepest} calls of {:.3} each, but {rows} are needed; `ulimit -s` sets \
             its size",
            Bytes(loops.frame_bytes() as u64)
        )),
        None => refuse("the system does not report the size of the stack".into()),
    }
}

/// The fewest rows of a style without processes, and the factor to the next number of rows.
const FEWEST: u64 = 100;
const FACTOR: u64 = 4;
/// The number of calls that fit on the usual stack of 8 MiB.
const DEEPEST_RECURSION: u64 = 25_600;

fn point(style: Style, rows: u64, compiler: Compiler) -> Point {
    Point::new()
        .at(STYLE, style)
        .at(ROWS, Count(rows))
        .at(COMPILER, compiler)
}

fn steps((fewest, most): (u64, u64)) -> impl Iterator<Item = u64> {
    std::iter::successors(Some(fewest), |rows| Some(rows * FACTOR))
        .take_while(move |rows| *rows <= most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::listing::Listing;
    use crate::made_up::{count, sampled};

    #[test]
    fn every_style_is_measured_here_with_either_compiler_and_by_the_listing() {
        for style in Style::of(System::here()) {
            let by = |compiler: &Compiler| point(style, 3, *compiler);
            let listed = by(&Compiler::C).at(LISTING, Listing::AsPrinted);
            for point in Compiler::ALL.iter().map(by).chain([listed]) {
                let samples = sampled(&CallStyles, &point, &[UNOPTIMISED, OPTIMISED]);
                let is_recursion = style == Style::Recursion;
                assert_eq!(count(&samples, DEEPEST), usize::from(is_recursion));
            }
        }
    }

    #[test]
    fn a_recursion_deeper_than_the_stack_is_refused() {
        let small = std::thread::Builder::new().stack_size(1 << 20);
        let thread = small.spawn(|| {
            let loops = Loops::rust(Level::O0);
            let deepest = deepest(&loops).expect("the system reports it");
            // The frames of the functions themselves differ by a little.
            guard(&loops, deepest - 100).expect("it fits");
            (loops.by_recursion)(deepest - 100, 1);
            guard(&loops, deepest + 100).expect_err("it does not fit")
        });
        let error = thread.expect("a thread").join().expect("no overflow");
        assert!(error.to_string().contains("ulimit -s"), "{error}");
    }
}
