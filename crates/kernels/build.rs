//! Compiles the loops in C once for each optimisation level, and bakes in what the compiler was told
//! in the end: `CFLAGS` come after what is asked for here.

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
            // Or a square root would be a call, to set `errno` for negative numbers.
            .flag("-fno-math-errno")
            .debug(false);
        let told = build.get_compiler();
        let last_word = told.args().iter().rev();
        let optimisation = last_word
            .filter_map(|argument| argument.to_str())
            .find(|argument| argument.starts_with("-O"));
        let optimisation = optimisation.unwrap_or_default();
        println!("cargo::rustc-env=OSCOPE_KERNELS_C_LEVEL{level}={optimisation}");
        build.compile(&format!("oscope_kernels_c_{level}"));
    }
}
