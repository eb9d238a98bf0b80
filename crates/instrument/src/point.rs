//! Axes, and points: one level on each axis.

use crate::quantity::{Bytes, Count, Unit};
pub use choice::{Choice, NoSuchChoice};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Borrow;
use std::fmt;
use std::marker::PhantomData;
use std::path::Path;

/// A variable of an experiment, as stored in a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Axis {
    /// Name in points and in files: `block_size`.
    pub name: String,
    /// Name for readers: `block size`.
    pub title: String,
    /// Kind of its levels.
    pub kind: AxisKind,
}

/// Kind of an axis's levels.
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

impl From<&DesignAxis> for Axis {
    fn from(axis: &DesignAxis) -> Self {
        Self::new(axis.name, axis.title, axis.kind)
    }
}

impl Axis {
    fn new(name: &str, title: &str, kind: AxisKind) -> Self {
        Self {
            name: name.into(),
            title: title.into(),
            kind,
        }
    }

    /// An axis whose levels are sizes in bytes.
    pub fn bytes(name: &str, title: &str) -> Self {
        Self::new(name, title, AxisKind::Bytes)
    }

    /// An axis whose levels are numbers of things.
    pub fn count(name: &str, title: &str) -> Self {
        Self::new(name, title, AxisKind::Count)
    }

    /// An axis whose levels are named choices.
    pub fn choice(name: &str, title: &str) -> Self {
        Self::new(name, title, AxisKind::Choice)
    }

    /// `level` formatted for readers of this axis.
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

/// An axis with the Rust type of its levels, as experiments declare it:
/// `const MESSAGE: AxisOf<Bytes> = AxisOf::new("message_size", "message")`.
#[derive(Debug)]
pub struct AxisOf<L> {
    name: &'static str,
    title: &'static str,
    level: PhantomData<fn() -> L>,
}

impl<L> Clone for AxisOf<L> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<L> Copy for AxisOf<L> {}

impl<L> AsRef<str> for AxisOf<L> {
    fn as_ref(&self) -> &str {
        self.name
    }
}

impl<L: LevelOf> AxisOf<L> {
    /// An axis called `name` in points and in files, and `title` for readers.
    pub const fn new(name: &'static str, title: &'static str) -> Self {
        Self {
            name,
            title,
            level: PhantomData,
        }
    }

    /// Its name in points and in files.
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// The axis for an experiment's list of axes.
    pub const fn axis(self) -> DesignAxis {
        DesignAxis {
            name: self.name,
            title: self.title,
            kind: L::KIND,
            least: 1,
            most: 0,
            step: 1,
            names: &[],
            takes_libraries: false,
            is_optional: false,
            is_refined: false,
        }
    }

    /// The axis as one on which a run may add points where a curve bends; their levels are multiples of `step`.
    pub const fn refined_by(self, step: u64) -> DesignAxis {
        DesignAxis {
            step,
            is_refined: true,
            ..self.axis()
        }
    }

    /// The axis as one of which users may choose any number from `least` to `most`, planned or not.
    pub const fn open(self, least: u64, most: u64) -> DesignAxis {
        DesignAxis {
            least,
            most,
            ..self.axis()
        }
    }

    /// The axis as one of which users may choose these names, and planned points have none.
    pub const fn only_if_named(self, names: &'static [&'static str]) -> DesignAxis {
        DesignAxis {
            names,
            is_optional: true,
            ..self.axis()
        }
    }

    /// The axis at `level`, for selecting points.
    #[allow(
        clippy::needless_pass_by_value,
        reason = "levels are small, and calls read better without a borrow"
    )]
    pub fn at(self, level: L) -> (&'static str, Level) {
        (self.name, level.level())
    }
}

/// A variable of an experiment, as a constant of the program. It may take levels that are not planned, for users who
/// choose levels themselves: any multiple of a step within bounds, or names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DesignAxis {
    /// Name in points and in files: `block_size`.
    pub name: &'static str,
    /// Name for readers: `block size`.
    pub title: &'static str,
    /// Kind of its levels.
    pub kind: AxisKind,
    /// The least level.
    pub least: u64,
    /// The largest; below the least if the axis declares no bounds.
    pub most: u64,
    /// Levels are multiples of this.
    pub step: u64,
    /// The names that it takes.
    pub names: &'static [&'static str],
    /// True if it takes libraries as well, which the workers of their points preload.
    pub takes_libraries: bool,
    /// True if planned points have no level on this axis: all that is usual is what they have.
    pub is_optional: bool,
    /// True if a run may add points on this axis where a curve bends. Every multiple of the step between two planned
    /// levels must be measurable.
    pub is_refined: bool,
}

impl DesignAxis {
    /// True if it declares levels that are not planned.
    pub(crate) fn is_open(&self) -> bool {
        self.least <= self.most || !self.names.is_empty()
    }

    /// The same axis, of which planned points have no level.
    #[must_use]
    pub const fn only_if_chosen(self) -> Self {
        Self {
            is_optional: true,
            ..self
        }
    }

    /// The same axis, which takes libraries as well: by a path, or by a name that the system searches.
    #[must_use]
    pub const fn or_libraries(self) -> Self {
        Self {
            takes_libraries: true,
            ..self
        }
    }

    /// The library that the worker of `point` preloads, if its level on this axis is one.
    pub(crate) fn library<'p>(&self, point: &'p Point) -> Option<&'p str> {
        match point.get(self.name)? {
            Level::Choice(name) if self.takes_libraries => {
                (!self.names.contains(&name.as_str())).then_some(name)
            }
            _ => None,
        }
    }

    /// The same axis, with levels that are multiples of `step`.
    #[must_use]
    pub const fn in_steps_of(self, step: u64) -> Self {
        Self { step, ..self }
    }

    /// True if it takes `level`.
    pub fn takes(&self, level: &Level) -> bool {
        match level {
            Level::Number(number) => {
                (self.least..=self.most).contains(number) && number.is_multiple_of(self.step)
            }
            Level::Choice(name) => {
                self.names.contains(&name.as_str()) || self.takes_libraries && is_library(name)
            }
        }
    }
}

/// True for the path of a file, and for a name like `libjemalloc.so.2`, which only the system can find.
fn is_library(name: &str) -> bool {
    if name.contains('/') {
        Path::new(name).is_file()
    } else {
        name.contains(".so")
    }
}

/// The Rust type of an axis's levels: sizes, counts, or the variants of a [`Choice`].
pub trait LevelOf: Clone {
    /// The kind of these levels.
    const KIND: AxisKind;

    /// The level in points and in files.
    fn level(&self) -> Level;

    /// Converts back from a stored level; `None` if it has another type.
    fn of(level: &Level) -> Option<Self>;
}

/// Reads back a level that `Display` wrote as a named choice; `None` for any other level, also for
/// another way to write the same value that `parse` takes.
pub fn read_back<L: fmt::Display>(
    level: &Level,
    parse: impl FnOnce(&str) -> Option<L>,
) -> Option<L> {
    let Level::Choice(name) = level else {
        return None;
    };
    parse(name).filter(|found| found.to_string() == *name)
}

impl LevelOf for Bytes {
    const KIND: AxisKind = AxisKind::Bytes;

    fn level(&self) -> Level {
        Level::Number(self.0)
    }

    fn of(level: &Level) -> Option<Self> {
        level.number().map(Self)
    }
}

impl LevelOf for Count {
    const KIND: AxisKind = AxisKind::Count;

    fn level(&self) -> Level {
        Level::Number(self.0)
    }

    fn of(level: &Level) -> Option<Self> {
        level.number().map(Self)
    }
}

impl<T: Choice> LevelOf for T {
    const KIND: AxisKind = AxisKind::Choice;

    fn level(&self) -> Level {
        Level::Choice(self.name().to_owned())
    }

    fn of(level: &Level) -> Option<Self> {
        match level {
            Level::Choice(name) => Self::named(name).ok(),
            Level::Number(_) => None,
        }
    }
}

/// A level of one axis: a number (bytes or a count, depending on the axis) or a named choice.
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

/// One level on every axis of an experiment, in the order of its axes.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct Point(Vec<(String, Level)>);

impl Point {
    /// A point without axes, to which levels are added.
    pub fn new() -> Self {
        Self::default()
    }

    /// The point with `axis` set to `level`: in its place if the point has that axis, else at the end.
    #[must_use]
    pub fn with(mut self, axis: &str, level: impl Into<Level>) -> Self {
        match self.0.iter_mut().find(|(name, _)| name == axis) {
            Some((_, set)) => *set = level.into(),
            None => self.0.push((axis.to_owned(), level.into())),
        }
        self
    }

    /// The point with `axis` set to `level`.
    #[must_use]
    #[allow(
        clippy::needless_pass_by_value,
        reason = "levels are small, and calls read better without a borrow"
    )]
    pub fn at<L: LevelOf>(self, axis: AxisOf<L>, level: L) -> Self {
        self.with(axis.name, level.level())
    }

    /// The level on `axis`.
    ///
    /// # Errors
    /// [`WrongPoint`] if the point has no level of this type, for example because another version
    /// recorded it.
    pub fn level<L: LevelOf>(&self, axis: AxisOf<L>) -> Result<L, WrongPoint> {
        let level = self.get(axis.name).and_then(L::of);
        level.ok_or_else(|| WrongPoint {
            axis: axis.name.to_owned(),
            point: self.to_string(),
        })
    }

    /// The level on `axis`, if the point has that axis.
    pub fn get(&self, axis: &str) -> Option<&Level> {
        self.0
            .iter()
            .find(|(name, _)| name == axis)
            .map(|(_, level)| level)
    }

    /// The point on those of its axes for which `keep` is true.
    #[must_use]
    pub fn only(&self, keep: impl Fn(&str) -> bool) -> Self {
        let kept = self.0.iter().filter(|(axis, _)| keep(axis));
        Self(kept.cloned().collect())
    }

    /// Axis names and levels in order.
    pub fn levels(&self) -> impl Iterator<Item = (&str, &Level)> {
        self.0.iter().map(|(name, level)| (name.as_str(), level))
    }

    /// True if the point has all these levels.
    pub fn matches(&self, levels: &[(&str, Level)]) -> bool {
        levels
            .iter()
            .all(|(axis, level)| self.get(axis) == Some(level))
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

/// Points on a grid, made axis by axis from `[Point::new()]`.
pub trait Grid {
    /// Each of these points at each of these levels of `axis`.
    fn by<L: LevelOf>(
        &self,
        axis: AxisOf<L>,
        levels: impl IntoIterator<Item = impl Borrow<L>>,
    ) -> Vec<Point>;
}

impl Grid for [Point] {
    fn by<L: LevelOf>(
        &self,
        axis: AxisOf<L>,
        levels: impl IntoIterator<Item = impl Borrow<L>>,
    ) -> Vec<Point> {
        let levels = levels.into_iter().map(|level| level.borrow().clone());
        let levels: Vec<L> = levels.collect();
        let at = |point: &Point, level: &L| point.clone().at(axis, level.clone());
        let points = self.iter();
        points
            .flat_map(|point| levels.iter().map(move |level| at(point, level)))
            .collect()
    }
}

/// A point without a level that its experiment needs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the point ({point}) has no usable level on the axis '{axis}'")]
pub struct WrongPoint {
    axis: String,
    point: String,
}

#[cfg(test)]
mod tests {
    use super::{Axis, AxisOf, Level, Point};
    use crate::quantity::{Bytes, Count};

    #[test]
    fn a_point_keeps_its_levels_in_order() {
        const BLOCK_SIZE: AxisOf<Bytes> = AxisOf::new("block_size", "block size");
        const OPERATION: AxisOf<Count> = AxisOf::new("operation", "operation");
        let point = Point::new()
            .with("operation", "read")
            .with("block_size", 4096);
        assert_eq!(point.to_string(), "operation=read, block_size=4096");
        assert_eq!(point.level(BLOCK_SIZE), Ok(Bytes(4096)));
        assert!(point.level(OPERATION).is_err());
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
