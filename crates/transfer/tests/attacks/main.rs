//! Somebody on the way who knows the protocol and not the token, and rewrites what is said.
//!
//! `between` is that somebody: it reads what one side says until that waits for the other, as a list of
//! units (a greeting, a message of the handshake, a frame), and hands the list to an attack before it
//! passes it on. `rewritings` is the table of attacks, `crossing` those that take two connections,
//! `replays` those that say again what was recorded, `flips` bits that change by accident. `scene` has
//! the files, and judges: no attack may end in a transfer that both sides take for good, nor in a file
//! that is not the source's.

mod between;
#[path = "../common/mod.rs"]
mod common;
mod crossing;
mod flips;
mod replays;
mod rewritings;
mod scene;
