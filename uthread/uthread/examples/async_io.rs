//! One thread writes and reads a file; while it waits, another counts.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use uthread::io::{fsync, read_at, write_at};
use uthread::{spawn, yield_now};

fn main() -> std::io::Result<()> {
    let path = std::env::temp_dir().join(format!("uthread-async-io-{}", std::process::id()));
    let mut options = std::fs::OpenOptions::new();
    let file = options
        .read(true)
        .write(true)
        .create_new(true)
        .open(&path)?;
    let text = uthread::run(move || {
        let (count, done) = (
            Arc::new(AtomicU64::new(0)),
            Arc::new(AtomicBool::new(false)),
        );
        let transfer = {
            let (count, done) = (Arc::clone(&count), Arc::clone(&done));
            spawn(move || {
                let note = |what| {
                    let turns = count.load(Ordering::Relaxed);
                    uthread::println!("{what:18} the other thread has had {turns} turns");
                };
                note("begin");
                write_at(&file, b"hello world", 0)?;
                note("written");
                fsync(&file)?;
                note("on the device");
                let mut text = [0; 11];
                read_at(&file, &mut text, 0)?;
                note("read");
                done.store(true, Ordering::Relaxed);
                Ok::<_, std::io::Error>(String::from_utf8_lossy(&text).into_owned())
            })
        };
        let _counter = spawn(move || {
            while !done.load(Ordering::Relaxed) {
                count.fetch_add(1, Ordering::Relaxed);
                yield_now();
            }
        });
        transfer.join().expect("no panic")
    });
    std::fs::remove_file(path)?;
    println!("it says: {}", text?);
    Ok(())
}
