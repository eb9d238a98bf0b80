//! The loops of one source, compiled at four optimisation levels by two compilers.

mod c;
mod operation;
mod rust;

pub use kernels_level3::{CHAINS, ELEMENTS_BYTES, OPERATIONS_IN_A_TURN};
pub use operation::Operation;

/// How far a compiler was told to optimise, as in `-O2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Not at all: every variable is in memory, every small function is a call.
    O0,
    /// What is cheap to compile.
    O1,
    /// All that does not make the program much larger.
    O2,
    /// Everything.
    O3,
}

impl Level {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::O0, Self::O1, Self::O2, Self::O3];

    /// The digit in `-O2`.
    pub fn digit(self) -> u64 {
        self as u64
    }

    /// Does `operation` so many times, or until it says that it failed, in a loop that rustc compiled
    /// at this level; whether all went well.
    pub fn repeat(self, times: u64, operation: &mut dyn FnMut() -> bool) -> bool {
        rust::repeat(self)(times, operation)
    }

    /// The level with this digit.
    pub fn from_digit(digit: u64) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.digit() == digit)
    }
}

/// Who compiled the loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Compiler {
    /// rustc, out of Rust.
    Rust,
    /// The C compiler of the machine on which oscope was built, out of C that says the same.
    C,
}

/// The loops, by one compiler at one level.
#[derive(Clone, Copy, Debug)]
pub struct Loops {
    operation: fn(&str) -> Option<Operation>,
    inline: fn(u64, u64) -> u64,
    by_function: fn(u64, u64) -> u64,
    by_recursion: fn(u64, u64) -> u64,
    row: fn(u64, u64) -> u64,
    deepest: fn() -> usize,
    write: fn(&mut [u64], u64),
    compiler: &'static str,
    /// What the compiler was told in the end, where it is not the level.
    overruled_by: Option<&'static str>,
}

impl Loops {
    /// Those of `compiler` at `level`.
    pub fn of(compiler: Compiler, level: Level) -> Self {
        match compiler {
            Compiler::Rust => rust::loops(level),
            Compiler::C => c::loops(level),
        }
    }

    /// The loops of the operation called `name`, as in `add_u64`; `None` where this processor lacks
    /// it.
    ///
    /// Operations are `add`, `subtract`, `multiply`, `divide` and, of floats, `fused` (multiply and
    /// add) and `root`; types are `u32`, `u64`, `f32` and `f64`.
    pub fn operation(&self, name: &str) -> Option<Operation> {
        (self.operation)(name)
    }

    /// The sum over `rows` rows of `steps` steps each, both loops in one function. A step is the
    /// exclusive or of both counters.
    pub fn inline(&self, rows: u64, steps: u64) -> u64 {
        (self.inline)(rows, steps)
    }

    /// The same sum by a function that is called for each row.
    pub fn by_function(&self, rows: u64, steps: u64) -> u64 {
        (self.by_function)(rows, steps)
    }

    /// The same sum by a function that calls itself for each row. It takes [`Loops::frame_bytes`] of
    /// the stack for each of them; the caller sees to it that the stack has as many.
    pub fn by_recursion(&self, rows: u64, steps: u64) -> u64 {
        (self.by_recursion)(rows, steps)
    }

    /// The sum of one row: the function that [`Loops::by_function`] calls.
    pub fn row(&self, at: u64, steps: u64) -> u64 {
        (self.row)(at, steps)
    }

    /// Bytes of the stack that each call of the recursion takes, found by looking how far two of
    /// them reach.
    pub fn frame_bytes(&self) -> usize {
        const DEPTHS: [u64; 2] = [8, 40];
        let [shallow, deep] = DEPTHS.map(|rows| {
            self.by_recursion(rows, 1);
            (self.deepest)()
        });
        shallow.abs_diff(deep) / (DEPTHS[1] - DEPTHS[0]) as usize
    }

    /// Stores `word` into each 8 bytes that lie whole and aligned in `bytes`, one after the other.
    pub fn write(&self, bytes: &mut [u8], word: u64) {
        // SAFETY: any 8 bytes are a word, and any word is 8 bytes.
        let (_, words, _) = unsafe { bytes.align_to_mut() };
        (self.write)(words, word);
    }

    /// Name and version of the compiler, as far as it told.
    pub fn compiler(&self) -> &'static str {
        self.compiler
    }

    /// The compiler's flags, if they overruled the level: the code is not what the level makes.
    pub fn overruled_by(&self) -> Option<&'static str> {
        self.overruled_by
    }
}
