//! Tests of the structure that `docs/architecture.md` describes.

mod circles;
mod english;
mod floors;
mod lengths;
mod names;
mod readable;
