//! Integer and floating-point operations: dependent, independent, and on the elements of an array.

use core::hint::black_box;

/// Runs `turns` iterations from the value with the bits `x`, with an operation whose other operand
/// has the bits `y`. Returns the bits of the result.
pub type Loop = unsafe extern "C" fn(turns: u64, x: u64, y: u64) -> u64;
/// Dependent operations, independent operations, and the operation on the elements of an array.
pub type Loops = [Loop; 3];

/// Operations per iteration of the first two loops.
pub const OPERATIONS_IN_A_TURN: u64 = 20;
/// Chains of the second loop: more than the operations in flight in any unit, and as many as there
/// are registers.
pub const CHAINS: u64 = 10;
/// Bytes of each of the two arrays of the third loop; each iteration processes all elements.
/// Together the arrays fit into any L1 cache.
pub const ELEMENTS_BYTES: usize = 4096;

/// A value and its representation in 64 bits.
trait Bits {
    fn from_word(word: u64) -> Self;
    fn to_word(self) -> u64;
}

impl Bits for u32 {
    fn from_word(word: u64) -> Self {
        word as Self
    }
    fn to_word(self) -> u64 {
        self.into()
    }
}

impl Bits for u64 {
    fn from_word(word: u64) -> Self {
        word
    }
    fn to_word(self) -> u64 {
        self
    }
}

impl Bits for f32 {
    fn from_word(word: u64) -> Self {
        Self::from_bits(word as u32)
    }
    fn to_word(self) -> u64 {
        self.to_bits().into()
    }
}

impl Bits for f64 {
    fn from_word(word: u64) -> Self {
        Self::from_bits(word)
    }
    fn to_word(self) -> u64 {
        self.to_bits()
    }
}

/// Adds a value to a sum in which equal values do not cancel.
fn mix(sum: u64, value: impl Bits) -> u64 {
    sum.rotate_left(7) ^ value.to_word()
}

macro_rules! add {
    ($x:expr, $y:expr) => {
        $x + $y
    };
}
macro_rules! subtract {
    ($x:expr, $y:expr) => {
        $x - $y
    };
}
macro_rules! multiply {
    ($x:expr, $y:expr) => {
        $x * $y
    };
}
/// Each result is the next divisor: y / (y / x) is about x, so the quotients of a chain stay in
/// range, whatever its length.
macro_rules! divide {
    ($x:expr, $y:expr) => {
        $y / $x
    };
}
macro_rules! fused {
    ($x:expr, $y:expr) => {
        $x.mul_add($y, $y)
    };
}
/// A chain of square roots would converge to 1, which some processors compute faster. A
/// multiplication after each iteration prevents that.
macro_rules! root {
    ($x:expr, $y:expr) => {
        $x.sqrt()
    };
}

macro_rules! ten_times {
    ($body:block) => {
        $body $body $body $body $body $body $body $body $body $body
    };
}

/// The three loops of one operation, with the given attributes.
macro_rules! loops {
    ([$($attribute:meta),*] $class:ident $type:ty, $apply:ident $(, then $renew:ident)?) => {
        #[inline(never)]
        $(#[$attribute])*
        pub extern "C" fn latency(turns: u64, x: u64, y: u64) -> u64 {
            let (mut x, y) = (<$type>::from_word(x), <$type>::from_word(y));
            let mut turn = 0;
            while turn < turns {
                ten_times!({
                    x = $apply!(x, y);
                    veil!($class x);
                    x = $apply!(x, y);
                    veil!($class x);
                });
                $(x = $renew!(x, y);)?
                turn += 1;
            }
            x.to_word()
        }

        #[inline(never)]
        $(#[$attribute])*
        pub extern "C" fn throughput(turns: u64, x: u64, y: u64) -> u64 {
            let (mut a, y) = (<$type>::from_word(x), <$type>::from_word(y));
            let (mut b, mut c, mut d, mut e, mut f, mut g, mut h, mut i, mut j) =
                (a, a, a, a, a, a, a, a, a);
            macro_rules! apply_to {
                ($one:ident) => {
                    $one = $apply!($one, y);
                    veil!($class $one);
                };
            }
            macro_rules! renew {
                ($one:ident) => {
                    $($one = $renew!($one, y);)?
                };
            }
            macro_rules! each {
                ($do:ident) => {
                    $do!(a); $do!(b); $do!(c); $do!(d); $do!(e);
                    $do!(f); $do!(g); $do!(h); $do!(i); $do!(j);
                };
            }
            let mut turn = 0;
            while turn < turns {
                each!(apply_to);
                each!(apply_to);
                each!(renew);
                turn += 1;
            }
            let sum = mix(mix(mix(a.to_word(), b), c), d);
            mix(mix(mix(mix(mix(mix(sum, e), f), g), h), i), j)
        }

        #[inline(never)]
        $(#[$attribute])*
        pub extern "C" fn array(turns: u64, x: u64, y: u64) -> u64 {
            const ELEMENTS: usize = ELEMENTS_BYTES / size_of::<$type>();
            let mut left = [<$type>::from_word(x); ELEMENTS];
            let mut right = [<$type>::from_word(y); ELEMENTS];
            let mut turn = 0;
            while turn < turns {
                // The compiler must not swap the loops over iterations and elements, nor know the
                // elements.
                black_box((&mut left, &mut right));
                let mut at = 0;
                while at < ELEMENTS {
                    left[at] = $apply!(left[at], right[at]);
                    at += 1;
                }
                turn += 1;
            }
            let mut sum = 0;
            let mut at = 0;
            while at < ELEMENTS {
                sum = mix(sum, left[at]);
                at += 1;
            }
            sum
        }
    };
}

/// The modules of all operations, and the table of their loops by name.
macro_rules! operations {
    ($($name:ident: $class:ident $type:ty, $apply:ident $(, then $renew:ident)?;)*) => {
        $(mod $name {
            pub mod plain {
                use super::super::{Bits, ELEMENTS_BYTES, black_box, mix};
                loops!([] $class $type, $apply $(, then $renew)?);
            }
            #[cfg(target_arch = "x86_64")]
            pub mod avx2 {
                use super::super::{Bits, ELEMENTS_BYTES, black_box, mix};
                loops!([target_feature(enable = "avx2,fma")] $class $type, $apply $(, then $renew)?);
            }
        })*

        /// The loops for any processor of this architecture, by name.
        pub static PLAIN: &[(&str, Loops)] = &[$((
            stringify!($name),
            [$name::plain::latency, $name::plain::throughput, $name::plain::array],
        ),)*];

        /// The loops for a processor with AVX2 and FMA, by name.
        #[cfg(target_arch = "x86_64")]
        pub static AVX2: &[(&str, Loops)] = &[$((
            stringify!($name),
            [$name::avx2::latency, $name::avx2::throughput, $name::avx2::array],
        ),)*];
        /// Empty: no processor of this architecture has AVX2 and FMA.
        #[cfg(not(target_arch = "x86_64"))]
        pub static AVX2: &[(&str, Loops)] = &[];
    };
}

operations! {
    add_u32: integer u32, add;
    subtract_u32: integer u32, subtract;
    multiply_u32: integer u32, multiply;
    divide_u32: integer u32, divide;
    add_u64: integer u64, add;
    subtract_u64: integer u64, subtract;
    multiply_u64: integer u64, multiply;
    divide_u64: integer u64, divide;
    add_f32: float f32, add;
    subtract_f32: float f32, subtract;
    multiply_f32: float f32, multiply;
    divide_f32: float f32, divide;
    fused_f32: float f32, fused;
    root_f32: float f32, root, then multiply;
    add_f64: float f64, add;
    subtract_f64: float f64, subtract;
    multiply_f64: float f64, multiply;
    divide_f64: float f64, divide;
    fused_f64: float f64, fused;
    root_f64: float f64, root, then multiply;
}
