//! Findings and figures of `system.noise`: gaps, their interval and their causes.

use super::{
    DELAY, DELAY_P99, GAPS, HALF, INTERRUPTS, INTERVAL, LENGTH, LONGEST, LOST, SECOND, SOFTIRQS,
    STOLEN, SWITCHES, Second, TIMER, USUAL_MS, WORK,
};
use crate::estimates::{found, of_values};
use crate::figures::{bars, logarithmic};
use crate::prelude::*;

/// Timer interrupts are the cause of gaps that come as often, up to this share.
const AS_OFTEN: f64 = 0.25;
/// The shortest time slice of usual schedulers, in ns.
const SLICE_NS: f64 = 1e6;
/// A thread that loses less does not share its processor.
const SHARES: f64 = 0.25;

pub(super) fn all(results: &Results) -> Vec<Finding> {
    found([
        lost(results),
        interval(results),
        slices(results),
        counted(results),
        delay(results),
        shared(results),
    ])
}

pub(super) fn figures(results: &Results) -> Vec<Figure> {
    let usual = [LENGTH.at(Count(USUAL_MS))];
    let of = |metric: Metric| results.series(metric.title, metric, SECOND, &usual);
    let axes = (SECOND, logarithmic("share of the time", Unit::Share));
    let title = "Time that a thread loses";
    vec![bars(LOST, title, axes, vec![of(LOST), of(DELAY)])]
}

/// The longest visits next to this second thread.
pub(super) fn longest<'r>(results: &'r Results, second: Second) -> Option<&'r PointResult> {
    let points = results.points.iter();
    let of_second = points.filter(|it| it.point.matches(&[SECOND.at(second)]));
    let known = of_second.filter(|it| it.sound(LOST).is_some());
    known.max_by_key(|it| it.point.level(LENGTH).ok())
}

fn lost(results: &Results) -> Option<Finding> {
    let alone = longest(results, Second::Absent)?;
    let (lost, half) = (alone.sound(LOST)?, alone.sound(HALF)?);
    let longest_ns = alone.sound(LONGEST)?.by_process.iter().copied();
    let said = sentence!(
        "A thread that never waits loses {lost} of its time. Half of that is in gaps of {half} or more; \
         the longest of the run took {longest}.",
        longest = Quantity::nanoseconds(longest_ns.reduce(f64::max)?),
    );
    Some(of_values("lost", said, [lost, half]).weighing(0.7))
}

/// The interval of the gaps, and the timer that has the same.
fn interval(results: &Results) -> Option<Finding> {
    let alone = longest(results, Second::Absent)?;
    let interval = alone.sound(INTERVAL)?;
    let often = Count((1e9 / interval.centre).round() as u64);
    let said = match alone.sound(TIMER) {
        Some(timer) if (timer.centre / often.0 as f64 - 1.0).abs() <= AS_OFTEN => sentence!(
            "Most gaps come every {interval}, as often as the timer interrupts of the kernel: its tick, \
             {often} times a second."
        ),
        Some(timer) => sentence!(
            "Most gaps come every {interval}, {often} times a second, where the kernel counts {timer} timer \
             interrupts a second. The cause may be {below}.",
            below = below_the_kernel(results),
        ),
        None => sentence!("Most gaps come every {interval}, {often} times a second."),
    };
    Some(of_values("interval", said, [interval]).weighing(0.6))
}

/// The causes of gaps that the kernel does not count.
fn below_the_kernel(results: &Results) -> &'static str {
    match results.machine.hypervisor {
        Some(_) => "the host of this virtual machine",
        None => "the firmware or a device",
    }
}

/// The context switches in a second, if gaps as long as the median by lost time after each are most of that time.
pub(super) fn to_others(result: &PointResult) -> Option<&Estimate> {
    let (lost, half) = (result.sound(LOST)?, result.sound(HALF)?);
    let switches = result.sound(SWITCHES)?;
    let in_slices = switches.centre * half.centre / 1e9;
    (half.centre > SLICE_NS && in_slices >= lost.centre / 2.0).then_some(switches)
}

/// Gaps as long as time slices, and who ran in them.
fn slices(results: &Results) -> Option<Finding> {
    let alone = longest(results, Second::Absent)?;
    let (lost, half) = (alone.sound(LOST)?, alone.sound(HALF)?);
    let stolen = alone.sound(STOLEN);
    let stolen = stolen.filter(|it| it.centre >= lost.centre / 2.0);
    let who = match (stolen, to_others(alone)) {
        (Some(stolen), _) => {
            sentence!("The host of this virtual machine took {stolen} of the time.")
        }
        (None, Some(switches)) => {
            sentence!("Other threads ran in them, after {switches} context switches a second.")
        }
        (None, None) => sentence!("Neither stolen time nor context switches explain them."),
    };
    let said = sentence!(
        "Half of the time that a thread loses is in gaps of {half} or more, as long as time slices. {who}"
    );
    let follows = half.quantity().extent().low > SLICE_NS;
    follows.then(|| of_values("slices", said, [half]).weighing(0.8))
}

/// The events that the kernel counted next to the gaps.
fn counted(results: &Results) -> Option<Finding> {
    let alone = longest(results, Second::Absent)?;
    let (gaps, interrupts) = (alone.sound(GAPS)?, alone.sound(INTERRUPTS)?);
    let (softirqs, switches) = (alone.sound(SOFTIRQS)?, alone.sound(SWITCHES)?);
    let most = |of: &Estimate| of.quantity().extent().high;
    let are_others = most(interrupts) + most(switches) < gaps.quantity().extent().low / 2.0;
    let cause = below_the_kernel(results);
    let others = if are_others {
        sentence!(" Most gaps are none of these: the cause may be {cause}.")
    } else {
        Sentence::default()
    };
    let said = sentence!(
        "In each second, a thread that never waits had {gaps} gaps, and the kernel counted {interrupts} \
         interrupts, {softirqs} softirqs and {switches} context switches there.{others}"
    );
    let numbers = [gaps, interrupts, softirqs, switches];
    Some(of_values("counted", said, numbers).weighing(0.4))
}

fn delay(results: &Results) -> Option<Finding> {
    let alone = longest(results, Second::Absent)?;
    let (delay, p99) = (alone.sound(DELAY)?, alone.sound(DELAY_P99)?);
    let said = sentence!(
        "Work of {work} takes {delay} longer than at its fastest on average, and one time in a hundred \
         {p99} longer or more. If 100 such processes wait for each other after each piece of work, most \
         of their steps are that slow.",
        work = alone.sound(WORK)?,
    );
    Some(of_values("delay", said, [delay, p99]).weighing(0.5))
}

fn shared(results: &Results) -> Option<Finding> {
    let next_to = longest(results, Second::SameProcessor)?;
    let (lost, half) = (next_to.sound(LOST)?, next_to.sound(HALF)?);
    let said = sentence!(
        "Of two threads that compute on one processor, each waits for {lost} of the time, half of that \
         in gaps of {half} or more: the other's time slices."
    );
    let follows = lost.quantity().extent().low > SHARES;
    follows.then(|| of_values("shared", said, [lost, half]).weighing(0.45))
}
