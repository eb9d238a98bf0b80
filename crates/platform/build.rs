//! Records the compiler and its flags: `environment::Build` reads the variables set here. Compiles the
//! program that starts others.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
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

/// Compiles the program in the folder `starter`, which needs neither a library nor relocations. An
/// empty file stands for none.
fn compile_starter() {
    println!("cargo::rerun-if-changed=starter");
    println!("cargo::rerun-if-env-changed=RUSTC_LINKER");
    let Some(folder) = env::var_os("OUT_DIR") else {
        return;
    };
    let output = Path::new(&folder).join("starter");
    let has_one = variable("CARGO_CFG_TARGET_OS") == "linux"
        && ["x86_64", "aarch64"].contains(&variable("CARGO_CFG_TARGET_ARCH").as_str())
        && variable("CARGO_CFG_TARGET_POINTER_WIDTH") == "64";
    let problem = has_one.then(|| starter_problem(&output)).flatten();
    if let Some(problem) = &problem {
        println!("cargo::warning=programs will be started by oscope itself: {problem}");
    }
    if !has_one || problem.is_some() {
        fs::write(&output, []).expect("cargo makes this folder");
    }
}

/// Compiles it; the reason if that fails.
fn starter_problem(output: &PathBuf) -> Option<String> {
    let mut command = Command::new(rustc());
    command
        .args(["--edition", "2024", "--crate-type", "bin", "--target"])
        .arg(variable("TARGET"))
        .args([
            "-C",
            "opt-level=s",
            "-C",
            "panic=abort",
            "-C",
            "strip=symbols",
        ])
        .args(["-C", "relocation-model=static"])
        .args(["-C", "link-args=-nostartfiles -nostdlib -static"])
        .arg("-o")
        .arg(output)
        .arg("starter/main.rs");
    if let Some(linker) = env::var_os("RUSTC_LINKER") {
        let mut option = OsString::from("linker=");
        option.push(linker);
        command.arg("-C").arg(option);
    }
    match command.output() {
        Err(error) => Some(error.to_string()),
        Ok(ended) if ended.status.success() => None,
        Ok(ended) => {
            let words = String::from_utf8_lossy(&ended.stderr);
            Some(words.trim().replace('\n', " "))
        }
    }
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_default()
}

fn set(name: &str, value: &str) {
    println!("cargo::rustc-env={name}={value}");
}
