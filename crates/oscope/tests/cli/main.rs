//! The program as a user sees it.

#[macro_use]
#[path = "../common/mod.rs"]
mod common;

mod cases;
mod experiments;
mod file_systems;
mod gentle;
mod lab;
mod limits;
mod links;
