//! Numbers, estimates and findings as text, the same wherever they are shown.

mod command;
mod estimate;
mod finding;
mod machine;
mod point;
mod prefix;
mod time;
mod value;
pub(crate) mod words;

pub(crate) use command::command;
pub use estimate::{centre, cycles, ends, estimate, is_vague, samples, seen, spread};
pub use finding::{sentence, trust};
pub use machine::{machine, stand_in};
pub(crate) use point::point_against;
pub use point::{level, point, warning};
pub use prefix::Prefix;
pub use time::{length, measured, moment, run};
pub(crate) use value::{VAGUE, gigahertz, in_unit, several, without_zeros};
pub use value::{
    extent, parts, quantity, range, ratio, ratio_parts, ratio_with_range, round, value,
};
pub use words::{Tone, Word, better, grade, isolation, letter, origin, ruling, unit, verdict};
