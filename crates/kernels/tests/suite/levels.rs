//! The loops are correct at every level and by both compilers: each result equals that of the
//! counted operations, so nothing was folded, left out or done twice.

use oscope_kernels::levels::{
    CHAINS, Compiler, ELEMENTS_BYTES, Level, Loops, OPERATIONS_IN_A_TURN, Operation,
};

fn all() -> impl Iterator<Item = (String, Loops)> {
    [Compiler::Rust, Compiler::C]
        .into_iter()
        .flat_map(|compiler| {
            Level::ALL.into_iter().map(move |level| {
                (
                    format!("{compiler:?} {level:?}"),
                    Loops::of(compiler, level),
                )
            })
        })
}

/// A value and its representation in the loops.
trait Value: Copy {
    fn bits(self) -> u64;
}

impl Value for u32 {
    fn bits(self) -> u64 {
        self.into()
    }
}
impl Value for u64 {
    fn bits(self) -> u64 {
        self
    }
}
impl Value for f32 {
    fn bits(self) -> u64 {
        self.to_bits().into()
    }
}
impl Value for f64 {
    fn bits(self) -> u64 {
        self.to_bits()
    }
}

fn mix(sum: u64, bits: u64) -> u64 {
    sum.rotate_left(7) ^ bits
}

/// Compares each loop with individual calls of `apply`, as many as the loop promises.
fn check<T: Value>(name: &str, x: T, y: T, apply: impl Fn(T, T) -> T, renew: impl Fn(T, T) -> T) {
    let turn = |mut x: T, operations: u64| {
        for _ in 0..operations {
            x = apply(x, y);
        }
        renew(x, y)
    };
    let chain = |turns: u64, operations: u64| (0..turns).fold(x, |x, _| turn(x, operations));
    let elements = ELEMENTS_BYTES / size_of::<T>();
    for (who, loops) in all() {
        let Some(operation) = loops.operation(name) else {
            println!("skipped: this processor has no {name}");
            return;
        };
        for turns in [0, 1, 2, 50, 100] {
            let run = |kind: fn(&Operation, u64, u64, u64) -> u64| {
                kind(&operation, turns, x.bits(), y.bits())
            };
            let latency = chain(turns, OPERATIONS_IN_A_TURN).bits();
            assert_eq!(
                run(Operation::latency),
                latency,
                "{who} {name}, {turns} turns"
            );
            let one = chain(turns, OPERATIONS_IN_A_TURN / CHAINS).bits();
            let throughput = (0..CHAINS).fold(0, |sum, _| mix(sum, one));
            assert_eq!(
                run(Operation::throughput),
                throughput,
                "{who} {name}, {turns} turns"
            );
            let element = (0..turns).fold(x, |x, _| apply(x, y)).bits();
            let array = (0..elements).fold(0, |sum, _| mix(sum, element));
            assert_eq!(run(Operation::array), array, "{who} {name}, {turns} turns");
        }
    }
}

macro_rules! checks {
    ($integer:ident, $float:ident, $unsigned:ident, $real:ident, $x:expr, $y:expr) => {
        #[test]
        fn $integer() {
            let name = |operation: &str| format!("{operation}_{}", stringify!($unsigned));
            let (x, y): ($unsigned, $unsigned) = ($x, $y);
            let keep = |x, _| x;
            check(&name("add"), x, y, |x, y| x.wrapping_add(y), keep);
            check(&name("subtract"), x, y, |x, y| x.wrapping_sub(y), keep);
            check(&name("multiply"), x, y, |x, y| x.wrapping_mul(y), keep);
            check(&name("divide"), x, y, |x, y| y / x, keep);
        }

        #[test]
        fn $float() {
            let name = |operation: &str| format!("{operation}_{}", stringify!($real));
            let (x, y): ($real, $real) = (1.7, 0.999);
            let keep = |x, _| x;
            check(&name("add"), x, y, |x, y| x + y, keep);
            check(&name("subtract"), x, y, |x, y| x - y, keep);
            check(&name("multiply"), x, y, |x, y| x * y, keep);
            check(&name("divide"), x, y, |x, y| y / x, keep);
            check(&name("fused"), x, y, |x, y| x.mul_add(y, y), keep);
            check(&name("root"), x, y, |x, _| x.sqrt(), |x, y| x * y);
        }
    };
}

checks!(
    integers_of_32_bits,
    floats_of_32_bits,
    u32,
    f32,
    60_013,
    0xffff_fff1
);
checks!(
    integers_of_64_bits,
    floats_of_64_bits,
    u64,
    f64,
    0xf_1234_5677,
    0xffff_ffff_ffff_ffc5
);

#[test]
fn all_call_styles_give_the_same_sum() {
    for (who, loops) in all() {
        for (rows, steps) in [(0, 5), (1, 1), (7, 3), (100, 16), (1000, 9)] {
            let sum: u64 = (0..rows)
                .flat_map(|at| (0..steps).map(move |step| at ^ step))
                .sum();
            assert_eq!(loops.inline(rows, steps), sum, "{who}, inline");
            assert_eq!(loops.by_function(rows, steps), sum, "{who}, by function");
            assert_eq!(loops.by_recursion(rows, steps), sum, "{who}, by recursion");
            let by_rows: u64 = (0..rows).map(|at| loops.row(at, steps)).sum();
            assert_eq!(by_rows, sum, "{who}, row by row");
        }
        // A frame holds at least the return address.
        assert!(
            (8..1024).contains(&loops.frame_bytes()),
            "{who}: {}",
            loops.frame_bytes()
        );
    }
}

#[test]
fn a_pass_writes_every_word_and_no_other() {
    let mut bytes = vec![0_u8; 8200];
    let first = bytes.as_ptr().align_offset(8);
    let word = 0x0123_4567_89ab_cdef_u64;
    for (who, loops) in all() {
        for len in [0, 8, 120, 128, 8024] {
            bytes.fill(0);
            loops.write(&mut bytes[first..first + len], word);
            let (written, rest) = bytes[first..].split_at(len);
            let words = written.as_chunks::<8>().0.iter();
            assert!(
                words
                    .copied()
                    .all(|bytes| u64::from_ne_bytes(bytes) == word),
                "{who}, {len} bytes"
            );
            assert!(rest.iter().all(|byte| *byte == 0), "{who}, {len} bytes");
        }
    }
}

#[test]
fn every_level_is_what_was_asked_for_unless_flags_say_otherwise() {
    for (who, loops) in all() {
        match loops.overruled_by() {
            None => assert!(!loops.compiler().is_empty(), "{who}"),
            Some(flags) => println!("skipped: {who} was overruled by {flags}"),
        }
    }
}
