//! Analyses, and all that is painted from them.

mod administrators;
mod cached;
mod compared_at_one_clock;
mod comparison_of_systems;
mod dashboard;
mod fixture;
mod json;
mod page;
mod reproduction;
mod terminal;
