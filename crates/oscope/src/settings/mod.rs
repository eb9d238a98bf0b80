//! Settings of the kernel that a comparison changes, and restores however it ends.

mod allowed;
mod journal;
mod trials;

pub use allowed::Scalar;
pub use journal::{Changed, recover};
pub use trials::{Tried, names, trial};
