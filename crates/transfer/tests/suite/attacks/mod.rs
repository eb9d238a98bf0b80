//! An attacker between sender and receiver who knows the protocol but not the token.
//!
//! A property of the connection (`src/connection/rewritten.rs`) shows that a side hears frames only as they were
//! sent, whatever an attacker does with them. Here the first words, which come before any key, are rewritten
//! (`first_words`), and recorded traffic is repeated (`replays`). A side that accepts no frame accepts no file.

mod first_words;
mod replays;

use crate::common::proxy::{Mischief, Ways, between};
use crate::common::{Served, TestDirectories, bytes, item, sealed, token};
use oscope_transfer::method::SendMethod;
use oscope_transfer::sender::{self, Contents, Session};
use oscope_transfer::{Cover, Error, receiver};
use std::fs;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use testing::wait_until;

/// Bytes of a greeting, with the sender's proof that it knows the token, and of the answer with its proof.
const GREETING: usize = 64;
const OPENING: usize = GREETING + 48;
const ANSWER: usize = GREETING + 112;

const SECRET: &str = "a token of some length";
/// Maximum time that a receiver waits for what an attack left out.
const PATIENCE: Duration = Duration::from_secs(1);
/// The session of all transfers here, so that an attacker may mix them.
const SESSION: [u8; 16] = [7; 16];

/// A receiver with a token, and a sender who knows it.
struct Scene {
    dirs: TestDirectories,
    served: Served,
    sender: sender::Options,
}

impl Scene {
    /// A scene whose sides choose this protection of contents.
    fn new(cover: Cover) -> Self {
        Self::with(cover, |it| it.limits.patience = PATIENCE)
    }

    /// As [`Scene::new`], with changed options of the receiver.
    fn with(cover: Cover, change: impl FnOnce(&mut receiver::Options)) -> Self {
        let dirs = TestDirectories::new();
        let served = Served::with(&dirs, |it| {
            it.token = Some(token(SECRET));
            it.unsealed = cover != Cover::Sealed;
            change(it);
        });
        let sender = sender::Options {
            cover,
            ..sealed(SECRET, SendMethod::File)
        };
        Self {
            dirs,
            served,
            sender,
        }
    }

    fn connect(&self, address: SocketAddr) -> Result<Session, Error> {
        Session::connect(&address.to_string(), &self.sender, SESSION, (0, 1))
    }

    /// Sends a file to any address.
    fn send(&self, address: SocketAddr) -> Result<(), Error> {
        let mut session = self.connect(address)?;
        let contents = bytes(20_000, 4);
        let item = item(0, "file", Some(20_000));
        session.send(&item, Contents::Memory(&contents))?;
        session.finish().map(drop)
    }

    /// All bytes of an honest transfer, there and back. On a busy machine a side may give up early, so it is repeated.
    fn record(&self) -> [Vec<u8>; 2] {
        let mut recorded = [Vec::new(), Vec::new()];
        wait_until("an honest transfer", || {
            let recordings: [Arc<Mutex<Vec<u8>>>; 2] = Default::default();
            let [there, back] = recordings.clone().map(|it| Some(Mischief::Record(it)));
            let sent = self.send(between(self.served.address, [Ways { there, back }]));
            recorded = recordings.map(|it| it.lock().expect("nobody panics").clone());
            sent.is_ok()
        });
        fs::remove_file(self.dirs.to().join("file")).expect("it arrived");
        recorded
    }
}
