//! Threads that run alternately.

use uthread::{Builder, spawn, yield_now};

fn main() {
    uthread::run(|| {
        let threads: Vec<_> = ["one", "two", "three"]
            .into_iter()
            .map(|name| {
                let greet = move || {
                    for turn in 1..=2 {
                        uthread::println!("hello from {name}, turn {turn}");
                        yield_now();
                    }
                    name.len()
                };
                Builder::new()
                    .name(name)
                    .spawn(greet)
                    .expect("there is memory for a stack")
            })
            .collect();
        let lengths: Vec<_> = threads
            .into_iter()
            .map(|t| t.join().expect("no panic"))
            .collect();
        uthread::println!("their names are {lengths:?} letters long");

        let unlucky = spawn(|| -> u32 { uthread::exit() });
        uthread::println!("who exits has no value: {:?}", unlucky.join().is_err());
    });
}
