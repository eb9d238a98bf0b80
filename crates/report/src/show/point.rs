//! Where a value was measured, and what casts doubt on it.

use super::value::value;
use instrument::experiment::Definition;
use instrument::noise::Warning;
use instrument::point::{Axis, AxisKind, Level, Point};

/// Where a point lies, in words that can be told apart: `read cold, block size 4 KiB`.
pub fn point(definition: &Definition, point: &Point) -> String {
    let level = |(name, level): (&str, &Level)| match definition.axis(name) {
        Some(axis) => self::level(axis, level),
        None => level.to_string(),
    };
    point.levels().map(level).collect::<Vec<_>>().join(", ")
}

/// A level where its axis is not at hand: `block size 4 KiB`. A choice speaks for itself.
pub fn level(axis: &Axis, level: &Level) -> String {
    match axis.kind {
        AxisKind::Choice => axis.show(level),
        AxisKind::Bytes | AxisKind::Count => format!("{} {}", axis.title, axis.show(level)),
    }
}

/// A warning in words, its numbers in the unit of the metric they belong to.
pub fn warning(definition: &Definition, warning: &Warning) -> String {
    match warning {
        Warning::SeveralModes {
            metric: name,
            centres,
        } => match definition.metric(name) {
            Some(metric) => {
                let centres = centres
                    .iter()
                    .map(|centre| value(metric.unit, *centre, None));
                let centres = centres.collect::<Vec<_>>().join(" and ");
                format!("the processes gave several values of {name}: {centres}")
            }
            None => warning.to_string(),
        },
        _ => warning.to_string(),
    }
}
