//! A thread that writes and reads, and one that counts.

use super::super::async_io::{AUTOMATIC, BACKEND, FILE, HELPERS, STEPS};
use super::{run, unknown};
use instrument::experiment::MeasureError;
use instrument::point::Point;
use instrument::sampler::Sampler;
use platform::file::{OpenMode, create};
use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;
use uthread::io::{Backend, fsync, read_at, write_at};
use uthread::{Runtime, RuntimeBuilder, spawn, yield_now};

const TEXT: &[u8] = b"hello world";

pub(in super::super) fn async_io(
    point: &Point,
    sampler: &mut Sampler<'_>,
) -> Result<(), MeasureError> {
    let backend = match point.choice(BACKEND)? {
        AUTOMATIC => Backend::Auto,
        HELPERS => Backend::Threads,
        other => return Err(unknown("backend", other)),
    };
    let path = sampler.scratch().join(FILE);
    for _ in 0..sampler.samples() {
        let file = create(&path, OpenMode::Plain)?;
        let steps = write_and_read(Runtime::builder().io(backend), file)?;
        std::fs::remove_file(&path).map_err(MeasureError::system("remove the scratch file"))?;
        let steps = steps.map_err(MeasureError::system("write and read the scratch file"))?;
        for ((_, time, turns), step) in STEPS.iter().zip(steps) {
            sampler.value(time, step.time_ns)?;
            sampler.value(turns, step.turns as f64)?;
        }
    }
    Ok(())
}

/// How long a step took, and the turns that the other thread had meanwhile.
struct Step {
    time_ns: f64,
    turns: u64,
}

fn write_and_read(
    builder: RuntimeBuilder,
    file: File,
) -> Result<io::Result<[Step; 3]>, MeasureError> {
    let turns = Arc::new(AtomicU64::new(0));
    let done = Arc::new(AtomicBool::new(false));
    let counter = {
        let (turns, done) = (Arc::clone(&turns), Arc::clone(&done));
        move || {
            while !done.load(Ordering::Relaxed) {
                turns.fetch_add(1, Ordering::Relaxed);
                yield_now();
            }
        }
    };
    run(builder, || {
        let counter = spawn(counter);
        let transfer = spawn(move || {
            let step = |act: &mut dyn FnMut() -> io::Result<()>| {
                let (begin, before) = (Instant::now(), turns.load(Ordering::Relaxed));
                act()?;
                Ok::<_, io::Error>(Step {
                    time_ns: begin.elapsed().as_nanos() as f64,
                    turns: turns.load(Ordering::Relaxed) - before,
                })
            };
            let mut text = [0; TEXT.len()];
            let steps = (|| {
                Ok::<_, io::Error>([
                    step(&mut || whole(write_at(&file, TEXT, 0)?))?,
                    step(&mut || fsync(&file))?,
                    step(&mut || whole(read_at(&file, &mut text, 0)?))?,
                ])
            })();
            done.store(true, Ordering::Relaxed);
            match steps {
                Ok(_) if text != TEXT => Err(io::ErrorKind::InvalidData.into()),
                steps => steps,
            }
        });
        let steps = transfer.join().expect("it does not panic");
        counter.join().expect("it does not panic");
        steps
    })
}

/// Makes sure that the whole text was transferred.
fn whole(bytes: usize) -> io::Result<()> {
    if bytes == TEXT.len() {
        Ok(())
    } else {
        Err(io::ErrorKind::UnexpectedEof.into())
    }
}
