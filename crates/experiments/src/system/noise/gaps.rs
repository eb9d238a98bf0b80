//! Gaps between the readings of a clock: their lengths, and the interval at which they come.

use instrument::statistics::summary;
use platform::clock::now_ns;
use std::f64::consts::TAU;
use std::hint::black_box;

/// A longer time between two readings is a gap. `rtla osnoise` has the same threshold.
pub(super) const THRESHOLD_NS: u64 = 1000;

/// A watch ends early with this number of gaps.
const MOST_GAPS: usize = 1 << 17;

/// Gaps, and time, from which an interval is found.
const MOST_IN_SPECTRUM: usize = 1 << 12;
const MOST_OF_SPECTRUM_NS: u64 = 500_000_000;
/// The fewest intervals in that time, and the highest frequency.
const FEWEST_INTERVALS: usize = 5;
const HIGHEST_HZ: f64 = 2000.0;
/// Frequencies are this part of the spectrum's resolution apart, and this much closer around a peak.
const FINER: usize = 4;
const FINER_AROUND_PEAK: i32 = 16;
/// The multiples of a frequency are as strong as it is. The lowest within this share of the strongest is the interval.
const NEAR_STRONGEST: f64 = 0.7;
/// The least strength: half of the gaps come at the interval.
const LEAST_STRENGTH: f64 = 0.5;
/// The least number of gaps times strength squared. Chance gives more at any of 2000 frequencies in 1 of 80 watches
/// (Rayleigh's test: the probability is that of the negative exponent).
const LEAST_EVIDENCE: f64 = 12.0;

/// A time in which the clock was not read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Gap {
    /// Its begin since the first reading.
    pub at_ns: u64,
    pub length_ns: u64,
}

/// The gaps that a thread met which only read the clock.
#[derive(Debug)]
pub(super) struct Watch {
    pub gaps: Vec<Gap>,
    /// From the first reading to the last.
    pub watched_ns: u64,
}

impl Watch {
    /// Reads the clock for `least_ns`.
    pub fn of(least_ns: u64) -> Self {
        // Written here, so that the first gaps cause no page faults.
        let empty = Gap {
            at_ns: 1,
            length_ns: 1,
        };
        let mut gaps = black_box(vec![empty; MOST_GAPS]);
        gaps.clear();
        let begin_ns = now_ns();
        let mut earlier_ns = begin_ns;
        while earlier_ns < begin_ns + least_ns && gaps.len() < MOST_GAPS {
            let read_ns = now_ns();
            let length_ns = read_ns.saturating_sub(earlier_ns);
            if length_ns > THRESHOLD_NS {
                gaps.push(Gap {
                    at_ns: earlier_ns - begin_ns,
                    length_ns,
                });
            }
            earlier_ns = read_ns;
        }
        Self {
            gaps,
            watched_ns: earlier_ns - begin_ns,
        }
    }

    /// The gaps in a second.
    pub fn rate(&self) -> f64 {
        self.gaps.len() as f64 * 1e9 / self.watched_ns as f64
    }

    /// The share of the time that is in gaps.
    pub fn lost(&self) -> f64 {
        let lost_ns: u64 = self.gaps.iter().map(|gap| gap.length_ns).sum();
        lost_ns as f64 / self.watched_ns as f64
    }

    /// The length of the gaps at a quantile, in ns; `None` without gaps.
    pub fn quantile_ns(&self, quantile: f64) -> Option<f64> {
        let lengths: Vec<f64> = self.gaps.iter().map(|gap| gap.length_ns as f64).collect();
        summary::quantile(&lengths, quantile)
    }

    /// The length of the gap at which half of the lost time is in longer ones, in ns; `None` without gaps.
    pub fn half_lost_ns(&self) -> Option<f64> {
        let mut lengths: Vec<u64> = self.gaps.iter().map(|gap| gap.length_ns).collect();
        lengths.sort_unstable_by(|one, other| other.cmp(one));
        let all_ns: u64 = lengths.iter().sum();
        let mut longer_ns = 0;
        let half = lengths.into_iter().find(|length_ns| {
            longer_ns += length_ns;
            2 * longer_ns >= all_ns
        });
        half.map(|length_ns| length_ns as f64)
    }

    /// The interval at which most of the gaps begin, in ns; `None` if they come at none.
    ///
    /// The strength of a frequency is the length of the mean of the gaps' phases, as arrows on a circle: 1 if all
    /// begin at its interval, and near 0 if they begin at any time.
    pub fn interval_ns(&self) -> Option<f64> {
        let until_ns = self.gaps.get(MOST_IN_SPECTRUM).map(|gap| gap.at_ns);
        let until_ns = until_ns.unwrap_or(self.watched_ns);
        let until_ns = until_ns.min(MOST_OF_SPECTRUM_NS);
        let begins = self.gaps.iter().map(|gap| gap.at_ns);
        let begins: Vec<f64> = begins
            .take_while(|at_ns| *at_ns < until_ns)
            .map(|at_ns| at_ns as f64 / 1e9)
            .collect();
        let count = begins.len() as f64;
        let strength = |hz: f64| {
            let phases = begins.iter().map(|begin| (TAU * hz * begin).sin_cos());
            let sum = phases.fold((0.0, 0.0), |(x, y), (sin, cos)| (x + cos, y + sin));
            f64::hypot(sum.0, sum.1) / count
        };
        let step_hz = 1e9 / (until_ns as f64 * FINER as f64);
        let highest = (HIGHEST_HZ / step_hz) as usize;
        let spectrum: Vec<(f64, f64)> = (FINER * FEWEST_INTERVALS..=highest)
            .map(|number| number as f64 * step_hz)
            .map(|hz| (hz, strength(hz)))
            .collect();
        let strongest = spectrum.iter().map(|(_, strength)| *strength);
        let near = NEAR_STRONGEST * strongest.reduce(f64::max)?;
        let (flank_hz, _) = { spectrum }.into_iter().find(|(_, it)| *it >= near)?;
        let around = (-2 * FINER_AROUND_PEAK..=2 * FINER_AROUND_PEAK)
            .map(|step| flank_hz + step_hz * f64::from(step) / f64::from(FINER_AROUND_PEAK))
            .map(|hz| (hz, strength(hz)));
        let (hz, found) = around.max_by(|(_, one), (_, other)| one.total_cmp(other))?;
        // A single burst is strong at all low frequencies.
        let is_peak = strength(hz / 2.0) < found / 2.0;
        let is_enough = found >= LEAST_STRENGTH && count * found.powi(2) >= LEAST_EVIDENCE;
        (is_peak && is_enough).then(|| 1e9 / hz)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// 150 ms with gaps of 5 µs that begin at these times in ns.
    fn watch(begins: impl IntoIterator<Item = u64>) -> Watch {
        let gap = |at_ns| Gap {
            at_ns,
            length_ns: 5000,
        };
        let mut gaps: Vec<Gap> = begins.into_iter().map(gap).collect();
        gaps.sort_by_key(|gap| gap.at_ns);
        Watch {
            gaps,
            watched_ns: 150 * MS,
        }
    }

    /// A tick each `interval_ns`, late by up to 20 µs.
    fn ticks(interval_ns: u64) -> impl Iterator<Item = u64> {
        let ticks = (0..).map(move |tick| tick * interval_ns + 123_456 + tick * 7919 % 20_000);
        ticks.take_while(|at_ns| *at_ns < 150 * MS)
    }

    /// Times without order.
    fn at_random(count: u64) -> impl Iterator<Item = u64> {
        let mut state = 0x9E37_79B9_7F4A_7C15_u64;
        (0..count).map(move |_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state % (150 * MS)
        })
    }

    fn is_about(found: Option<f64>, expected_ns: u64) -> bool {
        found.is_some_and(|ns| (ns / expected_ns as f64 - 1.0).abs() < 0.005)
    }

    #[test]
    fn the_interval_of_ticks_is_found_also_among_other_gaps() {
        for interval_ns in [MS, 10 * MS / 3, 4 * MS, 10 * MS] {
            let found = watch(ticks(interval_ns)).interval_ns();
            assert!(is_about(found, interval_ns), "{interval_ns}: {found:?}");
        }
        let found = watch(ticks(4 * MS).chain(at_random(20))).interval_ns();
        assert!(is_about(found, 4 * MS), "{found:?}");
    }

    #[test]
    fn gaps_without_order_a_burst_and_few_ticks_have_no_interval() {
        let burst = (0..30).map(|gap| 70 * MS + gap * 20_000);
        for (what, gaps) in [
            ("none", watch([])),
            ("at random", watch(at_random(60))),
            (
                "ticks among many others",
                watch(ticks(4 * MS).chain(at_random(60))),
            ),
            ("a burst", watch(burst)),
            ("few ticks", watch(ticks(4 * MS).take(10))),
        ] {
            assert_eq!(gaps.interval_ns(), None, "{what}");
        }
    }

    #[test]
    fn half_of_the_lost_time_is_in_the_long_gaps() {
        let of = |lengths: &[u64]| {
            let mut watch = watch((0..lengths.len() as u64).map(|at| at * MS));
            for (gap, length_ns) in watch.gaps.iter_mut().zip(lengths) {
                gap.length_ns = *length_ns;
            }
            watch
        };
        assert_eq!(of(&[10, 4000, 10, 4100, 10]).half_lost_ns(), Some(4100.0));
        assert_eq!(of(&[10, 10, 10, 10, 25]).half_lost_ns(), Some(10.0));
        assert_eq!(of(&[]).half_lost_ns(), None);
        let watch = of(&[1_500_000, 3_000_000, 3_000_000]);
        assert!((watch.lost() - 0.05).abs() < 1e-12 && (watch.rate() - 20.0).abs() < 1e-9);
        assert_eq!(watch.quantile_ns(1.0), Some(3e6));
    }

    #[test]
    fn a_watch_lasts_as_long_as_asked_and_its_gaps_follow_each_other() {
        let watch = Watch::of(2 * MS);
        assert!(watch.watched_ns >= 2 * MS);
        let mut end_ns = 0;
        for gap in &watch.gaps {
            assert!(
                gap.at_ns >= end_ns && gap.length_ns > THRESHOLD_NS,
                "{gap:?}"
            );
            end_ns = gap.at_ns + gap.length_ns;
        }
        assert!(end_ns <= watch.watched_ns);
    }
}
