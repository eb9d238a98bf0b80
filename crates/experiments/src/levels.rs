//! The loops that several experiments have at each optimisation level, and whether they are what
//! they are called.

use instrument::experiment::MeasureError;
use instrument::point::Axis;
use instrument::sampler::Sampler;
use kernels::levels::{Compiler, Level, Loops};
use platform::clock;
use std::hint::black_box;

/// The axis of the levels, and its name for people.
pub(crate) const OPTIMISATION: &str = "optimisation";
/// The axis of the compilers.
pub(crate) const COMPILER: &str = "compiler";
/// rustc.
pub(crate) const RUST: &str = "Rust";
/// The C compiler with which oscope was built.
pub(crate) const C: &str = "C";

/// Unoptimised code that is not slower than optimised code by this factor was optimised after all:
/// it stores and loads each variable at each step of a loop that else runs in registers.
const LEAST_RATIO: f64 = 1.3;

/// The axis of the levels.
pub(crate) fn optimisation_axis() -> Axis {
    Axis::count(OPTIMISATION, "optimisation")
}

/// The axis of the compilers.
pub(crate) fn compiler_axis() -> Axis {
    Axis::choice(COMPILER, "compiler")
}

/// The loops of `compiler` at the level with the digit `optimisation`, after a look whether
/// the levels are what they are called: a remark says if they are not.
pub(crate) fn loops(
    compiler: &str,
    optimisation: u64,
    sampler: &mut Sampler<'_>,
) -> Result<Loops, MeasureError> {
    let compiler = match compiler {
        RUST => Compiler::Rust,
        C => Compiler::C,
        other => {
            let reason = format!("there are no loops by a compiler '{other}'");
            return Err(MeasureError::Unsupported(reason));
        }
    };
    let level = Level::from_digit(optimisation).ok_or_else(|| {
        MeasureError::Unsupported(format!("there is no optimisation {optimisation}"))
    })?;
    let loops = Loops::of(compiler, level);
    if let Some(flags) = loops.overruled_by() {
        sampler.remark(format!(
            "the {compiler:?} loops are not what optimisation {optimisation} makes: {flags} overruled it"
        ))?;
    } else if let Some(ratio) = flattened(compiler) {
        sampler.remark(format!(
            "the optimisation levels of the {compiler:?} loops were flattened: 0 takes only {ratio:.2} \
             the time of 2"
        ))?;
    }
    if compiler == Compiler::C {
        sampler.remark(format!("the C loops were compiled by {}", loops.compiler()))?;
    }
    Ok(loops)
}

/// The level with the digit `optimisation` of rustc, after the same look.
pub(crate) fn level(optimisation: u64, sampler: &mut Sampler<'_>) -> Result<Level, MeasureError> {
    loops(RUST, optimisation, sampler)?;
    Ok(Level::from_digit(optimisation).expect("there are loops of it"))
}

/// How much longer level 0 takes than level 2, if that is too little to be true.
fn flattened(compiler: Compiler) -> Option<f64> {
    let [unoptimised, optimised] = [Level::O0, Level::O2].map(|level| {
        let loops = Loops::of(compiler, level);
        shortest_ns(|| loops.inline(black_box(64), black_box(64)))
    });
    let ratio = unoptimised / optimised;
    (ratio < LEAST_RATIO).then_some(ratio)
}

/// The shortest of a few runs, which nothing disturbed.
fn shortest_ns(run: impl Fn() -> u64) -> f64 {
    const RUNS: usize = 7;
    let times = (0..RUNS).map(|_| {
        let begin_ns = clock::now_ns();
        black_box(run());
        clock::now_ns().saturating_sub(begin_ns) as f64
    });
    times.fold(f64::INFINITY, f64::min)
}
