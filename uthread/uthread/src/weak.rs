//! Symbols that a program may or may not have.

/// The address of a symbol, or null if the program was loaded without it.
#[doc(hidden)]
#[macro_export]
macro_rules! weak_symbol {
    ($name:literal) => {{
        let address: *const ();
        // SAFETY: the code reads a constant of the linker: zero for a weak symbol that nobody defines.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            ::core::arch::asm!(
                concat!(".weak ", $name),
                concat!("mov {address}, qword ptr [rip + ", $name, "@GOTPCREL]"),
                address = out(reg) address,
                options(pure, nomem, nostack, preserves_flags),
            );
        }
        // SAFETY: as above.
        #[cfg(target_arch = "aarch64")]
        unsafe {
            ::core::arch::asm!(
                concat!(".weak ", $name),
                concat!("adrp {address}, :got:", $name),
                concat!("ldr {address}, [{address}, :got_lo12:", $name, "]"),
                address = out(reg) address,
                options(pure, nomem, nostack, preserves_flags),
            );
        }
        address
    }};
}
