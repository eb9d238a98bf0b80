//! Compiles the loops in C once for each optimisation level, and records the final compiler flags:
//! `CFLAGS` come after the flags set here.

const SOURCE: &str = "levels/loops.c";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={SOURCE}");
    for level in 0..=3 {
        let mut build = cc::Build::new();
        build
            .file(SOURCE)
            .opt_level(level)
            .define("LEVEL", level.to_string().as_str())
            // Without this flag a square root would be a call, which sets `errno` for negative
            // numbers.
            .flag("-fno-math-errno")
            .debug(false);
        let compiler = build.get_compiler();
        let last_word = compiler.args().iter().rev();
        let optimisation = last_word
            .filter_map(|argument| argument.to_str())
            .find(|argument| argument.starts_with("-O"));
        let optimisation = optimisation.unwrap_or_default();
        println!("cargo::rustc-env=OSCOPE_KERNELS_C_LEVEL{level}={optimisation}");
        build.compile(&format!("oscope_kernels_c_{level}"));
    }
}
