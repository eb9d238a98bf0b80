//! Directories with all that lies in them, and the traps on their way.

use crate::common::{
    KEEPING, PLAN, RESUME, Served, TWO, TestDirectories, bytes, job, receive_methods, send_options,
    set_mode,
};
use oscope_transfer::method::{ReceiveMethod, SendMethod};
use oscope_transfer::sender::{self, Job, Plan, Source};
use std::fs::{self, File, FileTimes};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Duration, UNIX_EPOCH};

/// A directory to send, with all kinds of things in it.
fn make_tree(dirs: &TestDirectories) -> PathBuf {
    let root = dirs.from("tree");
    for directory in ["empty", "a/b/c", ".hidden", "sealed"] {
        fs::create_dir_all(root.join(directory)).expect("there is room");
    }
    for (name, contents) in [
        ("one", &b"one"[..]),
        ("a/nothing", b""),
        ("a/b/c/deep", b"deep"),
        (".hidden/.file", b"hidden"),
        ("sealed/inside", b"inside"),
    ] {
        fs::write(root.join(name), contents).expect("there is room");
    }
    fs::write(root.join("a/large"), bytes(3 << 20, 1)).expect("there is room");
    fs::write(root.join("a").join(odd_name()), "odd").expect("there is room");
    symlink("b/c/deep", root.join("a/link")).expect("there is room");
    symlink("/nowhere/at all", root.join("a/b/dangling")).expect("there is room");
    symlink("..", root.join("a/up")).expect("there is room");
    set_mode(&root.join("one"), 0o750);
    set_mode(&root.join("a/b"), 0o700);
    root
}

fn odd_name() -> &'static std::ffi::OsStr {
    std::ffi::OsStr::from_bytes(b"\xff -odd\n")
}

/// Every path below `root` with its kind and contents.
fn describe(root: &Path) -> Vec<(PathBuf, &'static str, Vec<u8>)> {
    let mut all = Vec::new();
    let mut directories = vec![root.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(&directory).expect("it is there") {
            let path = entry.expect("readable").path();
            let found = fs::symlink_metadata(&path).expect("it is there");
            let (kind, contents) = if found.is_dir() {
                directories.push(path.clone());
                ("directory", Vec::new())
            } else if found.is_symlink() {
                let target = fs::read_link(&path).expect("a link");
                ("link", target.into_os_string().into_encoded_bytes())
            } else {
                ("file", fs::read(&path).expect("readable"))
            };
            let relative = path.strip_prefix(root).expect("below");
            all.push((relative.to_owned(), kind, contents));
        }
    }
    all.sort();
    all
}

fn tree(path: &Path) -> Vec<Job> {
    sender::tree(path, b"tree").expect("it is there")
}

/// A job that makes a directory.
fn folder(dirs: &TestDirectories) -> Source {
    let metadata = fs::metadata(dirs.root.path()).expect("it is there");
    Source::Directory(Box::new(metadata))
}

fn named(name: &str, source: &Source) -> Job {
    Job {
        name: name.into(),
        source: source.clone(),
    }
}

#[test]
fn a_directory_arrives_with_all_that_lies_in_it() {
    for (streams, method) in [(1, ReceiveMethod::File), (2, ReceiveMethod::Mmap)] {
        let dirs = TestDirectories::new();
        let root = make_tree(&dirs);
        let served = Served::by(&dirs, method);
        let options = send_options(SendMethod::File);
        let plan = Plan { streams, ..PLAN };
        // Files and links count, and directories do not.
        served.send_by(&tree(&root), plan, &options).assert(10, 0);
        assert_eq!(describe(&dirs.to().join("tree")), describe(&root));
        assert_eq!(dirs.names(), ["tree"]);
        let sent = options.progress.load(Ordering::Relaxed);
        assert_eq!(sent, (3 << 20) + 3 + 4 + 6 + 6 + 3);
        // The rights of a directory are those of the source at most.
        let mode = fs::metadata(dirs.to().join("tree/a/b")).unwrap().mode();
        assert_eq!(mode & 0o777, 0o700);
    }
}

#[test]
fn permissions_and_times_of_directories_are_kept_on_request() {
    let dirs = TestDirectories::new();
    let root = make_tree(&dirs);
    set_mode(&root.join("sealed"), 0o555);
    let then = UNIX_EPOCH + Duration::from_secs(1_000_000);
    for name in ["a/b/c/deep", "a/b/c", "a/b", "sealed"] {
        let times = FileTimes::new().set_modified(then);
        let file = File::open(root.join(name)).unwrap();
        file.set_times(times).unwrap();
    }
    let sent = Served::of(&dirs).send(&tree(&root), KEEPING);
    sent.assert(10, 0);
    for name in ["a/b/c/deep", "a/b/c", "a/b", "sealed", "one"] {
        let (here, there) = (root.join(name), dirs.to().join("tree").join(name));
        let (here, there) = (fs::metadata(here).unwrap(), fs::metadata(there).unwrap());
        assert_eq!(there.mode() & 0o777, here.mode() & 0o777, "{name}");
        let (here, there) = (here.modified().unwrap(), there.modified().unwrap());
        assert_eq!(there, here, "{name}");
    }
    assert_eq!(dirs.received("tree/sealed/inside"), b"inside");
}

#[test]
fn pipes_and_sockets_of_a_directory_are_skipped_and_named() {
    let dirs = TestDirectories::new();
    let root = dirs.from("tree");
    fs::create_dir(&root).unwrap();
    dirs.named_pipe("tree/pipe");
    let _socket = UnixListener::bind(root.join("socket")).unwrap();
    fs::write(root.join("file"), "x").unwrap();
    let served = Served::of(&dirs);
    for streams in [1, 2] {
        let sent = served.send(&tree(&root), Plan { streams, ..RESUME });
        sent.assert(1, 2);
        sent.assert_failure(1, "only files, directories and links");
        sent.assert_failure(2, "only files, directories and links");
    }
    assert_eq!(dirs.received("tree/file"), b"x");
}

#[test]
fn a_tree_that_is_there_in_part_is_completed_by_resume() {
    let dirs = TestDirectories::new();
    let root = make_tree(&dirs);
    let served = Served::of(&dirs);
    served.send(&tree(&root), PLAN).assert(10, 0);
    let arrived = dirs.to().join("tree");
    fs::remove_file(arrived.join("a/large")).unwrap();
    fs::remove_file(arrived.join("a/link")).unwrap();
    fs::remove_dir(arrived.join("empty")).unwrap();
    // Without `resume` and `force`, files that are there stay.
    served.send(&tree(&root), PLAN).assert(2, 8);
    fs::remove_file(arrived.join("a/large")).unwrap();
    let options = send_options(SendMethod::File);
    let sent = served.send_by(&tree(&root), RESUME, &options);
    sent.assert(10, 0);
    assert_eq!(options.progress.load(Ordering::Relaxed), 3 << 20);
    assert_eq!(describe(&arrived), describe(&root));
}

#[test]
fn force_replaces_files_and_links_and_nothing_else() {
    let dirs = TestDirectories::new();
    let root = dirs.from("tree");
    fs::create_dir(&root).unwrap();
    for name in ["file", "link", "directory"] {
        symlink("t", root.join(name)).unwrap();
    }
    let arrived = dirs.to().join("tree");
    fs::create_dir_all(arrived.join("directory")).unwrap();
    fs::write(arrived.join("file"), "old").unwrap();
    symlink("old", arrived.join("link")).unwrap();
    let sent = Served::with(&dirs, |it| it.force = true).send(&tree(&root), PLAN);
    sent.assert(2, 1);
    sent.assert_failure(0, "not a file");
    for name in ["file", "link"] {
        assert_eq!(fs::read_link(arrived.join(name)).unwrap(), Path::new("t"));
    }
    assert_eq!(dirs.names(), ["tree"]);
}

/// Things that are not to be touched, outside of the receiver's directory.
fn make_elsewhere(dirs: &TestDirectories) -> PathBuf {
    let elsewhere = dirs.root.path().join("elsewhere");
    fs::create_dir(&elsewhere).expect("there is room");
    fs::write(elsewhere.join("file"), "precious").expect("there is room");
    elsewhere
}

fn assert_untouched(elsewhere: &Path, name: &str) {
    let file = ("file".into(), "file", b"precious".to_vec());
    assert_eq!(describe(elsewhere), [file], "{name}");
}

#[test]
fn a_link_in_the_receivers_directory_is_not_followed() {
    for method in receive_methods() {
        for (plan, force) in [
            (PLAN, false),
            (PLAN, true),
            (RESUME, false),
            (KEEPING, true),
        ] {
            let dirs = TestDirectories::new();
            let elsewhere = make_elsewhere(&dirs);
            set_mode(&elsewhere, 0o755);
            fs::create_dir(dirs.to().join("tree")).unwrap();
            symlink(&elsewhere, dirs.to().join("link")).unwrap();
            symlink(&elsewhere, dirs.to().join("tree/link")).unwrap();
            symlink("../elsewhere", dirs.to().join("tree/relative")).unwrap();
            let served = Served::with(&dirs, |it| (it.force, it.method) = (force, Some(method)));
            let source = dirs.file("file", b"precious").source;
            let large = dirs.file("large", &bytes(1 << 20, 2)).source;
            let folder = folder(&dirs);
            let mut jobs = Vec::new();
            for link in ["link", "tree/link", "tree/relative"] {
                for (name, source) in [
                    ("", &folder),
                    ("/new", &folder),
                    ("/file", &source),
                    ("/large", &large),
                    ("/deeper/file", &source),
                    ("/a", &Source::Link(b"b".to_vec())),
                ] {
                    jobs.push(named(&format!("{link}{name}"), source));
                }
            }
            served.send(&jobs, plan).assert(0, 18);
            assert_untouched(&elsewhere, &format!("{method} {plan:?} {force}"));
            assert_eq!(fs::metadata(&elsewhere).unwrap().mode() & 0o777, 0o755);
        }
    }
}

#[test]
fn a_link_that_was_sent_is_not_followed_by_files_after_it() {
    for force in [false, true] {
        let dirs = TestDirectories::new();
        let elsewhere = make_elsewhere(&dirs);
        let served = Served::with(&dirs, |it| it.force = force);
        let file = dirs.file("file", b"evil").source;
        let link = |target: &str| Source::Link(target.into());
        let jobs = [
            ("tree", folder(&dirs)),
            ("tree/out", link(elsewhere.to_str().unwrap())),
            ("tree/out/file", file.clone()),
            ("tree/out/new", file.clone()),
            ("tree/up", link("../..")),
            ("tree/up/elsewhere/file", file.clone()),
            ("tree/file", link("../../elsewhere/file")),
            ("tree/file", file),
        ];
        let jobs = jobs.map(|(name, source)| named(name, &source));
        served.send(&jobs, PLAN).assert(3, 4);
        assert_untouched(&elsewhere, "the links were sent");
        let kept = fs::read_link(dirs.to().join("tree/file")).unwrap();
        assert_eq!(kept, Path::new("../../elsewhere/file"));
    }
}

#[test]
fn a_file_that_becomes_a_link_while_its_directory_is_sent_is_not_followed() {
    let dirs = TestDirectories::new();
    let elsewhere = make_elsewhere(&dirs);
    let root = dirs.from("tree");
    fs::create_dir_all(root.join("folder")).unwrap();
    fs::write(root.join("file"), "x").unwrap();
    fs::write(root.join("folder/file"), "x").unwrap();
    let jobs = tree(&root);
    fs::remove_file(root.join("file")).unwrap();
    symlink(elsewhere.join("file"), root.join("file")).unwrap();
    fs::rename(root.join("folder"), root.join("before")).unwrap();
    symlink(&elsewhere, root.join("folder")).unwrap();
    Served::of(&dirs).send(&jobs, PLAN).assert(0, 2);
}

#[test]
fn a_measuring_and_a_discarding_receiver_make_no_directories() {
    let dirs = TestDirectories::new();
    let root = make_tree(&dirs);
    for (measures, directory, failed) in [(true, Some(dirs.to()), 17), (false, None, 0)] {
        let served = Served::with(&dirs, |it| {
            (it.measures, it.directory) = (measures, directory);
        });
        let sent = served.send(&tree(&root), PLAN);
        assert_eq!(sent.summary.unwrap().failed, failed, "{:?}", sent.outcomes);
        assert_eq!(dirs.names(), [""; 0]);
    }
}

#[test]
fn a_file_that_changes_its_size_after_it_was_listed_arrives_as_it_is() {
    // Sizes that two connections divide, and one that they do not.
    for (listed, sent) in [(5, 4 << 20), (4 << 20, 5), (4 << 20, 0)] {
        let dirs = TestDirectories::new();
        let root = dirs.from("tree");
        fs::create_dir(&root).expect("there is room");
        let file = root.join("log");
        fs::write(&file, bytes(listed, 1)).expect("there is room");
        let jobs = [tree(&root), vec![job("alone", &file)]].concat();
        let contents = bytes(sent, 2);
        fs::write(&file, &contents).expect("there is room");
        Served::of(&dirs).send(&jobs, TWO).assert(2, 0);
        for name in ["tree/log", "alone"] {
            assert!(dirs.received(name) == contents, "{name} of {listed} bytes");
        }
    }
}

#[test]
fn a_directory_that_is_not_there_cannot_be_sent() {
    let dirs = TestDirectories::new();
    let error = sender::tree(&dirs.root.path().join("none"), b"none").unwrap_err();
    assert!(error.to_string().contains("none"), "{error}");
    dirs.file("file", b"x");
    sender::tree(&dirs.from("file"), b"file").unwrap_err();
}
