//! Threads that read and write a file, and threads that compute.

use core::time::Duration;
use std::fs::File;
use std::hint::black_box;
use std::io;
#[cfg(unix)]
use std::os::unix::fs::FileExt;
#[cfg(windows)]
use std::os::windows::fs::FileExt;
use std::sync::Arc;

use super::{WorkloadError, compute, preemptive};
use uthread::Priority::Red;
use uthread::{Builder, JoinHandle, Runtime, SpawnError, current};

/// The size of a transfer, and of a thread's buffer.
const PIECE_BYTES: u64 = 256 << 10;
/// Devices are read and written from here on in memory.
const ALIGNMENT: usize = 4096;

/// Threads that transfer parts of a file, and threads that compute. All run on one worker, and begin with the highest
/// priority.
///
/// ```
/// use std::{fs::File, sync::Arc, time::Duration};
/// use uthread_workload::Transfers;
///
/// let transfers = Transfers {
///     slice: Duration::ZERO,
///     io_threads: 3,
///     length: 4,
///     file_bytes: 4,
///     writes: false,
///     is_asynchronous: true,
///     computing_threads: 1,
///     steps: 100,
/// };
/// let file = Arc::new(File::open(std::env::current_exe()?)?);
/// transfers.run(&file, &mut transfers.buffers(), 2)?;
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Transfers {
    /// The time slice; zero for a cooperative runtime. A tick lowers the priority of the running thread.
    pub slice: Duration,
    /// Number of threads that transfer.
    pub io_threads: usize,
    /// The length of a thread's part of the file.
    pub length: u64,
    /// The size of the file: more threads than it has parts share them.
    pub file_bytes: u64,
    /// If true, each thread writes its part before it reads it.
    pub writes: bool,
    /// If true, a transfer blocks the calling thread only; if not, all of them.
    pub is_asynchronous: bool,
    /// Number of threads that compute.
    pub computing_threads: usize,
    /// Number of steps that each of them [`compute`]s.
    pub steps: u64,
}

/// The memory of a thread that transfers.
///
/// ```
/// # use std::time::Duration;
/// # use uthread_workload::Transfers;
/// # let transfers = Transfers {
/// #     slice: Duration::ZERO,
/// #     io_threads: 3,
/// #     length: 4,
/// #     file_bytes: 4,
/// #     writes: false,
/// #     is_asynchronous: true,
/// #     computing_threads: 1,
/// #     steps: 100,
/// # };
/// assert_eq!(transfers.buffers().len(), 3);
/// ```
#[derive(Debug)]
pub struct Buffer {
    memory: Vec<u8>,
    start: usize,
}

impl Transfers {
    /// The buffers for its threads, for any number of runs.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use uthread_workload::Transfers;
    /// # let transfers = Transfers {
    /// #     slice: Duration::ZERO,
    /// #     io_threads: 3,
    /// #     length: 4,
    /// #     file_bytes: 4,
    /// #     writes: false,
    /// #     is_asynchronous: true,
    /// #     computing_threads: 1,
    /// #     steps: 100,
    /// # };
    /// assert_eq!(transfers.buffers().len(), 3);
    /// ```
    #[must_use]
    pub fn buffers(&self) -> Vec<Buffer> {
        let bytes = self.length.min(PIECE_BYTES) as usize;
        let buffer = |_| {
            // All of it is touched, so that no run takes page faults.
            let memory = vec![1; bytes + ALIGNMENT];
            let start = memory.as_ptr().align_offset(ALIGNMENT);
            Buffer { memory, start }
        };
        (0..self.io_threads).map(buffer).collect()
    }

    /// Starts all threads, those that transfer first, and joins them; repeats this `rounds` times.
    ///
    /// # Errors
    /// If the system has no resources for it, does not allow preemption, or cannot read or write the file.
    ///
    /// ```
    /// # use std::{fs::File, sync::Arc, time::Duration};
    /// # use uthread_workload::Transfers;
    /// # let transfers = Transfers {
    /// #     slice: Duration::ZERO,
    /// #     io_threads: 3,
    /// #     length: 4,
    /// #     file_bytes: 4,
    /// #     writes: false,
    /// #     is_asynchronous: false,
    /// #     computing_threads: 1,
    /// #     steps: 100,
    /// # };
    /// let file = Arc::new(File::open(std::env::current_exe()?)?);
    /// transfers.run(&file, &mut transfers.buffers(), 1)?;
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn run(
        &self,
        file: &Arc<File>,
        buffers: &mut Vec<Buffer>,
        rounds: u64,
    ) -> Result<(), WorkloadError> {
        let builder = Runtime::builder().boost_every(0);
        let runtime = preemptive(builder, self.slice).build()?;
        // The file outlives the run, buffers come back, and the vectors of handles have their full capacity. So no
        // code in the run allocates or frees memory.
        let mut transferring: Vec<JoinHandle<(io::Result<()>, Buffer)>> =
            Vec::with_capacity(buffers.len());
        let mut computing: Vec<JoinHandle<u64>> = Vec::with_capacity(self.computing_threads);
        let start = || Builder::new().priority(Red);
        let outcome = runtime.try_run(|| {
            current().set_priority(Red);
            let mut outcome = Ok(());
            for _ in 0..rounds {
                for (mut buffer, index) in buffers.drain(..).zip(0..) {
                    let (work, file) = (*self, Arc::clone(file));
                    let transfer = move || (work.transfer(&file, index, &mut buffer), buffer);
                    transferring.push(start().spawn(transfer)?);
                }
                for seed in 0..self.computing_threads as u64 {
                    let steps = self.steps;
                    let sum = move || black_box(compute(seed + 1, steps));
                    computing.push(start().spawn(sum)?);
                }
                for thread in transferring.drain(..) {
                    let (transferred, buffer) = thread.join().expect("nobody panics");
                    outcome = outcome.and(transferred);
                    buffers.push(buffer);
                }
                for thread in computing.drain(..) {
                    thread.join().expect("nobody panics");
                }
            }
            Ok::<_, SpawnError>(outcome)
        })?;
        let outcome = outcome.map_err(io::Error::other)?;
        outcome.map_err(WorkloadError::Transfer)
    }

    /// Writes the part of one thread if that is wanted, and reads it.
    fn transfer(&self, file: &File, index: u64, buffer: &mut Buffer) -> io::Result<()> {
        let start = index * self.length % self.file_bytes;
        let buffer = &mut buffer.memory[buffer.start..];
        if self.writes {
            self.by_pieces(start, |offset, bytes| {
                write(file, &buffer[..bytes], offset, self.is_asynchronous)
            })?;
        }
        self.by_pieces(start, |offset, bytes| {
            read(file, &mut buffer[..bytes], offset, self.is_asynchronous)
        })
    }

    /// Goes through the part that begins at `start`, piece by piece.
    fn by_pieces(
        &self,
        start: u64,
        mut act: impl FnMut(u64, usize) -> io::Result<usize>,
    ) -> io::Result<()> {
        let mut done = 0;
        while done < self.length {
            let piece = (self.length - done).min(PIECE_BYTES) as usize;
            match act(start + done, piece)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                bytes => done += bytes as u64,
            }
        }
        Ok(())
    }
}

// A call that fails leaves its error in a thread-local value. A tick inside the library is deferred, and one between
// the call and the look at that value can at worst name another error.

fn read(file: &File, buffer: &mut [u8], offset: u64, is_asynchronous: bool) -> io::Result<usize> {
    if is_asynchronous {
        return uthread::io::read_at(file, buffer, offset);
    }
    #[cfg(unix)]
    return file.read_at(buffer, offset);
    #[cfg(windows)]
    return file.seek_read(buffer, offset);
}

fn write(file: &File, buffer: &[u8], offset: u64, is_asynchronous: bool) -> io::Result<usize> {
    if is_asynchronous {
        return uthread::io::write_at(file, buffer, offset);
    }
    #[cfg(unix)]
    return file.write_at(buffer, offset);
    #[cfg(windows)]
    return file.seek_write(buffer, offset);
}
