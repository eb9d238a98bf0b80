//! A reading as rows of plain columns, for the store's table of samples and for CSV.

use instrument::sample::{Around, Legs, Reading};

/// The columns of every kind of reading; those of other kinds are empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ReadingRow {
    /// `legs`, `once`, `latencies` or `value`; in tables with a row for each timing
    /// also `leg` and `short_leg`.
    pub kind: String,
    pub iterations: Option<u64>,
    pub work: Option<f64>,
    pub wall_ns: Option<u64>,
    pub count: Option<u64>,
    pub p5_ns: Option<f64>,
    pub p50_ns: Option<f64>,
    pub p95_ns: Option<f64>,
    pub p99_ns: Option<f64>,
    pub value: Option<f64>,
    pub reference_ns: Option<u64>,
    pub around: Option<Around>,
    /// JSON of the legs.
    pub legs: Option<String>,
}

impl From<&Reading> for ReadingRow {
    fn from(reading: &Reading) -> Self {
        match *reading {
            Reading::Legs(ref legs) => Self {
                kind: "legs".into(),
                iterations: Some(legs.iterations),
                work: Some(legs.work),
                legs: Some(serde_json::to_string(legs).expect("legs are plain data")),
                ..Self::default()
            },
            Reading::Once {
                work,
                wall_ns,
                reference_ns,
                around,
            } => Self {
                kind: "once".into(),
                work: Some(work),
                wall_ns: Some(wall_ns),
                reference_ns,
                around,
                ..Self::default()
            },
            Reading::Latencies {
                count,
                p50_ns,
                p5_ns,
                p95_ns,
                p99_ns,
                reference_ns,
                around,
            } => Self {
                kind: "latencies".into(),
                count: Some(count),
                p5_ns: Some(p5_ns),
                p50_ns: Some(p50_ns),
                p95_ns: Some(p95_ns),
                p99_ns: Some(p99_ns),
                reference_ns,
                around,
                ..Self::default()
            },
            Reading::Value(value) => Self {
                kind: "value".into(),
                value: Some(value),
                ..Self::default()
            },
        }
    }
}

impl ReadingRow {
    /// The rows of a table with one row for each timing: those of the legs one by one.
    pub fn timings(reading: &Reading) -> Vec<Self> {
        let Reading::Legs(legs) = reading else {
            return vec![Self::from(reading)];
        };
        let timing = |kind: &str, iterations, wall_ns: &u64, reference_ns, around| Self {
            kind: kind.into(),
            iterations: Some(iterations),
            work: Some(legs.work),
            wall_ns: Some(*wall_ns),
            reference_ns,
            around,
            ..Self::default()
        };
        let long = legs.wall_ns.iter().enumerate().map(|(index, wall_ns)| {
            let reference_ns = legs.reference_ns.get(index).copied();
            let around = legs.around.get(index).copied();
            timing("leg", legs.iterations, wall_ns, reference_ns, around)
        });
        let short = legs.short_wall_ns.iter();
        let short =
            short.map(|wall_ns| timing("short_leg", legs.short_iterations, wall_ns, None, None));
        long.chain(short).collect()
    }

    /// Converts the row back; `None` if a column of its kind is empty or the kind is unknown.
    pub fn reading(&self) -> Option<Reading> {
        Some(match self.kind.as_str() {
            "legs" => {
                let legs: Legs = serde_json::from_str(self.legs.as_ref()?).ok()?;
                Reading::Legs(legs)
            }
            "once" => Reading::Once {
                work: self.work?,
                wall_ns: self.wall_ns?,
                reference_ns: self.reference_ns,
                around: self.around,
            },
            "latencies" => Reading::Latencies {
                count: self.count?,
                p50_ns: self.p50_ns?,
                p5_ns: self.p5_ns?,
                p95_ns: self.p95_ns?,
                p99_ns: self.p99_ns?,
                reference_ns: self.reference_ns,
                around: self.around,
            },
            "value" => Reading::Value(self.value?),
            _ => return None,
        })
    }
}
