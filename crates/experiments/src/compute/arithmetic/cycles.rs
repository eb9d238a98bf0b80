//! Cycles of the core's own clock, measured with operations that take exactly one cycle.

use kernels::VECTORS_IN_A_TURN;
use kernels::levels::{Compiler, Level, Loops, OPERATIONS_IN_A_TURN};
use platform::clock;
use std::hint::black_box;

/// Pairs of a loop and the chain that counts cycles; the result is their median.
const PAIRS: usize = 9;
/// Long against the cost of the clock, short against a change of the frequency.
const LEG_NS: u64 = 50_000;
// Each turn of a loop has as many operations as one of the chain, vectors included.
const _: () = assert!(VECTORS_IN_A_TURN == OPERATIONS_IN_A_TURN);

/// The number of turns at which the search for a leg starts.
const FIRST_TURNS: u64 = 64;

/// The core's cycles that an operation takes. `run` does the operation for a number of turns. `None`
/// if this processor has no chain that counts cycles.
pub(super) fn of(run: impl Fn(u64) -> u64) -> Option<f64> {
    // A chain of additions of two registers takes one cycle each on every processor since the 1990s.
    let addition = Loops::of(Compiler::Rust, Level::O3).operation("add_u64")?;
    let chain = |turns| addition.latency(turns, 1, black_box(3));
    let (turns, chain_turns) = (leg(&run), leg(&chain));
    let mut ratios: Vec<f64> = (0..PAIRS)
        .map(|_| {
            let per_turn = time_ns(&run, turns) as f64 / turns as f64;
            let chain_per_turn = time_ns(&chain, chain_turns) as f64 / chain_turns as f64;
            // A turn of either has as many operations.
            per_turn / chain_per_turn
        })
        .collect();
    ratios.sort_unstable_by(f64::total_cmp);
    Some(ratios[PAIRS / 2])
}

/// The number of turns that takes at least a leg.
fn leg(run: &impl Fn(u64) -> u64) -> u64 {
    let mut turns = FIRST_TURNS;
    while time_ns(run, turns) < LEG_NS {
        turns *= 2;
    }
    turns
}

fn time_ns(run: &impl Fn(u64) -> u64, turns: u64) -> u64 {
    let begin_ns = clock::now_ns();
    black_box(run(turns));
    clock::now_ns().saturating_sub(begin_ns)
}

#[cfg(test)]
mod tests {
    use super::of;
    use kernels::levels::{Compiler, Level, Loops};

    #[test]
    fn every_loop_takes_some_cycles() {
        let loops = Loops::of(Compiler::Rust, Level::O3);
        let division = loops
            .operation("divide_u64")
            .expect("every processor divides");
        let cycles = of(|turns| division.latency(turns, 0x1_0000_000f, u64::MAX));
        assert!(
            cycles.is_some_and(|cycles| cycles.is_finite() && cycles > 0.0),
            "{cycles:?}"
        );
    }
}
