//! An attacker between sender and receiver who knows the protocol but not the token, and rewrites
//! the traffic.
//!
//! `between` is the attacker: it reads everything that one side says before it waits for the other,
//! as a list of units (a greeting, a handshake message, a frame), and hands the list to an attack
//! before it passes it on. `table` has the attacks on one connection and `rewritings` carries them
//! out, `crossing` has those with two connections, `replays` those that repeat recorded traffic,
//! `flips` accidental bit flips. `scene` has the files and judges the result: no attack may end in
//! a transfer that both sides accept, nor in a file that differs from its source.

mod between;
#[path = "../common/mod.rs"]
mod common;
mod crossing;
mod flips;
mod replays;
mod rewritings;
mod scene;
mod table;
