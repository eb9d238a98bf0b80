use std::io::{Read, Seek, SeekFrom, Write};
use tempfile::TempDir;

use super::*;
use crate::block_io::{read_at, write_at};
use crate::error::available;
use crate::file::{
    create, create_new, create_new_like, open_input, open_read, open_write, residency,
};
use crate::memory::{Mapping, PageSize};
use crate::storage::Storage;

const LEN: usize = 1 << 20;

fn dir() -> TempDir {
    testing::directory_on_disk()
}

/// Pages of a file system in memory cannot be evicted.
fn can_evict_in(dir: &Path) -> bool {
    let storage = Storage::behind(dir).unwrap();
    if storage.is_memory() {
        println!("skipped: {} is in memory", dir.display());
    }
    !storage.is_memory()
}

#[test]
fn what_was_read_is_resident_and_what_was_evicted_is_not() {
    let dir = dir();
    if !can_evict_in(dir.path()) {
        return;
    }
    let mut file = create_new(&dir.path().join("file"), OpenMode::Plain).unwrap();
    file.write_all(&vec![1; LEN]).unwrap();
    assert_eq!(residency(&file).unwrap().resident_bytes, LEN as u64);

    evict(&file).unwrap();
    let cold = residency(&file).unwrap();
    assert_eq!((cold.resident_bytes, cold.total_bytes), (0, LEN as u64));

    file.seek(SeekFrom::Start(0)).unwrap();
    file.read_exact(&mut vec![0; LEN]).unwrap();
    assert_eq!(residency(&file).unwrap().resident_bytes, LEN as u64);
}

#[test]
fn eviction_from_the_whole_machine_works_or_is_refused() {
    let dir = dir();
    if !can_evict_in(dir.path()) {
        return;
    }
    let mut file = create_new(&dir.path().join("file"), OpenMode::Plain).unwrap();
    file.write_all(&vec![1; LEN]).unwrap();
    file.sync_all().unwrap();
    if let Err(error) = drop_page_cache() {
        assert!(matches!(error, Error::NotPermitted { .. }), "{error}");
        return println!("skipped: {error}");
    }
    assert!(rustix::process::geteuid().is_root());
    assert_eq!(residency(&file).unwrap().resident_bytes, 0);
}

#[test]
fn direct_writes_reach_the_device_past_the_page_cache() {
    let dir = dir();
    let path = dir.path().join("file");
    let Some(mut file) = available(create(&path, OpenMode::Direct)) else {
        return;
    };
    let mut buffer = Mapping::anonymous(LEN, PageSize::Base).unwrap();
    buffer.as_mut_slice().fill(3);
    file.write_all(buffer.as_slice()).unwrap();
    if can_evict_in(dir.path()) {
        assert_eq!(residency(&file).unwrap().resident_bytes, 0);
    }
    let mut bytes = Vec::new();
    let mut plain = open_read(&path, OpenMode::Plain).unwrap();
    plain.read_to_end(&mut bytes).unwrap();
    assert!(bytes == buffer.as_slice());
}

#[test]
fn a_file_system_without_direct_transfers_refuses_them() {
    let error = open_read(Path::new("/proc/self/status"), OpenMode::Direct).unwrap_err();
    assert!(error.is_not_supported(), "{error}");
}

#[test]
fn synchronous_modes_reach_the_descriptor() {
    let dir = dir();
    let path = dir.path().join("file");
    fs::write(&path, b"abc").unwrap();
    for (mode, flag) in [
        (OpenMode::Synchronous, libc::O_SYNC),
        (OpenMode::DataSynchronous, libc::O_DSYNC),
    ] {
        let file = open_write(&path, mode).unwrap();
        // The flags of rustix do not distinguish the two.
        let flags = rustix::fs::fcntl_getfl(&file).unwrap().bits().cast_signed();
        assert_eq!(flags & libc::O_SYNC, flag);
    }
}

#[test]
fn a_file_gets_the_permissions_of_another() {
    use std::os::unix::fs::PermissionsExt;
    let dir = dir();
    let (model, path) = (dir.path().join("model"), dir.path().join("file"));
    fs::write(&model, b"").unwrap();
    fs::set_permissions(&model, fs::Permissions::from_mode(0o4751)).unwrap();
    let model = fs::metadata(&model).unwrap();
    let file = create_new_like(&path, OpenMode::Plain, &model).unwrap();
    let mode = |file: &File| file.metadata().unwrap().mode() & 0o7777;
    // Any umask leaves the owner's bits.
    assert_eq!(mode(&file) & 0o7700, 0o700);
    become_like(&file, &model).unwrap();
    assert_eq!(mode(&file), 0o4751);
}

#[test]
fn only_files_whose_contents_lie_on_a_file_system_have_a_size() {
    let dir = dir();
    let size = |path: &Path| {
        let (file, metadata) = open_without_waiting(path).unwrap();
        believable_size(&file, &metadata)
    };
    let path = dir.path().join("file");
    let file = File::create(&path).unwrap();
    // Small files without data have no blocks, as files of /proc and /sys have none.
    for len in [0, 1, 100, 4096, 4097, 1 << 30] {
        file.set_len(len).unwrap();
        assert_eq!(size(&path), Some(len));
    }
    fs::write(&path, b"abc").unwrap();
    assert_eq!(size(&path), Some(3));
    for generated in [
        "/proc/self/status",
        "/sys/kernel/mm/transparent_hugepage/enabled",
        "/dev/null",
    ] {
        let generated = Path::new(generated);
        if !generated.exists() {
            println!("skipped: there is no {}", generated.display());
            continue;
        }
        assert_eq!(size(generated), None, "{}", generated.display());
    }
}

#[test]
fn holes_differ_from_data() {
    let file = tempfile::tempfile_in(dir().path()).unwrap();
    let (start, len) = (4 << 20, 8 << 20);
    file.set_len(len).unwrap();
    write_at(&file, &[1; 4096], start).unwrap();
    match next_data(&file, 0, len).unwrap() {
        Some((0, end)) => return println!("skipped: no holes here, all {end} are data"),
        found => assert_eq!(found, Some((start, start + 4096))),
    }
    assert_eq!(next_data(&file, start + 4096, len).unwrap(), None);
    assert_eq!(next_data(&file, len, len).unwrap(), None);
    let mut byte = [0; 2];
    assert_eq!(read_at(&file, &mut byte, start + 4095).unwrap(), 2);
    assert_eq!(byte, [1, 0]);
}

#[test]
fn a_file_is_allocated_by_the_descriptor_that_has_it_open() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap().join("open");
    let file = File::create(&path).unwrap();
    allocate_open_file(&path, 70_000).unwrap();
    assert_eq!(file.metadata().unwrap().len(), 70_000);
    drop(file);
    fs::write(&path, "").unwrap();
    allocate_open_file(&path, 70_000).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().len(), 0);
}

fn make_pipe(path: &Path) {
    let made = std::process::Command::new("mkfifo").arg(path).status();
    assert!(made.unwrap().success());
}

#[test]
fn only_a_pipe_that_was_opened_without_waiting_stays_so() {
    let dir = dir();
    let (pipe, file) = (dir.path().join("pipe"), dir.path().join("file"));
    make_pipe(&pipe);
    create_new(&file, OpenMode::Plain).unwrap();
    let waits = |path: &Path| {
        let (opened, _) = open_without_waiting(path).unwrap();
        assert!(is_at(&opened, path));
        !rustix::fs::fcntl_getfl(&opened)
            .unwrap()
            .contains(OFlags::NONBLOCK)
    };
    assert!(!waits(&pipe));
    for path in [&*file, dir.path(), Path::new("/dev/null")] {
        assert!(waits(path), "{}", path.display());
    }
    let error = open_without_waiting(&dir.path().join("none")).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::NotFound);
}

#[test]
fn a_pipe_without_a_writer_is_an_empty_input() {
    let dir = dir();
    let pipe = dir.path().join("pipe");
    make_pipe(&pipe);
    let mut read = Vec::new();
    let mut input = open_input(&pipe).unwrap();
    io::Read::read_to_end(&mut input, &mut read).unwrap();
    assert_eq!(read, b"");
    // With a writer, it waits for the data and for the end.
    let opened = open_input(&pipe).unwrap();
    let mut writer = File::options().write(true).open(&pipe).unwrap();
    let reader = std::thread::spawn(move || io::read_to_string(opened).unwrap());
    io::Write::write_all(&mut writer, b"data").unwrap();
    drop(writer);
    assert_eq!(reader.join().unwrap(), "data");
    let error = open_input(dir.path()).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::IsADirectory);
}

#[test]
fn a_byte_is_locked_until_its_opening_is_closed() {
    let dir = dir();
    let path = dir.path().join("file");
    let open = || {
        File::options()
            .append(true)
            .create(true)
            .open(&path)
            .unwrap()
    };
    let far = 1 << 62;
    let (one, other) = (open(), open());
    assert!(try_lock_byte(&one, far).unwrap());
    // An opening that is closed takes no lock of another with it.
    drop(open());
    assert!(!try_lock_byte(&other, far).unwrap());
    assert!(try_lock_byte(&one, far).unwrap() && try_lock_byte(&other, far + 1).unwrap());
    drop(one);
    assert!(try_lock_byte(&other, far).unwrap());
}
