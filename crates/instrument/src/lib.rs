//! The measurement method of oscope: quantities, experiments, samples, runner, statistics, noise.
//!
//! # What it is
//!
//! An [`Experiment`](experiment::Experiment) asks one question about the system. A
//! [`Plan`](plan::Plan) lays out its points. The [`Runner`](runner::Runner) visits them in seeded
//! random rounds. At each visit a fresh worker process takes a batch of samples through a
//! [`Sampler`](sampler::Sampler). [`PointResult`](results::PointResult) turns the batches of a
//! point into estimates, and [`noise`] turns them into warnings. Experiments derive findings and
//! figures from both.
//!
//! # What it uses
//!
//! `platform`, for the clock, the counters and the worker processes.
//!
//! # What it must never do
//!
//! Know *what* is measured: this crate names no experiment. Print or store anything.

#[cfg(test)]
use testing as _;

pub mod ab;
pub mod advice;
pub mod any_path;
pub mod at_levels;

pub mod claim;
pub mod clock;
pub mod component;
pub mod core_state;
pub mod counterpart;
pub mod curve;
pub mod cycles;
pub mod definition;
pub mod error;
pub mod estimate;
pub mod experiment;
#[cfg(feature = "extra-work")]
pub mod extra_work;
pub mod figure;
pub mod finding;
pub mod fitness;
pub mod given;
pub mod grading;
mod latencies;
pub mod limits;
#[cfg(test)]
mod made_up;
pub mod need;
pub mod noise;
pub mod phases;
pub mod pieces;
pub mod plan;
pub mod point;
pub mod quantity;
pub mod removal;
pub mod results;
pub mod run_clock;
pub mod runner;
pub mod sample;
pub mod sampler;
pub mod setting;
pub mod statistics;
pub mod trial;

// The macros refer to this crate by name, inside this crate too.
extern crate self as instrument;
