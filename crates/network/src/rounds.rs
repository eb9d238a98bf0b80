//! Rounds in which each machine meets each other once.

/// A pair of machines: the one that asks and the one that answers.
pub type Pair = (usize, usize);

/// All pairs of `count` machines in rounds, each with disjoint pairs: the circle method for tournaments (one machine
/// stays in its place, the others move on by one place each round). There are `count − 1` rounds, or `count` if that is
/// odd. In pass `pass`, the roles of a pair are those of the pass before, exchanged.
pub fn rounds(count: usize, pass: usize) -> Vec<Vec<Pair>> {
    let places = count.next_multiple_of(2);
    let rounds = if count < 2 { 0 } else { places - 1 };
    let round = |round: usize| {
        let machine = |place: usize| match place {
            0 => 0,
            place => 1 + (place - 1 + round) % (places - 1),
        };
        let pairs = (0..places / 2).map(|place| (machine(place), machine(places - 1 - place)));
        // With an odd number of machines, one rests.
        let pairs = pairs.filter(|(one, other)| *one < count && *other < count);
        let is_turned = |index: usize| (round + index + pass) % 2 == 1;
        let pairs = pairs.enumerate().map(|(index, (one, other))| {
            if is_turned(index) {
                (other, one)
            } else {
                (one, other)
            }
        });
        pairs.collect()
    };
    (0..rounds).map(round).collect()
}

#[cfg(test)]
mod tests {
    use super::rounds;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn each_pair_meets_once_and_nobody_is_in_two_places(count in 0_usize..70, pass in 0_usize..3) {
            let rounds = rounds(count, pass);
            let mut met = BTreeSet::new();
            for round in &rounds {
                let mut busy = BTreeSet::new();
                for &(asks, answers) in round {
                    prop_assert!(asks < count && answers < count && asks != answers);
                    prop_assert!(busy.insert(asks) && busy.insert(answers));
                    prop_assert!(met.insert((asks.min(answers), asks.max(answers))));
                }
            }
            prop_assert_eq!(met.len(), count * count.saturating_sub(1) / 2);
        }

        #[test]
        fn roles_are_exchanged_from_pass_to_pass(count in 2_usize..20, pass in 0_usize..5) {
            let (one, next) = (rounds(count, pass), rounds(count, pass + 1));
            for (pair, turned) in one.iter().flatten().zip(next.iter().flatten()) {
                prop_assert_eq!((pair.1, pair.0), *turned);
            }
        }
    }
}
