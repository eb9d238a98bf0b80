//! Written with the backend.

fn main() {}
