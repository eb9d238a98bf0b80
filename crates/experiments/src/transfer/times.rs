//! Times by size, and the ratio of a pair of methods to read and write on both sides.

use super::levels::{PLAIN, PLAIN_TIME, Pair, Reading, SIZE, TIME};
use crate::estimates::{ratios, ratios_within};
use crate::prelude::*;

/// Sound times of a pair by size.
pub(super) fn curve<'r>(
    results: &'r Results<'_>,
    pair: Pair,
    reading: Reading,
) -> Vec<(Bytes, &'r Estimate)> {
    results.along(SIZE, TIME, &pair.levels(reading))
}

/// The time of `above` over that of `below`, by size. One of them is [`PLAIN`], which took turns with the
/// other, so that the speed of the connection cancels. Older runs measured them apart.
pub(super) fn times_over(
    results: &Results<'_>,
    [above, below]: [Pair; 2],
    reading: Reading,
) -> Vec<(Bytes, Quantity)> {
    let other = if above == PLAIN { below } else { above };
    if !is_in_turn(results, other, reading) {
        let [above, below] = [above, below].map(|pair| curve(results, pair, reading));
        return ratios(&above, &below);
    }
    let [above, below] = [above, below].map(|pair| match pair {
        PLAIN => results.along(SIZE, PLAIN_TIME, &other.levels(reading)),
        other => curve(results, other, reading),
    });
    ratios_within(&above, &below)
}

/// True if a run measured `pair` in turn with [`PLAIN`].
pub(super) fn is_in_turn(results: &Results<'_>, pair: Pair, reading: Reading) -> bool {
    let plain = results.along(SIZE, PLAIN_TIME, &pair.levels(reading));
    !plain.is_empty()
}

#[cfg(test)]
mod tests {
    use super::super::TransferOfFiles;
    use super::super::levels::{FROM_MAPPING, PLAIN, PLAIN_TIME, Pair, Reading, TIME};
    use super::{is_in_turn, times_over};
    use crate::made_up::{machine, measured, results};
    use crate::prelude::*;

    const SIZE: Bytes = Bytes(1 << 20);

    /// The ratio of times where read and write take 1 ms, and 3 ms in turn with the other pair, which
    /// takes 2 ms.
    fn ratio(pairs: [Pair; 2], is_old: bool) -> f64 {
        let point = |pair: Pair| pair.point(&Point::new(), Reading::First, SIZE);
        let in_turn = [(TIME, 2e6), (PLAIN_TIME, 3e6)];
        let of_other = if is_old { &in_turn[..1] } else { &in_turn };
        let points = vec![
            measured(point(PLAIN), &[(TIME, 1e6)]),
            measured(point(FROM_MAPPING), of_other),
        ];
        let (definition, machine) = (TransferOfFiles.definition(), machine());
        let results = results(&definition, &machine, points);
        assert_ne!(is_in_turn(&results, FROM_MAPPING, Reading::First), is_old);
        let ratios = times_over(&results, pairs, Reading::First);
        assert_eq!(ratios.len(), 1);
        ratios[0].1.value
    }

    #[test]
    fn what_took_turns_is_compared_with_each_other() {
        for (is_old, gain) in [(false, 1.5), (true, 0.5)] {
            let told = ratio([PLAIN, FROM_MAPPING], is_old);
            assert!((told - gain).abs() < 0.01, "{told}");
            let told = ratio([FROM_MAPPING, PLAIN], is_old);
            assert!((told - 1.0 / gain).abs() < 0.02, "{told}");
        }
    }
}
