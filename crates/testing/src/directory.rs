use tempfile::TempDir;

/// A temporary directory next to the running program: the usual place for temporary files may be memory. It is
/// in the usual place if that program lies where this user may not write.
pub fn directory_on_disk() -> TempDir {
    let program = std::env::current_exe().expect("a running program has a path");
    let folder = program.parent().expect("a program lies in a folder");
    let beside = tempfile::tempdir_in(folder);
    beside
        .or_else(|_| tempfile::tempdir())
        .expect("a place for temporary files")
}
