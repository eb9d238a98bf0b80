//! A thread that writes and reads, and one that counts.

use super::run;
use crate::prelude::*;
use crate::threads::async_io::{AsyncIo, BACKEND, Backend, STEPS};
use crate::threads::kind::UserThreads;
use platform::file::{OpenMode, create, overlapped};
use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;
use uthread::io::{fsync, read_at, write_at};
use uthread::{Runtime, RuntimeBuilder, io as user_io, spawn, yield_now};

const TEXT: &[u8] = b"hello world";
const FILE: &str = "threads.async_io";

impl UserThreads for AsyncIo {
    fn take(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let backend = match point.level(BACKEND)? {
            Backend::Automatic => user_io::Backend::Auto,
            Backend::HelpingThreads => user_io::Backend::Threads,
        };
        let path = sampler.scratch().join(FILE);
        for _ in 0..sampler.samples() {
            let file = create(&path, OpenMode::Plain)?;
            let file = match backend {
                user_io::Backend::Threads => file,
                _ => overlapped(file)?,
            };
            let spent = write_and_read(Runtime::builder().io(backend), file)?;
            std::fs::remove_file(&path).map_err(MeasureError::system("remove the scratch file"))?;
            let spent = spent.map_err(MeasureError::system("write and read the scratch file"))?;
            for (step, spent) in STEPS.iter().zip(spent) {
                sampler.value(step.time, spent.time_ns);
                sampler.value(step.turns, spent.turns as f64);
            }
        }
        Ok(())
    }
}

/// The time of a step, and the turns that the other thread had in it.
struct Spent {
    time_ns: f64,
    turns: u64,
}

fn write_and_read(
    builder: RuntimeBuilder,
    file: File,
) -> Result<io::Result<[Spent; 3]>, MeasureError> {
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
                Ok::<_, io::Error>(Spent {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up::{sampled, setting};

    #[test]
    fn every_step_is_measured_with_either_backend() {
        let metrics = STEPS.map(|step| [step.time, step.turns]).concat();
        for point in AsyncIo.points(&setting(Profile::Standard)) {
            sampled(&AsyncIo, &point, &metrics);
        }
    }
}
