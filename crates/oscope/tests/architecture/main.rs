//! Tests of the structure that `docs/internals/architecture.md` describes.

mod circles;
mod floors;
mod names;
