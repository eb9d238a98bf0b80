//! Hides a value from the compiler without an instruction: the compiler must compute the value,
//! keep it in a register and assume that it has changed, so that it cannot fold a chain of
//! operations.

/// Hides an integer or a float. Without optimisation nothing is folded, so there is nothing to
/// hide.
#[cfg(not(optimised))]
macro_rules! veil {
    ($class:ident $value:ident) => {};
}

#[cfg(all(optimised, target_arch = "x86_64"))]
macro_rules! veil {
    (integer $value:ident) => {
        veil_in!(reg "/* {0:r} */" $value)
    };
    (float $value:ident) => {
        veil_in!(xmm_reg "/* {0} */" $value)
    };
}

#[cfg(all(optimised, target_arch = "aarch64"))]
macro_rules! veil {
    (integer $value:ident) => {
        veil_in!(reg "/* {0:x} */" $value)
    };
    (float $value:ident) => {
        veil_in!(vreg "/* {0:v} */" $value)
    };
}

/// Hides a value in a register of this class.
#[cfg(all(optimised, any(target_arch = "x86_64", target_arch = "aarch64")))]
macro_rules! veil_in {
    ($register:ident $comment:literal $value:ident) => {
        // SAFETY: the assembly is a comment, without an instruction.
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
