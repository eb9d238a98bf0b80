//! The measuring part of oscope by mock clocks, made-up samples and recorded runs.

// The macro refers to the crate by this name.
extern crate oscope_instrument as instrument;

mod common;
mod curve;
mod grading;
mod runner;
mod sampler;
mod statistics;
