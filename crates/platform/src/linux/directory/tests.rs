use std::fs;
use std::os::unix::fs::symlink;

use rustix::fs::FileType;

use super::*;
use crate::directory::Directory;
use crate::error::available;

#[test]
fn links_lead_nowhere() {
    let outside = tempfile::tempdir().unwrap();
    let inside = outside.path().join("inside");
    fs::create_dir(&inside).unwrap();
    fs::write(outside.path().join("secret"), "x").unwrap();
    symlink(outside.path().join("secret"), inside.join("link")).unwrap();
    symlink(outside.path(), inside.join("up")).unwrap();
    let directory = Directory::open(&inside).unwrap();
    for name in ["link", "up/secret"] {
        directory.open_own(OsStr::new(name)).unwrap_err();
    }
    assert_eq!(fs::read(outside.path().join("secret")).unwrap(), b"x");
}

#[test]
fn a_path_below_a_directory_leads_through_no_link() {
    let place = tempfile::tempdir().unwrap();
    let inside = place.path().join("inside");
    fs::create_dir_all(inside.join("a/b")).unwrap();
    fs::write(inside.join("a/b/file"), "x").unwrap();
    fs::write(place.path().join("secret"), "x").unwrap();
    symlink("b", inside.join("a/link")).unwrap();
    symlink("file", inside.join("a/b/link")).unwrap();
    let directory = Directory::open(&inside).unwrap();
    let own = super::Directory::open(&inside).unwrap();
    let by_steps = |path: &str| {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        own.open_by_steps(Path::new(path), flags).is_ok()
    };
    let open = |path: &str| directory.open_beneath(Path::new(path)).is_ok();
    assert!(open("a/b/file") && by_steps("a/b/file"));
    let absolute = place.path().join("secret");
    for path in [
        "a/link/file",
        "a/b/link",
        "a/b/none",
        "../secret",
        "a/../../secret",
        absolute.to_str().unwrap(),
    ] {
        assert!(!open(path) && !by_steps(path), "{path}");
    }
    assert!(!open("a/b"), "a directory is no file");
}

#[test]
fn directories_and_links_are_made_in_place_and_never_followed() {
    let place = tempfile::tempdir().unwrap();
    let directory = Directory::open(place.path()).unwrap();
    let (folder, link) = (OsStr::new("folder"), OsStr::new("link"));
    directory.make_directory(folder, 0o750).unwrap();
    let error = directory.make_directory(folder, 0o750).unwrap_err();
    assert_eq!(error.kind(), Some(ErrorKind::AlreadyExists));
    let inner = directory.open_directory(folder).unwrap();
    inner.make_link(link, OsStr::new("../folder")).unwrap();
    let error = inner.make_link(link, OsStr::new("other")).unwrap_err();
    assert_eq!(error.kind(), Some(ErrorKind::AlreadyExists));
    assert_eq!(inner.read_link(link).unwrap(), "../folder");
    inner.open_directory(link).unwrap_err();
    directory.read_link(folder).unwrap_err();
    crate::directory::set_mode(&inner.as_file().unwrap(), 0o500).unwrap();
    let found = fs::metadata(place.path().join(folder)).unwrap();
    assert_eq!(mode(&found), Some(0o500));
    crate::directory::set_mode(&inner.as_file().unwrap(), 0o700).unwrap();
}

#[test]
fn subdirectories_are_spread_where_the_file_system_can() {
    let place = tempfile::tempdir().unwrap();
    let is_spread = crate::directory::spread_subdirectories(place.path()).unwrap();
    let place = super::Directory::open(place.path()).unwrap();
    let flags = rustix::fs::ioctl_getflags(&place.handle);
    assert_eq!(
        flags.is_ok_and(|flags| flags.contains(IFlags::TOPDIR)),
        is_spread
    );
    fs::create_dir(place.path().join("folder")).unwrap();
    crate::directory::spread_subdirectories(&place.path().join("none")).unwrap_err();
}

#[test]
fn a_file_without_a_name_gets_one_that_is_free() {
    let place = tempfile::tempdir().unwrap();
    let directory = Directory::open(place.path()).unwrap();
    let Some(file) = available(directory.create_unnamed(OpenMode::Plain, None)) else {
        return;
    };
    crate::block_io::write_at(&file, b"new", 0).unwrap();
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
    fs::write(place.path().join("taken"), "old").unwrap();
    let error = directory.give_name(&file, "taken".as_ref()).unwrap_err();
    assert_eq!(error.kind(), Some(ErrorKind::AlreadyExists));
    directory.give_name(&file, "free".as_ref()).unwrap();
    assert_eq!(fs::read(place.path().join("taken")).unwrap(), b"old");
    assert_eq!(fs::read(place.path().join("free")).unwrap(), b"new");
}

#[test]
fn a_pipe_or_a_directory_is_no_file() {
    let place = tempfile::tempdir().unwrap();
    fs::create_dir(place.path().join("folder")).unwrap();
    let pipe = place.path().join("pipe");
    rustix::fs::mknodat(CWD, &pipe, FileType::Fifo, Mode::RWXU, 0).unwrap();
    let directory = Directory::open(place.path()).unwrap();
    for name in ["folder", "pipe"] {
        directory.open_own(OsStr::new(name)).unwrap_err();
    }
    Directory::open(&pipe).unwrap_err();
}

#[test]
fn a_private_directory_is_one_that_nobody_else_can_write_to() {
    let place = tempfile::tempdir().unwrap();
    let directory = Directory::open(place.path()).unwrap();
    let name = OsStr::new("private");
    let private = directory.open_private(name).unwrap();
    let path = place.path().join(name);
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o700
    );
    fs::write(path.join("file"), "x").unwrap();
    assert!(private.files_bytes().is_some());
    fs::remove_file(path.join("file")).unwrap();
    // Planted: a directory open to others, a link, a file.
    fs::set_permissions(&path, Permissions::from_mode(0o777)).unwrap();
    let error = directory.open_private(name).unwrap_err();
    assert!(matches!(error, Error::Planted { .. }), "{error}");
    directory.remove_directory(name).unwrap();
    symlink(place.path(), &path).unwrap();
    directory.open_private(name).unwrap_err();
    fs::remove_file(&path).unwrap();
    fs::write(&path, "x").unwrap();
    directory.open_private(name).unwrap_err();
}

#[test]
fn a_file_of_ones_own_is_closed_to_others_and_made_anew_if_it_was_not() {
    let place = tempfile::tempdir().unwrap();
    let directory = Directory::open(place.path()).unwrap();
    let (name, path) = (OsStr::new("file"), place.path().join("file"));
    let inode = |file: &File| {
        let metadata = file.metadata().unwrap();
        assert_eq!(metadata.mode() & 0o7777, 0o600);
        metadata.ino()
    };
    let made = directory.open_own(name).unwrap();
    crate::block_io::write_at(&made, b"x", 0).unwrap();
    assert_eq!(inode(&directory.open_own(name).unwrap()), inode(&made));
    for mode in [0o4777, 0o666, 0o640, 0o400] {
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        let before = File::open(&path).unwrap();
        let anew = directory.open_own(name).unwrap();
        let (metadata, old) = (anew.metadata().unwrap(), before.metadata().unwrap());
        assert_ne!(inode(&anew), old.ino(), "{mode:o}");
        assert_eq!((metadata.len(), old.nlink()), (0, 0), "{mode:o}");
    }
}

#[test]
fn metadata_is_of_the_name_itself() {
    let place = tempfile::tempdir().unwrap();
    let directory = Directory::open(place.path()).unwrap();
    fs::write(place.path().join("file"), "abc").unwrap();
    symlink("file", place.path().join("link")).unwrap();
    let of = |name: &str| directory.metadata(OsStr::new(name)).unwrap();
    assert_eq!(of("file").unwrap().len(), 3);
    assert!(of("link").unwrap().is_symlink());
    assert!(of("none").is_none());
}

#[test]
fn the_umask_is_what_new_files_do_not_get() {
    let place = tempfile::tempdir().unwrap();
    let file = File::create(place.path().join("file")).unwrap();
    let mode = mode(&file.metadata().unwrap()).unwrap();
    assert_eq!(mode, 0o666 & !umask().unwrap());
}

#[test]
fn nobody_is_handed_the_rights_of_another() {
    let file = tempfile::tempfile().unwrap();
    crate::directory::set_mode(&file, 0o4751).unwrap();
    assert_eq!(mode(&file.metadata().unwrap()), Some(0o751));
}
