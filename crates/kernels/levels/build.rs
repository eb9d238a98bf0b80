//! Records the compilation of these loops: cargo's optimisation level, and the flags that may
//! override it.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=../levels/build.rs");
    println!("cargo::rustc-check-cfg=cfg(optimised)");
    let level = env::var("OPT_LEVEL").unwrap_or_default();
    // The unit separator separates the flags, so that a flag may contain spaces.
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let flags = flags.replace('\u{1f}', " ");
    // The flags come after cargo's own options, and the last option wins.
    let is_overruled = flags.contains("opt-level") || flags.split(' ').any(|flag| flag == "-O");
    if level != "0" || is_overruled {
        println!("cargo::rustc-cfg=optimised");
    }
    println!("cargo::rustc-env=OSCOPE_KERNELS_LEVEL={level}");
    println!("cargo::rustc-env=OSCOPE_KERNELS_FLAGS={flags}");
    println!("cargo::rustc-env=OSCOPE_KERNELS_OVERRULED={is_overruled}");
}
