//! Reads of 4 KiB: `cargo bench -p uthread --bench transfers [-- DIRECTORY]`. The directory selects
//! the file system to measure; the default is the current one.

#![expect(
    unsafe_code,
    reason = "a preemptive runtime is a promise about thread-locals"
)]

mod common;

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::PathBuf;
use std::sync::Arc;

use common::{head, measure, measure_in_turn, preemptive, wanted};
use io_uring::{IoUring, opcode, types};
use uthread::io::read_at;

const BLOCK_BYTES: usize = 4096;
const BLOCKS: u64 = 16_384;

/// Reads in a round: of cached data, and direct ones, with this many in flight at a time.
const CACHED: u64 = 100_000;
const DIRECT: u64 = 9000;
const DEPTH: u64 = 90;

#[repr(align(4096))]
struct Block([u8; BLOCK_BYTES]);

impl Block {
    fn new() -> Box<Self> {
        Box::new(Self([0; BLOCK_BYTES]))
    }
}

/// A pseudorandom offset.
fn place(i: u64) -> u64 {
    (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) % BLOCKS * BLOCK_BYTES as u64
}

fn user_threads(file: &Arc<File>, threads: u64, reads: u64) {
    let read = |thread: u64| {
        let file = Arc::clone(file);
        uthread::spawn(move || {
            let mut block = Block::new();
            for i in 0..reads / threads {
                let bytes = read_at(&file, &mut block.0, place(i * threads + thread));
                assert_eq!(bytes.expect("the file can be read"), BLOCK_BYTES);
            }
        })
    };
    let threads: Vec<_> = (0..threads).map(read).collect();
    for thread in threads {
        thread.join().expect("no panic");
    }
}

fn kernel_threads(file: &Arc<File>, threads: u64, reads: u64) {
    std::thread::scope(|scope| {
        for thread in 0..threads {
            scope.spawn(move || {
                let mut block = Block::new();
                for i in 0..reads / threads {
                    let bytes = file.read_at(&mut block.0, place(i * threads + thread));
                    assert_eq!(bytes.expect("the file can be read"), BLOCK_BYTES);
                }
            });
        }
    });
}

/// `preadv2` with `RWF_NOWAIT` alone: a lower bound for a cached read of a user thread.
fn bare_reads(file: &File, reads: u64) {
    let mut block = Block::new();
    let iovec = libc::iovec {
        iov_base: block.0.as_mut_ptr().cast(),
        iov_len: BLOCK_BYTES,
    };
    for i in 0..reads {
        let offset = place(i).cast_signed();
        // SAFETY: one buffer, which no other code uses.
        let bytes = unsafe {
            libc::preadv2(
                file.as_raw_fd(),
                &raw const iovec,
                1,
                offset,
                libc::RWF_NOWAIT,
            )
        };
        if usize::try_from(bytes) != Ok(BLOCK_BYTES) {
            // The block is no longer cached.
            file.read_exact_at(&mut block.0, place(i))
                .expect("the file can be read");
        }
    }
}

/// A ring with default settings, or one that posts its completions only on request.
fn new_ring(deferring: bool) -> std::io::Result<IoUring> {
    let mut builder = IoUring::builder();
    if deferring {
        builder.setup_single_issuer().setup_defer_taskrun();
    }
    builder.build(256)
}

/// A bare loop over a ring that keeps this many reads in flight.
fn bare_ring(mut ring: IoUring, file: &File, depth: u64, reads: u64) -> std::io::Result<()> {
    let mut blocks: Vec<_> = (0..depth).map(|_| Block::new()).collect();
    let (mut asked, mut answered) = (0, 0);
    let mut free: Vec<u64> = (0..depth).collect();
    while answered < reads {
        while asked < reads
            && let Some(slot) = free.pop()
        {
            let buffer = blocks[slot as usize].0.as_mut_ptr();
            let read = opcode::Read::new(types::Fd(file.as_raw_fd()), buffer, BLOCK_BYTES as u32);
            let entry = read.offset(place(asked)).build().user_data(slot);
            // SAFETY: each block has one read at a time, and outlives the loop that waits for all.
            unsafe { ring.submission().push(&entry) }.expect("the ring is larger than the depth");
            asked += 1;
        }
        ring.submit_and_wait(1)?;
        for entry in ring.completion() {
            assert_eq!(usize::try_from(entry.result()), Ok(BLOCK_BYTES));
            free.push(entry.user_data());
            answered += 1;
        }
    }
    Ok(())
}

fn main() -> std::io::Result<()> {
    if !wanted() {
        return Ok(());
    }
    let directory = std::env::args()
        .skip(1)
        .find(|argument| !argument.starts_with('-'));
    let directory = PathBuf::from(directory.unwrap_or_else(|| ".".into()));
    let path = directory.join(format!("uthread-transfers-{}", std::process::id()));
    let mut file = File::create_new(&path)?;
    for _ in 0..BLOCKS {
        file.write_all(&[7; BLOCK_BYTES])?;
    }
    file.sync_all()?;
    let hot = Arc::new(File::open(&path)?);
    let direct = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_DIRECT)
        .open(&path);
    std::fs::remove_file(&path)?;

    head("ns a read of 4 KiB from the page cache");
    measure("a bare loop over preadv2, RWF_NOWAIT", CACHED, || {
        bare_reads(&hot, CACHED);
    });
    for threads in [1, 10, 90] {
        let mut user = || preemptive().run(|| user_threads(&hot, threads, CACHED));
        let mut kernel = || kernel_threads(&hot, threads, CACHED);
        let names =
            ["user threads", "kernel threads, pread"].map(|kind| format!("{threads} {kind}"));
        measure_in_turn(
            CACHED,
            &mut [(&names[0], &mut user), (&names[1], &mut kernel)],
        );
    }
    let Ok(direct) = direct.map(Arc::new) else {
        println!("the file system has no direct transfers");
        return Ok(());
    };
    head("ns a direct read of 4 KiB, 90 at a time");
    let mut user = || preemptive().run(|| user_threads(&direct, DEPTH, DIRECT));
    let mut kernel = || kernel_threads(&direct, DEPTH, DIRECT);
    let bare = |deferring| {
        let ring = new_ring(deferring).expect("it worked before");
        bare_ring(ring, &direct, DEPTH, DIRECT).expect("it worked before");
    };
    let (mut plain, mut deferring) = (|| bare(false), || bare(true));
    let mut peers: Vec<(&str, &mut dyn FnMut())> = vec![
        ("90 user threads", &mut user),
        ("90 kernel threads, pread", &mut kernel),
    ];
    if new_ring(false).is_ok() {
        peers.push(("a bare loop over io_uring", &mut plain));
    }
    if new_ring(true).is_ok() {
        peers.push(("the same, answers deferred", &mut deferring));
    }
    measure_in_turn(DIRECT, &mut peers);
    Ok(())
}
