//! The loops from the C compiler: `levels/loops.c`, once for each level.

use super::{Level, Loops, Operation};
use std::ffi::{CStr, c_char};
use std::slice;

type Loop = unsafe extern "C" fn(u64, u64, u64) -> u64;
type Rows = unsafe extern "C" fn(u64, u64) -> u64;

/// `struct operation` of `loops.c`.
#[repr(C)]
struct Entry {
    name: *const c_char,
    plain: [Option<Loop>; 3],
    avx2: [Option<Loop>; 3],
}

/// `struct loops` of `loops.c`.
#[repr(C)]
struct Table {
    is_optimised: u64,
    compiler: *const c_char,
    operations: *const Entry,
    operation_count: usize,
    inline: Rows,
    by_function: Rows,
    by_recursion: Rows,
    row: Rows,
    write: unsafe extern "C" fn(*mut u64, usize, u64),
    deepest: *const usize,
    write_ints: unsafe extern "C" fn(*mut u32, usize, u32),
    read_ints: unsafe extern "C" fn(*const u32, usize) -> u32,
}

// SAFETY: the table never changes. Only the word behind `deepest` does, and all accesses to it are
// atomic.
unsafe impl Sync for Table {}

// SAFETY: they are defined in `loops.c` with this layout.
unsafe extern "C" {
    safe static oscope_kernels_c_0: Table;
    safe static oscope_kernels_c_1: Table;
    safe static oscope_kernels_c_2: Table;
    safe static oscope_kernels_c_3: Table;
    safe static oscope_kernels_c_listed_0: Table;
    safe static oscope_kernels_c_listed_1: Table;
    safe static oscope_kernels_c_listed_2: Table;
    safe static oscope_kernels_c_listed_3: Table;
}

impl Table {
    fn find(&self, name: &str, of: impl Fn(&Entry) -> [Option<Loop>; 3]) -> Option<[Loop; 3]> {
        // SAFETY: the table names its own entries.
        let entries = unsafe { slice::from_raw_parts(self.operations, self.operation_count) };
        let entry = entries
            .iter()
            // SAFETY: names are string literals in C.
            .find(|entry| unsafe { CStr::from_ptr(entry.name) }.to_bytes() == name.as_bytes())?;
        let [latency, throughput, array] = of(entry);
        Some([latency?, throughput?, array?])
    }

    fn operation(&self, name: &str) -> Option<Operation> {
        Operation::choose(
            name,
            |name| self.find(name, |entry| entry.plain),
            |name| self.find(name, |entry| entry.avx2),
        )
    }

    fn deepest(&self) -> usize {
        // SAFETY: it points to a static of the C code, which only writes it atomically.
        unsafe { std::sync::atomic::AtomicUsize::from_ptr(self.deepest.cast_mut()) }
            .load(std::sync::atomic::Ordering::Relaxed)
    }

    fn compiler(&self) -> &'static str {
        // SAFETY: a string literal in C.
        let name: &'static CStr = unsafe { CStr::from_ptr(self.compiler) };
        name.to_str().unwrap_or("a C compiler")
    }

    /// The final compiler flags, if they override the level.
    fn overruled_by(&self, level: Level, flag: &'static str) -> Option<&'static str> {
        let is_level = flag.strip_prefix("-O") == Some(&level.digit().to_string());
        let is_made_so = (self.is_optimised != 0) == (level != Level::O0);
        match (is_level, is_made_so) {
            (true, true) => None,
            (false, _) => Some(flag),
            (true, false) => Some("the C compiler itself"),
        }
    }
}

/// The loops of one table.
macro_rules! loops_of {
    ($table:ident, $level:expr, $flag:literal) => {
        Loops {
            operation: |name| $table.operation(name),
            // SAFETY: these accept any numbers; the caller guards against a deep recursion, as in
            // Rust.
            inline: |rows, steps| unsafe { ($table.inline)(rows, steps) },
            // SAFETY: as for `inline`.
            by_function: |rows, steps| unsafe { ($table.by_function)(rows, steps) },
            // SAFETY: as for `inline`.
            by_recursion: |rows, steps| unsafe { ($table.by_recursion)(rows, steps) },
            // SAFETY: as for `inline`.
            row: |at, steps| unsafe { ($table.row)(at, steps) },
            deepest: || $table.deepest(),
            // SAFETY: it writes exactly `words.len()` words.
            write: |words, word| unsafe { ($table.write)(words.as_mut_ptr(), words.len(), word) },
            compiler: $table.compiler(),
            overruled_by: $table.overruled_by($level, env!($flag)),
        }
    };
}

pub(super) fn loops(level: Level) -> Loops {
    match level {
        Level::O0 => loops_of!(oscope_kernels_c_0, level, "OSCOPE_KERNELS_C_LEVEL0"),
        Level::O1 => loops_of!(oscope_kernels_c_1, level, "OSCOPE_KERNELS_C_LEVEL1"),
        Level::O2 => loops_of!(oscope_kernels_c_2, level, "OSCOPE_KERNELS_C_LEVEL2"),
        Level::O3 => loops_of!(oscope_kernels_c_3, level, "OSCOPE_KERNELS_C_LEVEL3"),
    }
}

pub(super) fn listed(level: Level) -> Loops {
    match level {
        Level::O0 => loops_of!(oscope_kernels_c_listed_0, level, "OSCOPE_KERNELS_C_LEVEL0"),
        Level::O1 => loops_of!(oscope_kernels_c_listed_1, level, "OSCOPE_KERNELS_C_LEVEL1"),
        Level::O2 => loops_of!(oscope_kernels_c_listed_2, level, "OSCOPE_KERNELS_C_LEVEL2"),
        Level::O3 => loops_of!(oscope_kernels_c_listed_3, level, "OSCOPE_KERNELS_C_LEVEL3"),
    }
}

/// Stores the sum of its index and `pass` into each aligned 4 bytes that lie entirely in `bytes`, one by one.
pub fn write_ints(bytes: &mut [u8], pass: u32) {
    // SAFETY: any 4 bytes are a number, and any number is 4 bytes.
    let (_, ints, _) = unsafe { bytes.align_to_mut::<u32>() };
    // SAFETY: it writes exactly `ints.len()` numbers.
    unsafe { (oscope_kernels_c_listed_3.write_ints)(ints.as_mut_ptr(), ints.len(), pass) }
}

/// Loads each aligned 4 bytes that lie entirely in `bytes`, one by one, and returns the last; 0 of none.
pub fn read_ints(bytes: &[u8]) -> u32 {
    // SAFETY: any 4 bytes are a number.
    let (_, ints, _) = unsafe { bytes.align_to::<u32>() };
    // SAFETY: it reads exactly `ints.len()` numbers.
    unsafe { (oscope_kernels_c_listed_3.read_ints)(ints.as_ptr(), ints.len()) }
}
