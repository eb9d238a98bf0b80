//! A minimal loop of random 4 KiB reads, for `bench/file`: the fastest that this library's calls
//! allow. It prints the reads per second of all jobs, and the time in ns of one read by one job.
//!
//! usage: `random_reads` FILE JOBS SECONDS pread|null
//!
//! `null` leaves out the call. It measures the cost of the loop itself: the random offset, the
//! counter and the clock.

use platform::block_io::read_at;
use platform::clock::now_ns;
use platform::file::{OpenMode, open_read};
use platform::memory::{Mapping, PageSize};
use std::error::Error;
use std::fs::File;
use std::hint::black_box;
use std::path::Path;
use std::thread;

const BLOCK_BYTES: u64 = 4096;
/// Reads between two clock checks.
const READS: u64 = 1024;

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, path, jobs, seconds, engine] = arguments.as_slice() else {
        return Err("usage: random_reads FILE JOBS SECONDS pread|null".into());
    };
    let file = open_read(Path::new(path), OpenMode::Plain)?;
    let blocks = file.metadata()?.len() / BLOCK_BYTES;
    let jobs: u64 = jobs.parse()?;
    let time_ns = (seconds.parse::<f64>()? * 1e9) as u64;
    let is_null = engine == "null";
    let file = &file;
    let rates = thread::scope(|scope| {
        let running: Vec<_> = (0..jobs)
            .map(|job| scope.spawn(move || run(file, blocks, job, time_ns, is_null)))
            .collect();
        let ended = running
            .into_iter()
            .map(|job| job.join().expect("no job panics"));
        ended.collect::<Outcome<Vec<f64>>>()
    })?;
    let all: f64 = rates.iter().sum();
    println!("{all:.0} {:.2}", 1e9 * rates.len() as f64 / all);
    Ok(())
}

/// Reads for the given time.
fn run(file: &File, blocks: u64, job: u64, time_ns: u64, is_null: bool) -> Outcome<f64> {
    let mut buffer = Mapping::anonymous(BLOCK_BYTES as usize, PageSize::Base)?;
    buffer.populate()?;
    let block = buffer.as_mut_slice();
    let mut state = 0x9E37_79B9_7F4A_7C15 ^ (job + 1);
    let mut count = 0_u64;
    let begin_ns = now_ns();
    loop {
        for _ in 0..READS {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            // The high half of the product distributes evenly over the blocks, without a division.
            let number = ((u128::from(state) * u128::from(blocks)) >> 64) as u64;
            let offset = number * BLOCK_BYTES;
            if is_null {
                black_box((offset, &mut *block));
            } else if read_at(file, block, offset)? != block.len() {
                return Err("a read came back short".into());
            }
        }
        count += READS;
        let passed_ns = now_ns() - begin_ns;
        if passed_ns >= time_ns {
            return Ok(count as f64 * 1e9 / passed_ns as f64);
        }
    }
}
