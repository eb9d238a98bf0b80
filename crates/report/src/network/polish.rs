//! An additive model of a matrix, fitted by medians.
//!
//! Source: J. Tukey, "Exploratory Data Analysis" (1977), chapter 11, median polish. A row with fewer than half of its
//! cells odd keeps its effect, so that an odd cell stays in the rest.

use instrument::statistics::summary::median;

/// Sweeps over rows and columns. The fit of a matrix with a few odd cells no longer moves after three or four.
const SWEEPS: usize = 10;

/// A matrix of logarithms as `typical + sending[from] + receiving[to] + rest`.
#[derive(Clone, Debug)]
pub(super) struct Polished {
    /// The effects of the ports that send. For a mutual matrix, both are the same.
    pub sending: Vec<Option<f64>>,
    /// The effects of the ports that receive.
    pub receiving: Vec<Option<f64>>,
    /// The rests.
    pub rest: Vec<Vec<Option<f64>>>,
}

/// Fits a matrix from `[from][to]`; a mutual one has equal cells in both directions and one effect of each port.
pub(super) fn polish(cells: &[Vec<Option<f64>>], is_mutual: bool) -> Polished {
    let all: Vec<f64> = cells.iter().flatten().flatten().copied().collect();
    let typical = median(&all).unwrap_or(0.0);
    let (typical, mut sending, mut receiving) = fitted(cells, typical);
    if is_mutual {
        for (sends, receives) in sending.iter_mut().zip(&mut receiving) {
            *sends = sends
                .zip(*receives)
                .map(|(one, other)| f64::midpoint(one, other));
            *receives = *sends;
        }
    }
    let rest = cells.iter().enumerate().map(|(from, row)| {
        let rest = row.iter().enumerate();
        let rest =
            rest.map(|(to, cell)| Some((*cell)? - typical - sending[from]? - receiving[to]?));
        rest.collect()
    });
    Polished {
        rest: rest.collect(),
        sending,
        receiving,
    }
}

/// Rows and columns in turn.
fn fitted(
    cells: &[Vec<Option<f64>>],
    mut typical: f64,
) -> (f64, Vec<Option<f64>>, Vec<Option<f64>>) {
    let count = cells.len();
    let (mut sending, mut receiving) = (vec![None; count], vec![None; count]);
    for _ in 0..SWEEPS {
        for from in 0..count {
            let known = (0..count)
                .filter_map(|to| Some(cells[from][to]? - typical - receiving[to].unwrap_or(0.0)));
            sending[from] = median(&known.collect::<Vec<_>>());
        }
        typical += centre(&mut sending);
        for to in 0..count {
            let known = (0..count)
                .filter_map(|from| Some(cells[from][to]? - typical - sending[from].unwrap_or(0.0)));
            receiving[to] = median(&known.collect::<Vec<_>>());
        }
        typical += centre(&mut receiving);
    }
    (typical, sending, receiving)
}

/// Moves the median of the effects to zero, and returns what it was.
fn centre(effects: &mut [Option<f64>]) -> f64 {
    let known: Vec<f64> = effects.iter().flatten().copied().collect();
    let middle = median(&known).unwrap_or(0.0);
    effects
        .iter_mut()
        .flatten()
        .for_each(|effect| *effect -= middle);
    middle
}

#[cfg(test)]
mod tests {
    use super::polish;
    use proptest::prelude::*;

    /// A mutual matrix of the effects, with a rest of `odd` at one link.
    fn cells(effects: &[f64], odd: f64) -> Vec<Vec<Option<f64>>> {
        let count = effects.len();
        let cell = |from: usize, to: usize| {
            let rest = if from.min(to) == 0 && from.max(to) == 1 {
                odd
            } else {
                0.0
            };
            (from != to).then(|| 3.0 + effects[from] + effects[to] + rest)
        };
        (0..count)
            .map(|from| (0..count).map(|to| cell(from, to)).collect())
            .collect()
    }

    proptest! {
        #[test]
        fn a_slow_port_is_an_effect_and_a_slow_link_a_rest(
            count in 4_usize..12,
            size in 0.2..3.0_f64,
            is_port: bool,
        ) {
            let mut effects = vec![0.0; count];
            let odd = if is_port { effects[1] = -size; 0.0 } else { -size };
            let found = polish(&cells(&effects, odd), true);
            for (index, effect) in found.sending.iter().enumerate() {
                let expected = if is_port && index == 1 { -size } else { 0.0 };
                prop_assert!((effect.unwrap() - expected).abs() < 1e-9, "{:?}", found.sending);
            }
            for (from, row) in found.rest.iter().enumerate() {
                for (to, rest) in row.iter().enumerate() {
                    let is_odd = !is_port && from.min(to) == 0 && from.max(to) == 1;
                    let expected = if is_odd { -size } else { 0.0 };
                    prop_assert_eq!(rest.is_none(), from == to);
                    prop_assert!(rest.is_none_or(|it| (it - expected).abs() < 1e-9), "{:?}", row);
                }
            }
        }
    }
}
