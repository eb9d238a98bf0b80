use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt, fchown};
use std::path::{Path, PathBuf};

use rustix::fs::{Advice, FallocateFlags, OFlags, SeekFrom};
use rustix::io::Errno;

use super::block_io::read_at;
pub(crate) use super::residency::residency;
use crate::error::{Error, Result};
use crate::file::OpenMode;
pub(crate) use crate::file::lacking::{is_on_disk, try_lock, unlock};

#[expect(clippy::unnecessary_wraps, reason = "other systems lack some modes")]
pub(crate) fn set_mode(options: &mut OpenOptions, mode: OpenMode) -> Result<()> {
    options.custom_flags(flags(mode));
    Ok(())
}

pub(super) fn flags(mode: OpenMode) -> libc::c_int {
    match mode {
        OpenMode::Plain => 0,
        OpenMode::Direct => libc::O_DIRECT,
        OpenMode::Synchronous => libc::O_SYNC,
        OpenMode::DataSynchronous => libc::O_DSYNC,
    }
}

#[expect(clippy::unnecessary_wraps, reason = "other systems must be asked")]
pub(crate) fn allow_holes(_file: &File) -> Result<()> {
    Ok(())
}

#[expect(clippy::unnecessary_wraps, reason = "other systems open it again")]
pub(crate) fn overlapped(file: File) -> Result<File> {
    Ok(file)
}

pub(crate) fn is_named_pipe(metadata: &Metadata) -> bool {
    metadata.file_type().is_fifo()
}

pub(crate) fn is_character_device(metadata: &Metadata) -> bool {
    metadata.file_type().is_char_device()
}

pub(crate) fn open_write_without_waiting(path: &Path, mode: OpenMode) -> Result<Option<File>> {
    let mut options = OpenOptions::new();
    options
        .write(true)
        .custom_flags(flags(mode) | libc::O_NONBLOCK);
    match options.open(path) {
        Ok(file) => Ok(Some(file)),
        // open(2) reports a pipe without a reader this way.
        Err(error)
            if error.raw_os_error() == Some(libc::ENXIO)
                && path.metadata().is_ok_and(|found| is_named_pipe(&found)) =>
        {
            Ok(None)
        }
        Err(error) => Err(Error::path("open", path)(error)),
    }
}

pub(crate) fn open_without_waiting(path: &Path) -> io::Result<(File, Metadata)> {
    let mut options = OpenOptions::new();
    let options = options.read(true).custom_flags(libc::O_NONBLOCK);
    let file = match options.open(path) {
        // Another program has a lease on the file and gets time to release it (fcntl(2), "Leases").
        // So it is not a pipe.
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => File::open(path)?,
        opened => opened?,
    };
    let metadata = file.metadata()?;
    // An earlier check of the path would cost more, and the file could change before it is opened.
    // Reads of a file with contents never wait, which saves a small file this call.
    if !is_named_pipe(&metadata) && !has_contents(&metadata) {
        rustix::fs::fcntl_setfl(&file, OFlags::empty())?;
    }
    Ok((file, metadata))
}

pub(crate) fn let_reads_wait(file: &File) -> io::Result<()> {
    Ok(rustix::fs::fcntl_setfl(file, OFlags::empty())?)
}

pub(crate) fn try_lock_byte(file: &File, at: u64) -> io::Result<bool> {
    // SAFETY: zeros are a valid `flock`.
    let mut byte: libc::flock = unsafe { std::mem::zeroed() };
    byte.l_type = libc::F_WRLCK as _;
    byte.l_whence = libc::SEEK_SET as _;
    byte.l_start = at.cast_signed();
    byte.l_len = 1;
    // A lock of this opening: those of the process would end when any other opening of the file is closed.
    // SAFETY: the call only reads `byte`.
    match unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLK, &raw const byte) } {
        0 => Ok(true),
        _ => match io::Error::last_os_error() {
            error if matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::EACCES)) => Ok(false),
            error => Err(error),
        },
    }
}

/// The permission bits of a mode, without set-user-ID, set-group-ID and sticky.
const PERMISSIONS: u32 = 0o777;

pub(crate) fn set_permissions(options: &mut OpenOptions, model: &Metadata) {
    options.mode(permission_bits(model));
}

fn permission_bits(model: &Metadata) -> u32 {
    model.mode() & PERMISSIONS
}

pub(crate) fn become_like(file: &File, model: &Metadata) -> Result<()> {
    let refused = |error: io::Error| Error::os("set the permissions of a file")(error);
    let now = file.metadata().map_err(refused)?;
    if (now.uid(), now.gid()) != (model.uid(), model.gid()) {
        fchown(file, Some(model.uid()), Some(model.gid())).map_err(|error| match error.kind() {
            io::ErrorKind::PermissionDenied => Error::NotPermitted {
                what: "giving a file to the owner and the group of the one it replaces",
                needs: "root, or a file of one's own",
            },
            _ => refused(error),
        })?;
    }
    // After the owner: a change of the owner clears set-user-ID.
    file.set_permissions(model.permissions()).map_err(refused)
}

/// `None` if /proc is not mounted.
pub(crate) fn path_of_descriptor(file: &File) -> Option<PathBuf> {
    let path = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
    path.exists().then_some(path)
}

pub(crate) fn duplicate_input() -> io::Result<File> {
    io::stdin().as_fd().try_clone_to_owned().map(File::from)
}

pub(crate) fn duplicate_output() -> io::Result<File> {
    io::stdout().as_fd().try_clone_to_owned().map(File::from)
}

pub(crate) fn is_socket(metadata: &Metadata) -> bool {
    metadata.file_type().is_socket()
}

#[expect(clippy::unnecessary_wraps, reason = "other systems do not tell")]
pub(crate) fn allocated_bytes(metadata: &Metadata) -> Option<u64> {
    // The unit of stat(2), whatever the device's block size.
    const UNIT_BYTES: u64 = 512;
    Some(metadata.blocks() * UNIT_BYTES)
}

/// File systems of the kernel whose files have no length before they are read.
const GENERATED: [libc::c_long; 10] = [
    libc::PROC_SUPER_MAGIC,
    libc::SYSFS_MAGIC,
    libc::DEBUGFS_MAGIC,
    libc::TRACEFS_MAGIC,
    libc::SECURITYFS_MAGIC,
    libc::CGROUP_SUPER_MAGIC,
    libc::CGROUP2_SUPER_MAGIC,
    libc::RDTGROUP_SUPER_MAGIC,
    // Of configfs (`fs/configfs/mount.c`) and of message queues (`ipc/mqueue.c`).
    0x6265_6570,
    0x1980_0202,
];

/// True for a regular file with blocks of its own, which a file of /proc or /sys never has.
fn has_contents(metadata: &Metadata) -> bool {
    metadata.is_file() && metadata.len() > 0 && metadata.blocks() > 0
}

pub(crate) fn believable_size(file: &File, metadata: &Metadata) -> Option<u64> {
    let len = metadata.len();
    if !metadata.is_file() {
        return None;
    }
    if has_contents(metadata) {
        return Some(len);
    }
    // A small sparse file has no blocks either: the file system tells the two apart.
    if rustix::fs::fstatfs(file).is_ok_and(|found| GENERATED.contains(&found.f_type)) {
        return None;
    }
    let has_size = len > 0 || matches!(read_at(file, &mut [0], 0), Ok(0));
    has_size.then_some(len)
}

pub(crate) fn is_at(file: &File, path: &Path) -> bool {
    is_same(file.metadata(), path.metadata())
}

pub(crate) fn is_same_file(one: &File, other: &File) -> bool {
    is_same(one.metadata(), other.metadata())
}

fn is_same(one: io::Result<Metadata>, other: io::Result<Metadata>) -> bool {
    let identity = |metadata: Metadata| (metadata.dev(), metadata.ino());
    match (one, other) {
        (Ok(one), Ok(other)) => identity(one) == identity(other),
        _ => false,
    }
}

#[expect(clippy::unnecessary_wraps, reason = "other systems have none")]
pub(crate) fn null_device() -> Result<&'static Path> {
    Ok(Path::new("/dev/null"))
}

#[expect(clippy::unnecessary_wraps, reason = "other systems have none")]
pub(crate) fn zero_device() -> Result<&'static Path> {
    Ok(Path::new("/dev/zero"))
}

pub(crate) fn allocate_range(file: &File, offset: u64, len: u64) -> Result<()> {
    fallocate(file, FallocateFlags::empty(), offset, len)
}

pub(crate) fn reserve(file: &File, offset: u64, len: u64) -> Result<()> {
    fallocate(file, FallocateFlags::KEEP_SIZE, offset, len)
}

fn fallocate(file: &File, flags: FallocateFlags, offset: u64, len: u64) -> Result<()> {
    rustix::fs::fallocate(file, flags, offset, len).map_err(|errno| match errno {
        Errno::OPNOTSUPP | Errno::NOSYS => Error::NotSupported {
            what: "allocating room for a file",
        },
        errno => Error::os("allocate room for a file")(errno),
    })
}

pub(crate) fn finds_room_by_page(file: &File) -> bool {
    rustix::fs::fstatfs(file).is_ok_and(|found| found.f_type == libc::EXT4_SUPER_MAGIC)
}

pub(crate) fn create_secret(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create_new(true).mode(0o600).open(path)
}

pub(crate) fn next_data(file: &File, offset: u64, len: u64) -> io::Result<Option<(u64, u64)>> {
    if offset >= len {
        return Ok(None);
    }
    let start = match rustix::fs::seek(file, SeekFrom::Data(offset)) {
        Ok(start) => start,
        Err(Errno::NXIO) => return Ok(None),
        Err(Errno::INVAL | Errno::OPNOTSUPP) => return Ok(Some((offset, len))),
        Err(errno) => return Err(errno.into()),
    };
    let end = rustix::fs::seek(file, SeekFrom::Hole(start))?;
    Ok((start < len).then_some((start, end.min(len))))
}

pub(crate) fn evict(file: &File) -> Result<()> {
    // The advice does not evict dirty pages.
    file.sync_all()
        .map_err(Error::os("put a file on its device"))?;
    rustix::fs::fadvise(file, 0, None, Advice::DontNeed)
        .map_err(Error::os("evict a file from the page cache"))
}

pub(crate) fn relocks() -> bool {
    true
}

pub(crate) fn tells_residency() -> bool {
    true
}

pub(crate) fn drop_page_cache() -> Result<()> {
    // 2 stands for directory entries and inodes, 3 for both.
    fs::write("/proc/sys/vm/drop_caches", "1").map_err(|error| match error.kind() {
        // In a container, even root may find it read-only or missing.
        io::ErrorKind::PermissionDenied
        | io::ErrorKind::ReadOnlyFilesystem
        | io::ErrorKind::NotFound => Error::NotPermitted {
            what: "dropping the caches of the machine",
            needs: "root, and write access to /proc/sys/vm/drop_caches",
        },
        _ => Error::os("drop the caches of the machine")(error),
    })
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Seek, SeekFrom, Write};
    use tempfile::TempDir;

    use super::*;
    use crate::block_io::{read_at, write_at};
    use crate::file::{
        ResidencyMethod, allocate_range, create, create_new, create_new_like, open_input,
        open_read, open_read_write, open_write, residency,
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
        let warm = residency(&file).unwrap();
        assert_eq!(warm.resident_bytes, LEN as u64);
        if warm.method == ResidencyMethod::Cachestat {
            assert_eq!(warm.dirty_bytes, Some(0));
        }
    }

    #[test]
    fn eviction_from_the_whole_machine_says_whether_it_could() {
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
        let mut file = match create(&path, OpenMode::Direct) {
            Ok(file) => file,
            Err(error @ Error::NotSupported { .. }) => return println!("skipped: {error}"),
            Err(error) => panic!("{error}"),
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
    fn a_file_system_without_direct_transfers_says_so() {
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
            let mut file = open_write(&path, mode).unwrap();
            // The flags of rustix do not distinguish the two.
            let flags = rustix::fs::fcntl_getfl(&file).unwrap().bits().cast_signed();
            assert_eq!(flags & libc::O_SYNC, flag);
            file.write_all(b"x").unwrap();
        }
        let mut file = open_read_write(&path, OpenMode::Plain).unwrap();
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        assert_eq!(text, "xbc");
    }

    #[test]
    fn a_new_file_never_replaces_one() {
        let dir = dir();
        let path = dir.path().join("file");
        fs::write(&path, b"abc").unwrap();
        let error = create_new(&path, OpenMode::Plain).unwrap_err();
        assert!(error.to_string().contains("file"), "{error}");
        assert_eq!(fs::read(&path).unwrap(), b"abc");
        create(&path, OpenMode::Plain).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"");
        open_read(&dir.path().join("none"), OpenMode::Plain).unwrap_err();
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
    fn holes_are_told_from_data() {
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
    fn allocated_room_is_part_of_the_file() {
        let dir = dir();
        let file = create_new(&dir.path().join("file"), OpenMode::Plain).unwrap();
        match allocate_range(&file, 0, LEN as u64) {
            Ok(()) => assert_eq!(file.metadata().unwrap().len(), LEN as u64),
            Err(error @ Error::NotSupported { .. }) => return println!("skipped: {error}"),
            Err(error) => panic!("{error}"),
        }
        let full = allocate_range(&file, 0, 1 << 60).unwrap_err();
        assert!(full.io_error().is_some(), "{full}");
    }

    #[test]
    fn only_a_pipe_that_was_opened_without_waiting_stays_so() {
        let dir = dir();
        let (pipe, file) = (dir.path().join("pipe"), dir.path().join("file"));
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
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
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
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
}
