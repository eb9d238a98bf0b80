//! Axes, and the points they span.

use crate::quantity::{Bytes, Unit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// One thing that an experiment varies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Axis {
    /// Name in points and in files: `block_size`.
    pub name: String,
    /// Name for people: `block size`.
    pub title: String,
    /// What its levels are.
    pub kind: AxisKind,
}

/// What the levels of an axis are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AxisKind {
    /// Amounts of data, in bytes.
    Bytes,
    /// Numbers of things.
    Count,
    /// Named choices.
    Choice,
}

impl Axis {
    /// An axis whose levels are sizes in bytes.
    pub fn bytes(name: &str, title: &str) -> Self {
        Self {
            name: name.into(),
            title: title.into(),
            kind: AxisKind::Bytes,
        }
    }

    /// An axis whose levels are numbers of things.
    pub fn count(name: &str, title: &str) -> Self {
        Self {
            name: name.into(),
            title: title.into(),
            kind: AxisKind::Count,
        }
    }

    /// An axis whose levels are named choices.
    pub fn choice(name: &str, title: &str) -> Self {
        Self {
            name: name.into(),
            title: title.into(),
            kind: AxisKind::Choice,
        }
    }

    /// `level` as a person reads it on this axis.
    pub fn show(&self, level: &Level) -> String {
        match (self.kind, level) {
            (AxisKind::Bytes, Level::Number(bytes)) => Bytes(*bytes).to_string(),
            (_, level) => level.to_string(),
        }
    }

    /// The unit of its levels; `None` for named choices.
    pub fn unit(&self) -> Option<Unit> {
        match self.kind {
            AxisKind::Bytes => Some(Unit::Bytes),
            AxisKind::Count => Some(Unit::Count),
            AxisKind::Choice => None,
        }
    }
}

/// One setting of one axis: a number (bytes or a count, as the axis says) or a named choice.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(untagged)]
pub enum Level {
    /// A size in bytes or a number of things.
    Number(u64),
    /// A named choice.
    Choice(String),
}

impl Level {
    /// The number, if it is one.
    pub fn number(&self) -> Option<u64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Choice(_) => None,
        }
    }
}

impl From<u64> for Level {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

impl From<&str> for Level {
    fn from(choice: &str) -> Self {
        Self::Choice(choice.to_owned())
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Choice(choice) => f.write_str(choice),
        }
    }
}

/// One setting of all axes of an experiment, in the order of its axes.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct Point(Vec<(String, Level)>);

impl Point {
    /// The point without any axis, to which levels are added.
    pub fn new() -> Self {
        Self::default()
    }

    /// The point with `axis` set to `level`.
    #[must_use]
    pub fn with(mut self, axis: &str, level: impl Into<Level>) -> Self {
        self.0.retain(|(name, _)| name != axis);
        self.0.push((axis.to_owned(), level.into()));
        self
    }

    /// The level on `axis`, if the point has that axis.
    pub fn get(&self, axis: &str) -> Option<&Level> {
        self.0
            .iter()
            .find(|(name, _)| name == axis)
            .map(|(_, level)| level)
    }

    /// The number on `axis`.
    ///
    /// # Errors
    /// [`WrongPoint`] if the point has no number there, as when it comes from another version.
    pub fn number(&self, axis: &str) -> Result<u64, WrongPoint> {
        self.get(axis)
            .and_then(Level::number)
            .ok_or_else(|| self.wrong(axis))
    }

    /// The choice on `axis`.
    ///
    /// # Errors
    /// [`WrongPoint`] if the point has no choice there, as when it comes from another version.
    pub fn choice(&self, axis: &str) -> Result<&str, WrongPoint> {
        match self.get(axis) {
            Some(Level::Choice(choice)) => Ok(choice),
            _ => Err(self.wrong(axis)),
        }
    }

    /// Axis names and levels in order.
    pub fn levels(&self) -> impl Iterator<Item = (&str, &Level)> {
        self.0.iter().map(|(name, level)| (name.as_str(), level))
    }

    /// Whether the point has every one of these levels.
    pub fn matches(&self, levels: &[(&str, Level)]) -> bool {
        levels
            .iter()
            .all(|(axis, level)| self.get(axis) == Some(level))
    }

    fn wrong(&self, axis: &str) -> WrongPoint {
        WrongPoint {
            axis: axis.to_owned(),
            point: self.to_string(),
        }
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (name, level)) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            write!(f, "{separator}{name}={level}")?;
        }
        Ok(())
    }
}

/// A point that lacks a level its experiment needs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the point ({point}) has no usable level on the axis '{axis}'")]
pub struct WrongPoint {
    axis: String,
    point: String,
}

#[cfg(test)]
mod tests {
    use super::{Axis, Level, Point};

    #[test]
    fn a_point_keeps_its_levels_in_order() {
        let point = Point::new()
            .with("operation", "read")
            .with("block_size", 4096);
        assert_eq!(point.to_string(), "operation=read, block_size=4096");
        assert_eq!(point.number("block_size"), Ok(4096));
        assert_eq!(point.choice("operation"), Ok("read"));
        assert!(point.number("operation").is_err());
        assert!(point.matches(&[("operation", "read".into())]));
        let text = serde_json::to_string(&point).expect("a point is plain data");
        assert_eq!(text, r#"[["operation","read"],["block_size",4096]]"#);
        assert_eq!(
            serde_json::from_str::<Point>(&text).expect("as written"),
            point
        );
    }

    #[test]
    fn an_axis_shows_its_levels() {
        assert_eq!(
            Axis::bytes("s", "size").show(&Level::Number(65536)),
            "64 KiB"
        );
        assert_eq!(Axis::count("n", "threads").show(&Level::Number(3)), "3");
    }
}
