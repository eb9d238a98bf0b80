//! Numbers, estimates and findings as text, shared by the terminal and the page.

mod estimate;
mod finding;
mod interval;
mod machine;
mod point;
mod prefix;
mod ratio;
mod time;
mod value;
pub(crate) mod words;

pub use estimate::{centre, cycles, ends, estimate, samples, seen, spread};
pub use finding::{parts, sentence, trust};
pub use interval::{extent, range};
pub use machine::{machine, stand_in};
pub(crate) use point::point_against;
pub use point::{level, point, warning};
pub use prefix::Prefix;
pub use ratio::{ratio, ratio_range, ratio_with_range};
pub use time::{length, measured, moment, printed, took};
pub(crate) use value::without_zeros;
pub use value::{digits, round, value};
pub use words::{Tone, Word, better, grade, letter, origin, ruling, unit, verdict};
