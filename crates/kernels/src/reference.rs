//! Two reference loops: they show the state of a core at this moment.
//!
//! [`MULTIPLY_CHAIN`] takes a fixed number of cycles, so its time shows the clock. [`add_width`] takes
//! all that the core can issue, so it is slower at a low clock and also if another program uses the
//! core's other hyperthread, even on a virtual machine whose host reports nothing of that.

/// Multiplications of a run of [`MULTIPLY_CHAIN`]: some 2.5 µs.
pub const MULTIPLICATIONS: u64 = 16 * CHAIN_TURNS;

const CHAIN_TURNS: u64 = 200;
const WIDTH_TURNS: u64 = 900;

/// A loop of [`MULTIPLICATIONS`] 32-bit multiplications, each of which waits for the one before; `None`
/// on a processor for which it is not written. It uses no memory.
///
/// Multiplications of 32 bits, because fewer processors differ in their latency than for 64 bits.
pub const MULTIPLY_CHAIN: Option<fn()> =
    if cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
        Some(multiply_chain)
    } else {
        None
    };

#[inline(never)]
fn multiply_chain() {
    multiplications(CHAIN_TURNS);
}

/// A loop of additions that do not wait for each other, as many at a time as the core can issue; empty where
/// [`MULTIPLY_CHAIN`] is `None`. It uses no memory. Its time is comparable only on the same processor.
#[inline(never)]
pub fn add_width() {
    additions(WIDTH_TURNS);
}

/// The instructions of both loops, which are the same but for their notation.
#[cfg(target_arch = "x86_64")]
macro_rules! instruction {
    (multiply) => {
        "imul {product:e}, {factor:e}"
    };
    (add $sum:literal) => {
        concat!("add {", $sum, "}, {operand}")
    };
    (count down) => {
        "dec {turns}\njnz 2b"
    };
}

#[cfg(target_arch = "aarch64")]
macro_rules! instruction {
    (multiply) => {
        "mul {product:w}, {product:w}, {factor:w}"
    };
    (add $sum:literal) => {
        concat!("add {", $sum, "}, {", $sum, "}, {operand}")
    };
    (count down) => {
        "subs {turns}, {turns}, #1\nb.ne 2b"
    };
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn multiplications(turns: u64) {
    // SAFETY: the instructions change only registers that are declared as changed, and the flags.
    unsafe {
        std::arch::asm!(
            "2:",
            ".rept 16",
            instruction!(multiply),
            ".endr",
            instruction!(count down),
            turns = inout(reg) turns.max(1) => _,
            factor = in(reg) 3_u64,
            product = inout(reg) 1_u64 => _,
            options(nomem, nostack),
        );
    }
}

/// Each turn is 48 additions to eight registers. The operand is a register because recent processors
/// fold chains of additions of a constant, and would do several in one.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn additions(turns: u64) {
    // SAFETY: the instructions change only registers that are declared as changed, and the flags.
    unsafe {
        std::arch::asm!(
            "2:",
            ".rept 6",
            instruction!(add "a"),
            instruction!(add "b"),
            instruction!(add "c"),
            instruction!(add "d"),
            instruction!(add "e"),
            instruction!(add "f"),
            instruction!(add "g"),
            instruction!(add "h"),
            ".endr",
            instruction!(count down),
            turns = inout(reg) turns.max(1) => _,
            operand = in(reg) turns,
            a = inout(reg) 0_u64 => _,
            b = inout(reg) 0_u64 => _,
            c = inout(reg) 0_u64 => _,
            d = inout(reg) 0_u64 => _,
            e = inout(reg) 0_u64 => _,
            f = inout(reg) 0_u64 => _,
            g = inout(reg) 0_u64 => _,
            h = inout(reg) 0_u64 => _,
            options(nomem, nostack),
        );
    }
}

// Never called, since [`MULTIPLY_CHAIN`] is `None` here: a compiled loop would have no known number of
// cycles.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn multiplications(_: u64) {}
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn additions(_: u64) {}

#[cfg(all(test, any(target_arch = "x86_64", target_arch = "aarch64")))]
mod tests {
    use super::{additions, multiplications};
    use std::time::{Duration, Instant};

    fn least(run: impl Fn()) -> Duration {
        let time = || {
            let begin = Instant::now();
            run();
            begin.elapsed()
        };
        (0..20).map(|_| time()).min().expect("it ran")
    }

    #[test]
    fn its_time_grows_with_its_turns() {
        assert!(least(|| additions(80_000)) > 4 * least(|| additions(2_000)));
        assert!(least(|| multiplications(80_000)) > 4 * least(|| multiplications(2_000)));
    }
}
