//! The loops over the registers of an instruction set, as a macro: a function with target features
//! cannot be generic over the registers.

/// `loops` of an instruction set: its name, the check whether the processor has it, its registers,
/// and the operations on them.
macro_rules! passes {
    (
        $name:literal, $is_detected:ident!($feature:tt), $register:ty;
        load: $load:ident, store: $store:ident, xor: $xor:ident, splat: $splat:expr
    ) => {
        use crate::instruction_set::InstructionSet;
        use crate::portable;

        /// Bytes per register.
        const WIDTH: usize = size_of::<$register>();
        /// Registers per iteration. The iteration is unrolled by hand, since the compiler does not
        /// always unroll an inner loop.
        const UNROLLED: usize = 8;

        pub(crate) fn loops() -> Option<InstructionSet> {
            $is_detected!($feature).then_some(InstructionSet {
                name: $name,
                // SAFETY: the processor has the instructions, as checked above.
                read: |bytes| unsafe { read(bytes) },
                // SAFETY: as for `read`.
                write: |bytes, word| unsafe { write(bytes, word) },
            })
        }

        #[target_feature(enable = $feature)]
        #[inline(never)]
        fn read(bytes: &[u8]) -> u64 {
            let (vectors, tail) = bytes.as_chunks::<WIDTH>();
            let (groups, singles) = vectors.as_chunks::<UNROLLED>();
            let mut sums = [$splat(0); UNROLLED];
            for [a, b, c, d, e, f, g, h] in groups {
                sums[0] = $xor(sums[0], load(a));
                sums[1] = $xor(sums[1], load(b));
                sums[2] = $xor(sums[2], load(c));
                sums[3] = $xor(sums[3], load(d));
                sums[4] = $xor(sums[4], load(e));
                sums[5] = $xor(sums[5], load(f));
                sums[6] = $xor(sums[6], load(g));
                sums[7] = $xor(sums[7], load(h));
            }
            for vector in singles {
                sums[0] = $xor(sums[0], load(vector));
            }
            let [a, b, c, d, e, f, g, h] = sums;
            let halves = [$xor($xor(a, b), $xor(c, d)), $xor($xor(e, f), $xor(g, h))];
            let sum = $xor(halves[0], halves[1]);
            // SAFETY: both are plain bytes of the same size.
            let words: [u64; WIDTH / 8] = unsafe { std::mem::transmute(sum) };
            let sum = words.into_iter().fold(0, |sum, word| sum ^ word);
            // The call takes as long as a short block.
            if tail.is_empty() {
                sum
            } else {
                sum ^ portable::read(tail)
            }
        }

        #[target_feature(enable = $feature)]
        #[inline(never)]
        fn write(bytes: &mut [u8], word: u64) {
            let pattern = $splat(word);
            let (vectors, tail) = bytes.as_chunks_mut::<WIDTH>();
            let (groups, singles) = vectors.as_chunks_mut::<UNROLLED>();
            for [a, b, c, d, e, f, g, h] in groups {
                store(a, pattern);
                store(b, pattern);
                store(c, pattern);
                store(d, pattern);
                store(e, pattern);
                store(f, pattern);
                store(g, pattern);
                store(h, pattern);
            }
            for vector in singles {
                store(vector, pattern);
            }
            if !tail.is_empty() {
                portable::write(tail, word);
            }
        }

        #[target_feature(enable = $feature)]
        #[inline]
        fn load(vector: &[u8; WIDTH]) -> $register {
            // SAFETY: the reference covers the bytes that are loaded, at any alignment.
            unsafe { $load(vector.as_ptr().cast()) }
        }

        #[target_feature(enable = $feature)]
        #[inline]
        fn store(vector: &mut [u8; WIDTH], value: $register) {
            // SAFETY: the reference covers the bytes that are stored, at any alignment.
            unsafe { $store(vector.as_mut_ptr().cast(), value) }
        }
    };
}
