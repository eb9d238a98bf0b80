//! Analyses, and all that is painted from them.

mod administrators;
mod compared_at_one_clock;
mod comparison_of_systems;
mod dashboard;
mod fixture;
mod json;
mod kept;
mod page;
mod reproduction;
mod terminal;
mod terminal_any_input;
