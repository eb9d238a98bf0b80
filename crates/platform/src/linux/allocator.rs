use std::ffi::{CStr, OsStr, OsString};
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::process::Command;

use crate::allocator::Library;
use crate::error::{Result, refuse};

/// The library whose `malloc` this process calls
/// ([dladdr(3)](https://man7.org/linux/man-pages/man3/dladdr.3.html)).
///
/// # Errors
/// If `malloc` is a part of the program, as in one that is linked statically.
pub fn library() -> Result<Library> {
    let found = holder(libc::malloc as *const ());
    let program = holder(library as *const ());
    let is_of_program = |it: &libc::Dl_info| program.is_some_and(|of| of.dli_fbase == it.dli_fbase);
    let Some(found) = found.filter(|it| !is_of_program(it)) else {
        return refuse("replacing malloc in a program that is linked statically");
    };
    // SAFETY: the loader keeps the name as long as the library, which nothing unloads.
    let path = unsafe { CStr::from_ptr(found.dli_fname) };
    let c_library = holder(libc::getenv as *const ());
    Ok(Library {
        path: OsStr::from_bytes(path.to_bytes()).into(),
        is_c_library: c_library.is_some_and(|of| of.dli_fbase == found.dli_fbase),
    })
}

/// The program or library that contains a function.
fn holder(function: *const ()) -> Option<libc::Dl_info> {
    let mut found = MaybeUninit::<libc::Dl_info>::uninit();
    // SAFETY: `found` has room for the answer, and the address is only compared.
    let is_found = unsafe { libc::dladdr(function.cast(), found.as_mut_ptr()) } != 0;
    // SAFETY: the call succeeded, so all of it was written.
    is_found.then(|| unsafe { found.assume_init() })
}

/// Makes the program of `command` load `library` before all others, so that its functions replace those
/// of the C library (`LD_PRELOAD` of [ld.so(8)](https://man7.org/linux/man-pages/man8/ld.so.8.html)).
/// Libraries that are preloaded already come after it. A library that does not exist is left out
/// without an error.
///
/// # Errors
/// If the name has a space or a colon, which separate names.
pub fn preload(command: &mut Command, library: &str) -> Result<()> {
    const VARIABLE: &str = "LD_PRELOAD";
    if library.contains([' ', ':']) {
        return refuse("preloading a library with a space or a colon in its path");
    }
    let set = command.get_envs().find(|(name, _)| *name == VARIABLE);
    let others = match set {
        Some((_, value)) => value.map(OsStr::to_owned),
        None => std::env::var_os(VARIABLE),
    };
    let mut all = OsString::from(library);
    if let Some(others) = others {
        all.push(":");
        all.push(others);
    }
    command.env(VARIABLE, all);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::preload;
    use std::ffi::OsStr;
    use std::process::Command;

    #[test]
    fn a_library_is_preloaded_before_those_of_the_command() {
        let mut command = Command::new("true");
        command.env("LD_PRELOAD", "libother.so");
        preload(&mut command, "/lib/libown.so").unwrap();
        let set: Vec<_> = command.get_envs().collect();
        let expected = OsStr::new("/lib/libown.so:libother.so");
        assert_eq!(set, [(OsStr::new("LD_PRELOAD"), Some(expected))]);
        for name in ["a b.so", "a:b.so"] {
            preload(&mut command, name).unwrap_err();
        }
    }
}
