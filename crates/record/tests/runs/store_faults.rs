//! Stores that cannot be opened, read or written: a clear error each, and nothing is lost.

use crate::common::{
    assert_matches, batch, begun, change, complete, definition, start, stored, take,
};
use instrument::point::Point;
use oscope_record::file;
use oscope_record::store::{Error, Judged, RunSelector, Store};
use rusqlite::Connection;
use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use testing::Tmpfs;

/// Both ways of opening return an error and leave the file and its directory alone; returns the
/// error.
fn refused(path: &Path) -> Error {
    let listing = |path: &Path| fs::read_dir(path.parent().unwrap()).unwrap().count();
    let before = (fs::read(path).unwrap(), listing(path));
    let error = Store::open_read_only(path).unwrap_err();
    let second = Store::open(path).unwrap_err();
    assert_eq!(error.to_string(), second.to_string());
    assert!(
        (fs::read(path).unwrap(), listing(path)) == before,
        "the file was touched"
    );
    error
}

/// Makes every query of a store, until the first error; true if there is damage.
fn read_all(path: &Path) -> Result<bool, Error> {
    let store = Store::open(path)?;
    for summary in store.runs()? {
        store.run(&summary.number.to_string().parse().unwrap())?;
    }
    Ok(store.verify(None)?.has_damage())
}

#[test]
fn other_files_are_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("letter.txt");
    fs::write(&text, "Dear reader, ".repeat(1000)).unwrap();
    assert_matches!(refused(&text), Error::NotAStore(_));
    let short = folder.path().join("short");
    fs::write(&short, "SQLite format 3\0").unwrap();
    assert_matches!(refused(&short), Error::NotAStore(_));
    let other = folder.path().join("other.db");
    change(&other, "CREATE TABLE runs (x)");
    assert_matches!(refused(&other), Error::NotAStore(_));
}

#[test]
fn a_store_of_another_version_is_refused_and_left_alone() {
    for other in [1, 10, 12, 77] {
        let (_folder, path) = stored(1);
        change(&path, &format!("PRAGMA user_version = {other}"));
        let error = refused(&path);
        assert_matches!(error, Error::OtherVersion { found, .. } if *found == other);
    }
}

#[test]
fn the_documentation_has_the_versions_of_today() {
    let stability = include_str!("../../../../docs/guide/stability.md");
    let (_folder, path) = stored(1);
    let store = Connection::open(path).unwrap();
    let store: u32 = (store.pragma_query_value(None, "user_version", |row| row.get(0))).unwrap();
    for (of, version) in [
        ("store (`PRAGMA user_version`)", store),
        ("exported file (`version`)", file::VERSION),
    ] {
        let row = format!("\n| {of} | {version} |\n");
        assert!(stability.contains(&row), "there is no row {row}");
    }
}

#[test]
fn missing_places_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("missing").join("oscope.db");
    assert_matches!(Store::open(&path), Err(Error::NoFolder(_)));
    assert_matches!(Store::open_read_only(&path), Err(Error::Missing(_)));
    assert_matches!(Store::open(folder.path()), Err(Error::NoAccess { .. }));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// Both ways of opening refuse `path`, without waiting for a writer of a pipe.
#[cfg(unix)]
fn no_access(path: &Path) -> Error {
    let path = path.to_owned();
    let opened = std::thread::spawn(move || {
        Box::new((
            Store::open_read_only(&path).unwrap_err(),
            Store::open(&path).unwrap_err(),
        ))
    });
    let (read, written) = *testing::joined("the refusal of a store", opened);
    assert_eq!(read.to_string(), written.to_string());
    assert_matches!(read, Error::NoAccess { .. });
    read
}

#[cfg(unix)]
#[test]
fn a_store_is_a_regular_file() {
    let folder = tempfile::tempdir().unwrap();
    let (pipe, socket) = (folder.path().join("pipe"), folder.path().join("socket"));
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let before = fs::read_dir(folder.path()).unwrap().count();
    for path in [&pipe, &socket, folder.path(), Path::new("/dev/null")] {
        let error = no_access(path).to_string();
        assert!(error.contains("it is no regular file"), "{error}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), before);
    let (_folder, path) = stored(1);
    for suffix in ["-wal", "-shm", "-journal"] {
        let mut companion = path.clone().into_os_string();
        companion.push(suffix);
        fs::rename(&pipe, &companion).unwrap();
        let error = no_access(&path).to_string();
        assert!(
            error.contains(&format!("{suffix} cannot be opened")),
            "{error}"
        );
        fs::rename(&companion, &pipe).unwrap();
    }
}

#[cfg(unix)]
#[test]
fn a_store_that_cannot_be_reached_is_not_called_missing() {
    let folder = tempfile::tempdir().unwrap();
    let (file, link) = (folder.path().join("file"), folder.path().join("link"));
    fs::write(&file, "").unwrap();
    std::os::unix::fs::symlink(&link, &link).unwrap();
    for path in [&file.join("oscope.db"), &link, &link.join("oscope.db")] {
        no_access(path);
    }
}

/// Damages a file of a number of bytes.
type Damage<'d> = &'d dyn Fn(&mut File, u64);

#[test]
fn a_damaged_store_says_so() {
    let write = |file: &mut File, at: u64, bytes: &[u8]| {
        file.seek(SeekFrom::Start(at)).unwrap();
        file.write_all(bytes).unwrap();
    };
    // Every page but the first, which holds the header; and a part of each of them.
    let overwritten = |file: &mut File, bytes: u64| {
        write(file, 4096, &vec![0xa5; bytes as usize - 4096]);
    };
    let scratched = |file: &mut File, bytes: u64| {
        for page in 1..bytes / 4096 {
            write(file, page * 4096 + 8, &[0xff; 32]);
        }
    };
    let cut_to = |length: fn(u64) -> u64| {
        move |file: &mut File, bytes: u64| file.set_len(length(bytes)).unwrap()
    };
    let damages: [Damage<'_>; 6] = [
        &overwritten,
        &scratched,
        &cut_to(|bytes| bytes / 2),
        &cut_to(|bytes| bytes - 4096),
        &cut_to(|_| 5000),
        &cut_to(|_| 4096),
    ];
    for (number, damage) in damages.into_iter().enumerate() {
        let (_folder, path) = stored(20);
        let mut file = File::options().write(true).open(&path).unwrap();
        let bytes = file.metadata().unwrap().len();
        damage(&mut file, bytes);
        let found = read_all(&path);
        assert_matches!(found, Ok(true) | Err(Error::Damaged { .. }), number);
        // The beginning of the header.
        write(&mut file, 0, &[0xa5; 64]);
        assert_matches!(refused(&path), Error::NotAStore(_));
    }
}

#[test]
fn content_that_oscope_never_wrote_is_damage() {
    for (sql, word) in [
        ("UPDATE runs SET content = '{'", "its entry"),
        (
            "UPDATE runs SET content = replace(content, '2026', 'last year')",
            "its entry",
        ),
        (
            "UPDATE runs SET content = replace(content, 'quick', 'hasty')",
            "its entry",
        ),
        ("UPDATE batches SET content = x'02'", "batch 0"),
        ("UPDATE points SET content = '[]'", "content"),
        ("DELETE FROM machines", "incomplete"),
    ] {
        let (_folder, path) = stored(1);
        change(&path, sql);
        let error = read_all(&path).unwrap_err();
        assert_matches!(error, Error::Damaged { .. } | Error::DamagedRun { .. }, sql);
        assert!(error.to_string().contains(word), "{sql}: {error}");
    }
}

#[test]
fn a_locked_store_says_so() {
    let (_folder, path) = stored(1);
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut store = Store::open(&path).unwrap();
    assert_eq!(store.runs().unwrap().len(), 1, "reading goes on");
    assert_matches!(store.insert(&complete(9)), Err(Error::Locked(_)));
    other.execute_batch("COMMIT").unwrap();
    store.insert(&complete(9)).unwrap();
}

#[test]
fn a_store_on_a_read_only_disk_can_be_read() {
    let disk = tempfile::tempdir().unwrap();
    let Some(mount) = Tmpfs::mount(disk.path(), "size=8m") else {
        return;
    };
    let path = disk.path().join("a store?.db");
    Store::open(&path).unwrap().insert(&complete(1)).unwrap();
    mount.make_read_only();
    let error = Store::open(&path).unwrap_err();
    assert_matches!(error, Error::ReadOnly(_));
    let error = Store::open(&disk.path().join("new.db")).unwrap_err();
    assert_matches!(error, Error::ReadOnly(_));
    let mut store = Store::open_read_only(&path).unwrap();
    assert_eq!(store.run(&RunSelector::Latest).unwrap(), complete(1));
    assert_matches!(store.insert(&complete(2)), Err(Error::ReadOnly(_)));
    drop(store);
    let mut names = fs::read_dir(disk.path()).unwrap();
    assert_eq!(names.next().unwrap().unwrap().path(), path);
    assert!(names.next().is_none());
}

#[cfg(unix)]
#[test]
fn a_store_on_a_read_only_disk_is_read_through_a_link_with_its_log() {
    let disk = tempfile::tempdir().unwrap();
    let Some(mount) = Tmpfs::mount(disk.path(), "size=8m") else {
        return;
    };
    let (folder, path) = stored(1);
    let mut writer = Store::open(&path).unwrap();
    writer.insert(&complete(7)).unwrap();
    let log = folder.path().join("oscope.db-wal");
    fs::copy(&path, disk.path().join("a.db")).unwrap();
    fs::copy(log, disk.path().join("a.db-wal")).unwrap();
    mount.make_read_only();
    let link = folder.path().join("link.db");
    std::os::unix::fs::symlink(disk.path().join("a.db"), &link).unwrap();
    let reader = Store::open_read_only(&link).unwrap();
    assert_eq!(reader.runs().unwrap().len(), 2);
    assert_eq!(reader.path(), link);
}

#[test]
#[cfg(unix)]
fn a_store_without_the_right_to_write_it_or_its_folder_is_read_without_files_next_to_it() {
    use std::os::unix::fs::PermissionsExt;
    let (folder, path) = stored(1);
    let set = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    set(&path, 0o444);
    if File::options().append(true).open(&path).is_ok() {
        println!("skipped: this user (root) may write everywhere");
        return;
    }
    for mode in [0o755, 0o555] {
        set(folder.path(), mode);
        let store = Store::open_read_only(&path).unwrap();
        assert_eq!(store.run(&RunSelector::Latest).unwrap(), complete(0));
        drop(store);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
    for path in [path, folder.path().join("new.db")] {
        assert_matches!(Store::open(&path), Err(Error::NoAccess { .. }));
    }
    set(folder.path(), 0o755);
}

#[test]
fn a_full_disk_loses_nothing_that_was_acknowledged() {
    let disk = tempfile::tempdir().unwrap();
    let Some(_mount) = Tmpfs::mount(disk.path(), "size=2m") else {
        return;
    };
    let path = disk.path().join("oscope.db");
    let ballast = disk.path().join("ballast");
    let mut store = Store::open(&path).unwrap();
    fs::write(&ballast, vec![1; 1 << 20]).unwrap();
    let mut recorder = store.begin(&begun(1)).unwrap();
    let definition = definition("file.block_size");
    let point = Point::new();
    start(&mut recorder, &definition, std::slice::from_ref(&point));
    let mut acknowledged = Vec::new();
    let error = loop {
        let batch = batch(acknowledged.len() as u64);
        match take(&mut recorder, &definition, &point, &batch) {
            Ok(()) => acknowledged.push(batch),
            Err(error) => break error,
        }
    };
    assert_matches!(error.downcast_ref(), Some(Error::Full(_)));
    assert!(!acknowledged.is_empty());
    drop(store);
    for room in [false, true] {
        if room {
            fs::remove_file(&ballast).unwrap();
        }
        let store = Store::open_read_only(&path).unwrap();
        let run = store.run(&RunSelector::Latest).unwrap();
        assert!(!run.is_finished());
        assert!(
            run.experiments[0].points[0].batches == acknowledged,
            "room: {room}"
        );
    }
    Store::open(&path).unwrap().insert(&complete(2)).unwrap();
    assert!(!read_all(&path).unwrap());
}

#[test]
fn a_store_that_ends_within_a_kept_analysis_judges_the_run_anew() {
    let (_folder, path) = stored(0);
    let mut run = complete(0);
    run.header.ended = Some(run.header.started);
    Store::open(&path).unwrap().insert(&run).unwrap();
    let first: RunSelector = "1".parse().unwrap();
    let judged = || Store::open(&path).unwrap().judged(&first, "code").unwrap();
    let Judged::Anew {
        snapshot: Some(snapshot),
        ..
    } = judged()
    else {
        panic!("nothing is kept yet");
    };
    // Longer than a page of the store, so that its end is the end of the file.
    Store::keep(&path, snapshot, "code", &"sentence ".repeat(20_000)).unwrap();
    assert_matches!(judged(), Judged::Kept { .. });
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.set_len(file.metadata().unwrap().len() - 4000).unwrap();
    assert_matches!(judged(), Judged::Anew { .. });
}
