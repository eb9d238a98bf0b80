//! The registers for rounding and for traps of floating-point numbers. A switch saves and restores them, as
//! the calling conventions ask. A new thread inherits those of the thread that starts it, as with
//! `pthread_create(3)`.
//!
//! Rust requires all programs to keep the defaults, so those in Rust alone can do without, by leaving out the
//! feature `float-control`.

#[cfg(not(feature = "float-control"))]
#[derive(Clone, Copy)]
pub(super) struct FloatControl;

#[cfg(not(feature = "float-control"))]
impl FloatControl {
    pub(super) const DEFAULT: Self = Self;

    pub(super) unsafe fn save(_: *mut Self) {}
}

/// `MXCSR`, whose flags of exceptions go with it, and the control word of x87.
#[cfg(all(feature = "float-control", target_arch = "x86_64"))]
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct FloatControl {
    sse: u32,
    /// In the lower half: with padding instead of the upper one, compilers copy fields by loads that wait for the stores
    /// before them.
    x87: u32,
}

#[cfg(all(feature = "float-control", target_arch = "x86_64"))]
impl FloatControl {
    pub(super) const DEFAULT: Self = Self {
        sse: 0x1f80,
        x87: 0x37f,
    };

    /// Writes what the registers have now.
    ///
    /// # Safety
    /// `place` must be valid for writes.
    #[inline]
    #[cfg_attr(miri, expect(unused_variables, reason = "miri runs no assembly"))]
    pub(super) unsafe fn save(place: *mut Self) {
        // SAFETY: the instructions write four and two bytes there.
        #[cfg(not(miri))]
        unsafe {
            core::arch::asm!(
                "stmxcsr [{place}]",
                "fnstcw [{place} + 4]",
                place = in(reg) place,
                options(nostack, preserves_flags),
            );
        }
    }
}

/// `FPCR`.
#[cfg(all(feature = "float-control", target_arch = "aarch64"))]
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct FloatControl {
    fpcr: u64,
}

#[cfg(all(feature = "float-control", target_arch = "aarch64"))]
impl FloatControl {
    pub(super) const DEFAULT: Self = Self { fpcr: 0 };

    /// Same as on x86-64.
    ///
    /// # Safety
    /// `place` must be valid for writes.
    #[inline]
    #[cfg_attr(miri, expect(unused_variables, reason = "miri runs no assembly"))]
    pub(super) unsafe fn save(place: *mut Self) {
        // SAFETY: the caller's contract; the first instruction only reads the register.
        #[cfg(not(miri))]
        unsafe {
            core::arch::asm!(
                "mrs {fpcr}, fpcr",
                "str {fpcr}, [{place}]",
                fpcr = out(reg) _,
                place = in(reg) place,
                options(nostack, preserves_flags),
            );
        }
    }
}

/// Saves the registers at the offset in the context of `rdi`, and loads those in the context of `rsi`. The control word of
/// x87 hardly ever differs, and then the code below loads it. Changes `eax`.
///
/// On Zen 4, saving `MXCSR` takes 4 ns and loading it 0.5, so it is not compared first, which takes 1.6.
#[cfg(all(feature = "float-control", target_arch = "x86_64"))]
macro_rules! switch_float_control {
    ($offset:literal) => {
        concat!(
            "stmxcsr [rdi + ",
            $offset,
            "]\n",
            "fnstcw [rdi + ",
            $offset,
            " + 4]\n",
            "ldmxcsr [rsi + ",
            $offset,
            "]\n",
            "movzx eax, word ptr [rdi + ",
            $offset,
            " + 4]\n",
            "cmp ax, [rsi + ",
            $offset,
            " + 4]\n",
            "jne 5f\n",
            "6:",
        )
    };
}

/// The code to which `switch_float_control` goes.
#[cfg(all(feature = "float-control", target_arch = "x86_64"))]
macro_rules! load_float_control {
    ($offset:literal) => {
        concat!("5:\n", "fldcw [rsi + ", $offset, " + 4]\n", "jmp 6b")
    };
}

/// Saves the register at the offset in the context of `x0`, and loads that in the context of `x1` if it differs.
/// Changes `x9` and `x10`.
#[cfg(all(feature = "float-control", target_arch = "aarch64"))]
macro_rules! switch_float_control {
    ($offset:literal) => {
        concat!(
            "mrs x9, fpcr\n",
            "ldr x10, [x1, #",
            $offset,
            "]\n",
            "str x9, [x0, #",
            $offset,
            "]\n",
            "cmp x9, x10\n",
            "b.eq 3f\n",
            "msr fpcr, x10\n",
            "3:",
        )
    };
}

#[cfg(not(feature = "float-control"))]
macro_rules! switch_float_control {
    ($offset:literal) => {
        ""
    };
}

#[cfg(all(not(feature = "float-control"), target_arch = "x86_64"))]
macro_rules! load_float_control {
    ($offset:literal) => {
        ""
    };
}
