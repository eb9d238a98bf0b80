//! The structure that `docs/architecture.md` draws, held by tests.

mod circles;
mod floors;
