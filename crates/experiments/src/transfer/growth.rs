//! `transfer.growth`: a file sent as in the report, to a receiver that does not know its size.

use super::levels::{MAPPED, PLAIN, Pair, RECEIVER, REPORTED, SENDER, SIZE};
use crate::estimates::{by_ratio, lowest, pooled, ratio, ratio_within, ratios};
use crate::figures::{curves, lines, logarithmic};
use crate::file::scratch_file::ScratchFile;
use crate::file::{page_cache, powers};
use crate::judging::{MARGIN, decided, exceeds};
use crate::other_core::cpu_of_another_core;
use crate::prelude::*;
use crate::together::Slot;
use ::transfer::method::{ReceiveMethod, SendMethod};
use instrument::figure::Series;
use platform::file::{Access, LockedFile};
use platform::memory::FileMapping;
use platform::placement::{current_cpu, pin_to};
use platform::signal::ignore_sigpipe;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The cost of a file to a receiver that does not know its size.
pub(super) struct Growth;

const STEP: AxisOf<Bytes> = AxisOf::new("step", "growth step");

const TIME: Metric = Metric::time("time", "time of a file");
/// The clocks of the two sides.
pub(super) const SENDER_TIME: Metric = Metric::time("sender_time", "to the sender's end");
pub(super) const RECEIVER_TIME: Metric = Metric::time("receiver_time", "to the receiver's end");

/// A page, the step of the report.
const PAGE: Bytes = Bytes(4 * KIB);
/// Source and target.
const FILES: u64 = 2;
/// Sizes of the report's pairs, below the largest.
const SIZES: [u64; 5] = [KIB, 16 * KIB, 256 * KIB, 4 * MIB, 16 * MIB];

const DESIGN: Design = Design {
    id: "transfer.growth",
    title: "A receiver that does not know the size",
    question: "Is a receiver that maps its file slower because the mapping has to grow, and which side is done \
               first?",
    method: "A file in the page cache goes over TCP on loopback, from one core to another if there are \
             two. The sender makes a socket, connects, sends the file and closes its side. mmap: it maps the \
             whole file at once and writes the mapping to the socket. file: it reads the file into a buffer of \
             one step and writes the buffer. The receiver knows no size: it makes a new file and stores \
             what arrives until the stream ends. mmap: it grows the file by one step, maps the step, \
             receives into the mapping and unmaps it, step after step. At the end it cuts the file to its \
             length. file: it receives into a buffer of one step and writes the buffer. The largest step \
             is the whole file: there the receiver knows the size, and maps once. There are no \
             checksums. `time` runs from before the sender makes its socket until the receiver reports \
             that the file is stored and closed. As in the report, each side has a clock to its own end. Both \
             clocks start together, before the sender makes its socket. `sender_time` ends when the sender \
             has unmapped or read its file and closed its side. `receiver_time` ends when the target is stored \
             and closed. A mapping also notices if another program cuts the file \
             short, which costs time at each step.",
    source: "Report C",
    axes: &[
        SENDER.axis(),
        RECEIVER.axis(),
        // Mappings begin at multiples of the page size.
        STEP.open(4 * KIB, 1 << 30).in_steps_of(4 * KIB),
        SIZE.open(1, 1 << 34),
    ],
    metrics: &[TIME, SENDER_TIME, RECEIVER_TIME],
};

impl Experiment for Growth {
    fn design(&self) -> &'static Design {
        &DESIGN
    }

    fn needs(&self, setting: &Setting) -> Vec<Need> {
        let files = Bytes(FILES * largest(setting));
        vec![Need::Space(files), Need::Memory(files)]
    }

    fn points(&self, setting: &Setting) -> Vec<Point> {
        let size = largest(setting);
        let mut steps = match setting.profile {
            Profile::Quick => vec![4 * KIB, 64 * KIB],
            Profile::Standard | Profile::Thorough => powers(4 * KIB, 4 * MIB).step_by(2).collect(),
        };
        steps.retain(|step| *step < size);
        steps.push(size);
        // How the file grows does not depend on its sender.
        let growing = REPORTED
            .into_iter()
            .filter(|pair| pair.sender == MAPPED.sender);
        let growing =
            growing.flat_map(|pair| steps.iter().map(move |step| point(pair, *step, size)));
        let mut points: Vec<Point> = growing.collect();
        if setting.profile != Profile::Quick {
            let sizes = SIZES.into_iter().filter(|reported| *reported < size);
            let by_page = sizes
                .chain([size])
                .flat_map(|size| REPORTED.map(|pair| point(pair, PAGE.0, size)));
            points.extend(by_page);
            points.sort();
            points.dedup();
        }
        points
    }

    fn shares_process(&self, _point: &Point) -> bool {
        true
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        ignore_sigpipe();
        let Pair { sender, receiver } = Pair::of(point)?;
        let step = point.level(STEP)?.0 as usize;
        let Bytes(size) = point.level(SIZE)?;
        let scratch = sampler.scratch();
        let path = scratch.join(format!("{} {size}", self.id()));
        let target = scratch.join(format!("{} received {}", self.id(), std::process::id()));
        let source = ScratchFile::open_or_make(&path, size, sampler.seed())?;
        page_cache::warm(&source)?;
        let here = current_cpu().unwrap_or(0);
        pin_to(&[here])?;
        let there = cpu_of_another_core()?.unwrap_or(here);
        sampler.remark(format!("from processor {here} to {there}"));
        let listener = TcpListener::bind(("127.0.0.1", 0)).map_err(no_loopback)?;
        let address = listener.local_addr().map_err(no_loopback)?;
        let (is_over, failure) = (AtomicBool::new(false), Slot::default());
        // Both sides read one clock.
        let (clock, stored_ns) = (Instant::now(), AtomicU64::new(0));
        let mut ends = Vec::new();
        thread::scope(|scope| {
            let receiving = || {
                if let Err(error) = pin_to(&[there]) {
                    failure.set(Some(error.into()));
                }
                while let Ok((mut stream, _)) = listener.accept() {
                    if is_over.load(Ordering::Acquire) {
                        return;
                    }
                    let stored = receive(&mut stream, &target, receiver, step).and_then(|()| {
                        stored_ns.store(clock.elapsed().as_nanos() as u64, Ordering::Release);
                        stream.write_all(&[1]).map_err(no_loopback)
                    });
                    // The reason is noted before the sender sees the stream end.
                    if let Err(error) = stored {
                        failure.set(Some(error));
                    }
                }
            };
            let started = thread::Builder::new().spawn_scoped(scope, receiving);
            started.map_err(MeasureError::system("start a thread"))?;
            let measured = sampler.once(
                TIME,
                1.0,
                |_| remove(&target),
                || {
                    let began = clock.elapsed();
                    let sent = send(address, &source, sender, step).and_then(|mut stream| {
                        let ended = clock.elapsed();
                        stream.read_exact(&mut [0]).map_err(no_loopback)?;
                        Ok(ended)
                    });
                    // The receiver knows why there was no answer.
                    failure.outcome()?;
                    let stored = Duration::from_nanos(stored_ns.load(Ordering::Acquire));
                    ends.push(
                        [sent?, stored].map(|end| end.saturating_sub(began).as_nanos() as f64),
                    );
                    Ok(())
                },
            );
            is_over.store(true, Ordering::Release);
            // Wakes the receiver. Without it, the process would wait for ever.
            let woken = TcpStream::connect(address).map_err(no_loopback);
            measured.and(woken.map(drop))
        })?;
        for [sent_ns, stored_ns] in ends {
            sampler.value(SENDER_TIME, sent_ns);
            sampler.value(RECEIVER_TIME, stored_ns);
        }
        remove(&target)
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        growing(results).into_iter().collect()
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        let time = || logarithmic("time of a file", Unit::Nanoseconds);
        let growing = lines(results, TIME, STEP, RECEIVER, &[SENDER.at(MAPPED.sender)]);
        let title = "A file of unknown size, by the step in which its receiver grows it";
        let growing = curves(TIME, title, (STEP, time()), growing);
        let line = |pair: Pair, metric: Metric, label: &str| {
            results.series(label, metric, SIZE, &by_page(pair))
        };
        let pairs = |metric| {
            REPORTED
                .map(|pair| line(pair, metric, &pair.label()))
                .to_vec()
        };
        let both_ends = |pair| {
            [SENDER_TIME, RECEIVER_TIME]
                .map(|metric| line(pair, metric, metric.title))
                .to_vec()
        };
        let reported: [(&str, &str, Vec<Series>); 4] = [
            (
                "receivers",
                "To the receiver's end, sender to receiver",
                pairs(RECEIVER_TIME),
            ),
            (
                "senders",
                "To the sender's end, sender to receiver",
                pairs(SENDER_TIME),
            ),
            (
                "file",
                "Read and written page by page, to both ends",
                both_ends(PLAIN),
            ),
            (
                "mmap",
                "Mapped, and grown by the page, to both ends",
                both_ends(MAPPED),
            ),
        ];
        let reported =
            reported.map(|(key, title, series)| curves(key, title, (SIZE, time()), series));
        // One size makes no curve.
        let is_curve = |figure: &Figure| figure.series.iter().any(|it| it.points.len() > 1);
        [growing]
            .into_iter()
            .chain(reported.into_iter().filter(is_curve))
            .collect()
    }
}

fn point(pair: Pair, step: u64, size: u64) -> Point {
    let methods = Point::new()
        .at(SENDER, pair.sender)
        .at(RECEIVER, pair.receiver);
    methods.at(STEP, Bytes(step)).at(SIZE, Bytes(size))
}

/// The levels of a pair that moves page after page, as in the report.
fn by_page(pair: Pair) -> [(&'static str, Level); 3] {
    [
        SENDER.at(pair.sender),
        RECEIVER.at(pair.receiver),
        STEP.at(PAGE),
    ]
}

fn no_loopback(error: io::Error) -> MeasureError {
    MeasureError::system("use TCP on loopback")(error)
}

fn remove(target: &Path) -> Result<(), MeasureError> {
    match fs::remove_file(target) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(MeasureError::system("remove a file")(error))
        }
        _ => Ok(()),
    }
}

/// Sends the whole file and closes this side of the stream.
fn send(
    address: SocketAddr,
    source: &ScratchFile,
    sender: SendMethod,
    step: usize,
) -> Result<TcpStream, MeasureError> {
    let mut stream = TcpStream::connect(address).map_err(no_loopback)?;
    let file = source.file.try_clone();
    let mut file = file.map_err(MeasureError::system("open a file again"))?;
    match sender {
        SendMethod::File => {
            let reading = || MeasureError::system("read a file");
            file.rewind().map_err(reading())?;
            let mut buffer = vec![0; step];
            loop {
                let count = file.read(&mut buffer).map_err(reading())?;
                if count == 0 {
                    break;
                }
                stream.write_all(&buffer[..count]).map_err(no_loopback)?;
            }
        }
        SendMethod::Mmap => {
            let mut locked = LockedFile::lock(file, Access::Read)?;
            let mapping = FileMapping::new(&mut locked, 0, source.len as usize)?;
            stream.write_all(mapping.as_slice()).map_err(no_loopback)?;
            mapping.ensure_whole()?;
        }
        other => return Err(not_reported(other.name())),
    }
    stream.shutdown(Shutdown::Write).map_err(no_loopback)?;
    Ok(stream)
}

/// Stores what arrives in a new file.
fn receive(
    stream: &mut TcpStream,
    target: &Path,
    receiver: ReceiveMethod,
    step: usize,
) -> Result<(), MeasureError> {
    let mut options = OpenOptions::new();
    let opened = options.read(true).write(true).create_new(true).open(target);
    let file = opened.map_err(MeasureError::system("make a file"))?;
    match receiver {
        ReceiveMethod::File => by_writing(stream, file, step),
        ReceiveMethod::Mmap => by_mapping(stream, file, step),
        other => Err(not_reported(other.name())),
    }
}

fn not_reported(method: &str) -> MeasureError {
    unsupported(format!("{method} is no method of the report"))
}

fn by_writing(stream: &mut TcpStream, mut file: File, step: usize) -> Result<(), MeasureError> {
    let mut buffer = vec![0; step];
    loop {
        let filled = fill(stream, &mut buffer)?;
        let written = file.write_all(&buffer[..filled]);
        written.map_err(MeasureError::system("write a file"))?;
        if filled < step {
            return Ok(());
        }
    }
}

fn by_mapping(stream: &mut TcpStream, file: File, step: usize) -> Result<(), MeasureError> {
    let mut locked = LockedFile::lock(file, Access::Write)?;
    let set_len = |file: &File, len: u64| {
        let set = file.set_len(len);
        set.map_err(MeasureError::system("set the size of a file"))
    };
    let mut len = 0;
    loop {
        set_len(locked.file(), len + step as u64)?;
        let mut mapping = FileMapping::new(&mut locked, len, step)?;
        let filled = match mapping.as_mut_slice() {
            Some(memory) => fill(stream, memory)?,
            None => {
                return Err(unsupported("a mapping stays read-only"));
            }
        };
        mapping.ensure_whole()?;
        drop(mapping);
        len += filled as u64;
        if filled < step {
            return set_len(locked.file(), len);
        }
    }
}

/// Receives until `buffer` is full or the stream ends; returns the number of bytes.
fn fill(stream: &mut TcpStream, buffer: &mut [u8]) -> Result<usize, MeasureError> {
    let mut filled = 0;
    while filled < buffer.len() {
        match stream.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(no_loopback(error)),
        }
    }
    Ok(filled)
}

/// Size of the file.
fn largest(setting: &Setting) -> u64 {
    let wanted = match setting.profile {
        Profile::Quick => 16 * MIB,
        Profile::Standard | Profile::Thorough => 64 * MIB,
    };
    let room = setting.free_bytes.min(setting.available_bytes) / (2 * FILES);
    wanted.min(room.max(MIB))
}

/// The times of a receiver of the largest file, by its steps from the smallest to the largest.
fn curve<'r>(results: &'r Results, receiver: ReceiveMethod) -> Vec<(Bytes, &'r Estimate)> {
    let sizes = results
        .points
        .iter()
        .filter_map(|it| it.point.level(SIZE).ok());
    let Some(largest) = sizes.max() else {
        return Vec::new();
    };
    let methods = [
        SENDER.at(MAPPED.sender),
        RECEIVER.at(receiver),
        SIZE.at(largest),
    ];
    results.along(STEP, TIME, &methods)
}

/// The time to `metric`'s end of `above` over that of `below`, by size, both page after page.
pub(super) fn times_over(
    results: &Results<'_>,
    [above, below]: [Pair; 2],
    metric: Metric,
) -> Vec<(Bytes, Quantity)> {
    let [above, below] = [above, below].map(|pair| results.along(SIZE, metric, &by_page(pair)));
    ratios(&above, &below)
}

/// The receiver's time over the sender's, each to its own end, by size: that of every pair and step.
pub(super) fn receiver_over_sender(results: &Results<'_>) -> Vec<(Bytes, Quantity)> {
    let of = |result: &PointResult| {
        let [received, sent] = [RECEIVER_TIME, SENDER_TIME].map(|end| result.sound(end));
        Some((
            result.point.level(SIZE).ok()?,
            ratio_within(received?, sent?)?,
        ))
    };
    pooled([results.points.iter().filter_map(of).collect()])
}

/// A receiver's time with steps of a page, and with the largest step.
fn ends<'r>(results: &'r Results, receiver: ReceiveMethod) -> Option<[(Bytes, &'r Estimate); 2]> {
    let curve = curve(results, receiver);
    let smallest = curve.first().filter(|(step, _)| *step == PAGE)?;
    let largest = curve.last().filter(|(step, _)| *step > PAGE)?;
    Some([*smallest, *largest])
}

fn growing(results: &Results) -> Option<Finding> {
    let [(page, by_page), (large, by_large)] = ends(results, ReceiveMethod::Mmap)?;
    let times = ratio(by_page, by_large)?;
    let said = sentence!(
        "A receiver that stores a file through mmap takes {times} as long if it grows the file by {page} at a \
         time as by {large}."
    );
    Some(by_ratio("growing", said, &times).weighing(0.45))
}

/// Judges "growing by the page is why a receiver that maps is slower". It is if the receiver that grows
/// by the page is slower than the one that writes, and the same receiver is not once it knows the size.
pub(super) fn by_the_page(results: &Results) -> Option<Judgement> {
    let [(page, by_page), (_, at_once)] = ends(results, ReceiveMethod::Mmap)?;
    // Report C writes in blocks of another size: each receiver is compared with the fastest one that writes.
    let (_, written) = lowest(curve(results, ReceiveMethod::File))?;
    let (growing, whole) = (ratio(by_page, written)?, ratio(at_once, written)?);
    let said = sentence!(
        "A mapping that grows by {page} takes {growing} as long as the best receiver that writes; one \
         of the whole file takes {whole}."
    );
    let ruling = match (
        exceeds(&growing, 1.0 + MARGIN),
        exceeds(&whole, 1.0 + MARGIN),
    ) {
        (Ruling::Holds, Ruling::DoesNotHold) => Ruling::Holds,
        // Growing costs, and is not all that costs.
        (Ruling::Holds, Ruling::Holds) => exceeds_by(&growing, &whole),
        (Ruling::DoesNotHold, _) => Ruling::DoesNotHold,
        _ => Ruling::Undecided,
    };
    Some(
        decided(ruling, said)
            .with_number("growing", growing)
            .with_number("whole", whole),
    )
}

/// "Holds in part" if one ratio is above the other beyond doubt.
fn exceeds_by(one: &Quantity, other: &Quantity) -> Ruling {
    match (one.interval, other.interval) {
        (Some(one), Some(other)) if one.low > other.high => Ruling::HoldsInPart,
        (Some(one), Some(other)) if one.high < other.low => Ruling::DoesNotHold,
        _ => Ruling::Undecided,
    }
}

#[cfg(test)]
mod tests {
    use super::super::levels::REPORTED;
    use super::{Growth, RECEIVER_TIME, SENDER_TIME, TIME, by_mapping, by_writing, point};
    use crate::made_up::{count, measure, setting, values};
    use crate::prelude::*;
    use ::transfer::method::ReceiveMethod;
    use std::fs::{self, OpenOptions};
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn a_file_arrives_whole_whatever_its_size_and_the_step() {
        let scratch = tempfile::tempdir().expect("a directory for temporary files");
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("loopback");
        let address = listener.local_addr().expect("it has one");
        for (size, step) in [
            (1, 65_536),
            (65_536, 65_536),
            (200_001, 65_536),
            (0, 65_536),
        ] {
            let bytes: Vec<u8> = (0..size).map(|at| (at % 251) as u8).collect();
            for receiver in [ReceiveMethod::File, ReceiveMethod::Mmap] {
                let path = scratch.path().join(format!("{receiver} {size}"));
                let mut options = OpenOptions::new();
                let file = options.read(true).write(true).create_new(true).open(&path);
                let file = file.expect("a new file");
                let sender = std::thread::spawn({
                    let bytes = bytes.clone();
                    move || TcpStream::connect(address).and_then(|mut it| it.write_all(&bytes))
                });
                let (mut stream, _) = listener.accept().expect("a sender");
                let stored = match receiver {
                    ReceiveMethod::Mmap => by_mapping(&mut stream, file, step),
                    _ => by_writing(&mut stream, file, step),
                };
                stored.expect("it is stored");
                sender.join().expect("no panic").expect("it was sent");
                assert!(
                    fs::read(&path).expect("it is there") == bytes,
                    "{receiver} {size}"
                );
            }
        }
    }

    #[test]
    fn every_pair_is_timed_to_both_ends_and_leaves_only_the_source() {
        let scratch = tempfile::tempdir().expect("a directory for temporary files");
        for pair in REPORTED {
            let point = point(pair, 65_536, 1_000_000);
            let (samples, _) = measure(&Growth, &point, scratch.path()).expect("loopback");
            assert!(count(&samples, TIME) >= 1);
            for end in [SENDER_TIME, RECEIVER_TIME] {
                let times = values(&samples, end);
                assert_eq!(times.len(), count(&samples, TIME));
                assert!(times.iter().all(|time| *time > 0.0), "{times:?}");
            }
        }
        let left = fs::read_dir(scratch.path()).expect("it is there");
        assert_eq!(left.count(), 1);
    }

    #[test]
    fn longer_profiles_send_every_pair_page_by_page() {
        let points = Growth.points(&setting(Profile::Standard));
        for pair in REPORTED {
            for size in [1 << 10, 64 << 20] {
                assert!(points.contains(&point(pair, 4096, size)), "{pair:?} {size}");
            }
        }
        assert_eq!(Growth.points(&setting(Profile::Quick)).len(), 6);
    }
}
