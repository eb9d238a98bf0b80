//! Gives the shared library the name under which programs load it.

fn main() {
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libuthread.so.0");
    println!("cargo:rerun-if-changed=build.rs");
}
