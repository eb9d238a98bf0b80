//! `process.call_styles`: the same loop inline, by function, by recursion and with a process for each row.

pub(crate) mod claims;
mod definition;
mod findings;
mod points;
mod slopes;

use super::calls::systems::PROGRAM;
use crate::optimisation::{COMPILER, Optimisation, loops};
use crate::prelude::*;
use definition::{DEEPEST, DESIGN, ROWS, STEPS, STYLE, Style, TIMES};
use instrument::statistics::random::Random;
use kernels::levels::{Compiler, Level, Loops};
use platform::{call, child, stack};
use std::ffi::{CStr, CString};
use std::hint::black_box;
use std::io;

/// The same loop inline, by function, by recursion and with a process for each row.
pub(crate) struct CallStyles;

/// The part of the stack that a recursion leaves free.
const RESERVED_STACK_BYTES: u64 = 128 << 10;

impl Experiment for CallStyles {
    fn design(&self) -> &'static Design {
        &DESIGN
    }

    fn points(&self, setting: &Setting) -> Vec<Point> {
        points::all(setting)
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
        // The expected sum, computed independently.
        let sum = Loops::of(Compiler::Rust, Level::O1).inline(rows, STEPS);
        let program = match style {
            Style::Program => call::program_that_does_nothing()?,
            _ => CString::default(),
        };
        // The first forks of a process cost less than later ones.
        let mut times = TIMES;
        Random::new(sampler.seed()).shuffle(&mut times);
        for (metric, optimisation) in times {
            let loops = loops(point.level(COMPILER)?, optimisation, sampler);
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
        Style::Inline => Ok(loops.inline(rows, steps)),
        Style::Function => Ok(loops.by_function(rows, steps)),
        Style::Recursion => Ok(loops.by_recursion(rows, steps)),
        Style::Fork => (0..rows).try_fold(0, |sum, at| {
            let part = child::value(|| loops.row(at, steps))?;
            Ok(sum + part)
        }),
        Style::Program => (0..rows).try_fold(0, |sum, at| {
            call::spawn_wait(program)?;
            Ok(sum + loops.row(at, steps))
        }),
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

#[cfg(test)]
mod tests {
    use super::definition::{OPTIMISED, UNOPTIMISED};
    use super::points::point;
    use super::{CallStyles, DEEPEST, STYLE, Style, check, deepest, guard};
    use crate::made_up::{count, measure};
    use crate::optimisation::Compiler;
    use crate::prelude::*;
    use kernels::levels::{self, Level, Loops};
    use std::path::Path;

    #[test]
    fn every_style_is_measured_here_with_either_compiler() {
        for compiler in Compiler::ALL {
            for style in Style::of(System::here()) {
                let point = point(style, 3, *compiler);
                let (samples, _) = measure(&CallStyles, &point, Path::new("/")).expect("it runs");
                assert!(count(&samples, UNOPTIMISED) >= 1, "{point}");
                assert!(count(&samples, OPTIMISED) >= 1, "{point}");
                let is_recursion = style == Style::Recursion;
                assert_eq!(count(&samples, DEEPEST), usize::from(is_recursion));
            }
        }
    }

    #[test]
    fn a_recursion_deeper_than_the_stack_is_refused() {
        let small = std::thread::Builder::new().stack_size(1 << 20);
        let thread = small.spawn(|| {
            let loops = Loops::of(levels::Compiler::Rust, Level::O0);
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
        #[derive(Choice, Clone, Copy, PartialEq)]
        enum Other {
            Jump,
        }
        let unknown = point(Style::Inline, 3, Compiler::Rust)
            .at(AxisOf::new(STYLE.name(), "style"), Other::Jump);
        let error = measure(&CallStyles, &unknown, Path::new("/")).expect_err("no such style");
        assert!(error.to_string().contains("style=jump"), "{error}");
    }
}
