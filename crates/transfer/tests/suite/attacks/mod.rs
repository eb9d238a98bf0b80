//! An attacker between sender and receiver who knows the protocol but not the token, and changes the bytes
//! of whole transfers.
//!
//! A property of the connection (`src/connection/rewritten.rs`) shows that a side hears frames only as they were
//! sent, whatever an attacker does with them. Here the first words, which come before any key, are rewritten
//! (`first_words`), and recorded traffic is repeated (`replays`). `scene` has the files and judges the result: no
//! attack may end in a transfer that both sides accept, nor in a file that differs from its source.

mod first_words;
mod replays;
mod scene;
