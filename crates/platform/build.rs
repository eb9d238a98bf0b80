//! Records the compiler and its flags: `environment::Build` reads the variables set here.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let compiler = Command::new(rustc)
        .arg("--version")
        .output()
        .ok()
        .and_then(|output| String::from_utf8(output.stdout).ok())
        .unwrap_or_default();
    // The unit separator separates the flags, so that a flag may contain spaces.
    let flags = variable("CARGO_ENCODED_RUSTFLAGS").replace('\u{1f}', " ");

    set("OSCOPE_BUILD_COMPILER", compiler.trim());
    set("OSCOPE_BUILD_FLAGS", &flags);
    set("OSCOPE_BUILD_OPTIMISATION", &variable("OPT_LEVEL"));
    set("OSCOPE_BUILD_TARGET", &variable("TARGET"));
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_default()
}

fn set(name: &str, value: &str) {
    println!("cargo::rustc-env={name}={value}");
}
