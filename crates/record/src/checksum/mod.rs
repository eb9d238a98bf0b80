//! Checksums that distinguish a damaged run from an intact one.
//!
//! They form a tree. The checksum of a batch covers its [blob](crate::blob), as the store keeps it;
//! that of a point, its levels, its ending and its batches' checksums; that of an experiment, its
//! definition and its points' checksums; that of a run, its header and the checksums of its machine
//! and its experiments. So any change, loss, repetition or swap is detected, within a run and
//! between runs. A run's entry in the list of runs has a checksum outside the tree.
//!
//! All parts but batches are hashed as JSON, the text of which depends on nothing but the content.
//!
//! Checksums protect against damage, for example by a bad disk or a broken copy. They do not
//! protect against tampering: anyone who changes a run on purpose can recompute its checksums.

mod check;
mod proof;

pub use check::Part;
pub(crate) use check::{check, check_document, disagreeing};
pub use proof::Proof;

use crate::blob;
use crate::run::{ExperimentRecord, Header, PointRecord, Run};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;

/// A BLAKE3 hash: 32 bytes; as text, 64 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Checksum(blake3::Hash);

impl Checksum {
    /// Placeholder for a checksum that is missing in the store, or not computed yet. No content
    /// hashes to it.
    pub const MISSING: Self = Self(blake3::Hash::from_bytes([0; 32]));

    pub fn of(bytes: &[u8]) -> Self {
        Self(blake3::hash(bytes))
    }

    /// The checksum of `content` as JSON. Its paths must be Unicode, which holds for every run that
    /// was validated or read.
    pub fn of_json(content: &impl Serialize) -> Self {
        let text = serde_json::to_vec(content);
        Self::of(&text.expect("only a path that is not Unicode has no JSON"))
    }

    /// The checksum of an item with parts: over its own checksum and those of its parts, in order.
    pub fn joined(own: Self, parts: impl IntoIterator<Item = Self>) -> Self {
        // No JSON and no blob begins with this byte.
        let mut bytes = vec![0xff];
        bytes.extend_from_slice(own.0.as_bytes());
        for part in parts {
            bytes.extend_from_slice(part.0.as_bytes());
        }
        Self::of(&bytes)
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
        let machine = Checksum::of_json(&run.surroundings());
        let experiments = run.experiments.iter().map(ExperimentChecksums::of);
        let mut checksums = Self {
            run: Checksum::MISSING,
            machine,
            experiments: experiments.collect(),
        };
        checksums.run = checksums.joined(&run.header);
        checksums
    }

    /// The checksum of the run with this header over those of its parts.
    pub fn joined(&self, header: &Header) -> Checksum {
        let experiments = self.experiments.iter().map(|parts| parts.experiment);
        let parts = [self.machine].into_iter().chain(experiments);
        Checksum::joined(Checksum::of_json(header), parts)
    }
}

impl ExperimentChecksums {
    fn of(record: &ExperimentRecord) -> Self {
        let mut checksums = Self {
            experiment: Checksum::MISSING,
            points: record.points.iter().map(PointChecksums::of).collect(),
        };
        checksums.experiment = checksums.joined(record);
        checksums
    }

    /// The checksum of `record` over those of its points.
    pub fn joined(&self, record: &ExperimentRecord) -> Checksum {
        let own = Checksum::of_json(&(&record.definition, &record.skipped));
        Checksum::joined(own, self.points.iter().map(|parts| parts.point))
    }
}

impl PointChecksums {
    pub fn of(record: &PointRecord) -> Self {
        let batches = record.batches.iter();
        let mut checksums = Self {
            point: Checksum::MISSING,
            batches: batches
                .map(|batch| Checksum::of(&blob::encode(batch)))
                .collect(),
        };
        checksums.point = checksums.joined(record);
        checksums
    }

    /// The checksum of `record` over those of its batches.
    pub fn joined(&self, record: &PointRecord) -> Checksum {
        let own = Checksum::of_json(&(&record.point, &record.closing));
        Checksum::joined(own, self.batches.iter().copied())
    }
}
