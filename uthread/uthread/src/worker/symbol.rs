//! Name of the kernel thread's own variable, for the assembly that defines and finds it.

/// The name of the variable. It contains the version, because two versions may be linked together.
macro_rules! symbol {
    () => {
        concat!(
            "uthread_local_",
            env!("CARGO_PKG_VERSION_MAJOR"),
            "_",
            env!("CARGO_PKG_VERSION_MINOR"),
            "_",
            env!("CARGO_PKG_VERSION_PATCH"),
        )
    };
}
