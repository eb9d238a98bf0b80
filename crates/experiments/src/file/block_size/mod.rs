//! `file.block_size`: how large the blocks should be in which files are read and written.

mod curves;
mod findings;

pub(super) use curves::{Best, best, best_below, cliff, curve};

use super::page_cache::{CacheMetrics, Chiller};
use super::scratch_file::{ScratchFile, Walk};
use super::{
    BLOCK_SIZE, By, FILE_SIZE, THROUGHPUT_OF_PIECES as THROUGHPUT, by_profile, like, powers, room,
    whole_blocks,
};
use crate::file;
use crate::prelude::*;
use platform::memory::{Mapping, PageSize};

pub(super) const PASS: AxisOf<Pass> = AxisOf::new("pass", "pass");

/// A way through the file.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pass {
    /// Over existing data.
    Write,
    ReadWarm,
    ReadCold,
    /// Into a file that is empty before.
    WriteNew,
}

/// The block size of programs that do not choose one.
pub(super) const USUAL_BLOCK: Bytes = Bytes(4096);

pub(crate) struct BlockSize;

pub(super) const DESIGN: Design = Design {
    id: "file.block_size",
    title: "File throughput by block size",
    question: "Which block size should programs use to read and write files?",
    method: "A scratch file of pseudo-random bytes is read or written from start to end, by read \
             or write calls of one block each. The buffer is one block whose pages are mapped \
             beforehand. Opening and closing are not timed. Throughput is bytes over wall time: of \
             the whole file where it is cold or new, else of short pieces of it, one after the \
             other, which together go through the file. Each pass has a file of its own. It is \
             made once in a run and synced to the device, except for write new. Write: \
             overwrites the \
             file in the page cache. Its space is allocated before, and nothing waits for the \
             device, so writeback is not timed. Read warm: the whole file is in the page cache. If \
             some of it is missing, all of it is evicted and read in again, since the kernel \
             keeps pages that come back one by one in smaller pieces, which cost more. \
             Read cold: none of it is. The file is \
             evicted before each sample, by advice on that file where that works, else by dropping \
             the page cache of the machine. Write new: writes a file that is empty before, so the \
             kernel must also find pages for it in the page cache. Nothing waits for the device. \
             The file is created before the clock starts and removed afterwards. A process writes \
             only one such file: a second one would get the memory of the first, which is cheaper \
             to take. Memory that another program has just freed is cheaper too, so processes may \
             differ much. The kernel is asked before the samples how much of the file is in the \
             page cache: that is `resident`. A sample in the wrong state is not taken. \
             `from_storage` is the share that the kernel says this process read from a block \
             device during the sample. Cold means cold to this system: a disk, or the host of a \
             virtual one, may still hold the data in a cache of its own. A file smaller than the \
             last-level cache is read warm from that cache.",
    source: "Reports A and B, sections 3 and 4",
    axes: &[
        BLOCK_SIZE.open(64, 1 << 30).in_steps_of(64),
        PASS.axis(),
        FILE_SIZE.open(1, 1 << 40),
    ],
    metrics: &[
        THROUGHPUT,
        CacheMetrics::PLAIN.resident,
        CacheMetrics::PLAIN.from_storage,
    ],
};

impl Experiment for BlockSize {
    fn design(&self) -> &'static Design {
        &DESIGN
    }

    fn needs(&self, setting: &Setting) -> Vec<Need> {
        room(Pass::ALL.len() as u64 * file_size(setting))
    }

    /// All passes, each with its block sizes.
    fn points(&self, setting: &Setting) -> Vec<Point> {
        let file_size = file_size(setting);
        let of_new_files = &block_sizes_of_new_files(setting.profile);
        let sizes = block_sizes(setting.profile).into_iter();
        let with_passes = |size| {
            let point = Point::new().at(BLOCK_SIZE, Bytes(size));
            let is_wanted =
                move |pass: &&Pass| **pass != Pass::WriteNew || of_new_files.contains(&size);
            let passes = Pass::ALL.iter().filter(is_wanted);
            passes.map(move |pass| {
                let point = point.clone().at(PASS, *pass);
                point.at(FILE_SIZE, Bytes(file_size))
            })
        };
        let sizes = sizes.filter(|size| *size <= file_size);
        sizes.flat_map(with_passes).collect()
    }

    fn shares_process(&self, _point: &Point) -> bool {
        true
    }

    fn component(&self, point: &Point, _metric: &str) -> Option<Component> {
        let is_cold = point.level(PASS) == Ok(Pass::ReadCold);
        is_cold.then_some(Component::Disk)
    }

    fn counterpart(&self, point: &Point, _metric: &str, _other: System) -> Option<Counterpart> {
        Some(match point.level(PASS).ok()? {
            Pass::ReadCold => like(point, By::COLD),
            Pass::Write | Pass::ReadWarm | Pass::WriteNew => like(point, By::OWN_CALLS),
        })
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let pass = point.level(PASS)?;
        let Bytes(len) = point.level(FILE_SIZE)?;
        let block_size = point.level(BLOCK_SIZE)?.0 as usize;
        whole_blocks(len, block_size as u64)?;
        let path = sampler.scratch().join(format!("{} {pass}", self.id()));
        let mut buffer = Mapping::anonymous(block_size, PageSize::Base)?;
        kernels::write(buffer.as_mut_slice(), sampler.seed());
        let block = buffer.as_mut_slice();
        if pass == Pass::WriteNew {
            let file = ScratchFile::make_empty(&path, len)?;
            let written = sampler.single(THROUGHPUT, len as f64, || file.write_through(block));
            let removed = std::fs::remove_file(&path);
            return written.and(removed.map_err(MeasureError::system("remove the scratch file")));
        }
        let mut file = ScratchFile::open_or_make(&path, len, sampler.seed())?;
        if pass != Pass::ReadCold {
            let mut walk = Walk::new(&file);
            let metrics = [(THROUGHPUT, block_size as f64)];
            return CacheMetrics::PLAIN.of_legs(sampler, &metrics, &file, |blocks| match pass {
                Pass::Write => walk.write(blocks, block),
                _ => walk.read(blocks, block),
            });
        }
        let mut chiller = Chiller::new(&file)?;
        let (pass, cold) = ((THROUGHPUT, len as f64), (&mut chiller, &mut file));
        CacheMetrics::PLAIN.of_cold_passes(sampler, pass, cold, |file| file.read_through(block))?;
        chiller.remark_on(sampler)
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        findings::all(results)
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        findings::figures(results)
    }
}

/// From here on, longer profiles look between the powers of two.
const FINE_FROM: u64 = 4 * KIB;

/// The size of the file that each pass goes through, in bytes: a power of two.
fn file_size(setting: &Setting) -> u64 {
    file::file_size(
        setting,
        Pass::ALL.len() as u64,
        [64 * MIB, 256 * MIB, 1024 * MIB],
    )
}

/// Those of [`block_sizes`] in which new files are written: fewer, since each sample takes a process
/// of its own.
fn block_sizes_of_new_files(profile: Profile) -> Vec<u64> {
    let usual = 4 * KIB;
    match profile {
        Profile::Quick => vec![usual, 64 * KIB, MIB, 4 * MIB],
        Profile::Standard => powers(usual, 16 * MIB).collect(),
        Profile::Thorough => powers(usual, 64 * MIB).collect(),
    }
}

fn block_sizes(profile: Profile) -> Vec<u64> {
    if profile == Profile::Quick {
        let by_fours = powers(KIB, 256 * KIB).step_by(2);
        return by_fours.chain([512 * KIB, MIB, 4 * MIB]).collect();
    }
    let (smallest, largest) =
        by_profile(profile, [(KIB, 4 * MIB), (512, 16 * MIB), (256, 64 * MIB)]);
    let between = |size: u64| (size >= FINE_FROM && size < largest).then_some(size / 2 * 3);
    powers(smallest, largest)
        .flat_map(|size| [Some(size), between(size)])
        .flatten()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::SMALLEST_FILE;
    use crate::file::testing::{can_be_cold, scratch};
    use crate::made_up::{count, measure, setting, values};
    use platform::storage::Storage;
    use tempfile::TempDir;

    fn point(pass: Pass) -> Point {
        Point::new()
            .at(BLOCK_SIZE, Bytes(4096))
            .at(PASS, pass)
            .at(FILE_SIZE, Bytes(1 << 20))
    }

    /// The values of `resident` in the samples of one pass, and its remarks.
    fn residents(scratch: &TempDir, pass: Pass) -> (Vec<f64>, Vec<String>) {
        let point = point(pass);
        let (samples, remarks) = measure(&BlockSize, &point, scratch.path())
            .unwrap_or_else(|error| panic!("{pass}: {error}"));
        assert_eq!(
            count(&samples, THROUGHPUT),
            count(&samples, CacheMetrics::PLAIN.resident)
        );
        assert!(count(&samples, THROUGHPUT) >= 1);
        let values = values(&samples, CacheMetrics::PLAIN.resident);
        (values, remarks)
    }

    #[test]
    fn warm_is_resident_and_cold_is_not() {
        let scratch = scratch();
        let (warm, _) = residents(&scratch, Pass::ReadWarm);
        assert!(warm.iter().all(|share| *share >= 1.0), "{warm:?}");
        let (written, _) = residents(&scratch, Pass::Write);
        assert!(written.iter().all(|share| *share >= 1.0), "{written:?}");

        if !can_be_cold(scratch.path()) {
            return;
        }
        for _ in 0..2 {
            let (cold, remarks) = residents(&scratch, Pass::ReadCold);
            assert!(cold.iter().all(|share| *share < 0.001), "{cold:?}");
            assert!(remarks[0].contains("evicted"), "{remarks:?}");
        }
    }

    #[test]
    fn a_process_writes_one_new_file_and_leaves_nothing() {
        let scratch = scratch();
        let point = point(Pass::WriteNew);
        let killed = scratch.path().join("file.block_size write new");
        std::fs::write(killed, "what a killed process left").expect("there is room");
        for _ in 0..2 {
            let (samples, remarks) =
                measure(&BlockSize, &point, scratch.path()).expect("there is room");
            assert_eq!(count(&samples, THROUGHPUT), 1);
            assert_eq!((samples.len(), remarks.len()), (1, 0));
            let left = std::fs::read_dir(scratch.path()).expect("it is there");
            assert_eq!(left.count(), 0);
        }
    }

    #[test]
    fn a_file_in_memory_cannot_be_made_cold() {
        let Some(shared_memory) = platform::directory::in_memory() else {
            println!("skipped: this system keeps no directory in memory");
            return;
        };
        let is_memory = Storage::behind(shared_memory).is_ok_and(|storage| storage.is_memory());
        let Ok(scratch) = tempfile::tempdir_in(shared_memory) else {
            println!("skipped: there is no file system in memory to write to");
            return;
        };
        if !is_memory {
            println!("skipped: {} is not memory here", shared_memory.display());
            return;
        }
        let point = point(Pass::ReadCold);
        let error = measure(&BlockSize, &point, scratch.path()).expect_err("it stays in memory");
        assert!(error.to_string().contains("cannot be made cold"), "{error}");
        assert!(error.to_string().contains("tmpfs"), "{error}");
    }

    #[test]
    fn quick_takes_powers_of_two_and_longer_profiles_look_between() {
        let quick = block_sizes(Profile::Quick);
        assert_eq!((quick[0], quick[quick.len() - 1]), (KIB, 4 * MIB));
        assert!(quick.iter().all(|size| size.is_power_of_two()));
        let standard = block_sizes(Profile::Standard);
        assert!(standard.contains(&6144) && standard.last() == Some(&(16 * MIB)));
        assert!(standard.is_sorted());
    }

    #[test]
    fn new_files_are_written_in_sizes_that_the_other_passes_have_and_in_the_largest() {
        for profile in [Profile::Quick, Profile::Standard, Profile::Thorough] {
            let (all_points, new) = (block_sizes(profile), block_sizes_of_new_files(profile));
            assert!(new.iter().all(|size| all_points.contains(size)), "{new:?}");
            assert_eq!(new.first(), Some(&(4 * KIB)));
            assert_eq!(new.last(), all_points.last());
        }
    }

    #[test]
    fn no_block_is_larger_than_the_file() {
        let none = Setting {
            free_bytes: 0,
            ..setting(Profile::Thorough)
        };
        let points = BlockSize.points(&none).into_iter();
        let blocks = points.map(|point| point.level(BLOCK_SIZE));
        assert!(blocks.flatten().all(|size| size <= Bytes(SMALLEST_FILE)));
    }
}
