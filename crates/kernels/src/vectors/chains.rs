//! The loop around an operation, as a macro: a function with target features cannot be generic over
//! the operation.

/// For each `name: |x, y| operation, then renewal of x`, a function that applies the operation to
/// ten registers, twice per iteration of its loop; and `ALL` of them by name and type. The renewal,
/// if any, follows both. A division is by the chain's own value, as in the loops of [`crate::levels`].
///
/// Each result is hidden from the compiler in its register, so that nothing is folded.
macro_rules! chains {
    (
        $type:literal, $features:literal, $vector:ty, $register:ident $comment:literal, $splat:expr;
        $($name:ident: |$x:ident, $y:ident| $apply:expr $(, then $renew:expr)?;)*
    ) => {
        $(
            #[target_feature(enable = $features)]
            #[inline(never)]
            fn $name(turns: u64, x: u64, y: u64) -> u64 {
                type Words = [u64; size_of::<$vector>() / 8];
                let (mut a, $y): ($vector, $vector) = ($splat(x), $splat(y));
                let (mut b, mut c, mut d, mut e) = (a, a, a, a);
                let (mut f, mut g, mut h, mut i, mut j) = (a, a, a, a, a);
                macro_rules! apply_to {
                    ($one:ident) => {{
                        let $x = $one;
                        $one = $apply;
                        // SAFETY: the assembly is a comment, without an instruction.
                        unsafe {
                            std::arch::asm!($comment, inout($register) $one,
                                options(nomem, nostack, preserves_flags));
                        }
                    }};
                }
                macro_rules! renew {
                    ($one:ident) => {
                        $(
                            let $x = $one;
                            $one = $renew;
                        )?
                    };
                }
                macro_rules! each {
                    ($do:ident) => {
                        $do!(a); $do!(b); $do!(c); $do!(d); $do!(e);
                        $do!(f); $do!(g); $do!(h); $do!(i); $do!(j);
                    };
                }
                for _ in 0..turns {
                    each!(apply_to);
                    each!(apply_to);
                    each!(renew);
                }
                let mix = |sum: u64, register: $vector| {
                    // SAFETY: both are plain bytes of the same size.
                    let words: Words = unsafe { std::mem::transmute(register) };
                    words.into_iter().fold(sum, |sum, word| sum.rotate_left(7) ^ word)
                };
                [a, b, c, d, e, f, g, h, i, j].into_iter().fold(0, mix)
            }
        )*

        pub(super) const ALL: super::super::Operations =
            &[$((concat!(stringify!($name), "_", $type), $name),)*];
    };
}
