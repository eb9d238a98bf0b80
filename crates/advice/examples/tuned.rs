//! A program that loads its settings at start, and measures the gain over common defaults.
//!
//! It sums a file in blocks and makes several passes over a large array. Each round runs a task first
//! with the common settings and then with the advised ones.
//!
//! usage: tuned FILE [ROUNDS]

use std::fs::File;
use std::hint::black_box;
use std::io::{self, Read};
use std::time::{Duration, Instant};

/// Block size of a program without advice.
const USUAL_BLOCK_BYTES: u64 = 4096;
/// Words of the array: 64 MiB.
const WORDS: usize = 8 << 20;
/// Passes over the array.
const PASSES: usize = 8;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("usage: tuned FILE [ROUNDS]")?;
    let rounds = arguments.next().map_or(Ok(9), |text| text.parse())?;
    let advice = oscope_advice::load()?;
    println!(
        "advice of {} for {}",
        advice.measured,
        advice.machine.as_deref().unwrap_or("this machine")
    );

    let block_bytes = advice
        .number("read_block_size")
        .unwrap_or(USUAL_BLOCK_BYTES);
    // The first pass fills the page cache.
    sum_file(&path, USUAL_BLOCK_BYTES as usize)?;
    let (usual, advised) = take_turns(rounds, |is_advised| {
        let block_bytes = if is_advised {
            block_bytes
        } else {
            USUAL_BLOCK_BYTES
        };
        sum_file(&path, block_bytes as usize).map(drop)
    })?;
    print_ratios("file scan", block_bytes, &usual, &advised);

    let whole_bytes = (WORDS * size_of::<u64>()) as u64;
    let piece_bytes = advice.number("loop_piece_size").unwrap_or(whole_bytes);
    let mut array = vec![1_u64; WORDS];
    let (usual, advised) = take_turns(rounds, |is_advised| {
        let piece_bytes = if is_advised { piece_bytes } else { whole_bytes };
        work(&mut array, piece_bytes as usize / size_of::<u64>());
        Ok(())
    })?;
    print_ratios("passes over an array", piece_bytes, &usual, &advised);
    Ok(())
}

/// The wrapping sum of a file's bytes, read in blocks.
fn sum_file(path: &str, block_bytes: usize) -> io::Result<u64> {
    let mut file = File::open(path)?;
    let mut block = vec![0; block_bytes];
    let mut sum = 0_u64;
    loop {
        let got = file.read(&mut block)?;
        if got == 0 {
            return Ok(black_box(sum));
        }
        for word in block[..got].chunks_exact(8) {
            sum = sum.wrapping_add(u64::from_le_bytes(word.try_into().expect("eight bytes")));
        }
    }
}

/// Makes several passes over each piece before it moves to the next piece.
fn work(array: &mut [u64], piece_words: usize) {
    for piece in array.chunks_mut(piece_words.max(1)) {
        for _ in 0..PASSES {
            for word in piece.iter_mut() {
                *word = word.wrapping_mul(3);
            }
            black_box(&mut *piece);
        }
    }
}

/// The times of both ways, measured back-to-back in each round.
fn take_turns(
    rounds: usize,
    mut run: impl FnMut(bool) -> io::Result<()>,
) -> io::Result<(Vec<Duration>, Vec<Duration>)> {
    let mut timed = |is_advised| {
        let begin = Instant::now();
        run(is_advised).map(|()| begin.elapsed())
    };
    let (mut usual, mut advised) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        usual.push(timed(false)?);
        advised.push(timed(true)?);
    }
    Ok((usual, advised))
}

/// Prints the ratios of all rounds: median, minimum and maximum.
fn print_ratios(what: &str, bytes: u64, usual: &[Duration], advised: &[Duration]) {
    let mut ratios: Vec<f64> = usual
        .iter()
        .zip(advised)
        .map(|(usual, advised)| usual.as_secs_f64() / advised.as_secs_f64())
        .collect();
    ratios.sort_unstable_by(f64::total_cmp);
    println!(
        "{what}, pieces of {bytes} bytes: {:.2} times as fast ({:.2} to {:.2}, {} rounds)",
        ratios[ratios.len() / 2],
        ratios[0],
        ratios[ratios.len() - 1],
        ratios.len()
    );
}
