//! Hashes the sources of all code that judges runs: see `kept::CODE`.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// The crates on which a judgement rests, in the folder of crates.
const JUDGING: &[&str] = &[
    "advice",
    "choice",
    "experiments",
    "instrument",
    "macros",
    "platform",
    "record",
    "report",
];

fn main() -> io::Result<()> {
    // As it is now: a build folder may serve several checkouts.
    let here = env::var_os("CARGO_MANIFEST_DIR").ok_or(io::ErrorKind::NotFound)?;
    let crates = Path::new(&here).join("..");
    let mut files = vec![crates.join("../Cargo.lock")];
    for name in JUDGING {
        let sources = crates.join(name).join("src");
        println!("cargo::rerun-if-changed={}", sources.display());
        find(&sources, &mut files)?;
    }
    println!("cargo::rerun-if-changed={}", files[0].display());
    let mut hasher = DefaultHasher::new();
    env::var_os("TARGET").hash(&mut hasher);
    for file in files {
        let name = file.strip_prefix(&crates).unwrap_or(&file);
        (name, fs::read(&file)?).hash(&mut hasher);
    }
    println!(
        "cargo::rustc-env=OSCOPE_JUDGING_CODE={:016x}",
        hasher.finish()
    );
    Ok(())
}

/// Adds all files under `folder`, in the order of their names.
fn find(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    let entries = fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path()));
    let mut entries = entries.collect::<io::Result<Vec<PathBuf>>>()?;
    entries.sort_unstable();
    for entry in entries {
        if entry.is_dir() {
            find(&entry, files)?;
        } else {
            files.push(entry);
        }
    }
    Ok(())
}
