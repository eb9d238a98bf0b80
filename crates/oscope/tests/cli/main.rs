//! The program as a user sees it.

#[macro_use]
#[path = "../common/mod.rs"]
mod common;

mod ab;
mod author_programs;
mod commands;
mod compare;
mod delete;
mod documents;
mod experiments;
mod faults;
mod features;
mod file_commands;
mod file_systems;
mod fleet;
mod gentle;
mod glance;
mod judged;
mod lab;
mod limits;
mod links;
mod live;
mod outputs;
mod readme;
mod redact;
mod reproduce;
mod resume;
mod stores;
mod transfers;
mod verify;
