//! Two threads pass a ball back and forth through channels.

use std::time::Instant;

use uthread::{bounded, spawn};

const ROUNDS: u32 = 100_000;

fn main() {
    uthread::run(|| {
        let (to_client, from_server) = bounded(0);
        let (to_server, from_client) = bounded(0);
        let begin = Instant::now();
        let server = spawn(move || {
            for round in 0..ROUNDS {
                to_client.send(round).expect("the other is there");
                assert_eq!(from_client.recv(), Ok(round + 1));
            }
        });
        let client = spawn(move || {
            for round in from_server.iter() {
                to_server.send(round + 1).expect("the other is there");
            }
        });
        server.join().expect("no panic");
        client.join().expect("no panic");
        let round = begin.elapsed() / ROUNDS;
        uthread::println!("{ROUNDS} rounds of ping and pong, {round:?} each");
    });
}
