//! `system.noise`: pauses of a thread that never waits.

mod findings;
mod gaps;
mod seen;

use crate::judging::{decided, exceeds, opposite};
use crate::other_core::needed_cpu_of_another_core;
use crate::planning::by_profile;
use crate::prelude::*;
use crate::together::next_to_computing;
use gaps::THRESHOLD_NS;
use instrument::clock::calibrate;
use instrument::quantity::Nanoseconds;
use platform::placement::{current_cpu, pin_to};
use seen::{Seen, work};

pub(crate) struct Noise;

const SECOND: AxisOf<Second> = AxisOf::new("second", "second thread");
const LENGTH: AxisOf<Count> = AxisOf::new("length", "length in ms");

const fn length(name: &'static str, title: &'static str) -> Metric {
    Metric::fact(name, title, Unit::Nanoseconds)
}

const fn count(name: &'static str, title: &'static str) -> Metric {
    Metric::fact(name, title, Unit::Count)
}

const LOST: Metric = Metric::cost("lost", "time lost in gaps", Unit::Share);
const GAPS: Metric = count("gaps", "gaps in a second");
const GAP: Metric = length("gap", "gap, median");
const GAP_P99: Metric = length("gap_p99", "gap, 99 of 100");
const LONGEST: Metric = length("longest", "longest gap");
const HALF: Metric = length("half", "gap, median by lost time");
const INTERVAL: Metric = length("interval", "interval of the gaps");
const INTERRUPTS: Metric = count("interrupts", "interrupts in a second");
const TIMER: Metric = count("timer", "timer interrupts in a second");
const SOFTIRQS: Metric = count("softirqs", "softirqs in a second");
const SWITCHES: Metric = count("switches", "context switches in a second");
const STOLEN: Metric = Metric::fact("stolen", "time stolen by the host", Unit::Share);
const WORK: Metric = Metric::time("work", "fixed work");
const DELAY: Metric = Metric::cost("delay", "delay of fixed work, mean", Unit::Share);
const DELAY_P99: Metric = Metric::fact("delay_p99", "delay, 99 of 100", Unit::Share);

/// The place of a thread that computes next to the one that is measured.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
enum Second {
    #[choice("alone")]
    Absent,
    #[choice("on another core")]
    OtherCore,
    #[choice("on the same processor")]
    SameProcessor,
}

/// The usual length of a visit in ms: three quarters of it have 15 ticks of the slowest usual timer (100 Hz).
const USUAL_MS: u64 = 200;
/// The runs of a reference loop that are one piece of work: 0.1 ms on most processors.
const LOOPS: u64 = 50;
/// The fewest values of which a process reports what 99 of 100 do not exceed.
const ENOUGH: usize = 100;
/// The share of its time that folklore grants to the system.
const LITTLE: f64 = 0.01;

const DESIGN: Design = Design {
    id: "system.noise",
    title: "Noise of the system",
    question: "Who takes the processor from a thread that never waits, how often, and for how long?",
    method: formatcp!(
        "For three quarters of a visit, a pinned thread only reads the clock. A gap is a step of \
         more than {THRESHOLD_NS} ns between two readings. The median by lost time is the gap at \
         which half of the lost time is in longer ones. The interval is the period at which \
         at least half of the gaps begin, by the spectrum of their starts; irregular gaps have \
         none. The kernel's counters are read before and after: interrupts, timer interrupts \
         and softirqs of that processor, context switches of the thread, and time stolen by the \
         host, which is counted in steps of 10 ms. In the last quarter, the thread repeats a \
         fixed piece of work, {LOOPS} loops of additions in registers. The delay is the time of a \
         piece over that of the fastest, less one. Before the visit, the work is timed alone. \
         Values at 99 of 100 come from processes that saw {ENOUGH} gaps or pieces or more. A \
         second thread computes without end on another core, or with the same priority on the same processor; alone, \
         there is none."
    ),
    source: "common practice (sysjitter, rtla osnoise); fixed work as in Petrini and others (2003) and \
             Hoefler and others (2010)",
    axes: &[SECOND.axis(), LENGTH.open(20, 600_000)],
    metrics: &[
        LOST, GAPS, GAP, GAP_P99, LONGEST, HALF, INTERVAL, INTERRUPTS, TIMER, SOFTIRQS, SWITCHES,
        STOLEN, WORK, DELAY, DELAY_P99,
    ],
};

pub(crate) const CLAIMS: &[Claim] = &[Claim {
    key: "the_system_takes_less_than_one_percent",
    says: "A thread that has a processor to itself loses less than 1 % of its time to the system.",
    source: "folklore",
    basis: Basis::One(DESIGN.id, |results| {
        let alone = findings::longest(results, Second::Absent)?;
        let lost = alone.sound(LOST)?;
        if let Some(switches) = findings::to_others(alone) {
            let said = sentence!(
                "A thread loses {lost} of its time, most of it to other threads, after {switches} context \
                 switches a second."
            );
            return Some(decided(Ruling::Undecided, said));
        }
        let ruling = opposite(exceeds(&lost.quantity(), LITTLE));
        let said = sentence!("A thread that never waits loses {lost} of its time.");
        Some(decided(ruling, said))
    }),
}];

impl Experiment for Noise {
    fn design(&self) -> &'static Design {
        &DESIGN
    }

    /// Longer visits meet rarer gaps.
    fn points(&self, setting: &Setting) -> Vec<Point> {
        let longer: [&[u64]; 3] = [&[], &[2000], &[2000, 20_000]];
        let longer = by_profile(setting.profile, longer).iter();
        let alone = [Point::new().at(SECOND, Second::Absent)];
        let longer = alone.by(LENGTH, longer.map(|length_ms| Count(*length_ms)));
        let all = [Point::new()].by(SECOND, Second::ALL);
        [all.by(LENGTH, [Count(USUAL_MS)]), longer].concat()
    }

    fn least_ns(&self, point: &Point) -> u64 {
        length_ns(point).unwrap_or_default()
    }

    fn component(&self, point: &Point, metric: &str) -> Option<Component> {
        match point.level(SECOND) {
            _ if metric == WORK.name => Some(Component::Core),
            Ok(Second::SameProcessor) => Some(Component::Threads),
            _ => None,
        }
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let cpu = current_cpu().unwrap_or(0);
        pin_to(&[cpu])?;
        let (second, length_ns) = (point.level(SECOND)?, length_ns(point)?);
        let clock = calibrate();
        let reading_ns = clock.cost_ns.max(clock.resolution_ns);
        if 2.0 * reading_ns > THRESHOLD_NS as f64 {
            return Err(unsupported(format!(
                "a reading of the clock takes {:.3}, too long to see gaps of {THRESHOLD_NS} ns",
                Nanoseconds(reading_ns),
            )));
        }
        if kernels::MULTIPLY_CHAIN.is_none() {
            return Err(unsupported(
                "the fixed work is not written for this processor",
            ));
        }
        sampler.repeat(WORK, 1.0, |pieces| {
            (0..pieces).for_each(|_| work());
            Ok(())
        })?;
        let see = || Seen::by(cpu, length_ns);
        let seen = match second {
            Second::Absent => see(),
            Second::OtherCore => {
                next_to_computing(needed_cpu_of_another_core()?, kernels::add_width, see)
            }
            Second::SameProcessor => next_to_computing(cpu, kernels::add_width, see),
        };
        for (metric, value) in seen?.values() {
            sampler.value(metric, value);
        }
        Ok(())
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        findings::all(results)
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        findings::figures(results)
    }
}

fn length_ns(point: &Point) -> Result<u64, MeasureError> {
    Ok(point.level(LENGTH)?.0.saturating_mul(1_000_000))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up::setting;

    #[test]
    fn longer_profiles_have_longer_visits_without_a_second_thread() {
        for (profile, lengths) in [
            (Profile::Quick, &[200][..]),
            (Profile::Standard, &[200, 2000]),
            (Profile::Thorough, &[200, 2000, 20_000]),
        ] {
            let points = Noise.points(&setting(profile));
            let alone = points
                .iter()
                .filter(|it| it.matches(&[SECOND.at(Second::Absent)]));
            let lasts: Vec<u64> = alone
                .map(|point| Noise.least_ns(point) / 1_000_000)
                .collect();
            assert_eq!(lasts, lengths);
            assert_eq!(points.len(), lengths.len() + 2);
        }
    }
}
