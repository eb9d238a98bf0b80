//! `file.remote`: a directory on another machine against one on this.

use super::{CHUNK_SIZE, THROUGHPUT, by_profile, powers};
use crate::estimates::{certain_if, found, grade, ratio};
use crate::figures::{curves, lines, logarithmic};
use crate::lines::{bytes_in, line_through, values};
use crate::prelude::*;
use platform::file::{OpenMode, create};
use platform::storage::Storage;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::io::Write;
use std::path::PathBuf;

pub(crate) struct Remote;

/// A directory for scratch files on another machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemoteDirectory(#[serde(with = "instrument::any_path")] pub PathBuf);

impl Given for RemoteDirectory {
    const TAKEN: Taken = Taken {
        option: "--remote",
        purpose: "names the directory that `file.remote` measures",
        example: "oscope run file.remote --remote DIR",
        without: Some(
            "it needs a directory on another machine: mount one (NFS, SMB, sshfs) and name it \
             with --remote DIR",
        ),
    };
}

pub(super) const PLACE: AxisOf<Location> = AxisOf::new("place", "place");
const WRITE: Metric = Metric::time("write", "time of a write");

/// The place of the directory.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Location {
    Local,
    Remote,
}

/// The most writes in a file, and the most bytes; there are at least two writes.
const MOST_WRITES: u64 = 32;

pub(super) const DESIGN: Design = Design {
    id: "file.remote",
    title: "Local against remote files",
    question: "How much slower are files on another machine, and what does a round trip to it \
               cost?",
    method: "A file is created with O_SYNC in the local scratch directory and in the remote one, \
             and filled by writes of one chunk. Each write waits until its data is safe, as far \
             as the file system can tell. The time of a write is that of all writes over their \
             number. Opening and closing are not timed. A straight line through the times of the \
             remote writes by chunk size gives the wait of a write of any size, and the speed of \
             the connection. A remote file system may need more than one round trip for a write \
             that waits. Reads are not measured: a second read would come from this machine's own \
             page cache.",
    source: "Report E, section 4.4",
    axes: &[PLACE.axis(), CHUNK_SIZE.open(1, 1 << 30)],
    metrics: &[WRITE, THROUGHPUT],
};

impl Experiment for Remote {
    fn design(&self) -> &'static Design {
        &DESIGN
    }

    fn needs(&self, setting: &Setting) -> Vec<Need> {
        vec![Need::Space(Bytes(most_bytes(setting.profile)))]
    }

    fn takes(&self) -> &'static [Taken] {
        const { &[RemoteDirectory::TAKEN] }
    }

    fn points(&self, setting: &Setting) -> Vec<Point> {
        let sizes = match setting.profile {
            Profile::Quick => vec![64, KIB, 16 * KIB, 128 * KIB, MIB],
            Profile::Standard => powers(64, MIB).step_by(2).collect(),
            Profile::Thorough => powers(64, 4 * MIB).step_by(2).collect(),
        };
        let places = [Point::new()].by(PLACE, Location::ALL);
        places.by(CHUNK_SIZE, sizes.into_iter().map(Bytes))
    }

    fn component(&self, point: &Point, _metric: &str) -> Option<Component> {
        let is_remote = point.level(PLACE) == Ok(Location::Remote);
        is_remote.then_some(Component::Network)
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let place = point.level(PLACE)?;
        let directory = match place {
            Location::Local => sampler.scratch().to_owned(),
            Location::Remote => remote(sampler)?,
        };
        let Bytes(chunk_size) = point.level(CHUNK_SIZE)?;
        let path = directory.join(self.id());
        let storage = Storage::behind(&directory)?;
        let writes = (most_bytes(Profile::Quick) / chunk_size).clamp(2, MOST_WRITES);
        let chunk = vec![0x5a; chunk_size as usize];
        sampler.remark(remark(place, &storage));

        let file = RefCell::new(create(&path, OpenMode::Synchronous)?);
        let metrics = [
            (WRITE, writes as f64),
            (THROUGHPUT, (writes * chunk_size) as f64),
        ];
        let prepare = |_: &mut Sampler<'_>| {
            file.replace(create(&path, OpenMode::Synchronous)?);
            Ok(())
        };
        sampler.once_as(&metrics, prepare, || {
            let mut file = file.borrow_mut();
            (0..writes)
                .try_for_each(|_| file.write_all(&chunk))
                .map_err(MeasureError::system("write the scratch file"))
        })?;
        drop(file);
        std::fs::remove_file(&path).map_err(MeasureError::system("remove the scratch file"))
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        found([small_writes(results), line(results)])
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        let figure = |metric: Metric, title, axis| {
            let axes = (CHUNK_SIZE, logarithmic(axis, metric.unit));
            let lines = lines(results, metric, CHUNK_SIZE, PLACE, &[]);
            curves(metric, title, axes, lines)
        };
        vec![
            figure(WRITE, "Time of a write that waits", "time"),
            figure(THROUGHPUT, "Throughput of writes that wait", "throughput"),
        ]
    }
}

/// The directory on another machine.
fn remote(sampler: &Sampler<'_>) -> Result<PathBuf, MeasureError> {
    let none = || unsupported("the run has no directory on another machine");
    let RemoteDirectory(directory) = sampler.given()?.ok_or_else(none)?;
    Ok(directory)
}

const fn most_bytes(profile: Profile) -> u64 {
    by_profile(profile, [2 * MIB, 2 * MIB, 8 * MIB])
}

/// The file system and the device behind the directory.
fn remark(place: Location, storage: &Storage) -> String {
    let source = storage.source.as_deref().unwrap_or("an unnamed source");
    let doubt = if place == Location::Remote && !storage.is_remote() {
        ", which is not known to be on another machine"
    } else {
        ""
    };
    format!(
        "{place}: {} from {source}, mounted on {}{doubt}",
        storage.file_system,
        storage.mount_point.display()
    )
}

fn small_writes(results: &Results) -> Option<Finding> {
    let (chunk, remote) = *along(results, Location::Remote).first()?;
    let local = results.sound(WRITE, &[PLACE.at(Location::Local), CHUNK_SIZE.at(chunk)])?;
    let times = ratio(remote, local)?;
    let extra = remote.quantity().minus(local.quantity());
    let said = sentence!(
        "An O_SYNC write of {chunk} takes {remote} in the remote directory, {times} as long as in the \
         local one."
    );
    let finding = Finding::new("round_trip", said).with_number("extra", extra);
    Some(finding.graded(grade(&times, 1.0)).weighing(0.7))
}

pub(super) fn along<'r>(results: &'r Results, place: Location) -> Vec<(Bytes, &'r Estimate)> {
    results.along(CHUNK_SIZE, WRITE, &[PLACE.at(place)])
}

/// The wait of a remote write, and the speed of the line.
fn line(results: &Results) -> Option<Finding> {
    let remote = along(results, Location::Remote);
    let line = line_through(&values(&remote))?;
    let waits = Quantity::estimated(&line.intercept, Unit::Nanoseconds);
    let speed = bytes_in(1e9, &line.slope, Unit::BytesPerSecond)?;
    let said = if waits.value > 0.0 {
        sentence!(
            "A remote O_SYNC write takes {waits} plus the time of its bytes, which travel at \
             {speed}."
        )
    } else {
        sentence!(
            "The bytes of remote O_SYNC writes travel at {speed}; a fixed cost for each write does not \
             show."
        )
    };
    let grade = certain_if(speed.interval.is_some() && waits.value > 0.0);
    let finding = Finding::new("line", said).with_number("waits", waits);
    Some(finding.graded(grade).weighing(0.6))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::testing::scratch;
    use crate::made_up::{count, measure_with, setting};
    use instrument::given::Givens;
    use instrument::plan::Plan;

    #[test]
    fn without_a_remote_directory_it_says_what_to_do() {
        let mut setting = setting(Profile::Quick);
        let plan = Plan::new(&[&Remote], &setting, None, 1);
        let reason = plan.experiments[0]
            .points
            .as_ref()
            .expect_err("none was given");
        assert!(reason.contains("--remote DIR"), "{reason}");
        setting.given.add(Ok(RemoteDirectory("/".into())));
        let plan = Plan::new(&[&Remote], &setting, None, 1);
        assert_eq!(plan.experiments[0].point_count(), 10);
    }

    #[test]
    fn both_places_are_written_and_cleaned() {
        let scratch = scratch();
        let mut given = Givens::default();
        given.add(Ok(RemoteDirectory(scratch.path().to_owned())));
        for &place in Location::ALL {
            let point = Point::new().at(PLACE, place).at(CHUNK_SIZE, Bytes(KIB));
            let measured = measure_with(given.clone(), &Remote, &point, scratch.path());
            let (samples, remarks) = measured.unwrap_or_else(|error| panic!("{place}: {error}"));
            assert!(count(&samples, WRITE) >= 1 && count(&samples, THROUGHPUT) >= 1);
            let is_doubted = remarks[0].contains("not known to be on another machine");
            assert_eq!(is_doubted, place == Location::Remote, "{remarks:?}");
        }
        assert_eq!(std::fs::read_dir(scratch.path()).expect("there").count(), 0);
    }
}
