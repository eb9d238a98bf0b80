//! How oscope measures: quantities, experiments, samples, the runner, statistics and noise.
//!
//! # What it is
//!
//! An [`Experiment`](experiment::Experiment) asks one question about the system. A
//! [`Plan`](plan::Plan) lays out its points; the [`Runner`](runner::Runner) visits them in seeded
//! random rounds, and at each visit a fresh worker process takes a batch of samples through a
//! [`Sampler`](sampler::Sampler). [`PointResult`](results::PointResult) turns the batches of a
//! point into estimates, and [`noise`] into warnings. Findings and figures are made of those.
//!
//! # What it uses
//!
//! `platform`, for the clock, the counters and the worker processes.
//!
//! # What it must never do
//!
//! Know *what* is measured: no experiment is named here. Print or store anything.

pub mod advice;
pub mod claim;
pub mod clock;
pub mod definition;
pub mod error;
pub mod estimate;
pub mod experiment;
#[cfg(feature = "extra-work")]
pub mod extra_work;
pub mod figure;
pub mod finding;
pub mod fitness;
pub mod limits;
pub mod link;
pub mod need;
pub mod noise;
pub mod phases;
pub mod plan;
pub mod point;
pub mod quantity;
pub mod results;
pub mod runner;
pub mod sample;
pub mod sampler;
pub mod setting;
pub mod statistics;

mod any_path;

// The macros name this crate, here as elsewhere.
extern crate self as instrument;
