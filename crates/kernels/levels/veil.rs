//! What hides a value from the compiler without an instruction: it must make the value, keep it in a
//! register and believe that it may have changed, so that no chain of operations can be folded.

/// Hides an integer or a float. Without optimisation nothing is folded and there is nothing to hide.
#[cfg(not(optimised))]
macro_rules! veil {
    ($class:ident $value:ident) => {};
}

#[cfg(all(optimised, target_arch = "x86_64"))]
macro_rules! veil {
    (integer $value:ident) => {
        veil!(reg "/* {0:r} */" $value)
    };
    (float $value:ident) => {
        veil!(xmm_reg "/* {0} */" $value)
    };
    ($register:ident $comment:literal $value:ident) => {
        // SAFETY: it is a comment and has no instruction.
        unsafe {
            core::arch::asm!($comment, inout($register) $value,
                options(nomem, nostack, preserves_flags));
        }
    };
}

#[cfg(all(optimised, target_arch = "aarch64"))]
macro_rules! veil {
    (integer $value:ident) => {
        veil!(reg "/* {0:x} */" $value)
    };
    (float $value:ident) => {
        veil!(vreg "/* {0:v} */" $value)
    };
    ($register:ident $comment:literal $value:ident) => {
        // SAFETY: it is a comment and has no instruction.
        unsafe {
            core::arch::asm!($comment, inout($register) $value,
                options(nomem, nostack, preserves_flags));
        }
    };
}

#[cfg(all(optimised, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
macro_rules! veil {
    ($class:ident $value:ident) => {
        $value = core::hint::black_box($value);
    };
}
