//! The loops are correct at every level and by both compilers: each result equals that of the
//! counted operations, so nothing was folded, left out or done twice.

use oscope_kernels::levels::{
    CHAINS, ELEMENTS_BYTES, Level, Loops, OPERATIONS_IN_A_TURN, Operation, read_ints, write_ints,
};
use std::num::Wrapping;
use std::ops::{Add, Div, Mul, Sub};

fn all() -> impl Iterator<Item = (String, Loops)> {
    Level::ALL.into_iter().flat_map(|level| {
        let [rust, c] = [Loops::rust(level), Loops::c(level)];
        [
            (format!("Rust {level:?}"), rust),
            (format!("C {level:?}"), c),
        ]
    })
}

fn mix(sum: u64, bits: u64) -> u64 {
    sum.rotate_left(7) ^ bits
}

/// Runs a loop of an operation this number of turns, over two values given by their bits.
type Run = fn(&Operation, u64, u64, u64) -> u64;

const LOOPS: [Run; 3] = [Operation::latency, Operation::throughput, Operation::array];

/// Compares each loop with individual calls of `apply`, as many as the loop promises.
fn check<T: Copy>(
    name: &str,
    bits: fn(T) -> u64,
    (x, y): (T, T),
    apply: impl Fn(T, T) -> T,
    renew: impl Fn(T, T) -> T,
) {
    let turn = |x: T, operations: u64| renew((0..operations).fold(x, |x, _| apply(x, y)), y);
    let chain = |turns: u64, operations: u64| (0..turns).fold(x, |x, _| turn(x, operations));
    let elements = (ELEMENTS_BYTES / size_of::<T>()) as u64;
    for (who, loops) in all() {
        let Some(operation) = loops.operation(name) else {
            println!("skipped: this processor has no {name}");
            return;
        };
        for turns in [0, 1, 2, 50, 100] {
            let mixed = |count: u64, value: T| (0..count).fold(0, |sum, _| mix(sum, bits(value)));
            let expected = [
                bits(chain(turns, OPERATIONS_IN_A_TURN)),
                mixed(CHAINS, chain(turns, OPERATIONS_IN_A_TURN / CHAINS)),
                mixed(elements, (0..turns).fold(x, |x, _| apply(x, y))),
            ];
            let found = LOOPS.map(|run| run(&operation, turns, bits(x), bits(y)));
            assert_eq!(found, expected, "{who} {name}, {turns} turns");
        }
    }
}

/// Checks the four operations on numbers of this sort.
fn check_arithmetic<T>(sort: &str, bits: fn(T) -> u64, values: (T, T))
where
    T: Copy + Add<Output = T> + Sub<Output = T> + Mul<Output = T> + Div<Output = T>,
{
    let check = |operation: &str, apply: fn(T, T) -> T| {
        let name = format!("{operation}_{sort}");
        check(&name, bits, values, apply, |x, _| x);
    };
    check("add", |x, y| x + y);
    check("subtract", |x, y| x - y);
    check("multiply", |x, y| x * y);
    check("divide", |x, y| y / x);
}

#[test]
fn integers() {
    let values = (Wrapping(60_013), Wrapping(0xffff_fff1));
    check_arithmetic::<Wrapping<u32>>("u32", |it| it.0.into(), values);
    let values = (Wrapping(0xf_1234_5677), Wrapping(0xffff_ffff_ffff_ffc5));
    check_arithmetic::<Wrapping<u64>>("u64", |it| it.0, values);
}

#[test]
fn floats_of_32_bits() {
    let (bits, values): (fn(f32) -> u64, _) = (|it| it.to_bits().into(), (1.7, 0.999));
    check_arithmetic("f32", bits, values);
    check("fused_f32", bits, values, |x, y| x.mul_add(y, y), |x, _| x);
    check("root_f32", bits, values, |x, _| x.sqrt(), |x, y| x * y);
}

#[test]
fn floats_of_64_bits() {
    let (bits, values): (fn(f64) -> u64, _) = (f64::to_bits, (1.7, 0.999));
    check_arithmetic("f64", bits, values);
    check("fused_f64", bits, values, |x, y| x.mul_add(y, y), |x, _| x);
    check("root_f64", bits, values, |x, _| x.sqrt(), |x, y| x * y);
}

#[test]
fn all_call_styles_give_the_same_sum() {
    for (who, loops) in all() {
        for (rows, steps) in [(0, 5), (1, 1), (7, 3), (100, 16), (1000, 9)] {
            let sum: u64 = (0..rows)
                .flat_map(|at| (0..steps).map(move |step| at ^ step))
                .sum();
            for (way, run) in [
                ("inline", loops.inline),
                ("by function", loops.by_function),
                ("by recursion", loops.by_recursion),
            ] {
                assert_eq!(run(rows, steps), sum, "{who}, {way}");
            }
            let by_rows: u64 = (0..rows).map(|at| (loops.row)(at, steps)).sum();
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
fn listed_ways_to_call_add_up_their_arrays() {
    for level in Level::ALL {
        let loops = Loops::listed(level);
        for (rows, steps) in [(1_u32, 1_u32), (7, 3), (100, 16), (70_000, 16)] {
            let row =
                |at: u32| -> Wrapping<u32> { (0..steps).map(|step| Wrapping(2 * step + at)).sum() };
            let sum: Wrapping<u32> = (0..rows).map(row).sum();
            let (rows, steps) = (u64::from(rows), u64::from(steps));
            let last = u64::from((row(rows as u32 - 1) * Wrapping(2)).0);
            assert_eq!((loops.inline)(rows, steps), last, "{level:?}, inline");
            let sum = u64::from(sum.0);
            assert_eq!(
                (loops.by_function)(rows, steps),
                sum,
                "{level:?}, by function"
            );
            assert_eq!(2 * (loops.row)(rows - 1, steps), last, "{level:?}, a row");
            if rows <= 100 {
                assert_eq!(
                    (loops.by_recursion)(rows, steps),
                    sum,
                    "{level:?}, by recursion"
                );
            }
        }
        assert!((8..1024).contains(&loops.frame_bytes()), "{level:?}");
    }
}

#[test]
fn listed_passes_write_and_read_every_int_and_no_other_byte() {
    let mut bytes = vec![0_u8; 8200];
    let start = bytes.as_ptr().align_offset(4) + 1;
    write_ints(&mut bytes[start..start + 8190], 5);
    // The first bytes are no whole number, and neither are the last.
    let ints = &bytes[start + 3..start + 3 + 8184];
    for (at, int) in (0..).zip(ints.chunks_exact(4)) {
        assert_eq!(int, (5 + at as u32).to_ne_bytes(), "{at}");
    }
    assert_eq!(read_ints(&bytes[start..start + 8190]), 5 + 2045);
    assert!(
        bytes[..start + 3]
            .iter()
            .chain(&bytes[start + 3 + 8184..])
            .all(|byte| *byte == 0)
    );
    assert_eq!(read_ints(&[]), 0);
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
