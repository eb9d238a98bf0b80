//! Methods of copying memory.

use std::fmt;

/// A method of copying bytes from one block to another of the same length.
#[derive(Clone, Copy)]
pub struct CopyMethod {
    name: &'static str,
    copy: fn(&mut [u8], &[u8]),
}

/// All methods. Each returns `None` if this processor does not have it.
const METHODS: &[fn() -> Option<CopyMethod>] = &[
    memcpy,
    #[cfg(target_arch = "x86_64")]
    x86_64::non_temporal,
    #[cfg(target_arch = "x86_64")]
    x86_64::rep_movsb,
];

impl CopyMethod {
    /// The methods that this processor supports.
    pub fn available() -> impl Iterator<Item = Self> {
        METHODS.iter().filter_map(|method| method())
    }

    /// The method called `name`, if this processor supports it.
    pub fn called(name: &str) -> Option<Self> {
        Self::available().find(|method| method.name == name)
    }

    /// Its common name: `memcpy`, `non-temporal stores`, `rep movsb`.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// Copies `source` to `target`.
    ///
    /// # Panics
    /// If the blocks differ in length.
    #[inline]
    pub fn copy(self, target: &mut [u8], source: &[u8]) {
        assert_eq!(target.len(), source.len());
        (self.copy)(target, source);
    }
}

impl fmt::Debug for CopyMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// The C library's `memcpy`, which selects its code by length and processor.
#[expect(clippy::unnecessary_wraps, reason = "as every method")]
fn memcpy() -> Option<CopyMethod> {
    Some(CopyMethod {
        name: "memcpy",
        copy: |target, source| target.copy_from_slice(source),
    })
}

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use super::CopyMethod;
    use std::arch::asm;
    use std::arch::x86_64::{
        __m128i, __m512i, _mm_loadu_si128, _mm_sfence, _mm_stream_si128, _mm512_loadu_si512,
        _mm512_stream_si512,
    };

    /// A cache line: non-temporal stores need whole ones.
    #[repr(align(64))]
    struct Line {
        _bytes: [u8; LINE],
    }

    const LINE: usize = 64;

    #[expect(clippy::unnecessary_wraps, reason = "as every method")]
    pub(super) fn non_temporal() -> Option<CopyMethod> {
        let copy = if is_x86_feature_detected!("avx512f") {
            |target: &mut [u8], source: &[u8]| {
                // SAFETY: the processor has AVX-512 Foundation, as checked above.
                by_lines(target, source, |lines, from| unsafe { wide(lines, from) });
            }
        } else {
            |target: &mut [u8], source: &[u8]| by_lines(target, source, narrow)
        };
        Some(CopyMethod {
            name: "non-temporal stores",
            copy,
        })
    }

    #[expect(clippy::unnecessary_wraps, reason = "as every method")]
    pub(super) fn rep_movsb() -> Option<CopyMethod> {
        Some(CopyMethod {
            name: "rep movsb",
            copy: |target, source| {
                let len = target.len().min(source.len());
                // SAFETY: `len` bytes of both may be accessed, and they do not overlap, since one
                // is borrowed for writing.
                unsafe {
                    asm!(
                        "rep movsb",
                        inout("rcx") len => _,
                        inout("rdi") target.as_mut_ptr() => _,
                        inout("rsi") source.as_ptr() => _,
                        options(nostack, preserves_flags)
                    );
                }
            },
        })
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
