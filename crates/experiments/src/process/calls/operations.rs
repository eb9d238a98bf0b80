//! The calls, and how each is done once.

use super::{LATENCY, RATE};
use instrument::experiment::MeasureError;
use instrument::sampler::Sampler;
use kernels::levels::Level;
use platform::call::{self, SignalProbe};
use platform::file::{OpenMode, create};
use platform::memory::{Mapping, PageSize};
use std::ffi::{CStr, CString};
use std::fs::File;
use std::hint::black_box;
use std::io::{ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

pub(in crate::process) const GETPID: &str = "getpid";
pub(in crate::process) const CLOCK: &str = "clock_gettime";
pub(in crate::process) const CLOCK_SYSCALL: &str = "clock_gettime, system call";
pub(super) const READ: &str = "read 1 byte";
pub(super) const WRITE: &str = "write 1 byte";
pub(super) const SEEK: &str = "lseek";
pub(super) const STAT: &str = "stat";
pub(in crate::process) const OPEN: &str = "open+close";
pub(in crate::process) const FOPEN: &str = "fopen+fclose";
pub(super) const CREATE: &str = "create+delete";
pub(super) const MAP: &str = "mmap+munmap";
pub(in crate::process) const MALLOC: &str = "malloc+free";
pub(super) const SIGNAL_INSTALL: &str = "signal, install";
pub(super) const SIGNAL_DELIVER: &str = "signal, deliver";
pub(super) const THREAD: &str = "thread create+join";
pub(super) const VFORK: &str = "vfork+exit+wait";
pub(in crate::process) const FORK: &str = "fork+exit+wait";
pub(in crate::process) const SPAWN: &str = "posix_spawn+wait";
pub(in crate::process) const FORK_EXEC: &str = "fork+exec+wait";

/// All of them, the kindred side by side.
pub(super) const CALLS: [&str; 19] = [
    GETPID,
    CLOCK,
    CLOCK_SYSCALL,
    READ,
    WRITE,
    SEEK,
    STAT,
    OPEN,
    FOPEN,
    CREATE,
    MAP,
    MALLOC,
    SIGNAL_INSTALL,
    SIGNAL_DELIVER,
    THREAD,
    VFORK,
    FORK,
    SPAWN,
    FORK_EXEC,
];

/// The calls of the report, which it measured with and without optimisation.
pub(super) const REPORTED: [&str; 6] = [GETPID, FOPEN, OPEN, CREATE, MALLOC, FORK];

/// Bytes taken from the allocator, as in the report.
pub(super) const MALLOC_BYTES: usize = 4;
/// Bytes mapped: a page of the smallest size that is common.
pub(super) const MAP_BYTES: usize = 4096;
/// Length of the file that is read byte by byte: winding it back costs two calls in this many.
pub(super) const FILE_BYTES: u64 = 16 << 10;

/// Where a program that does nothing may lie.
const NOTHING: [&CStr; 2] = [c"/bin/true", c"/usr/bin/true"];

/// Measures `call`, repeated by a loop of one optimisation level.
pub(super) fn measure(
    call: &str,
    level: Level,
    sampler: &mut Sampler<'_>,
) -> Result<(), MeasureError> {
    let path = ScratchPath::new(sampler.scratch(), "process.calls")?;
    let name = path.terminated.as_c_str();
    match call {
        GETPID => time(level, sampler, || Ok(call::getpid_syscall().map(drop)?)),
        CLOCK => time(level, sampler, || Ok(call::clock_gettime()?)),
        CLOCK_SYSCALL => time(level, sampler, || Ok(call::clock_gettime_syscall()?)),
        READ => {
            let mut file = path.make_file()?;
            time(level, sampler, || read_byte(&mut file))
        }
        WRITE => {
            let null = File::options()
                .write(true)
                .open("/dev/null")
                .map_err(MeasureError::system("open /dev/null"))?;
            time(level, sampler, || Ok(call::write_byte(&null)?))
        }
        SEEK => {
            let file = path.make_file()?;
            time(level, sampler, || Ok(call::seek(&file).map(drop)?))
        }
        STAT => {
            path.make_file()?;
            time(level, sampler, || Ok(call::stat(name)?))
        }
        OPEN => {
            path.make_file()?;
            time(level, sampler, || Ok(call::open_close(name)?))
        }
        FOPEN => {
            path.make_file()?;
            time(level, sampler, || Ok(call::fopen_fclose(name)?))
        }
        CREATE => {
            path.make_sure_nothing_is_there()?;
            time(level, sampler, || Ok(call::create_delete(name)?))
        }
        MAP => {
            // The next mapping goes below this one, which is in base pages only: the kernel cannot
            // merge the two, as it would with ordinary memory of the C library or the program.
            let _neighbour = Mapping::anonymous(MAP_BYTES, PageSize::Base)?;
            time(level, sampler, || Ok(call::map_unmap(MAP_BYTES)?))
        }
        MALLOC => time(level, sampler, || {
            Ok(call::malloc_free(black_box(MALLOC_BYTES))?)
        }),
        SIGNAL_INSTALL => {
            let probe = SignalProbe::new()?;
            time(level, sampler, || Ok(probe.install()?))
        }
        SIGNAL_DELIVER => {
            let probe = SignalProbe::new()?;
            time(level, sampler, || Ok(probe.deliver()?))
        }
        THREAD => time(level, sampler, || Ok(call::thread_create_join()?)),
        VFORK => time(level, sampler, || Ok(call::vfork_exit_wait()?)),
        FORK => time(level, sampler, || Ok(call::fork_exit_wait()?)),
        SPAWN => {
            let program = program_that_does_nothing()?;
            time(level, sampler, || Ok(call::spawn_wait(program)?))
        }
        FORK_EXEC => {
            let program = program_that_does_nothing()?;
            time(level, sampler, || Ok(call::fork_exec_wait(program)?))
        }
        other => Err(MeasureError::Unsupported(format!(
            "there is no call '{other}'"
        ))),
    }
}

/// Times an operation: its rate in a loop of this level, and, once for all levels, its latency, in
/// which there is no loop.
fn time(
    level: Level,
    sampler: &mut Sampler<'_>,
    mut operation: impl FnMut() -> Result<(), MeasureError>,
) -> Result<(), MeasureError> {
    sampler.repeat(RATE, 1.0, |iterations| {
        let mut failure = None;
        let mut went_well = || match operation() {
            Ok(()) => true,
            Err(error) => {
                failure = Some(error);
                false
            }
        };
        level.repeat(iterations, &mut went_well);
        failure.map_or(Ok(()), Err)
    })?;
    if level == Level::O3 {
        sampler.latencies(LATENCY, operation)?;
    }
    Ok(())
}

/// Reads the next byte, or winds back at the end.
#[inline]
fn read_byte(file: &mut File) -> Result<(), MeasureError> {
    if black_box(call::read_byte(file)?).is_none() {
        file.seek(SeekFrom::Start(0))
            .map_err(MeasureError::system("wind back the file"))?;
    }
    Ok(())
}

fn program_that_does_nothing() -> Result<&'static CStr, MeasureError> {
    let is_there = |name: &&CStr| name.to_str().is_ok_and(|name| Path::new(name).exists());
    NOTHING.into_iter().find(is_there).ok_or_else(|| {
        MeasureError::Unsupported(
            "there is no program that does nothing: neither /bin/true nor /usr/bin/true".into(),
        )
    })
}

/// A path in the scratch directory in both of its forms.
struct ScratchPath {
    path: PathBuf,
    terminated: CString,
}

impl ScratchPath {
    fn new(scratch: &Path, name: &str) -> Result<Self, MeasureError> {
        let path = scratch.join(name);
        let terminated = CString::new(path.as_os_str().as_encoded_bytes())
            .map_err(MeasureError::system("name a scratch file"))?;
        Ok(Self { path, terminated })
    }

    fn make_file(&self) -> Result<File, MeasureError> {
        let mut file = create(&self.path, OpenMode::Plain)?;
        file.write_all(&[1; FILE_BYTES as usize])
            .and_then(|()| file.seek(SeekFrom::Start(0)))
            .map_err(MeasureError::system("fill a scratch file"))?;
        Ok(file)
    }

    fn make_sure_nothing_is_there(&self) -> Result<(), MeasureError> {
        match std::fs::remove_file(&self.path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(MeasureError::system("remove a scratch file")(error))
            }
            _ => Ok(()),
        }
    }
}
