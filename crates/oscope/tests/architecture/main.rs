//! Tests of the structure that `docs/architecture.md` describes.

mod circles;
mod floors;
mod names;
