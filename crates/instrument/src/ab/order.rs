//! The order of the runs in a block.

use crate::statistics::random::Random;

/// Draws the orders of blocks.
///
/// All orders are equally likely, and the way back reverses the way there. If two subjects are
/// equal, exchanging them gives an order that was as likely, with the log ratio negated. This is
/// the symmetry on which the sequential test relies.
pub(super) struct Orders {
    subjects: Vec<usize>,
    random: Random,
}

impl Orders {
    pub(super) fn new(subjects: usize, seed: u64) -> Self {
        Self {
            subjects: (0..subjects).collect(),
            random: Random::new(seed),
        }
    }

    /// The order of a block in which each subject has `turns` runs.
    pub(super) fn draw(&mut self, turns: usize) -> Vec<usize> {
        self.random.shuffle(&mut self.subjects);
        let mut order = Vec::with_capacity(turns * self.subjects.len());
        for turn in 0..turns {
            if turn % 2 == 0 {
                order.extend(&self.subjects);
            } else {
                order.extend(self.subjects.iter().rev());
            }
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use super::Orders;
    use std::collections::BTreeSet;

    #[test]
    fn two_subjects_give_abba_and_baab() {
        let mut orders = Orders::new(2, 1);
        let seen: BTreeSet<_> = (0..50).map(|_| orders.draw(2)).collect();
        assert_eq!(seen, BTreeSet::from([vec![0, 1, 1, 0], vec![1, 0, 0, 1]]));
        assert_eq!(orders.draw(1).len(), 2);
    }

    #[test]
    fn every_order_of_three_is_drawn() {
        let mut orders = Orders::new(3, 2);
        let seen: BTreeSet<_> = (0..200).map(|_| orders.draw(2)).collect();
        assert_eq!(seen.len(), 6);
        assert!(seen.iter().all(|order| order.iter().eq(order.iter().rev())));
    }
}
