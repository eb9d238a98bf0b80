//! Files arrive unchanged, and no matter what fails, every file under its own name is complete.

mod attacks;
mod changed;
mod common;
mod crowds;
mod damage;
mod lost;
mod measuring;
mod overlapping;
mod pauses;
mod peers;
mod places;
mod planted;
mod resumed;
mod rights;
mod transfers;
mod trees;
mod trust;
