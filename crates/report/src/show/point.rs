//! Points and warnings as text.

use super::value::value;
use crate::lists::joined;
use instrument::experiment::Definition;
use instrument::noise::Warning;
use instrument::point::{Axis, AxisKind, Level, Point};

/// A point as unambiguous text: `read cold, block size 4 KiB`.
pub fn point(definition: &Definition, point: &Point) -> String {
    let level = |(name, level): (&str, &Level)| match definition.axis(name) {
        Some(axis) => self::level(axis, level),
        None => level.to_string(),
    };
    joined(", ", point.levels().map(level))
}

/// Two points as text, with both levels where they differ: `read 1 byte against ReadFile 1 byte`.
pub(crate) fn point_against(definition: &Definition, one: &Point, other: &Point) -> String {
    let both = one.levels().map(|(name, level)| {
        let own = Point::new().with(name, level.clone());
        let own = point(definition, &own);
        match other.get(name) {
            Some(theirs) if theirs != level => format!("{own} against {theirs}"),
            _ => own,
        }
    });
    joined(", ", both)
}

/// A level with the name of its axis: `block size 4 KiB`. A choice needs no axis name.
pub fn level(axis: &Axis, level: &Level) -> String {
    match axis.kind {
        AxisKind::Choice => axis.show(level),
        AxisKind::Bytes | AxisKind::Count => format!("{} {}", axis.title, axis.show(level)),
    }
}

/// A warning as text, with its numbers in the unit of their metric.
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
