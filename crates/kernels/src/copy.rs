//! Methods of copying memory.

/// Copies `source` to `target`, and panics if they differ in length.
pub type CopyMethod = fn(target: &mut [u8], source: &[u8]);

/// The methods that this processor has, by their common names. `memcpy` is the C library's, which selects its code
/// by length and processor.
pub const COPY_METHODS: &[(&str, CopyMethod)] = &[
    ("memcpy", |target, source| target.copy_from_slice(source)),
    #[cfg(target_arch = "x86_64")]
    ("non-temporal stores", x86_64::non_temporal),
    #[cfg(target_arch = "x86_64")]
    ("rep movsb", x86_64::rep_movsb),
];

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use std::arch::asm;
    use std::arch::x86_64::{
        __m128i, __m512i, _mm_loadu_si128, _mm_sfence, _mm_stream_si128, _mm512_loadu_si512,
        _mm512_stream_si512,
    };

    /// A cache line: the loops store whole, aligned ones.
    #[repr(align(64))]
    struct Line {
        _bytes: [u8; LINE],
    }

    const LINE: usize = 64;

    pub(super) fn non_temporal(target: &mut [u8], source: &[u8]) {
        if is_x86_feature_detected!("avx512f") {
            // SAFETY: the processor has AVX-512 Foundation.
            by_lines(target, source, |lines, from| unsafe { wide(lines, from) });
        } else {
            by_lines(target, source, narrow);
        }
    }

    pub(super) fn rep_movsb(target: &mut [u8], source: &[u8]) {
        assert_eq!(target.len(), source.len());
        // SAFETY: all bytes of both may be accessed, and they do not overlap, since one is borrowed for
        // writing.
        unsafe {
            asm!(
                "rep movsb",
                inout("rcx") target.len() => _,
                inout("rdi") target.as_mut_ptr() => _,
                inout("rsi") source.as_ptr() => _,
                options(nostack, preserves_flags)
            );
        }
    }

    /// Copies the whole cache lines of `target` with `lines`, and the bytes before and after them
    /// with `memcpy`.
    fn by_lines(target: &mut [u8], source: &[u8], lines: fn(&mut [Line], &[[u8; LINE]])) {
        // SAFETY: any bytes are a valid line.
        let (head, whole, tail) = unsafe { target.align_to_mut::<Line>() };
        let (source_head, source) = source.split_at(head.len());
        let (source_whole, source_tail) = source.as_chunks::<LINE>();
        head.copy_from_slice(source_head);
        lines(whole, source_whole);
        tail.copy_from_slice(source_tail);
    }

    #[target_feature(enable = "avx512f")]
    #[inline(never)]
    fn wide(targets: &mut [Line], sources: &[[u8; LINE]]) {
        for (target, source) in targets.iter_mut().zip(sources) {
            // SAFETY: both are 64 bytes, and the target is aligned.
            unsafe {
                let line = _mm512_loadu_si512(source.as_ptr().cast());
                _mm512_stream_si512((&raw mut *target).cast::<__m512i>(), line);
            }
        }
        _mm_sfence();
    }

    #[inline(never)]
    fn narrow(targets: &mut [Line], sources: &[[u8; LINE]]) {
        for (target, source) in targets.iter_mut().zip(sources) {
            let target = (&raw mut *target).cast::<__m128i>();
            let (parts, _) = source.as_chunks::<{ size_of::<__m128i>() }>();
            for (index, part) in parts.iter().enumerate() {
                // SAFETY: both are 64 bytes, and the target is aligned.
                unsafe {
                    let part = _mm_loadu_si128(part.as_ptr().cast());
                    _mm_stream_si128(target.add(index), part);
                }
            }
        }
        // SAFETY: every x86-64 processor has this instruction.
        unsafe { _mm_sfence() };
    }

    #[cfg(test)]
    mod tests {
        #[test]
        fn the_narrow_loop_copies_too() {
            let source: Vec<u8> = (0..1000).map(|index| (index * 7) as u8).collect();
            let mut target = vec![0; 1000];
            super::by_lines(&mut target, &source, super::narrow);
            assert_eq!(target, source);
        }
    }
}
