//! The calls, and how each is done once.

use super::call::Call;
use super::definition::{FILE_BYTES, LATENCY, MALLOC_BYTES, MAP_BYTES, RATE};
use crate::fresh_place::FreshPlace;
use crate::prelude::*;
use kernels::levels::Level;
use platform::call::{self, CallPath, SignalProbe};
use platform::file::{OpenMode, create, null_device};
use platform::memory::{Mapping, PageSize};
use std::fs::File;
use std::hint::black_box;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Measures `call`, repeated by a loop of one optimisation level.
pub(super) fn measure(
    call: Call,
    level: Level,
    sampler: &mut Sampler<'_>,
) -> Result<(), MeasureError> {
    let path = ScratchPath::new(sampler.scratch(), "process.calls")?;
    let name = &path.of_calls;
    match call {
        Call::Getpid | Call::QueryProcess => {
            time(level, sampler, || Ok(call::getpid_syscall().map(drop)?))
        }
        Call::Clock | Call::QueryCounter => time(level, sampler, || Ok(call::clock_gettime()?)),
        Call::ClockSyscall | Call::QueryCounterSyscall => {
            time(level, sampler, || Ok(call::clock_gettime_syscall()?))
        }
        Call::Read | Call::ReadFile => {
            let mut file = path.make_file()?;
            time(level, sampler, || read_byte(&mut file))
        }
        Call::Write | Call::WriteFile => {
            let null = File::options()
                .write(true)
                .open(null_device()?)
                .map_err(MeasureError::system("open the null device"))?;
            time(level, sampler, || Ok(call::write_byte(&null)?))
        }
        Call::Seek | Call::SetFilePointer => {
            let file = path.make_file()?;
            time(level, sampler, || Ok(call::seek(&file).map(drop)?))
        }
        Call::Stat | Call::GetFileAttributes => {
            path.make_file()?;
            time(level, sampler, || Ok(call::stat(name)?))
        }
        Call::Open | Call::CreateFile => {
            path.make_file()?;
            time(level, sampler, || Ok(call::open_close(name)?))
        }
        Call::Fopen => {
            path.make_file()?;
            time(level, sampler, || Ok(call::fopen_fclose(name)?))
        }
        Call::Create | Call::CreateDeleteFile => {
            let parent = sampler.scratch().join("process.calls places");
            let place = FreshPlace::find(parent, sampler.seed())?;
            let path = ScratchPath::new(place.path(), "file")?;
            let name = &path.of_calls;
            time(level, sampler, || Ok(call::create_delete(name)?))
        }
        Call::FopenWrite => {
            path.make_empty()?;
            time(level, sampler, || Ok(call::fopen_write_fclose(name)?))
        }
        Call::OpenSync | Call::CreateFileThrough => {
            path.make_empty()?;
            time(level, sampler, || Ok(call::open_sync_close(name)?))
        }
        Call::CreateSync | Call::CreateDeleteFileThrough => {
            let parent = sampler.scratch().join("process.calls places");
            let place = FreshPlace::find(parent, sampler.seed())?;
            let path = ScratchPath::new(place.path(), "file")?;
            let name = &path.of_calls;
            time(level, sampler, || Ok(call::create_sync_delete(name)?))
        }
        Call::Map | Call::VirtualAlloc => {
            // The kernel places the next mapping below this one. This one is in base pages only, so the
            // kernel cannot merge the two, as it would with ordinary memory of the C library.
            let _neighbour = Mapping::anonymous(MAP_BYTES, PageSize::Base)?;
            time(level, sampler, || Ok(call::map_unmap(MAP_BYTES)?))
        }
        Call::Malloc => time(level, sampler, || {
            Ok(call::malloc_free(black_box(MALLOC_BYTES))?)
        }),
        Call::SignalInstall => {
            let probe = SignalProbe::new()?;
            time(level, sampler, || Ok(probe.install()?))
        }
        Call::SignalDeliver => {
            let probe = SignalProbe::new()?;
            time(level, sampler, || Ok(probe.deliver()?))
        }
        Call::Thread | Call::CreateThread => {
            time(level, sampler, || Ok(call::thread_create_join()?))
        }
        Call::Vfork => time(level, sampler, || Ok(call::vfork_exit_wait()?)),
        Call::Fork => time(level, sampler, || Ok(call::fork_exit_wait()?)),
        Call::Spawn | Call::CreateProcess => {
            let program = call::program_that_does_nothing()?;
            time(level, sampler, || Ok(call::spawn_wait(&program)?))
        }
        Call::ForkExec => {
            let program = call::program_that_does_nothing()?;
            time(level, sampler, || Ok(call::fork_exec_wait(&program)?))
        }
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

/// Reads the next byte, or seeks back to the start at the end of the file.
#[inline]
fn read_byte(file: &mut File) -> Result<(), MeasureError> {
    if black_box(call::read_byte(file)?).is_none() {
        file.seek(SeekFrom::Start(0))
            .map_err(MeasureError::system("seek to the start of the file"))?;
    }
    Ok(())
}

/// A path in the scratch directory in both of its forms.
struct ScratchPath {
    path: PathBuf,
    of_calls: CallPath,
}

impl ScratchPath {
    fn new(scratch: &Path, name: &str) -> Result<Self, MeasureError> {
        let path = scratch.join(name);
        let of_calls = CallPath::new(&path)?;
        Ok(Self { path, of_calls })
    }

    fn make_empty(&self) -> Result<(), MeasureError> {
        create(&self.path, OpenMode::Plain)?;
        Ok(())
    }

    fn make_file(&self) -> Result<File, MeasureError> {
        let mut file = create(&self.path, OpenMode::Plain)?;
        file.write_all(&[1; FILE_BYTES as usize])
            .and_then(|()| file.seek(SeekFrom::Start(0)))
            .map_err(MeasureError::system("fill a scratch file"))?;
        Ok(file)
    }
}
