//! The loops that several experiments run at each optimisation level of two compilers, with a check
//! that the levels are real.

use crate::prelude::*;
use kernels::levels::{self, Loops};
use platform::clock;
use std::hint::black_box;

/// The axis of the optimisation levels.
pub(crate) const OPTIMISATION: AxisOf<Optimisation> = AxisOf::new("optimisation", "optimisation");
/// The axis of the compilers.
pub(crate) const COMPILER: AxisOf<Compiler> = AxisOf::new("compiler", "compiler");

/// Unoptimised code stores and loads each variable at each step of a loop that otherwise runs in
/// registers. If it is not slower than optimised code by this factor, it was optimised after all.
const LEAST_RATIO: f64 = 1.3;

/// An optimisation level; its digit is the level on the axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Optimisation(pub(crate) levels::Level);

impl Optimisation {
    /// Level 0.
    pub(crate) const NONE: Self = Self(levels::Level::O0);
    /// Level 3.
    pub(crate) const FULL: Self = Self(levels::Level::O3);

    /// The digit in `-O2`.
    pub(crate) fn digit(self) -> u64 {
        self.0.digit()
    }
}

impl LevelOf for Optimisation {
    const KIND: AxisKind = AxisKind::Count;

    fn level(&self) -> Level {
        Level::Number(self.digit())
    }

    fn of(level: &Level) -> Option<Self> {
        levels::Level::from_digit(level.number()?).map(Self)
    }
}

/// A compiler of the loops.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compiler {
    /// rustc.
    #[choice("Rust")]
    Rust,
    /// The C compiler with which oscope was built.
    #[choice("C")]
    C,
}

impl Compiler {
    fn loops(self, level: levels::Level) -> Loops {
        match self {
            Self::Rust => Loops::rust(level),
            Self::C => Loops::c(level),
        }
    }
}

/// The loops of `compiler` at `optimisation`. A remark says so if the loops are not what that level
/// makes.
pub(crate) fn loops(
    compiler: Compiler,
    optimisation: Optimisation,
    sampler: &mut Sampler<'_>,
) -> Loops {
    let loops = compiler.loops(optimisation.0);
    if let Some(flags) = loops.overruled_by {
        sampler.remark(format!(
            "the {compiler} loops do not have optimisation {}: {flags} overruled it",
            optimisation.digit()
        ));
    } else if let Some(ratio) = flattened(compiler) {
        sampler.remark(format!(
            "the optimisation levels of the {compiler} loops are not real: level 0 takes only \
             {ratio:.2} the time of level 2"
        ));
    }
    if compiler == Compiler::C {
        sampler.remark(format!("the C loops were compiled by {}", loops.compiler));
    }
    loops
}

/// The time of level 0 over that of level 2, if that is too little to be true.
fn flattened(compiler: Compiler) -> Option<f64> {
    let [unoptimised, optimised] = [levels::Level::O0, levels::Level::O2].map(|level| {
        let loops = compiler.loops(level);
        shortest_ns(|| (loops.inline)(black_box(64), black_box(64)))
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
