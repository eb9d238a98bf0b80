//! Which operations are measured, on which types, at which levels, by which compilers.

use super::{OPERATION, TYPE};
use crate::levels::{C, COMPILER, OPTIMISATION, RUST};
use instrument::experiment::MeasureError;
use instrument::plan::{Profile, Setting};
use instrument::point::Point;

pub(super) const ADD: &str = "add";
pub(super) const SUBTRACT: &str = "subtract";
pub(super) const MULTIPLY: &str = "multiply";
pub(super) const DIVIDE: &str = "divide";
pub(super) const FUSED: &str = "multiply and add";
pub(super) const ROOT: &str = "square root";

pub(super) const INTEGER_32: &str = "integer 32";
pub(super) const INTEGER_64: &str = "integer 64";
pub(super) const FLOAT_32: &str = "float 32";
pub(super) const FLOAT_64: &str = "float 64";

/// Those that every type has.
pub(super) const BASIC: [&str; 4] = [ADD, SUBTRACT, MULTIPLY, DIVIDE];
/// Those of floats.
const FLOATING: [&str; 6] = [ADD, SUBTRACT, MULTIPLY, DIVIDE, FUSED, ROOT];

/// A type of numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Number {
    /// Level of the axis.
    pub title: &'static str,
    /// What the loops call it.
    pub name: &'static str,
    pub bytes: usize,
    /// The bits of the value that a chain starts from.
    start: u64,
    /// The bits of the other operand. No chain ends in zero, an infinity or a number too small to be
    /// normal.
    operand: u64,
}

impl Number {
    /// The bits of the value that a chain of `operation` starts from, and of the other operand.
    pub(super) fn operands(&self, operation: &str) -> (u64, u64) {
        // The multiplication that follows the roots is to lead back to the start.
        let operand = if operation == ROOT {
            self.start
        } else {
            self.operand
        };
        (self.start, operand)
    }
}

pub(super) const TYPES: [Number; 4] = [
    Number {
        title: INTEGER_32,
        name: "u32",
        bytes: 4,
        start: 60_013,
        operand: 0xffff_fff1,
    },
    Number {
        title: INTEGER_64,
        name: "u64",
        bytes: 8,
        start: 0x1_0000_000f,
        operand: 0xffff_ffff_ffff_ffc5,
    },
    Number {
        title: FLOAT_32,
        name: "f32",
        bytes: 4,
        start: 1.7_f32.to_bits() as u64,
        operand: ABOUT_ONE_32.to_bits() as u64,
    },
    Number {
        title: FLOAT_64,
        name: "f64",
        bytes: 8,
        start: 1.7_f64.to_bits(),
        operand: ABOUT_ONE_64.to_bits(),
    },
];

// The least that is more than 1: a chain of multiplications grows by it at each step, and takes
// seconds to leave the range of its type.
const ABOUT_ONE_32: f32 = 1.0 + f32::EPSILON;
const ABOUT_ONE_64: f64 = 1.0 + f64::EPSILON;

/// The type of that name.
pub(super) fn type_of(title: &str) -> Result<Number, MeasureError> {
    let number = TYPES.into_iter().find(|number| number.title == title);
    number.ok_or_else(|| MeasureError::Unsupported(format!("there is no type '{title}'")))
}

/// What the loops call an operation.
pub(super) fn kernel_of(operation: &str) -> Result<&str, MeasureError> {
    match operation {
        ADD | SUBTRACT | MULTIPLY | DIVIDE => Ok(operation),
        FUSED => Ok("fused"),
        ROOT => Ok("root"),
        other => Err(MeasureError::Unsupported(format!(
            "there is no operation '{other}'"
        ))),
    }
}

pub(super) fn point(operation: &str, number: &str, optimisation: u64, compiler: &str) -> Point {
    Point::new()
        .with(OPERATION, operation)
        .with(TYPE, number)
        .with(OPTIMISATION, optimisation)
        .with(COMPILER, compiler)
}

/// Whether vectors are measured beside the loops of `point`: they are no matter of its level or its
/// compiler, and are with the best.
pub(super) fn has_vectors(point: &Point) -> bool {
    point.number(OPTIMISATION) == Ok(3) && point.choice(COMPILER) == Ok(RUST)
}

/// Every operation on every type; in the shorter profiles the middle levels and C only where they tell
/// most.
pub(super) fn all(setting: &Setting) -> Vec<Point> {
    let mut points = Vec::new();
    for number in TYPES {
        let is_integer = number.name.starts_with('u');
        let operations: &[&str] = if is_integer { &BASIC } else { &FLOATING };
        for operation in operations {
            for compiler in [RUST, C] {
                let levels = (0..=3).filter(|level| {
                    is_wanted(setting.profile, operation, number, *level, compiler)
                });
                points.extend(levels.map(|level| point(operation, number.title, level, compiler)));
            }
        }
    }
    points
}

fn is_wanted(
    profile: Profile,
    operation: &str,
    number: Number,
    level: u64,
    compiler: &str,
) -> bool {
    let is_extreme = level == 0 || level == 3;
    let is_wide = number.bytes == 8;
    match (profile, compiler) {
        (Profile::Thorough, _) => true,
        (Profile::Standard, RUST) => is_extreme || is_wide,
        (Profile::Standard, _) => is_extreme && is_wide,
        (Profile::Quick, RUST) => match level {
            3 => true,
            0 => BASIC.contains(&operation),
            _ => is_wide && operation == ADD,
        },
        (Profile::Quick, _) => is_extreme && is_wide && [ADD, DIVIDE].contains(&operation),
    }
}

#[cfg(test)]
mod tests {
    use super::{TYPES, all, kernel_of, type_of};
    use crate::made_up::setting;
    use instrument::plan::Profile;
    use std::collections::BTreeSet;

    #[test]
    fn a_longer_profile_has_more_points_and_none_twice() {
        let points = |profile| all(&setting(profile));
        let (quick, standard, thorough) = (
            points(Profile::Quick),
            points(Profile::Standard),
            points(Profile::Thorough),
        );
        assert!(quick.len() <= 50, "{}", quick.len());
        assert!(quick.len() < standard.len() && standard.len() < thorough.len());
        assert_eq!(thorough.len(), 20 * 4 * 2);
        for points in [quick, standard, thorough] {
            assert_eq!(points.iter().collect::<BTreeSet<_>>().len(), points.len());
        }
    }

    #[test]
    fn names_are_those_of_the_loops() {
        for number in TYPES {
            assert!(type_of(number.title).is_ok_and(|found| found.name == number.name));
        }
        assert!(type_of("integer 128").is_err());
        assert!(kernel_of("add").is_ok() && kernel_of("modulo").is_err());
    }
}
