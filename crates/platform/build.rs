//! Records the compiler and its flags: `environment::Build` reads the variables set here. Compiles the
//! program that starts others.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let compiler = Command::new(rustc())
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
    compile_starter();
}

fn rustc() -> OsString {
    env::var_os("RUSTC").unwrap_or_else(|| "rustc".into())
}

/// Options to link a program without libraries: by the linker that comes with the compiler, or, if there
/// is none, by that of the system.
const WAYS_TO_LINK: [&[&str]; 2] = [
    &[
        "-Clinker=rust-lld",
        "-Clinker-flavor=ld.lld",
        "-Clink-self-contained=no",
    ],
    &["-Clink-args=-nostartfiles -nostdlib -static"],
];

/// Compiles the program in the folder `starter`, which needs neither a library nor relocations. An
/// empty file means that there is none.
fn compile_starter() {
    println!("cargo::rerun-if-changed=starter");
    let folder = env::var_os("OUT_DIR").expect("cargo sets it");
    let output = Path::new(&folder).join("starter");
    let has_one = variable("CARGO_CFG_TARGET_OS") == "linux"
        && variable("CARGO_CFG_TARGET_POINTER_WIDTH") == "64"
        && ["x86_64", "aarch64"].contains(&variable("CARGO_CFG_TARGET_ARCH").as_str());
    if !has_one {
        fs::write(&output, []).expect("cargo makes this folder");
        return;
    }
    let mut problems = Vec::new();
    for way in WAYS_TO_LINK {
        match starter_problem(&output, way) {
            None => return,
            Some(problem) => problems.push(problem.replace('\n', " ")),
        }
    }
    let problems = problems.join("; ");
    println!("cargo::warning=the memory of commands will not be below that of oscope: {problems}");
    fs::write(&output, []).expect("cargo makes this folder");
}

/// Compiles it; the reason if that fails.
fn starter_problem(output: &Path, way_to_link: &[&str]) -> Option<String> {
    let ended = Command::new(rustc())
        .args(["--edition=2024", "--crate-type=bin", "--target"])
        .arg(variable("TARGET"))
        .args(["-Copt-level=s", "-Cpanic=abort", "-Cstrip=symbols"])
        .arg("-Crelocation-model=static")
        .args(way_to_link)
        .arg("-o")
        .arg(output)
        .arg("starter/main.rs")
        .output();
    match ended {
        Err(error) => Some(error.to_string()),
        Ok(ended) if ended.status.success() => None,
        Ok(ended) => Some(String::from_utf8_lossy(&ended.stderr).into_owned()),
    }
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_default()
}

fn set(name: &str, value: &str) {
    println!("cargo::rustc-env={name}={value}");
}
