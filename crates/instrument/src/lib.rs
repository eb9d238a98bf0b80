//! Part of oscope.

pub mod statistics;
