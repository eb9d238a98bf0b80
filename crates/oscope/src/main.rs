//! oscope: an instrument for operating systems.
fn main() {}
