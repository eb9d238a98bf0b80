//! Directories with all that lies in them, and the traps on their way.

use crate::common::{
    PLAN, Place, Served, bytes, receive_methods, receive_options, send, send_options, source,
};
use oscope_transfer::method::{ReceiveMethod, SendMethod};
use oscope_transfer::receiver;
use oscope_transfer::sender::{self, Job, Plan, Source};
use std::fs::{self, File, FileTimes};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

const KEEP: Plan = Plan {
    keep_mode: true,
    keep_times: true,
    ..PLAN
};
const RESUME: Plan = Plan {
    resume: true,
    ..PLAN
};

/// A directory to send, with all kinds of things in it.
fn make_tree(place: &Place) -> PathBuf {
    let root = place.root.path().join("from/tree");
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

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, PermissionsExt::from_mode(mode)).expect("it is there");
}

/// Every path below `root` with its kind and contents.
fn describe(root: &Path) -> Vec<(PathBuf, String, Vec<u8>)> {
    let mut all = Vec::new();
    let mut directories = vec![root.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(&directory).expect("it is there") {
            let path = entry.expect("readable").path();
            let found = fs::symlink_metadata(&path).expect("it is there");
            let relative = path.strip_prefix(root).expect("below").to_owned();
            if found.is_dir() {
                directories.push(path);
                all.push((relative, "directory".into(), Vec::new()));
            } else if found.is_symlink() {
                let target = fs::read_link(&path).expect("a link");
                all.push((
                    relative,
                    "link".into(),
                    target.as_os_str().as_bytes().to_vec(),
                ));
            } else {
                all.push((relative, "file".into(), fs::read(&path).expect("readable")));
            }
        }
    }
    all.sort();
    all
}

fn tree(path: &Path) -> Vec<Job> {
    sender::tree(path, b"tree").expect("it is there")
}

fn options() -> sender::Options {
    send_options(SendMethod::File)
}

#[test]
fn a_directory_arrives_with_all_that_lies_in_it() {
    for (streams, method) in [(1, ReceiveMethod::File), (2, ReceiveMethod::Mmap)] {
        let place = Place::new();
        let root = make_tree(&place);
        let served = Served::start(receive_options(&place.to(), method));
        let options = options();
        let plan = Plan { streams, ..PLAN };
        let (summary, outcomes) = send(&served, &tree(&root), plan, &options);
        // Files and links count, and directories do not.
        assert_eq!(summary.unwrap().files, 10, "{outcomes:?}");
        assert_eq!(describe(&place.to().join("tree")), describe(&root));
        assert_eq!(place.names(), ["tree"]);
        let sent = options.progress.load(std::sync::atomic::Ordering::Relaxed);
        assert_eq!(sent, (3 << 20) + 3 + 4 + 6 + 6 + 3);
        // The rights of a directory are those of the source at most.
        let mode = fs::metadata(place.to().join("tree/a/b")).unwrap().mode();
        assert_eq!(mode & 0o777, 0o700);
    }
}

#[test]
fn permissions_and_times_of_directories_are_kept_on_request() {
    let place = Place::new();
    let root = make_tree(&place);
    set_mode(&root.join("sealed"), 0o555);
    let then = UNIX_EPOCH + Duration::from_secs(1_000_000);
    for name in ["a/b/c/deep", "a/b/c", "a/b", "sealed"] {
        let times = FileTimes::new().set_modified(then);
        File::open(root.join(name))
            .unwrap()
            .set_times(times)
            .unwrap();
    }
    let served = Served::start(receive_options(&place.to(), ReceiveMethod::File));
    let (summary, outcomes) = send(&served, &tree(&root), KEEP, &options());
    assert_eq!(summary.unwrap().failed, 0, "{outcomes:?}");
    for name in ["a/b/c/deep", "a/b/c", "a/b", "sealed", "one"] {
        let (here, there) = (root.join(name), place.to().join("tree").join(name));
        let (here, there) = (fs::metadata(here).unwrap(), fs::metadata(there).unwrap());
        assert_eq!(there.mode() & 0o777, here.mode() & 0o777, "{name}");
        assert_eq!(
            there.modified().unwrap(),
            here.modified().unwrap(),
            "{name}"
        );
    }
    assert_eq!(place.received("tree/sealed/inside"), b"inside");
}

#[test]
fn pipes_and_sockets_of_a_directory_are_skipped_and_named() {
    let place = Place::new();
    let root = place.root.path().join("from/tree");
    fs::create_dir(&root).unwrap();
    place.named_pipe("tree/pipe");
    let _socket = UnixListener::bind(root.join("socket")).unwrap();
    fs::write(root.join("file"), "x").unwrap();
    let served = Served::start(receive_options(&place.to(), ReceiveMethod::File));
    for streams in [1, 2] {
        let plan = Plan { streams, ..RESUME };
        let (summary, outcomes) = send(&served, &tree(&root), plan, &options());
        let summary = summary.unwrap();
        assert_eq!((summary.files, summary.failed), (1, 2), "{outcomes:?}");
        for outcome in &outcomes[1..] {
            let failure = outcome.failure.as_deref().unwrap();
            assert!(
                failure.contains("only files, directories and links"),
                "{failure}"
            );
        }
    }
    assert_eq!(place.received("tree/file"), b"x");
}

#[test]
fn a_tree_that_is_there_in_part_is_completed_by_resume() {
    let place = Place::new();
    let root = make_tree(&place);
    let served = Served::start(receive_options(&place.to(), ReceiveMethod::File));
    let (summary, _) = send(&served, &tree(&root), PLAN, &options());
    assert_eq!(summary.unwrap().failed, 0);
    let arrived = place.to().join("tree");
    fs::remove_file(arrived.join("a/large")).unwrap();
    fs::remove_file(arrived.join("a/link")).unwrap();
    fs::remove_dir(arrived.join("empty")).unwrap();
    // Without `resume` and `force`, files that are there stay.
    let (summary, outcomes) = send(&served, &tree(&root), PLAN, &options());
    assert_eq!(summary.unwrap().failed, 8, "{outcomes:?}");
    fs::remove_file(arrived.join("a/large")).unwrap();
    let options = options();
    let (summary, outcomes) = send(&served, &tree(&root), RESUME, &options);
    assert_eq!(summary.unwrap().failed, 0, "{outcomes:?}");
    let sent = options.progress.load(std::sync::atomic::Ordering::Relaxed);
    assert_eq!(sent, 3 << 20);
    assert_eq!(describe(&arrived), describe(&root));
}

#[test]
fn force_replaces_files_and_links_and_nothing_else() {
    let place = Place::new();
    let root = place.root.path().join("from/tree");
    fs::create_dir(&root).unwrap();
    for (name, target) in [("file", "t"), ("link", "t"), ("directory", "t")] {
        symlink(target, root.join(name)).unwrap();
    }
    let arrived = place.to().join("tree");
    fs::create_dir_all(arrived.join("directory")).unwrap();
    fs::write(arrived.join("file"), "old").unwrap();
    symlink("old", arrived.join("link")).unwrap();
    let served = Served::start(receiver::Options {
        force: true,
        ..receive_options(&place.to(), ReceiveMethod::File)
    });
    let (summary, outcomes) = send(&served, &tree(&root), PLAN, &options());
    assert_eq!(summary.unwrap().failed, 1, "{outcomes:?}");
    let failure = outcomes[0].failure.as_deref().unwrap();
    assert!(failure.contains("not a file"), "{failure}");
    for name in ["file", "link"] {
        assert_eq!(fs::read_link(arrived.join(name)).unwrap(), Path::new("t"));
    }
    assert_eq!(place.names(), ["tree"]);
}

/// Things that are not to be touched, outside of the receiver's directory.
fn make_elsewhere(place: &Place) -> PathBuf {
    let elsewhere = place.root.path().join("elsewhere");
    fs::create_dir(&elsewhere).expect("there is room");
    fs::write(elsewhere.join("file"), "precious").expect("there is room");
    elsewhere
}

fn assert_untouched(elsewhere: &Path, name: &str) {
    let file = ("file".into(), "file".to_owned(), b"precious".to_vec());
    assert_eq!(describe(elsewhere), [file], "{name}");
}

#[test]
fn a_link_in_the_receivers_directory_is_not_followed() {
    for method in receive_methods() {
        for (plan, force) in [(PLAN, false), (PLAN, true), (RESUME, false), (KEEP, true)] {
            let place = Place::new();
            let elsewhere = make_elsewhere(&place);
            set_mode(&elsewhere, 0o755);
            fs::create_dir(place.to().join("tree")).unwrap();
            symlink(&elsewhere, place.to().join("link")).unwrap();
            symlink(&elsewhere, place.to().join("tree/link")).unwrap();
            symlink("../elsewhere", place.to().join("tree/relative")).unwrap();
            let served = Served::start(receiver::Options {
                force,
                ..receive_options(&place.to(), method)
            });
            let source = place.file("file", b"precious").source;
            let large = place.file("large", &bytes(1 << 20, 2)).source;
            let folder = Source::Directory(Box::new(fs::metadata(place.root.path()).unwrap()));
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
                    jobs.push(Job {
                        name: format!("{link}{name}").into(),
                        source: source.clone(),
                    });
                }
            }
            let (summary, outcomes) = send(&served, &jobs, plan, &options());
            let summary = summary.unwrap();
            assert_eq!((summary.files, summary.failed), (0, 18), "{outcomes:?}");
            assert_untouched(&elsewhere, &format!("{method} {plan:?} {force}"));
            assert_eq!(fs::metadata(&elsewhere).unwrap().mode() & 0o777, 0o755);
        }
    }
}

#[test]
fn a_link_that_was_sent_is_not_followed_by_what_comes_after_it() {
    for force in [false, true] {
        let place = Place::new();
        let elsewhere = make_elsewhere(&place);
        let served = Served::start(receiver::Options {
            force,
            ..receive_options(&place.to(), ReceiveMethod::File)
        });
        let file = place.file("file", b"evil").source;
        let link = |target: &str| Source::Link(target.into());
        let jobs = [
            (
                "tree",
                Source::Directory(Box::new(fs::metadata(place.root.path()).unwrap())),
            ),
            ("tree/out", link(elsewhere.to_str().unwrap())),
            ("tree/out/file", file.clone()),
            ("tree/out/new", file.clone()),
            ("tree/up", link("../..")),
            ("tree/up/elsewhere/file", file.clone()),
            ("tree/file", link("../../elsewhere/file")),
            ("tree/file", file),
        ];
        let jobs = jobs.map(|(name, source)| Job {
            name: name.into(),
            source,
        });
        let (summary, outcomes) = send(&served, &jobs, PLAN, &options());
        assert_eq!(summary.unwrap().files, 3, "{outcomes:?}");
        assert_untouched(&elsewhere, "the links were sent");
        let kept = fs::read_link(place.to().join("tree/file")).unwrap();
        assert_eq!(kept, Path::new("../../elsewhere/file"));
    }
}

#[test]
fn names_that_lead_out_of_the_directory_are_refused() {
    let place = Place::new();
    let elsewhere = make_elsewhere(&place);
    let served = Served::start(receive_options(&place.to(), ReceiveMethod::File));
    let source = place.file("file", b"evil").source;
    let link = Source::Link(b"evil".to_vec());
    let folder = Source::Directory(Box::new(fs::metadata(place.root.path()).unwrap()));
    let absolute = elsewhere.join("file");
    let names = [
        "../elsewhere/file",
        "tree/../../elsewhere/file",
        absolute.to_str().unwrap(),
        "./file",
        "tree//file",
        "tree/",
        "..",
        ".oscope-partial/file",
        "tree/.oscope-partial/file",
    ];
    let jobs: Vec<_> = names
        .iter()
        .flat_map(|name| [&source, &link, &folder].map(|source| (name, source)))
        .map(|(name, source)| Job {
            name: (*name).into(),
            source: source.clone(),
        })
        .collect();
    let (summary, outcomes) = send(&served, &jobs, PLAN, &options());
    let summary = summary.unwrap();
    assert_eq!((summary.files, summary.failed), (0, 27), "{outcomes:?}");
    assert_untouched(&elsewhere, "names");
    assert_eq!(place.names(), [""; 0]);
}

#[test]
fn a_file_that_becomes_a_link_while_its_directory_is_sent_is_not_followed() {
    let place = Place::new();
    let elsewhere = make_elsewhere(&place);
    let root = place.root.path().join("from/tree");
    fs::create_dir_all(root.join("folder")).unwrap();
    fs::write(root.join("file"), "x").unwrap();
    fs::write(root.join("folder/file"), "x").unwrap();
    let jobs = tree(&root);
    fs::remove_file(root.join("file")).unwrap();
    symlink(elsewhere.join("file"), root.join("file")).unwrap();
    fs::rename(root.join("folder"), root.join("before")).unwrap();
    symlink(&elsewhere, root.join("folder")).unwrap();
    let served = Served::start(receive_options(&place.to(), ReceiveMethod::File));
    let (summary, outcomes) = send(&served, &jobs, PLAN, &options());
    let summary = summary.unwrap();
    assert_eq!((summary.files, summary.failed), (0, 2), "{outcomes:?}");
}

#[test]
fn a_measuring_and_a_discarding_receiver_make_no_directories() {
    let place = Place::new();
    let root = make_tree(&place);
    for (measures, directory, failed) in [(true, Some(place.to()), 17), (false, None, 0)] {
        let served = Served::start(receiver::Options {
            measures,
            directory,
            ..receive_options(&place.to(), ReceiveMethod::File)
        });
        let (summary, outcomes) = send(&served, &tree(&root), PLAN, &options());
        assert_eq!(summary.unwrap().failed, failed, "{outcomes:?}");
        assert_eq!(place.names(), [""; 0]);
    }
}

#[test]
fn a_file_that_changes_its_size_after_it_was_listed_arrives_as_it_is() {
    // Sizes that two connections divide, and one that they do not.
    for (listed, sent) in [(5, 4 << 20), (4 << 20, 5), (4 << 20, 0)] {
        let place = Place::new();
        let served = Served::start(receive_options(&place.to(), ReceiveMethod::File));
        let root = place.root.path().join("from/tree");
        fs::create_dir(&root).expect("there is room");
        let file = root.join("log");
        fs::write(&file, bytes(listed, 1)).expect("there is room");
        let jobs = [
            tree(&root),
            vec![Job {
                name: b"alone".into(),
                source: source(&file),
            }],
        ]
        .concat();
        let contents = bytes(sent, 2);
        fs::write(&file, &contents).expect("there is room");
        let plan = Plan { streams: 2, ..PLAN };
        let (summary, outcomes) = send(&served, &jobs, plan, &options());
        assert_eq!(summary.unwrap().failed, 0, "{listed}: {outcomes:?}");
        for name in ["tree/log", "alone"] {
            let arrived = fs::read(place.to().join(name)).unwrap();
            assert!(arrived == contents, "{name} of {listed} bytes");
        }
    }
}

#[test]
fn a_directory_that_is_not_there_cannot_be_sent() {
    let place = Place::new();
    let error = sender::tree(&place.root.path().join("none"), b"none").unwrap_err();
    assert!(error.to_string().contains("none"), "{error}");
    let file = place.file("file", b"x");
    let Source::Path { path, .. } = &file.source else {
        panic!("{file:?}")
    };
    sender::tree(path, b"file").unwrap_err();
}
