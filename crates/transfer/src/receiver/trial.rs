//! A trial of two methods with the first blocks of a transfer.

use crate::method::ReceiveMethod;
use std::time::{Duration, Instant};

/// Bytes that one method receives before the other has its turn.
const TURN: u64 = 8 << 20;
/// Number of turns of each method.
const TURNS: usize = 2;
/// The second method must take less than this share of the first one's time: it costs a ring, and the
/// time of a turn varies.
const CLEARLY_FASTER: f64 = 0.95;

/// A trial of two methods, which receive turns of [`TURN`] bytes of a file alternately.
pub(super) struct Trial {
    /// The usual method, and the one that may be faster.
    methods: [ReceiveMethod; 2],
    /// Seconds per byte of each turn so far.
    turns: Vec<f64>,
    /// Start of the turn, and bytes received in it.
    turn: Option<(Instant, u64)>,
}

impl Trial {
    pub(super) fn new(usual: ReceiveMethod, other: ReceiveMethod) -> Self {
        Self {
            methods: [usual, other],
            turns: Vec::new(),
            turn: None,
        }
    }

    /// The method whose turn it is. Starts the turn.
    pub(super) fn method(&mut self) -> ReceiveMethod {
        self.turn.get_or_insert_with(|| (Instant::now(), 0));
        self.methods[self.turns.len() % 2]
    }

    /// Counts received bytes. True at the end of a turn: what is not yet written must be, before
    /// [`Trial::end_turn`].
    pub(super) fn took(&mut self, bytes: u64) -> bool {
        self.turn.as_mut().is_some_and(|(_, taken)| {
            *taken += bytes;
            *taken >= TURN
        })
    }

    /// Ends a turn. The last one decides.
    pub(super) fn end_turn(&mut self) -> Option<ReceiveMethod> {
        let (began, bytes) = self.turn.take()?;
        self.turns.push(per_byte(began.elapsed(), bytes));
        (self.turns.len() == 2 * TURNS).then(|| faster(self.methods, &self.turns))
    }

    /// A turn that a file was too short for says nothing: the time until the next file is not its own.
    pub(super) fn drop_turn(&mut self) {
        self.turn = None;
    }
}

fn per_byte(time: Duration, bytes: u64) -> f64 {
    time.as_secs_f64() / bytes.max(1) as f64
}

/// The faster of two methods, by the times of alternate turns from the first method on. The best turn
/// counts: other programs and a slow sender only lengthen one.
fn faster(methods: [ReceiveMethod; 2], turns: &[f64]) -> ReceiveMethod {
    let best = |first: usize| {
        let of_method = turns.iter().skip(first).step_by(2);
        of_method.copied().fold(f64::INFINITY, f64::min)
    };
    methods[usize::from(best(1) < best(0) * CLEARLY_FASTER)]
}

#[cfg(test)]
mod tests {
    use super::{TURN, TURNS, Trial, faster};
    use crate::method::ReceiveMethod::{File, Uring};

    #[test]
    fn the_faster_method_by_its_best_turn_is_chosen() {
        for (turns, chosen) in [
            // A host on which the ring writes while the next block arrives.
            ([0.44, 0.37, 0.45, 0.38], Uring),
            // A host on which the ring only adds work.
            ([0.615, 0.677, 0.62, 0.68], File),
            // The network is slower than both.
            ([1.0, 0.99, 1.0, 0.98], File),
            // One turn of each was disturbed.
            ([9.0, 0.37, 0.44, 8.0], Uring),
            ([0.61, 9.0, 8.0, 0.67], File),
        ] {
            assert_eq!(faster([File, Uring], &turns), chosen, "{turns:?}");
        }
    }

    #[test]
    fn methods_take_turns_until_both_had_all_of_theirs() {
        let mut trial = Trial::new(File, Uring);
        let mut methods = Vec::new();
        let chosen = loop {
            methods.push(trial.method());
            assert!(!trial.took(TURN - 1));
            assert!(trial.took(1));
            if let Some(chosen) = trial.end_turn() {
                break chosen;
            }
        };
        assert_eq!(methods, [File, Uring].repeat(TURNS));
        assert!([File, Uring].contains(&chosen));
    }

    #[test]
    fn a_turn_within_a_short_file_does_not_count() {
        let mut trial = Trial::new(File, Uring);
        for _ in 0..10 {
            assert_eq!(trial.method(), File);
            assert!(!trial.took(TURN - 1));
            trial.drop_turn();
        }
    }
}
