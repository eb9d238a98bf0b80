//! One source of loops, compiled at four optimisation levels by two compilers.

mod c;
mod operation;
mod rust;

pub use c::{read_ints, write_ints};
pub use kernels_level3::{CHAINS, ELEMENTS_BYTES, OPERATIONS_IN_A_TURN};
pub use operation::Operation;

/// Optimisation level of a compiler, as in `-O2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// No optimisation: every variable is in memory, every small function is a call.
    O0,
    /// Optimisations that compile fast.
    O1,
    /// All optimisations that do not make the program much larger.
    O2,
    /// All optimisations.
    O3,
}

impl Level {
    /// All levels.
    pub const ALL: [Self; 4] = [Self::O0, Self::O1, Self::O2, Self::O3];

    /// The digit in `-O2`.
    pub fn digit(self) -> u64 {
        self as u64
    }

    /// Calls `operation` `times` times, or until it returns false, in a loop that rustc compiled at
    /// this level. Returns true if all calls succeeded.
    pub fn repeat(self, times: u64, operation: &mut dyn FnMut() -> bool) -> bool {
        rust::repeat(self)(times, operation)
    }

    /// The level with this digit.
    pub fn from_digit(digit: u64) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.digit() == digit)
    }
}

/// The loops from one compiler at one level.
#[derive(Clone, Copy, Debug)]
pub struct Loops {
    operation: fn(&str) -> Option<Operation>,
    /// The sum over a number of rows of a number of steps each, both loops in one function. A step is the
    /// exclusive or of both counters.
    pub inline: fn(rows: u64, steps: u64) -> u64,
    /// The same sum, with one function call for each row.
    pub by_function: fn(rows: u64, steps: u64) -> u64,
    /// The same sum, with one recursive call for each row. Each call takes [`Loops::frame_bytes`]
    /// of the stack; the caller makes sure that the stack is large enough.
    pub by_recursion: fn(rows: u64, steps: u64) -> u64,
    /// The sum of one row: the function that [`Loops::by_function`] calls.
    pub row: fn(at: u64, steps: u64) -> u64,
    deepest: fn() -> usize,
    write: fn(&mut [u64], u64),
    /// Name and version of the compiler, as far as known.
    pub compiler: &'static str,
    /// The compiler's flags, if they override the level: the code then differs from the level's.
    pub overruled_by: Option<&'static str>,
}

impl Loops {
    /// The loops at `level` from Rust, by rustc.
    pub fn rust(level: Level) -> Self {
        rust::loops(level)
    }

    /// The loops at `level` from equivalent C, by the C compiler of the build machine.
    pub fn c(level: Level) -> Self {
        c::loops(level)
    }

    /// [`Loops::c`] with the ways to call as report E printed them: each row is an array of its own, allocated,
    /// filled, changed and added up. A step at `step` of the row `at` adds `at` and twice `step`, in 32 bits that
    /// overflow. There is at least one row. [`Loops::inline`] gives twice the sum of the last row, as printed.
    pub fn listed(level: Level) -> Self {
        c::listed(level)
    }

    /// The loops of the operation called `name`, as in `add_u64`; `None` if this processor does not
    /// have it.
    ///
    /// Operations are `add`, `subtract`, `multiply`, `divide` and, of floats, `fused` (multiply and
    /// add) and `root`; types are `u32`, `u64`, `f32` and `f64`.
    pub fn operation(&self, name: &str) -> Option<Operation> {
        (self.operation)(name)
    }

    /// Stack bytes of each recursive call, from the stack depths of two recursions.
    pub fn frame_bytes(&self) -> usize {
        const DEPTHS: [u64; 2] = [8, 40];
        let [shallow, deep] = DEPTHS.map(|rows| {
            (self.by_recursion)(rows, 1);
            (self.deepest)()
        });
        shallow.abs_diff(deep) / (DEPTHS[1] - DEPTHS[0]) as usize
    }

    /// Stores `word` into each aligned 8 bytes that lie entirely in `bytes`, in ascending order.
    pub fn write(&self, bytes: &mut [u8], word: u64) {
        // SAFETY: any 8 bytes are a word, and any word is 8 bytes.
        let (_, words, _) = unsafe { bytes.align_to_mut() };
        (self.write)(words, word);
    }
}
