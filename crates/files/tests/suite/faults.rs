//! Faults during reads, writes and copies of files: each gives an error, never a wrong sum.

use crate::{if_there, is_missing, ways};
use choice::Choice;
use oscope_files::copy::{Copied, CopyMethod, CopyOptions};
use oscope_files::pass::PassOptions;
use oscope_files::sum::SumOptions;
use oscope_files::write::WriteOptions;
use oscope_files::{Error, Method, Source, Watch, copy, pass, sum, write};
use platform::block_io::wait_readable;
use platform::file::OpenMode;
use platform::sandbox::{Call, forbid};
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};
use tempfile::TempDir;
use testing::Tmpfs;

const LEN: usize = 1 << 20;

struct TestDirectory(TempDir);

impl TestDirectory {
    fn new() -> Self {
        Self(testing::directory_on_disk())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn file(&self) -> PathBuf {
        let path = self.path("file");
        fs::write(&path, vec![3; LEN]).expect("room");
        path
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).expect("it is there");
        let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
        entries.flatten().map(name).collect()
    }
}

fn passing(method: Method, block_bytes: usize, count: Option<u64>) -> PassOptions {
    PassOptions {
        method,
        block_bytes,
        count,
    }
}

fn copying(method: Option<CopyMethod>, block_bytes: Option<usize>, force: bool) -> CopyOptions {
    CopyOptions {
        method,
        block_bytes,
        force,
    }
}

/// A copy that nothing stops.
fn copy_by(options: CopyOptions, from: &Path, to: &Path) -> Result<Copied, Error> {
    copy(&open(from), to, &options, &Watch::default())
}

fn writing(block_bytes: usize, bytes: u64) -> WriteOptions {
    WriteOptions {
        block_bytes,
        bytes,
        mode: OpenMode::Plain,
        force: false,
        seed: 1,
    }
}

fn summing(method: Method, block_bytes: usize, threads: usize) -> SumOptions {
    SumOptions {
        method,
        block_bytes,
        threads,
    }
}

fn options(method: Method) -> SumOptions {
    summing(method, 4096, 2)
}

fn open(path: &Path) -> Source {
    Source::open(path).expect("it is there")
}

#[test]
fn a_file_that_changes_is_an_error_by_every_method() {
    type Change = fn(&File) -> io::Result<()>;
    let changes: [(&str, Change); 3] = [
        ("cut short", |file| file.set_len(LEN as u64 / 2 + 1)),
        ("added to", |file| file.set_len(LEN as u64 + 4)),
        ("was changed", |file| {
            file.set_modified(SystemTime::UNIX_EPOCH)
        }),
    ];
    for &method in Method::ALL {
        for (how, change) in changes {
            let directory = TestDirectory::new();
            let path = directory.file();
            let source = open(&path);
            let file = File::options().write(true).open(&path).expect("it is ours");
            change(&file).expect("it is ours");
            let error = sum(&source, &options(method), &Watch::default()).expect_err(how);
            let is_named = is_missing(&error) || error.to_string().contains(how);
            assert!(is_named, "{method:?}: {error}");
        }
    }
}

#[test]
fn a_file_that_vanishes_is_read_to_its_end_all_the_same() {
    let directory = TestDirectory::new();
    let path = directory.file();
    let source = open(&path);
    fs::remove_file(&path).expect("it is ours");
    for &method in Method::ALL {
        if let Some(sum) = if_there(sum(&source, &options(method), &Watch::default())) {
            assert_eq!(sum.bytes, LEN as u64);
        }
    }
    let error = Source::open(&path).expect_err("it is gone");
    assert!(error.to_string().contains("file"), "{error}");
}

#[test]
fn a_file_without_blocks_is_read_by_every_method() {
    let directory = TestDirectory::new();
    let path = directory.path("hole");
    let file = File::create(&path).expect("room");
    for len in [0, 1, 100, 4096] {
        file.set_len(len).expect("a hole takes no room");
        for &method in Method::ALL {
            let source = open(&path);
            let options = passing(method, 4096, None);
            if let Some(timed) = if_there(pass(&source, &options, &Watch::default())) {
                assert_eq!(timed.value.bytes, len, "{method:?}");
            }
        }
    }
}

#[test]
fn what_is_no_file_is_refused_with_the_reason() {
    let directory = TestDirectory::new();
    let error = Source::open(directory.0.path()).expect_err("a directory");
    assert!(matches!(error, Error::Directory(_)), "{error}");
    let socket = directory.path("socket");
    let _listener = UnixListener::bind(&socket).expect("a socket");
    let error = Source::open(&socket).expect_err("a socket");
    assert!(matches!(error, Error::Socket(_)), "{error}");
    let device = open(Path::new("/dev/null"));
    let read = |method| passing(method, 10, None);
    let error = pass(&device, &read(Method::Mmap), &Watch::default()).expect_err("no offsets");
    assert!(matches!(error, Error::NoOffsets(_)), "{error}");
    let sum = pass(&device, &read(Method::Read), &Watch::default())
        .expect("nothing in it")
        .value;
    assert_eq!(sum.bytes, 0);
    let zeros = open(Path::new("/dev/zero"));
    let some = PassOptions {
        count: Some(5),
        ..read(Method::Read)
    };
    let sum = pass(&zeros, &some, &Watch::default())
        .expect("as many as one likes")
        .value;
    assert_eq!((sum.bytes, sum.xor.0), (50, 0));
}

#[test]
fn blocks_that_make_no_sense_are_explained() {
    let directory = TestDirectory::new();
    let source = open(&directory.file());
    let read = |method, block_bytes, count| {
        let options = passing(method, block_bytes, count);
        pass(&source, &options, &Watch::default())
    };
    let error = read(Method::Pread, 0, None).expect_err("no bytes");
    assert!(error.to_string().contains("block size is 0"), "{error}");
    let error = read(Method::Pread, usize::MAX, None).expect_err("too many");
    assert!(matches!(error, Error::HugeBlock(_)), "{error}");
    let whole = read(Method::Pread, 64 * LEN, None).expect("larger than the file");
    assert_eq!(whole.value.bytes, LEN as u64);
    let error = read(Method::Pread, LEN, Some(2)).expect_err("not so much in it");
    assert!(matches!(error, Error::TooShort { .. }), "{error}");
    match read(Method::Direct, 1000, None).expect_err("no sector") {
        Error::Misaligned { suggested, .. } => assert!(suggested.0.is_multiple_of(512)),
        error => assert!(is_missing(&error), "{error}"),
    }
}

#[test]
fn a_target_is_left_alone_or_made_whole() {
    let directory = TestDirectory::new();
    let from = directory.file();
    for method in ways() {
        let target = directory.path("copy");
        let copy_to = |to: &Path, force| copy_by(copying(method, Some(10_000), force), &from, to);
        match copy_to(&target, false) {
            Ok(copied) => {
                assert_eq!(copied.bytes, LEN as u64);
                assert!(method.is_none_or(|method| method == copied.method));
                assert!(
                    fs::read(&target).expect("it is there") == vec![3; LEN],
                    "{method:?}"
                );
                let error = copy_to(&target, false).expect_err("there");
                assert!(error.to_string().contains("--force"), "{error}");
                copy_to(&target, true).expect("it may");
                let error = copy_to(&from, true).expect_err("itself");
                assert!(matches!(error, Error::SameFile(..)), "{error}");
                fs::remove_file(&target).expect("it is there");
            }
            Err(error) => assert!(is_missing(&error), "{method:?}: {error}"),
        }
        assert_eq!(directory.names(), ["file"]);
    }
}

#[cfg(unix)]
#[test]
fn a_copy_has_the_permissions_that_cp_would_give_it() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
    let directory = TestDirectory::new();
    let set = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("an own file");
    };
    let mode = |path: &Path| fs::metadata(path).expect("there").mode() & 0o7777;
    let copy_to = |target: &Path, force| {
        let options = copying(Some(CopyMethod::ReadWrite), Some(4096), force);
        copy_by(options, &directory.file(), target)
    };
    set(&directory.file(), 0o4700);
    let target = directory.path("copy");
    copy_to(&target, false).expect("a new file");
    // The permissions of the source, without set-user-ID.
    assert_eq!(mode(&target), 0o700);

    set(&target, 0o640);
    let link = directory.path("link");
    symlink("copy", &link).expect("a link");
    copy_to(&link, true).expect("over an own file");
    assert_eq!(mode(&target), 0o640);
    assert!(link.is_symlink());
    assert_eq!(
        fs::read(&target).expect("there"),
        fs::read(directory.file()).expect("there")
    );

    // Only a process that may change owners gives the new file to the old owner.
    if std::os::unix::fs::chown(&target, Some(65_534), Some(65_534)).is_err() {
        return println!("skipped: giving files away needs the rights of root");
    }
    copy_to(&target, true).expect("as root");
    let owner = fs::metadata(&target).expect("there");
    assert_eq!((owner.uid(), owner.gid()), (65_534, 65_534));
    assert_eq!(mode(&target), 0o640);
}

#[test]
fn who_is_stopped_leaves_nothing_behind() {
    let directory = TestDirectory::new();
    let stop = AtomicBool::new(true);
    let watch = Watch::stopped_by(&stop);
    let path = directory.path("new");
    let options = writing(1000, 1_000_000);
    let error = write(&path, &options, &watch).expect_err("it was stopped");
    assert!(matches!(error, Error::Stopped), "{error}");
    assert!(directory.names().is_empty());
    let source = open(&directory.file());
    for method in ways() {
        let options = copying(method, Some(1000), false);
        let error = copy(&source, &path, &options, &watch).expect_err("it was stopped");
        assert!(
            matches!(error, Error::Stopped) || is_missing(&error),
            "{error}"
        );
    }
    assert_eq!(directory.names(), ["file"]);
}

#[test]
fn a_full_device_is_reported_and_leaves_nothing_behind() {
    let directory = TestDirectory::new();
    let mount = directory.path("small");
    fs::create_dir(&mount).expect("room");
    let Some(_mounted) = Tmpfs::mount(&mount, "size=256k") else {
        return;
    };
    let path = mount.join("new");
    let options = writing(10_000, 10_000_000);
    let written = write(&path, &options, &Watch::default());
    let copies = ways().map(|method| {
        let options = copying(method, Some(10_000), false);
        (method, copy_by(options, &directory.file(), &path))
    });
    assert!(matches!(written, Err(Error::Full(_))), "{written:?}");
    for (method, copied) in copies {
        let error = copied.expect_err("it does not fit");
        let is_full = matches!(error, Error::Full(_)) || is_missing(&error);
        assert!(is_full, "{method:?}: {error}");
    }
    assert_eq!(fs::read_dir(&mount).expect("it is there").count(), 0);
}

#[test]
fn the_first_write_error_ends_a_copy_by_every_method() {
    let full = Path::new("/dev/full");
    if !full.exists() {
        return println!("skipped: there is no /dev/full");
    }
    let directory = TestDirectory::new();
    for method in ways() {
        let options = copying(method, Some(4096), true);
        let source = open(&directory.file());
        let watch = Watch::default();
        let error = copy(&source, full, &options, &watch).expect_err("it is full");
        let is_refused = matches!(error, Error::InOrderOnly(_));
        assert!(
            is_refused || matches!(error, Error::Full(_)) || is_missing(&error),
            "{method:?}: {error}"
        );
        assert!(watch.done_bytes() <= 4096, "{method:?}");
    }
}

#[test]
fn the_source_is_to_blame_if_it_is_cut_while_it_is_written_from_memory() {
    const PAGE: usize = 4096;
    const PATIENCE: Duration = Duration::from_mins(1);
    let directory = TestDirectory::new();
    let pipe = directory.path("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    if !made.is_ok_and(|status| status.success()) {
        return println!("skipped: no mkfifo here");
    }
    let path = directory.file();
    let source = open(&path);
    let stop = AtomicBool::new(false);
    // Opened for both, the pipe waits for nobody.
    let mut reader = File::options()
        .read(true)
        .write(true)
        .open(&pipe)
        .expect("a pipe");
    let error = std::thread::scope(|scope| {
        let copying = scope.spawn(|| {
            let options = copying(Some(CopyMethod::Mmap), Some(LEN), true);
            copy(&source, &pipe, &options, &Watch::stopped_by(&stop))
        });
        // The pipe holds less than the file, so the copy waits for this reader.
        assert!(wait_readable(&reader, PATIENCE).expect("a pipe"));
        let file = File::options().write(true).open(&path).expect("it is ours");
        file.set_len(PAGE as u64).expect("it is ours");
        for _ in 0..1000 {
            if copying.is_finished() {
                break;
            }
            if wait_readable(&reader, PATIENCE / 1000).expect("a pipe") {
                assert!(reader.read(&mut [0; PAGE]).expect("a pipe") > 0);
            }
        }
        stop.store(true, Ordering::Relaxed);
        copying.join().expect("no panic").expect_err("it was cut")
    });
    let text = error.to_string();
    assert!(
        text.contains("file was cut short") && !text.contains("pipe"),
        "{text}"
    );
}

#[test]
fn buffers_are_no_longer_than_the_file() {
    const HUGE: usize = 1 << 45;
    let directory = TestDirectory::new();
    let path = directory.path("small");
    fs::write(&path, b"small").expect("room");
    let expected =
        sum(&open(&path), &options(Method::Pread), &Watch::default()).expect("it is read");
    for &method in Method::ALL {
        for threads in [1, 1000] {
            let options = summing(method, HUGE, threads);
            let source = open(&path);
            if let Some(sum) = if_there(sum(&source, &options, &Watch::default())) {
                assert_eq!(sum, expected, "{method:?}");
            }
        }
    }
    let copy_from = |from: &Path, method| {
        let options = copying(method, Some(HUGE), true);
        copy_by(options, from, &directory.path("copy"))
    };
    for method in ways() {
        if let Some(copied) = if_there(copy_from(&path, method)) {
            assert_eq!(copied.bytes, 5, "{method:?}");
        }
    }
    fs::remove_file(directory.path("copy")).expect("it was copied");
    // Memory alone limits the buffer for a source without a size.
    let error = copy_from(Path::new("/dev/zero"), None).expect_err("too much");
    assert!(matches!(error, Error::NoRoom { .. }), "{error}");
    assert_eq!(directory.names(), ["small"]);
}

#[test]
fn a_target_that_is_no_file_is_named_for_what_it_is() {
    let directory = TestDirectory::new();
    for force in [false, true] {
        let copy_to = |target: &Path| {
            let error = copy_by(copying(None, None, force), &directory.file(), target);
            error.expect_err("no file can be there")
        };
        let error = copy_to(directory.0.path());
        assert!(matches!(error, Error::Directory(_)), "{error}");
        let error = copy_to(&directory.path("new/"));
        assert!(matches!(error, Error::NoDirectory(_)), "{error}");
    }
}

#[test]
fn a_copy_goes_on_where_a_sandbox_forbids_one_within_the_kernel() {
    let directory = TestDirectory::new();
    let (from, to) = (directory.file(), directory.path("copy"));
    let best = copying(None, None, false);
    let in_a_thread = std::thread::spawn(move || {
        if let Err(error) = forbid(Call::CopyRange) {
            println!("skipped: {error}");
            return;
        }
        let copied = copy_by(best, &from, &to).expect("some way works");
        assert_ne!(copied.method, CopyMethod::CopyFileRange);
        assert_eq!(fs::read(&to).expect("the copy"), vec![3; LEN]);
    });
    in_a_thread.join().expect("it does not panic");
}

#[test]
fn a_file_that_reports_no_size_is_copied_by_reading() {
    // Its size of 0 says nothing, and only reading shows its contents.
    let shown = Path::new("/proc/version");
    let Ok(expected) = fs::read(shown) else {
        return println!("skipped: there is no {}", shown.display());
    };
    let directory = TestDirectory::new();
    let (target, best) = (directory.path("version"), copying(None, None, false));
    let copied = copy_by(best, shown, &target).expect("some way works");
    assert_eq!(copied.method, CopyMethod::ReadWrite);
    assert_eq!(fs::read(&target).expect("the copy"), expected);
}
