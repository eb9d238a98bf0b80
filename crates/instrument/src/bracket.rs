//! Readings of the reference loops before and after timings.

use crate::clock::{Clock, References};
use crate::sample::{Around, Legs};

/// The reference loops take at most this share of the time of the legs.
const MOST_SHARE: f64 = 0.1;

/// The result of two readings of the reference loops, before and after timings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bracketed {
    /// The mean wall time of the width loop in ns.
    pub width_ns: u64,
    /// `None` on a processor without the multiply chain.
    pub around: Option<Around>,
}

impl Bracketed {
    pub fn between(before: References, after: References) -> Self {
        let around = |(before_ns, after_ns)| Around {
            chain_ns: (before_ns, after_ns),
            width_change_ns: after.width_ns.cast_signed() - before.width_ns.cast_signed(),
            switches: after.switches.saturating_sub(before.switches),
            cpu: before.cpu.filter(|_| before.cpu == after.cpu),
        };
        Self {
            width_ns: before.width_ns.midpoint(after.width_ns),
            around: before.chain_ns.zip(after.chain_ns).map(around),
        }
    }
}

/// A timing between a reading before, which has been taken, and a reading after it.
pub(crate) struct Bracket<'c> {
    clock: &'c dyn Clock,
    before: Option<References>,
}

impl<'c> Bracket<'c> {
    pub fn open(clock: &'c dyn Clock) -> Self {
        Self {
            clock,
            before: clock.references(),
        }
    }

    pub fn close(self) -> Option<Bracketed> {
        let after = self.clock.references()?;
        Some(Bracketed::between(self.before?, after))
    }
}

/// Legs with a reading of the reference loops after each, or after several if the legs are so short
/// that the readings would take too much of the time.
pub(crate) struct BracketedLegs<'c> {
    clock: &'c dyn Clock,
    before: Option<References>,
    /// Legs between two readings.
    every: usize,
    /// Legs since the last reading.
    open: usize,
}

impl<'c> BracketedLegs<'c> {
    /// Takes the first reading. A leg is expected to take `leg_ns`.
    pub fn open(clock: &'c dyn Clock, leg_ns: u64) -> Self {
        let begin_ns = clock.now_ns();
        let before = clock.references();
        let reading_ns = clock.now_ns().saturating_sub(begin_ns) as f64;
        let every = reading_ns * (1.0 / MOST_SHARE - 1.0) / leg_ns.max(1) as f64;
        Self {
            clock,
            before,
            every: (every.ceil() as usize).max(1),
            open: 0,
        }
    }

    /// Notes that a leg was added to `legs`, and takes a reading if it is due, or if this is the last leg.
    pub fn note(&mut self, legs: &mut Legs, is_last: bool) {
        self.open += 1;
        if self.open < self.every && !is_last {
            return;
        }
        let after = self.clock.references();
        let open = std::mem::take(&mut self.open);
        let before = std::mem::replace(&mut self.before, after);
        let Some((before, after)) = before.zip(after) else {
            return;
        };
        let between = Bracketed::between(before, after);
        for _ in 0..open {
            legs.reference_ns.push(between.width_ns);
            legs.around.extend(between.around);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Bracketed, BracketedLegs};
    use crate::clock::{Clock, References};
    use crate::sample::{Around, Legs};
    use platform::usage::Usage;
    use std::cell::Cell;

    const READING: References = References {
        chain_ns: Some(2400),
        width_ns: 2000,
        switches: 7,
        cpu: Some(3),
    };

    #[test]
    fn two_readings_show_what_changed_between_them() {
        let after = References {
            chain_ns: Some(2700),
            width_ns: 1990,
            switches: 9,
            cpu: Some(3),
        };
        let around = Around {
            chain_ns: (2400, 2700),
            width_change_ns: -10,
            switches: 2,
            cpu: Some(3),
        };
        let bracketed = Bracketed::between(READING, after);
        assert_eq!((bracketed.width_ns, bracketed.around), (1995, Some(around)));
        let elsewhere = References {
            cpu: Some(1),
            ..after
        };
        let moved = Bracketed::between(READING, elsewhere).around;
        assert_eq!(
            moved,
            Some(Around {
                cpu: None,
                ..around
            })
        );
        let without_chain = References {
            chain_ns: None,
            ..after
        };
        assert_eq!(Bracketed::between(READING, without_chain).around, None);
    }

    /// Its readings take 15 µs.
    struct Slow(Cell<u64>);

    impl Clock for Slow {
        fn now_ns(&self) -> u64 {
            self.0.get()
        }
        fn usage(&self) -> platform::Result<Usage> {
            Ok(Usage::default())
        }
        fn references(&self) -> Option<References> {
            self.0.set(self.0.get() + 15_000);
            Some(READING)
        }
    }

    #[test]
    fn readings_take_at_most_a_tenth_of_the_time_of_the_legs() {
        for leg_ns in [1_000, 50_000, 134_000, 200_000, 5_000_000] {
            let clock = Slow(Cell::new(0));
            let mut legs = Legs::default();
            let mut readings = BracketedLegs::open(&clock, leg_ns);
            let begun_ns = clock.now_ns();
            let count = 10_000;
            for leg in 1..=count {
                readings.note(&mut legs, leg == count);
            }
            let spent_ns = (clock.now_ns() - begun_ns) as f64;
            let share = spent_ns / (spent_ns + (count * leg_ns) as f64);
            assert!(share <= 0.102, "{leg_ns}: {share}");
            assert_eq!(legs.around.len() as u64, count);
            assert_eq!(legs.reference_ns.len() as u64, count);
        }
    }
}
