//! The fabric under MPI, as `osu_latency` and `osu_bw` of the
//! [OSU benchmarks](https://mvapich.cse.ohio-state.edu/benchmarks/) print it.

use super::Origin;
use super::aspect::{Aspect, Metric};
use super::gather::Gathering;
use std::collections::{BTreeMap, BTreeSet};
use thiserror::Error;

const NS_PER_US: f64 = 1e3;
/// The megabyte of these benchmarks (`osu_bw.c`: bytes divided by 1e6).
const BYTES_PER_MB: f64 = 1e6;

/// The output of the benchmarks for a pair of nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct PairOutput {
    /// The node of the first process, which sends in `osu_bw`.
    pub from: String,
    /// The node of the second process.
    pub to: String,
    /// The tables, in the order of the file.
    pub tables: Vec<Table>,
}

/// A table of one benchmark.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// [`Aspect::RoundTrip`] of `osu_latency`, [`Aspect::Sending`] of `osu_bw`.
    aspect: Aspect,
    /// By the size of a message in bytes: ns or bytes/s.
    values: BTreeMap<u64, f64>,
}

/// The reason why a text has no such table, for readers.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{0}")]
pub struct OsuError(String);

/// Reads the tables in the output of the benchmarks. What a launcher printed between them is skipped.
///
/// # Errors
/// If there is no such table, or one of another benchmark.
pub fn tables(text: &str) -> Result<Vec<Table>, OsuError> {
    let mut tables: Vec<(&str, Table)> = Vec::new();
    for line in text.lines().map(str::trim) {
        let title = line.strip_prefix("# ");
        if let Some(title) = title.filter(|title| title.starts_with("OSU ")) {
            let aspect = aspect(title).ok_or_else(|| {
                OsuError(format!(
                    "'{title}' is another benchmark: only osu_latency and osu_bw are read"
                ))
            })?;
            let values = BTreeMap::new();
            tables.push((title, Table { aspect, values }));
        } else if let Some((_, table)) = tables.last_mut()
            && let Some((bytes, value)) = row(line)
        {
            let unit = if table.aspect.is_mutual() {
                NS_PER_US
            } else {
                BYTES_PER_MB
            };
            table.values.insert(bytes, value * unit);
        }
    }
    if tables.is_empty() {
        let reason = "it has no output of osu_latency or osu_bw";
        return Err(OsuError(reason.to_owned()));
    }
    if let Some((title, _)) = tables.iter().find(|(_, table)| table.values.is_empty()) {
        return Err(OsuError(format!(
            "the table '{title}' has no values: did the benchmark fail?"
        )));
    }
    Ok(tables.into_iter().map(|(_, table)| table).collect())
}

/// What a benchmark measures, by its title, which may name an accelerator: `OSU MPI-CUDA Latency Test v7.4`.
fn aspect(title: &str) -> Option<Aspect> {
    let mut words = title.split_whitespace().skip(1);
    let _mpi = words.next().filter(|word| word.starts_with("MPI"))?;
    match (words.next()?, words.next()?) {
        ("Latency", "Test") => Some(Aspect::RoundTrip),
        ("Bandwidth", "Test") => Some(Aspect::Sending),
        _ => None,
    }
}

/// The size of a message and its value. Later versions print further columns.
fn row(line: &str) -> Option<(u64, f64)> {
    let mut columns = line.split_whitespace();
    let bytes = columns.next()?.parse().ok()?;
    let value: f64 = columns.next()?.parse().ok()?;
    (value.is_finite() && value > 0.0).then_some((bytes, value))
}

/// The nodes of all pairs with their latency in the smallest message and their throughput in the largest one, of those
/// that most tables have.
pub fn gathering(all: &[PairOutput]) -> Gathering {
    let names: BTreeSet<&String> = all.iter().flat_map(|it| [&it.from, &it.to]).collect();
    let nodes: Vec<String> = names.iter().map(|name| (*name).clone()).collect();
    let place = |name: &String| names.iter().position(|it| *it == name).unwrap_or_default();
    let mut gathering = Gathering::of(nodes, Origin::Osu);
    for (aspect, program, name) in [
        (Aspect::RoundTrip, "osu_latency", "MPI latency"),
        (Aspect::Sending, "osu_bw", "MPI throughput"),
    ] {
        let tables = all.iter().flat_map(|it| &it.tables);
        let sizes = usual_sizes(tables.filter(|it| it.aspect == aspect));
        let size = if aspect.is_mutual() {
            sizes.first()
        } else {
            sizes.last()
        };
        let Some(&size) = size else {
            gathering.remark(format!("No file has output of {program}."));
            continue;
        };
        let metric = Metric {
            aspect,
            name,
            message_bytes: Some(size),
        };
        for it in all {
            let (from, to) = (place(&it.from), place(&it.to));
            for table in it.tables.iter().filter(|it| it.aspect == aspect) {
                if let Some(value) = table.values.get(&size) {
                    gathering.put(metric, (from, to), *value);
                } else {
                    let reason = format!("a table has no messages of {size} B, as most have");
                    gathering.fail_link(from, to, reason);
                }
            }
        }
    }
    gathering
}

/// The sizes that most tables have, in ascending order. A message without data is none.
fn usual_sizes<'t>(tables: impl Iterator<Item = &'t Table>) -> Vec<u64> {
    let mut counts: BTreeMap<u64, usize> = BTreeMap::new();
    for table in tables {
        for bytes in table.values.keys().filter(|bytes| **bytes > 0) {
            *counts.entry(*bytes).or_default() += 1;
        }
    }
    let most = counts.values().copied().max();
    counts.retain(|_, count| Some(*count) == most);
    counts.into_keys().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Version 5.3 under Open MPI 4.1.
    const LATENCY: &str = "\
# OSU MPI Latency Test v5.3
# Size          Latency (us)
0                       0.73
1                       0.80
2                       0.81
";
    /// The columns of version 7.
    const BANDWIDTH: &str = "\
[node1:4711] a warning of the launcher

# OSU MPI Bandwidth Test v7.4
# Datatype: MPI_CHAR.
# Size      Bandwidth (MB/s)        Validation
1                       3.10              Pass
4194304              5586.13              Pass
";

    fn printed(from: &str, to: &str, text: &str) -> PairOutput {
        PairOutput {
            from: from.into(),
            to: to.into(),
            tables: tables(text).expect("it has tables"),
        }
    }

    #[test]
    fn other_texts_are_refused_with_a_reason() {
        for (text, expected) in [
            ("hello\n1 2\n", "no output of osu_latency"),
            (
                "# OSU MPI Bi-Directional Bandwidth Test v5.3\n1 2\n",
                "another benchmark",
            ),
            (
                "# OSU MPI Latency Test v5.3\n# Size  Latency (us)\nmpirun died\n",
                "has no values",
            ),
        ] {
            let error = tables(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn latency_is_of_the_smallest_message_and_throughput_of_the_largest() {
        let text = format!("{LATENCY}{BANDWIDTH}");
        let fast = BANDWIDTH.replace("5586.13", "9000.00");
        let all = [
            printed("b", "a", &text),
            printed("a", "b", &fast),
            printed("a", "b", &fast),
            printed("a", "c", LATENCY),
        ];
        let network = gathering(&all).judge(0.1);
        assert_eq!(network.nodes, ["a", "b", "c"]);
        let [latency, throughput] = &network.matrices[..] else {
            panic!("two matrices");
        };
        assert_eq!(latency.title, "MPI latency, 1 B");
        assert_eq!(throughput.title, "MPI throughput, 4 MiB");
        let both_ways = [latency.cells[0][1], latency.cells[1][0]];
        assert_eq!(both_ways, [Some(800.0); 2]);
        assert!(
            throughput.cells[0][1] > throughput.cells[1][0],
            "the first sends"
        );
        let slower = throughput.cells[1][0].expect("b to a");
        assert!((slower - 5.58613e9).abs() < 1.0, "{slower}");
        assert_eq!(throughput.cells[0][2], None);
        assert!(network.is_incomplete, "b and c have no measurement");
        assert_eq!(network.passes, 2);
    }
}
