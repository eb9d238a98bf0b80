//! Checksums that distinguish a damaged run from an intact one.
//!
//! They form a tree. The checksum of a batch covers its samples; that of a point, its ending and
//! its batches' checksums; that of an experiment, its definition and its points' checksums; that of
//! a run, its header and the checksums of its machine and its experiments. Each also covers its
//! position: the run's id, the experiment, the point, the index. So any change, loss, repetition or
//! swap is detected, within a run and between runs. A run's entry in the list of runs has a
//! checksum outside the tree.
//!
//! Checksums protect against damage, for example by a bad disk or a broken copy. They do not
//! protect against tampering: anyone who changes a run on purpose can recompute its checksums.

mod check;
mod frame;
mod proof;

pub use check::Part;
pub(crate) use check::{check, check_experiment, check_header, check_point, disagreeing};
pub use proof::Proof;

use crate::run::{Closing, Header, Run};
use instrument::experiment::Definition;
use instrument::plan::Profile;
use instrument::point::Point;
use instrument::sample::{Batch, Reading, Sample};
use jiff::Timestamp;
use platform::usage::Usage;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

/// A BLAKE3 hash: 32 bytes; as text, 64 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Checksum(blake3::Hash);

impl Checksum {
    /// Placeholder for a checksum that is missing in the store, or not computed yet. No content
    /// hashes to it.
    pub const MISSING: Self = Self(blake3::Hash::from_bytes([0; 32]));

    /// The checksum of `content`. Its paths must be Unicode, which holds for every run that was
    /// validated or read.
    fn of(content: &impl Serialize) -> Self {
        let frame = frame::framed(content).expect("only a path that is not Unicode has no frame");
        Self(blake3::hash(&frame))
    }

    /// The checksum of an item with parts: over its own checksum and those of its parts, in order.
    pub fn joined(own: Self, parts: impl IntoIterator<Item = Self>) -> Self {
        // No encoding begins with this byte.
        let mut bytes = vec![0xff];
        bytes.extend_from_slice(own.0.as_bytes());
        for part in parts {
            bytes.extend_from_slice(part.0.as_bytes());
        }
        Self(blake3::hash(&bytes))
    }

    pub fn bytes(&self) -> &[u8; 32] {
        self.0.as_bytes()
    }
}

impl From<[u8; 32]> for Checksum {
    fn from(bytes: [u8; 32]) -> Self {
        Self(bytes.into())
    }
}

impl Serialize for Checksum {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0.to_hex())
    }
}

impl<'de> Deserialize<'de> for Checksum {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        let hash = blake3::Hash::from_hex(text.as_bytes());
        hash.map(Self)
            .map_err(|error| D::Error::custom(format!("a checksum: {error}")))
    }
}

impl JsonSchema for Checksum {
    fn schema_name() -> Cow<'static, str> {
        "Checksum".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A BLAKE3 hash in hexadecimal digits.",
            "type": "string",
            "pattern": "^[0-9a-f]{64}$",
        })
    }
}

/// The checksums of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct RunChecksums {
    /// Covers the header, the machine and the experiments.
    pub run: Checksum,
    /// Covers the machine, its environment, storage and clock.
    pub machine: Checksum,
    /// In the order of the experiments.
    pub experiments: Vec<ExperimentChecksums>,
}

/// The checksums of an experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ExperimentChecksums {
    /// Covers the definition, the reason for skipping the experiment, and the points.
    pub experiment: Checksum,
    /// In the order of the points.
    pub points: Vec<PointChecksums>,
}

/// The checksums of a point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct PointChecksums {
    /// Covers the levels, the ending and the batches.
    pub point: Checksum,
    /// In the order of the batches.
    pub batches: Vec<Checksum>,
}

impl RunChecksums {
    /// The checksums of `run`, which must be valid.
    pub fn of(run: &Run) -> Self {
        let id = run.header.id.as_str();
        let machine = machine(run);
        let experiments = run.experiments.iter().enumerate();
        let experiments: Vec<ExperimentChecksums> = experiments
            .map(|(position, record)| {
                let definition = &record.definition;
                let points = record.points.iter().enumerate();
                let points = points.map(|(position, record)| {
                    let place = Place {
                        run: id,
                        experiment: &definition.id,
                        point: &record.point,
                    };
                    let batches = record.batches.iter().enumerate();
                    let batches: Vec<Checksum> = batches
                        .map(|(number, taken)| batch(place, number, taken))
                        .collect();
                    let own = point(place, position, record.closing.as_ref());
                    PointChecksums {
                        point: Checksum::joined(own, batches.iter().copied()),
                        batches,
                    }
                });
                let points: Vec<PointChecksums> = points.collect();
                let own = experiment(id, position, definition, record.skipped.as_deref());
                let parts = points.iter().map(|checksums| checksums.point);
                ExperimentChecksums {
                    experiment: Checksum::joined(own, parts),
                    points,
                }
            })
            .collect();
        let parts = experiments.iter().map(|checksums| checksums.experiment);
        Self {
            run: Checksum::joined(header(&run.header), [machine].into_iter().chain(parts)),
            machine,
            experiments,
        }
    }
}

/// The point of a run that an item belongs to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'p> {
    /// The run's id.
    pub run: &'p str,
    /// The experiment's id.
    pub experiment: &'p str,
    pub point: &'p Point,
}

/// The checksum of the batch with index `number` at its point, from 0.
pub(crate) fn batch(place: Place<'_>, number: usize, batch: &Batch) -> Checksum {
    let Place {
        run,
        experiment,
        point,
    } = place;
    let Batch {
        samples,
        remarks,
        warm,
        cpu,
        started_ns,
        wall_ns,
        disturbance,
        pass,
        full_speed_ns,
        full_speed,
    } = batch;
    Checksum::of(&(
        "batch",
        run,
        experiment,
        point,
        number,
        (remarks, warm, cpu, started_ns, wall_ns, disturbance),
        (pass, full_speed_ns, full_speed),
        Samples(samples),
    ))
}

/// Samples without the names of their fields, which would take most of the hashing time. The order
/// of the fields here identifies them.
struct Samples<'s>(&'s [Sample]);

impl Serialize for Samples<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(SampleFields))
    }
}

struct SampleFields<'s>(&'s Sample);

impl Serialize for SampleFields<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Sample {
            metric,
            reading,
            usage,
            at_ns,
        } = self.0;
        let Usage {
            user_ns,
            system_ns,
            minor_faults,
            major_faults,
            voluntary_switches,
            involuntary_switches,
        } = usage;
        let usage = (
            user_ns,
            system_ns,
            minor_faults,
            major_faults,
            voluntary_switches,
            involuntary_switches,
        );
        (metric, ReadingFields(reading), usage, at_ns).serialize(serializer)
    }
}

struct ReadingFields<'r>(&'r Reading);

impl Serialize for ReadingFields<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Reading::Legs(legs) => ("legs", legs).serialize(serializer),
            Reading::Once {
                work,
                wall_ns,
                reference_ns,
                around,
            } => ("once", work, wall_ns, reference_ns, around).serialize(serializer),
            Reading::Latencies {
                count,
                p50_ns,
                p5_ns,
                p95_ns,
                p99_ns,
                reference_ns,
                around,
            } => (
                "latencies",
                count,
                (p50_ns, p5_ns, p95_ns, p99_ns),
                (reference_ns, around),
            )
                .serialize(serializer),
            Reading::Value(value) => ("value", value).serialize(serializer),
        }
    }
}

/// The checksum of a point, without its batches.
pub(crate) fn point(place: Place<'_>, position: usize, closing: Option<&Closing>) -> Checksum {
    let Place {
        run,
        experiment,
        point,
    } = place;
    Checksum::of(&("point", run, experiment, position, point, closing))
}

/// The checksum of an experiment of the run `id`, without its points.
pub(crate) fn experiment(
    id: &str,
    position: usize,
    definition: &Definition,
    skipped: Option<&str>,
) -> Checksum {
    Checksum::of(&("experiment", id, position, definition, skipped))
}

/// The checksum of the machine recorded in a run.
pub(crate) fn machine(run: &Run) -> Checksum {
    Checksum::of(&(
        "machine",
        &run.header.id,
        &run.machine,
        &run.environment,
        &run.storage,
        &run.calibration,
    ))
}

/// A run's entry in the list of runs. It has its own checksum because listing runs reads nothing
/// else.
#[derive(Serialize)]
pub(crate) struct Listing<'l> {
    pub number: u64,
    pub id: &'l str,
    pub name: Option<&'l str>,
    pub started: Timestamp,
    pub ended: Option<Timestamp>,
    pub interrupted: bool,
    pub profile: Profile,
    pub fingerprint: &'l str,
    pub directory: &'l Path,
    pub tags: &'l BTreeMap<String, String>,
    pub experiments: u64,
    pub points: u64,
    pub samples: u64,
}

impl Listing<'_> {
    pub fn checksum(&self) -> Checksum {
        Checksum::of(&("listing", self))
    }
}

/// The checksum of a header.
pub(crate) fn header(header: &Header) -> Checksum {
    Checksum::of(&("run", header))
}
