//! `process.call_styles`: the same loop inline, by function, by recursion and by forked children.

pub(crate) mod claims;
mod findings;
mod points;
mod slopes;

use crate::levels;
use instrument::experiment::{Better, Definition, Experiment, Isolation, MeasureError, Metric};
use instrument::figure::Figure;
use instrument::finding::Finding;
use instrument::need::Need;
use instrument::plan::Setting;
use instrument::point::{Axis, Point};
use instrument::quantity::{Bytes, Unit};
use instrument::results::Results;
use instrument::sampler::Sampler;
use kernels::levels::{Compiler, Level, Loops};
use platform::{child, stack};
use std::hint::black_box;
use std::io;

/// The same loop inline, by function, by recursion and by forked children.
pub(crate) struct CallStyles;

const STYLE: &str = "style";
const ROWS: &str = "rows";

const UNOPTIMISED: &str = "unoptimised";
const OPTIMISED: &str = "optimised";
const DEEPEST: &str = "deepest";
/// The metrics of time, and the levels they are measured at.
const TIMES: [(&str, Level); 2] = [(UNOPTIMISED, Level::O0), (OPTIMISED, Level::O3)];

const INLINE: &str = "inline";
const FUNCTION: &str = "function";
const RECURSION: &str = "recursion";
const FORK: &str = "fork";
const STYLES: [&str; 4] = [INLINE, FUNCTION, RECURSION, FORK];

/// Steps of the inner loop.
const STEPS: u64 = 16;
/// What a recursion leaves of the stack to whatever else needs it.
const RESERVED_STACK_BYTES: u64 = 128 << 10;

impl Experiment for CallStyles {
    fn id(&self) -> &'static str {
        "process.call_styles"
    }

    fn definition(&self) -> Definition {
        let time = |name, title| Metric::new(name, title, Unit::Nanoseconds, Better::Lower);
        Definition {
            id: self.id().into(),
            title: "Four ways to call".into(),
            question:
                "What does it cost to do the same work inline, by a function, by recursion or \
                       by a child process?"
                    .into(),
            method: format!(
                "A nested loop of so many rows of {STEPS} steps each adds up the exclusive or of its \
                 two counters. Inline, both loops are in one function. By function, one is called for \
                 each row. By recursion, each row is a call of the next, as deep as there are rows; \
                 what the inner call returns is hidden from the compiler, which would make a loop of \
                 it. By fork, a child process is made for each row, one after the other, which \
                 returns its part of the sum through a pipe and is waited for. All give the same \
                 sum, which is checked each time. The loops are one source, compiled without \
                 optimisation (0) and with all of it (3). The time is that of the whole loop. The \
                 deepest recursion is how many calls the stack holds, by the size of a frame, found \
                 by looking at one, and by what the system gave this process."
            ),
            source: "Report E, section 5.2".into(),
            axes: vec![
                Axis::choice(STYLE, "style"),
                Axis::count(ROWS, "rows"),
                levels::compiler_axis(),
            ],
            metrics: vec![
                time(UNOPTIMISED, "time, optimisation 0"),
                time(OPTIMISED, "time, optimisation 3"),
                Metric::new(
                    DEEPEST,
                    "deepest, optimisation 0",
                    Unit::Count,
                    Better::Higher,
                ),
            ],
            isolation: Isolation::FreshProcess,
        }
    }

    fn needs(&self, _setting: &Setting) -> Vec<Need> {
        Vec::new()
    }

    fn points(&self, setting: &Setting) -> Vec<Point> {
        points::all(setting)
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let (style, rows) = (point.choice(STYLE)?, point.number(ROWS)?);
        // An independent way to the sum.
        let sum = Loops::of(Compiler::Rust, Level::O1).inline(rows, STEPS);
        for (metric, level) in TIMES {
            let loops = levels::loops(point.choice(levels::COMPILER)?, level.digit(), sampler)?;
            if style == RECURSION {
                guard(&loops, rows)?;
            }
            sampler.repeat(metric, 1.0, |iterations| {
                (0..iterations).try_for_each(|_| check(run(&loops, style, rows)?, sum))
            })?;
            if style == RECURSION
                && level == Level::O0
                && let Some(deepest) = deepest(&loops)
            {
                sampler.value(DEEPEST, deepest as f64)?;
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

/// The sum of all rows in one of the styles.
fn run(loops: &Loops, style: &str, rows: u64) -> Result<u64, MeasureError> {
    let (rows, steps) = (black_box(rows), black_box(STEPS));
    match style {
        INLINE => Ok(loops.inline(rows, steps)),
        FUNCTION => Ok(loops.by_function(rows, steps)),
        RECURSION => Ok(loops.by_recursion(rows, steps)),
        FORK => (0..rows).try_fold(0, |sum, at| {
            let part = child::value(|| loops.row(at, steps))?;
            Ok(sum + part)
        }),
        other => Err(MeasureError::Unsupported(format!(
            "there is no style '{other}'"
        ))),
    }
}

fn check(found: u64, expected: u64) -> Result<(), MeasureError> {
    if found == expected {
        return Ok(());
    }
    let wrong = io::Error::other(format!("it is {found} where it should be {expected}"));
    Err(MeasureError::system("get the same sum in every style")(
        wrong,
    ))
}

/// How many calls deep a recursion may go on this thread's stack; `None` where the system does not
/// tell its size.
fn deepest(loops: &Loops) -> Option<u64> {
    let frame_bytes = loops.frame_bytes().max(1) as u64;
    let left_bytes = stack::left_bytes()?.saturating_sub(RESERVED_STACK_BYTES);
    Some(left_bytes / frame_bytes)
}

/// Refuses a recursion for which the stack is too short, or of unknown size.
fn guard(loops: &Loops, rows: u64) -> Result<(), MeasureError> {
    let refuse = |why: String| Err(MeasureError::Unsupported(why));
    match deepest(loops) {
        Some(deepest) if rows < deepest => Ok(()),
        Some(deepest) => refuse(format!(
            "the stack holds {deepest} calls of {:.3} each, and {rows} are wanted; `ulimit -s` sets \
             its size",
            Bytes(loops.frame_bytes() as u64)
        )),
        None => refuse("the system does not tell how long the stack is".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::points::point;
    use super::{
        CallStyles, DEEPEST, OPTIMISED, RECURSION, STYLES, UNOPTIMISED, check, deepest, guard,
    };
    use crate::levels::{C, RUST};
    use crate::made_up::{count, measure};
    use kernels::levels::{Compiler, Level, Loops};
    use std::path::Path;

    #[test]
    fn every_style_is_measured_here_with_either_compiler() {
        for compiler in [RUST, C] {
            for style in STYLES {
                let point = point(style, 3, compiler);
                let (samples, _) = measure(&CallStyles, &point, Path::new("/")).expect("it runs");
                assert!(count(&samples, UNOPTIMISED) >= 1, "{point}");
                assert!(count(&samples, OPTIMISED) >= 1, "{point}");
                assert_eq!(count(&samples, DEEPEST), usize::from(style == RECURSION));
            }
        }
    }

    #[test]
    fn a_recursion_deeper_than_the_stack_is_refused() {
        let small = std::thread::Builder::new().stack_size(1 << 20);
        let thread = small.spawn(|| {
            let loops = Loops::of(Compiler::Rust, Level::O0);
            let deepest = deepest(&loops).expect("the system tells");
            // The frames of the functions themselves differ by a little.
            guard(&loops, deepest - 100).expect("it fits");
            loops.by_recursion(deepest - 100, 1);
            guard(&loops, deepest + 100)
                .expect_err("it does not fit")
                .to_string()
        });
        let error = thread.expect("a thread").join().expect("no overflow");
        assert!(error.contains("ulimit -s"), "{error}");
    }

    #[test]
    fn a_wrong_sum_is_an_error() {
        check(7, 7).expect("the same");
        let error = check(7, 8).expect_err("not the same");
        assert!(error.to_string().contains("it is 7"), "{error}");
    }

    #[test]
    fn a_style_of_another_version_is_refused() {
        let unknown = point("jump", 3, RUST);
        let error = measure(&CallStyles, &unknown, Path::new("/")).expect_err("no such style");
        assert_eq!(error.to_string(), "there is no style 'jump'");
    }
}
