//! `file.metadata`: the cost of creating, looking up, opening, renaming and removing files.

use super::{By, like};
use crate::estimates::{found, grade, of_values, ratio, time_ns};
use crate::figures::{curves, lines_of, logarithmic};
use crate::fresh_place::FreshPlace;
use crate::prelude::*;
use instrument::pieces::Pieces;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

pub(crate) struct Metadata;

const FILES: AxisOf<Count> = AxisOf::new("files", "files in the directory");

const CREATE: Metric = operation("create");
const STAT: Metric = operation("stat");
const OPEN: Metric = operation("open");
const RENAME: Metric = operation("rename");
const UNLINK: Metric = operation("unlink");
const OPERATIONS: [Metric; 5] = [CREATE, STAT, OPEN, RENAME, UNLINK];

/// Files that are handled between two readings of the clock.
const PIECE: usize = 50;

/// A file system takes no more than this for an empty file.
const BYTES_OF_A_FILE: u64 = 4 << 10;
/// Even a call that does nothing takes half a nanosecond.
const MOST_PER_SECOND: f64 = 2e9;

const fn operation(name: &'static str) -> Metric {
    Metric::rate(name, name)
        .bounded(MOST_PER_SECOND)
        .in_version(2)
}

const DESIGN: Design = Design {
    id: "file.metadata",
    title: "Files in a directory",
    question: "How many files a second can be created, looked up, opened, renamed and removed, \
               and does the rate fall as a directory fills?",
    method: formatcp!(
        "In a fresh directory, a number of empty files is created (open with O_CREAT and O_EXCL, \
         close). Then each is looked up (stat), opened and closed, renamed within the directory, \
         and removed (unlink), in the order of creation. Each round is timed in pieces of up to \
         {PIECE} files; the rate is the files of a piece over its time. Names are made \
         beforehand. Where files were removed within the last minutes, by any program, ext4 \
         passes over the inodes of these one by one until it finds one for a new file. So the \
         directory lies where that costs least. Several are made, in block groups of their own as \
         far as the file system offers it (the attribute T of chattr). The one in which a first \
         file took the least time is used. Nothing waits for the device: these are the costs of \
         the kernel and of its cache of the directory, and writeback goes on in the background."
    ),
    source: "common practice",
    axes: &[FILES.axis()],
    metrics: &OPERATIONS,
};

impl Experiment for Metadata {
    fn design(&self) -> &'static Design {
        &DESIGN
    }

    fn needs(&self, setting: &Setting) -> Vec<Need> {
        let most = numbers(setting).last().copied().unwrap_or(0);
        vec![Need::Space(Bytes(most * BYTES_OF_A_FILE))]
    }

    fn points(&self, setting: &Setting) -> Vec<Point> {
        let numbers = numbers(setting).iter().copied();
        [Point::new()].by(FILES, numbers.map(Count))
    }

    fn counterpart(&self, point: &Point, _metric: &str, _other: System) -> Option<Counterpart> {
        Some(like(point, By::NAMES))
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let Count(files) = point.level(FILES)?;
        let path = sampler.scratch().join(format!("{} {files}", self.id()));
        let place = FreshPlace::find(path, sampler.seed())?;
        let directory = place.path().join("files");
        let names = |prefix: &str| -> Vec<PathBuf> {
            (0..files)
                .map(|number| directory.join(format!("{prefix}{number:08}")))
                .collect()
        };
        let (old, new) = (names("a"), names("b"));
        sampler.pieces(|pieces| {
            fs::create_dir(&directory).map_err(MeasureError::system("make a directory"))?;
            each(pieces, CREATE, &old, |path| File::create_new(path))?;
            each(pieces, STAT, &old, |path| fs::metadata(path))?;
            each(pieces, OPEN, &old, |path| File::open(path))?;
            let mut targets = new.iter();
            each(pieces, RENAME, &old, |path| {
                targets
                    .next()
                    .map_or(Ok(()), |target| fs::rename(path, target))
            })?;
            each(pieces, UNLINK, &new, |path| fs::remove_file(path))?;
            fs::remove_dir(&directory).map_err(MeasureError::system("remove a directory"))
        })
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        found([making(results), dearest_to_scale(results)])
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        let title = "Operations on files by their number";
        let axes = (FILES, logarithmic("operations", Unit::OperationsPerSecond));
        let operations = OPERATIONS.map(|operation| (operation, operation.name));
        let lines = lines_of(results, FILES, operations);
        vec![curves("rates", title, axes, lines)]
    }
}

fn numbers(setting: &Setting) -> &'static [u64] {
    match setting.profile {
        Profile::Quick => &[10, 100, 1000],
        Profile::Standard => &[10, 100, 1000, 10_000, 50_000],
        Profile::Thorough => &[10, 100, 1000, 10_000, 100_000, 500_000],
    }
}

/// Does one operation on every file, and times it in pieces of one length. Files that are left over
/// are not timed.
fn each<T>(
    pieces: &mut Pieces<'_>,
    operation: Metric,
    paths: &[PathBuf],
    mut act: impl FnMut(&Path) -> io::Result<T>,
) -> Result<(), MeasureError> {
    let mut of_piece = |paths: &[PathBuf]| {
        let done = paths.iter().try_for_each(|path| act(path).map(drop));
        let action = format!("{} a scratch file", operation.title);
        done.map_err(MeasureError::system(&action))
    };
    let whole = paths.chunks_exact(PIECE.min(paths.len().max(1)));
    let left_over = whole.remainder();
    for piece in whole {
        pieces.time(operation, piece.len() as u64, || of_piece(piece))?;
    }
    of_piece(left_over)
}

fn making(results: &Results) -> Option<Finding> {
    let last = |metric| results.along(FILES, metric, &[]).pop();
    let (files, create) = last(CREATE)?;
    let create = time_ns(create, 1.0)?;
    let unlink = time_ns(last(UNLINK)?.1, 1.0)?;
    let stat = time_ns(last(STAT)?.1, 1.0)?;
    let said = sentence!(
        "In a directory of {files} files, creating a file takes {create}, unlink {unlink} and stat \
         {stat}."
    );
    Some(of_values("making", said, [create, unlink, stat]).weighing(0.4))
}

/// The operation that loses most from the smallest well-filled directory to the fullest, if one loses.
fn dearest_to_scale(results: &Results) -> Option<Finding> {
    let losses = OPERATIONS.iter().filter_map(|operation| {
        let curve = results.along(FILES, *operation, &[]);
        // The first of few files pay for the directory's own structures.
        let (few, first) = *curve.iter().find(|(files, _)| *files >= Count(100))?;
        let (many, last) = *curve.last()?;
        (many > few).then_some((operation.name, few, many, ratio(first, last)?))
    });
    let (operation, few, many, times) =
        losses.max_by(|(.., a), (.., b)| a.value.total_cmp(&b.value))?;
    let said = sentence!(
        "As a directory grows from {few} to {many} files, {operation} slows down most: it takes \
         {times} as long."
    );
    let slows = grade(&times, 1.0) == Grade::Certain && times.value > 1.0;
    slows.then(|| Finding::new("scale", said).weighing(0.45))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::testing::scratch;
    use crate::made_up::{count, measure};

    #[test]
    fn all_five_are_measured_and_nothing_is_left() {
        let scratch = scratch();
        let point = Point::new().at(FILES, Count(20));
        // As a process that was killed may leave it.
        fs::create_dir(scratch.path().join("file.metadata 20")).expect("a directory");
        fs::write(scratch.path().join("file.metadata 20/a00000000"), "").expect("a file");
        let (samples, _) = measure(&Metadata, &point, scratch.path()).expect("a directory");
        for operation in OPERATIONS {
            assert!(count(&samples, operation) >= 1, "{operation:?}");
        }
        assert_eq!(fs::read_dir(scratch.path()).expect("there").count(), 0);
    }
}
