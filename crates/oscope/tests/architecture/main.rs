//! Tests of the structure that `docs/architecture.md` describes.

mod circles;
mod english;
mod floors;
mod names;
mod readable;
