//! The labs, one file each.

mod blocks;
mod caches;
mod clocks;
mod cold_warm;
mod inversion;
mod locks;
mod mapping;
mod systems;

use super::Lab;

/// All labs, in the order of a course.
pub static ALL: &[Lab] = &[
    caches::LAB,
    blocks::LAB,
    cold_warm::LAB,
    clocks::LAB,
    locks::LAB,
    inversion::LAB,
    mapping::LAB,
    systems::LAB,
];
