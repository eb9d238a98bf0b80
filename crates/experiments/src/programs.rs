//! The programs of the reports, as their authors ran them, and the commands that do the same here.

/// A program of a report with the parameters of its author.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// The report's letter.
    pub report: char,
    /// Its place in the report.
    pub place: &'static str,
    /// The program as it was run, or the listing.
    pub program: &'static str,
    /// The arguments of `oscope` that do the same.
    pub command: &'static str,
    /// The experiment that stands for it.
    pub experiment: &'static str,
}

const fn program(
    report: char,
    place: &'static str,
    program: &'static str,
    command: &'static str,
    experiment: &'static str,
) -> Program {
    Program {
        report,
        place,
        program,
        command,
        experiment,
    }
}

/// All of them, report by report. `FILE` and `DIR` stand for names of the user's.
pub const PROGRAMS: &[Program] = &[
    program(
        'A',
        "section 1",
        "run FILE -r 524288 10000",
        "file read FILE --block-size 512KiB --count 10000",
        "file.block_size",
    ),
    program(
        'A',
        "section 1",
        "run FILE -w 4096 20",
        "file write FILE --block-size 4KiB --count 20",
        "file.block_size",
    ),
    program(
        'A',
        "section 2",
        "run2 FILE 128",
        "file size FILE --block-size 128",
        "file.size",
    ),
    program(
        'A',
        "section 2, table of dd",
        "dd and run, a file of 409600 bytes",
        "run file.against_dd --at block_size=4KiB --file-size 409600",
        "file.against_dd",
    ),
    program(
        'A',
        "section 2, table of dd",
        "dd and run, a file of 4096000000 bytes",
        "run file.against_dd --at block_size=4KiB --file-size 4096000000",
        "file.against_dd",
    ),
    program(
        'A',
        "section 5",
        "read and lseek of 1 byte, a file of 281873817 bytes",
        "run file.call --file-size 281873817",
        "file.call",
    ),
    program(
        'A',
        "section 6",
        "fast FILE",
        "file sum FILE --threads 1",
        "file.sum",
    ),
    program(
        'A',
        "section 6",
        "fast FILE, 3 threads",
        "run file.sum --at threads=3 --at method=pread --at block_size=512KiB --at state=warm",
        "file.sum",
    ),
    program(
        'B',
        "section 2",
        "run FILE -r 4096 524288",
        "file read FILE --block-size 4KiB --count 524288",
        "file.block_size",
    ),
    program(
        'B',
        "section 2",
        "BM_read_and_write/512 and BM_dd/512",
        "run file.against_dd --at block_size=512 --at work=copy",
        "file.against_dd",
    ),
    program(
        'B',
        "section 6",
        "fast FILE",
        "file sum FILE --threads 16 --block-size 1MiB",
        "file.sum",
    ),
    program(
        'B',
        "section 6",
        "fast FILE of 4 GiB, 16 threads, cold, then warm",
        "run file.sum --at threads=16 --at 'method=lseek, read' --at block_size=1MiB --file-size 4GiB",
        "file.sum",
    ),
    program(
        'C',
        "graphs",
        "master by mmap, slave by file I/O",
        "run transfer.file --at sender=mmap --at receiver=file",
        "transfer.file",
    ),
    program(
        'C',
        "Slave: mmap I/O vs file I/O",
        "slave by mmap, not told the size",
        "run transfer.growth",
        "transfer.growth",
    ),
    program(
        'D',
        "Lock vs. SpinLock",
        "lock-vs-spinlock 30",
        "run threads.lock --at threads=30 --at lock=Lock --at lock=SpinLock",
        "threads.lock",
    ),
    program(
        'D',
        "Table 1, Simple_yield",
        "lock-vs-spinlock 10, with slices of 16 ms",
        "run threads.lock --at threads=10 --at lock=SpinLock --at 'body=simple yield' --at slice=16ms",
        "threads.lock",
    ),
    program(
        'D',
        "Sync vs. Async",
        "sync-vs-async 1 10000 1 1",
        "run threads.io --at 'sweep=as reported, by length' --at io_threads=1 --at length=10000 --at computing_threads=1",
        "threads.io",
    ),
    program(
        'D',
        "Priority Inversion",
        "priority-inversion",
        "run threads.inversion",
        "threads.inversion",
    ),
    program(
        'D',
        "Test-zoo",
        "test-zoo 90",
        "run threads.monitor --at animals=90",
        "threads.monitor",
    ),
    program(
        'D',
        "Test-async-io",
        "test-async-io",
        "run threads.async_io",
        "threads.async_io",
    ),
    program(
        'E',
        "Figure 1",
        "listing of memory access",
        "run memory.bandwidth",
        "memory.bandwidth",
    ),
    program(
        'E',
        "Figure 4",
        "listing of loops and sub-loops, 8192 KB",
        "run memory.subloop --at block_size=8MiB",
        "memory.subloop",
    ),
    program(
        'E',
        "Figure 7",
        "listing of fread and fwrite",
        "run file.rewrite_passes --at 'way=fread, fwrite'",
        "file.rewrite_passes",
    ),
    program(
        'E',
        "Figure 10",
        "listing of open and close, with O_SYNC",
        "run file.rewrite_passes --at 'way=read, write O_SYNC'",
        "file.rewrite_passes",
    ),
    program(
        'E',
        "Figure 13",
        "listing of mmap, which maps offset 0 each time",
        "run file.rewrite_passes --at 'way=mmap of offset 0, as printed'",
        "file.rewrite_passes",
    ),
    program(
        'E',
        "Figure 15",
        "listing of sequential and random access",
        "run file.random",
        "file.random",
    ),
    program(
        'E',
        "Figure 17",
        "the same with fine chunks",
        "run file.read_ahead",
        "file.read_ahead",
    ),
    program(
        'E',
        "Figure 19",
        "listing of read against mmap, a buffer of 1 KB",
        "run file.phases --at buffer_size=1KiB",
        "file.phases",
    ),
    program(
        'E',
        "Figure 23",
        "listing of remote access, chunks of 64 bytes",
        "run file.remote --remote DIR --at chunk_size=64",
        "file.remote",
    ),
    program(
        'E',
        "Figure 25",
        "listing of system calls, optimised",
        "run process.calls --at optimisation=3",
        "process.calls",
    ),
    program(
        'E',
        "Figure 27",
        "listing of the ways to call",
        "run process.call_styles",
        "process.call_styles",
    ),
    program(
        'E',
        "Figure 31",
        "listing of arithmetic",
        "run compute.arithmetic",
        "compute.arithmetic",
    ),
];

/// The programs that an experiment stands for.
pub fn programs(experiment: &str) -> impl Iterator<Item = &'static Program> {
    PROGRAMS
        .iter()
        .filter(move |it| it.experiment == experiment)
}
