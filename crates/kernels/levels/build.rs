//! Bakes in how these loops were compiled: the optimisation that cargo asked for, and the flags that
//! may have overruled it.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=../levels/build.rs");
    println!("cargo::rustc-check-cfg=cfg(optimised)");
    let level = env::var("OPT_LEVEL").unwrap_or_default();
    // Flags arrive separated by the unit separator, so that they may hold spaces.
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let flags = flags.replace('\u{1f}', " ");
    // Flags come after what cargo asks for, and the last word counts.
    let is_overruled = flags.contains("opt-level") || flags.split(' ').any(|flag| flag == "-O");
    if level != "0" || is_overruled {
        println!("cargo::rustc-cfg=optimised");
    }
    println!("cargo::rustc-env=OSCOPE_KERNELS_LEVEL={level}");
    println!("cargo::rustc-env=OSCOPE_KERNELS_FLAGS={flags}");
    println!("cargo::rustc-env=OSCOPE_KERNELS_OVERRULED={is_overruled}");
}
