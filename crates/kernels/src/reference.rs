//! The reference loop: it tells how fast a core is at this moment.

/// Turns of the loop in [`reference`]: about 10 µs on a core at full speed.
const TURNS: u64 = 4000;

/// Runs the reference loop once: additions that do not depend on each other, as many at a time as
/// the core can issue. It uses no memory.
///
/// It takes longer whenever the core has less to give: at a lower clock frequency, or if another
/// program runs on the core's other hyperthread, even on a virtual machine whose host tells nothing
/// of that. Its time is comparable only on the same machine.
#[inline(never)]
pub fn reference() {
    turns(TURNS);
}

/// Each turn is 48 additions to eight registers. The operand is a register because recent processors
/// fold chains of additions of a constant, and would do several in one.
#[cfg(target_arch = "x86_64")]
fn turns(count: u64) {
    // SAFETY: the instructions change only registers that are declared as changed, and the flags.
    unsafe {
        std::arch::asm!(
            "2:",
            ".rept 6",
            "add {a}, {operand}",
            "add {b}, {operand}",
            "add {c}, {operand}",
            "add {d}, {operand}",
            "add {e}, {operand}",
            "add {f}, {operand}",
            "add {g}, {operand}",
            "add {h}, {operand}",
            ".endr",
            "dec {count}",
            "jnz 2b",
            count = inout(reg) count.max(1) => _,
            operand = in(reg) count,
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

/// As on x86-64.
#[cfg(target_arch = "aarch64")]
fn turns(count: u64) {
    // SAFETY: the instructions change only registers that are declared as changed, and the flags.
    unsafe {
        std::arch::asm!(
            "2:",
            ".rept 6",
            "add {a}, {a}, {operand}",
            "add {b}, {b}, {operand}",
            "add {c}, {c}, {operand}",
            "add {d}, {d}, {operand}",
            "add {e}, {e}, {operand}",
            "add {f}, {f}, {operand}",
            "add {g}, {g}, {operand}",
            "add {h}, {h}, {operand}",
            ".endr",
            "subs {count}, {count}, #1",
            "b.ne 2b",
            count = inout(reg) count.max(1) => _,
            operand = in(reg) count,
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

/// Additions that the compiler may neither remove nor join.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn turns(count: u64) {
    let mut sums = [0_u64; 8];
    for _ in 0..count * 6 {
        for sum in &mut sums {
            *sum = std::hint::black_box(*sum).wrapping_add(count);
        }
    }
    std::hint::black_box(sums);
}

#[cfg(test)]
mod tests {
    use super::turns;
    use std::time::Instant;

    #[test]
    fn its_time_grows_with_its_turns() {
        let least = |count| {
            let time = || {
                let begin = Instant::now();
                turns(count);
                begin.elapsed()
            };
            (0..20).map(|_| time()).min().expect("it ran")
        };
        assert!(least(80_000) > 4 * least(2_000));
    }
}
