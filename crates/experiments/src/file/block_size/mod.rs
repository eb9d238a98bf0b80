//! `file.block_size`: how large the blocks should be in which files are read and written.

mod findings;
mod pass;
mod points;

use super::page_cache::{self, Chiller, Evidence};
use super::scratch_file::{NewFile, ScratchFile};
use super::{BLOCK_SIZE, FILE_SIZE, MOST_BYTES_PER_SECOND};
use instrument::experiment::{Better, Definition, Experiment, Isolation, MeasureError, Metric};
use instrument::figure::Figure;
use instrument::finding::Finding;
use instrument::need::Need;
use instrument::plan::Setting;
use instrument::point::{Axis, Point};
use instrument::quantity::{Bytes, Unit};
use instrument::results::Results;
use instrument::sampler::Sampler;
use platform::memory::{Mapping, PageSize};

pub(super) use findings::{USUAL_BLOCK, best, best_below, cliff};
pub(super) use pass::Pass;

/// How large the blocks should be in which files are read and written.
pub(crate) struct BlockSize;

pub(super) const PASS: &str = "pass";

pub(super) const THROUGHPUT: &str = "throughput";

impl Experiment for BlockSize {
    fn id(&self) -> &'static str {
        "file.block_size"
    }

    fn definition(&self) -> Definition {
        Definition {
            id: self.id().into(),
            title: "File throughput by block size".into(),
            question: "In blocks of what size should files be read and written?".into(),
            method: "A scratch file of pseudo-random bytes is gone through from its start to its \
                     end by read or write calls of one block each, with one buffer whose pages are \
                     there beforehand; opening and closing are left out. Throughput is the file's \
                     size over the wall time. Each pass has a file of its own, and all but the \
                     last find it made: once in a run, and put on the device. Write: over what is \
                     there, into the page cache; room was found before, and nothing is waited for \
                     on the device, so the time of writing back is not in it. Read warm: the whole file is in the page cache. \
                     Read cold: none of it is; the file is evicted before each sample, by advice on \
                     that file where that works, else by dropping the caches of the machine. What \
                     is in the page cache is asked for before each sample and is on the record as \
                     `resident`; a sample in the wrong state is not taken. `from_storage` is what \
                     the kernel says this process had read from a block device during the pass. \
                     Cold is what this system calls cold: a disk, or the host of a virtual one, may \
                     still have the data in memory of its own. A file smaller than the processor's last cache is read \
                     warm out of that. Write new: into a file that is empty before, so that the \
                     system must find room in the page cache; nothing is waited for on the device. \
                     The file is made before the time is taken and removed after. A process writes \
                     one only: a second would find the memory of the first, which costs less to \
                     take. The same holds where another program has just given memory back, so that \
                     processes may differ much."
                .into(),
            source: "Reports A and B, sections 3 and 4".into(),
            axes: vec![
                Axis::bytes(BLOCK_SIZE, "block size"),
                Axis::choice(PASS, "pass"),
                Axis::bytes(FILE_SIZE, "file size"),
            ],
            metrics: [Metric::new(
                THROUGHPUT,
                "throughput",
                Unit::BytesPerSecond,
                Better::Higher,
            )
            .bounded(MOST_BYTES_PER_SECOND)]
            .into_iter()
            .chain(Evidence::PLAIN.metrics(""))
            .collect(),
            isolation: Isolation::FreshProcess,
        }
    }

    fn needs(&self, setting: &Setting) -> Vec<Need> {
        let files = Bytes(Pass::ALL.len() as u64 * points::file_size(setting));
        vec![Need::Space(files), Need::Memory(files)]
    }

    fn points(&self, setting: &Setting) -> Vec<Point> {
        points::all(setting)
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let pass = Pass::named(point.choice(PASS)?)?;
        let len = point.number(FILE_SIZE)?;
        let block_size = point.number(BLOCK_SIZE)? as usize;
        let path = sampler
            .scratch()
            .join(format!("{} {}", self.id(), pass.name()));
        let mut buffer = Mapping::anonymous(block_size, PageSize::Base)?;
        kernels::write(buffer.as_mut_slice(), sampler.seed());
        let block = buffer.as_mut_slice();
        if pass == Pass::WriteNew {
            let file = NewFile::make(&path, len)?;
            return sampler.single(THROUGHPUT, len as f64, || file.write_through(block));
        }
        let file = ScratchFile::open_or_make(&path, len, sampler.seed())?;
        let mut chiller = Chiller::new(&file.file, &file.path)?;
        let prepare = || {
            let resident = match pass {
                Pass::ReadCold => chiller.chill(),
                _ => page_cache::warm(&file),
            }?;
            file.wind_back()?;
            Ok(resident)
        };
        let body = || match pass {
            Pass::Write => file.write_through(block),
            _ => file.read_through(block),
        };
        Evidence::PLAIN.of_passes(sampler, THROUGHPUT, len as f64, prepare, body)?;
        match chiller.remark() {
            Some(remark) => sampler.remark(remark),
            None => Ok(()),
        }
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        findings::all(results)
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        findings::figures(results)
    }
}

#[cfg(test)]
mod tests {
    use super::{BLOCK_SIZE, BlockSize, FILE_SIZE, PASS, THROUGHPUT};
    use crate::file::page_cache::Evidence;
    use crate::file::testing::{can_be_cold, scratch};
    use crate::made_up::{count, measure, setting, values};
    use instrument::experiment::Experiment;
    use instrument::need::Need;
    use instrument::plan::Profile;
    use instrument::point::Point;
    use instrument::quantity::Bytes;
    use platform::storage::Storage;
    use tempfile::TempDir;

    const LEN: u64 = 1 << 20;

    fn point(pass: &str) -> Point {
        Point::new()
            .with(BLOCK_SIZE, 4096)
            .with(PASS, pass)
            .with(FILE_SIZE, LEN)
    }

    /// The values of `resident` in the samples of one pass, and its remarks.
    fn residents(scratch: &TempDir, pass: &str) -> (Vec<f64>, Vec<String>) {
        let point = point(pass);
        let (samples, remarks) = measure(&BlockSize, &point, scratch.path()).expect(pass);
        assert_eq!(
            count(&samples, THROUGHPUT),
            count(&samples, Evidence::PLAIN.resident)
        );
        assert!(count(&samples, THROUGHPUT) >= 1);
        let values = values(&samples, Evidence::PLAIN.resident);
        (values, remarks)
    }

    #[test]
    fn warm_is_resident_and_cold_is_not() {
        let scratch = scratch();
        let (warm, _) = residents(&scratch, "read warm");
        assert!(warm.iter().all(|share| *share >= 1.0), "{warm:?}");
        let (written, _) = residents(&scratch, "write");
        assert!(written.iter().all(|share| *share >= 1.0), "{written:?}");

        if !can_be_cold(scratch.path()) {
            return;
        }
        for _ in 0..2 {
            let (cold, remarks) = residents(&scratch, "read cold");
            assert!(cold.iter().all(|share| *share < 0.001), "{cold:?}");
            assert!(remarks[0].contains("evicted"), "{remarks:?}");
        }
    }

    #[test]
    fn a_process_writes_one_new_file_and_leaves_nothing() {
        let scratch = scratch();
        for _ in 0..2 {
            let point = point("write new");
            let (samples, remarks) =
                measure(&BlockSize, &point, scratch.path()).expect("there is room");
            assert_eq!(count(&samples, THROUGHPUT), 1);
            assert_eq!((samples.len(), remarks.len()), (1, 0));
            let left = std::fs::read_dir(scratch.path()).expect("it is there");
            assert_eq!(left.count(), 0);
        }
    }

    #[test]
    fn there_must_be_room_for_a_file_of_each_pass() {
        let setting = setting(Profile::Quick);
        let needs = BlockSize.needs(&setting);
        let files = Bytes(4 * (64 << 20));
        assert_eq!(needs, [Need::Space(files), Need::Memory(files)]);
    }

    #[test]
    fn memory_cannot_be_made_cold_and_says_so() {
        let shared_memory = std::path::Path::new("/dev/shm");
        let is_memory = Storage::behind(shared_memory).is_ok_and(|storage| storage.is_memory());
        let Ok(scratch) = tempfile::tempdir_in(shared_memory) else {
            println!("skipped: there is no file system in memory to write to");
            return;
        };
        if !is_memory {
            println!("skipped: /dev/shm is not memory here");
            return;
        }
        let point = point("read cold");
        let error = measure(&BlockSize, &point, scratch.path()).expect_err("it stays in memory");
        assert!(error.to_string().contains("cannot be made cold"), "{error}");
        assert!(error.to_string().contains("tmpfs"), "{error}");
    }

    #[test]
    fn a_pass_of_another_version_is_refused() {
        let scratch = scratch();
        let error = measure(&BlockSize, &point("erase"), scratch.path()).expect_err("no such pass");
        assert_eq!(error.to_string(), "there is no pass 'erase'");
    }
}
