//! Runs of known contents, which steps of the tables make in the folder of their case:
//!
//! - `six-passes FILE ID`: a run without checksums, under this id, with a process in each of six passes.
//! - `logged-store FOLDER`: a store whose newest run is only in its write-ahead log, as after a kill. `$STORE` is its file.
//! - `session FILE FACTOR [PROCESS...]`: a run of eight calls that take FACTOR times as long as usual, and in each
//!   process as many times that.
//! - `side NAME FACTOR`: three sessions around FACTOR, whose files are `$NAME`.
//! - `days FROM TO FACTOR KERNEL`: a session for each of these days, under a kernel of this release: `day01.json`.
//! - `recorded LOAD TIMES NAME`: three runs that were recorded under this load, with all times 20 % longer TIMES times
//!   over. Their files are `$NAME`: `NAME-1.json`.
//! - `machine NAME TIMES`: an idle run of another machine, as slow as that: `NAME.json`.
//! - `fleet FOLDER FACTOR...`: the runs of nodes n1, n2 and so on, whose system calls take FACTOR times as long as
//!   usual, and copies of memory as long as usual: `FOLDER/n1.oscope.json`.

use crate::common::{REPORT, UNPROVEN, in_six_passes, printed, program};
use flate2::read::GzDecoder;
use rusqlite::Connection;
use serde_json::{Value, json};
use std::fs::{self, File};
use std::path::Path;
use std::sync::LazyLock;
use testing::Command;

const CALLS: [&str; 8] = [
    "getpid",
    "read 1 byte",
    "lseek",
    "open+close",
    "fopen+fclose",
    "create+delete",
    "malloc+free",
    "fork+exit+wait",
];
const SIZES: [u64; 4] = [64 << 20, 128 << 20, 256 << 20, 512 << 20];

/// Makes what a step asks for. A variable with the names of its files, if it has one.
pub(super) fn make(folder: &Path, words: &str) -> Option<(String, String)> {
    let words: Vec<&str> = words.split(' ').collect();
    let write = |file: &str, run: &Value| write(&folder.join(file), run);
    match words[..] {
        ["six-passes", file, id] => {
            let run = fs::read_to_string(UNPROVEN).expect("a run");
            let made = in_six_passes(&run, id);
            fs::write(folder.join(file), made).expect("there is room");
        }
        ["logged-store", place] => {
            let store = folder.join(place).join("oscope.db");
            write_logged_store(&store, &folder.join("run.json"));
            return Some(("STORE".to_owned(), store.display().to_string()));
        }
        ["session", file, factor, ..] => {
            let processes: Vec<f64> = words[3..].iter().map(|word| number(word)).collect();
            write(file, &session(file, number(factor), &processes));
        }
        ["side", name, factor] => {
            let files = [0.999, 1.0, 1.001].map(|wobble| {
                let file = format!("{name}-{wobble}.json");
                write(&file, &session(&file, number(factor) * wobble, &[]));
                file
            });
            return Some((name.to_owned(), files.join(",")));
        }
        ["days", from, to, factor, kernel] => {
            for day in number(from) as u32..=number(to) as u32 {
                let wobble = 1.0 + 0.002 * f64::from(day * 7 % 5);
                let file = format!("day{day:02}.json");
                let mut made = session(&file, number(factor) * wobble, &[]);
                made["run"]["header"]["started"] = format!("2024-01-{day:02}T00:00:00Z").into();
                made["run"]["environment"]["kernel_release"] = kernel.into();
                write(&file, &made);
            }
        }
        ["recorded", load, times, name] => {
            let files = [1, 2, 3].map(|index| {
                let file = format!("{name}-{index}.json");
                write(&file, &recorded(&format!("{load}-{index}"), times));
                file
            });
            return Some((name.to_owned(), files.join(",")));
        }
        ["machine", name, times] => {
            let mut run = recorded("idle-1", times);
            run["run"]["header"]["machine_fingerprint"] = name.into();
            run["run"]["header"]["id"] = format!("{name:0>32}").into();
            run["run"]["machine"]["cpu"]["family"] = 999.into();
            write(&format!("{name}.json"), &run);
        }
        ["fleet", fleet, ..] => {
            fs::create_dir(folder.join(fleet)).expect("there is room");
            for (index, factor) in words[2..].iter().enumerate() {
                let node = format!("n{}", index + 1);
                let file = format!("{fleet}/{node}.oscope.json");
                write(&file, &node_run(&node, &file, number(factor)));
            }
        }
        _ => panic!("nothing of this kind is made: {words:?}"),
    }
    None
}

/// Makes a store with a run called `kept in the log`, from a file of this name.
fn write_logged_store(store: &Path, file: &Path) {
    let import = |run: &Value| {
        write(file, run);
        let mut import = Command::new(program());
        import.arg("--store").arg(store).arg("import").arg(file);
        printed(&mut import, "0");
    };
    import(&TEMPLATE);
    // An open reader keeps SQLite from moving the log into the store.
    let reader = Connection::open(store).expect("a store");
    let tables = reader.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()));
    tables.expect("it can be read");
    let mut run = TEMPLATE.clone();
    run["run"]["header"]["id"] = format!("{:032x}", fnv("kept")).into();
    run["run"]["header"]["name"] = "kept in the log".into();
    import(&run);
    let files = [store.to_owned(), store.with_extension("db-wal")];
    let before = files
        .each_ref()
        .map(|file| fs::read(file).expect("it is there"));
    // The end of the last connection moves it.
    drop(reader);
    for (file, bytes) in files.iter().zip(before) {
        fs::write(file, bytes).expect("there is room");
    }
}

/// Sets values in a file of JSON: `/run/header/name = after`.
pub(super) fn edit(file: &Path, changes: &[String]) {
    let text = fs::read_to_string(file).expect("a file");
    let mut document: Value = serde_json::from_str(&text).expect("JSON");
    for change in changes {
        let (path, value) = change.split_once(" = ").expect("PATH = VALUE");
        let value = serde_json::from_str(value).unwrap_or_else(|_| value.into());
        let (parent, name) = path.rsplit_once('/').expect("a path");
        match document.pointer_mut(parent).expect("it is there") {
            Value::Array(list) => list[name.parse::<usize>().expect("a number")] = value,
            parent => parent[name] = value,
        }
    }
    write(file, &document);
}

fn write(file: &Path, document: &Value) {
    fs::write(file, document.to_string()).expect("there is room");
}

fn number(word: &str) -> f64 {
    word.parse().expect("a number")
}

/// A number that a text always has.
fn fnv(text: &str) -> usize {
    text.bytes().fold(0x811c_9dc5, |hash, byte| {
        ((hash ^ usize::from(byte)) * 0x0100_0193) & 0xffff_ffff
    })
}

/// A run of one experiment, without the checksums that a change would not match.
static TEMPLATE: LazyLock<Value> = LazyLock::new(|| {
    let exported = printed(Command::new(program()).args(["export", REPORT]), "0");
    let mut run: Value = serde_json::from_str(&exported).expect("JSON");
    run.as_object_mut().expect("a document").remove("checksums");
    run["run"]["header"]["version"] = "0.1.0".into();
    let experiments = &mut run["run"]["experiments"];
    *experiments = json!([experiments[0]]);
    experiments[0]["definition"]["isolation"] = "fresh_process".into();
    run
});

/// A run of the template's experiment: `processes` are the times of its processes, as multiples of the usual ones.
fn session(id: &str, factor: f64, processes: &[f64]) -> Value {
    let processes = match processes {
        // They differ by a few per mille.
        [] => &[1.0, 1.001, 1.002, 1.003, 1.004],
        processes => processes,
    };
    let mut run = TEMPLATE.clone();
    run["run"]["header"]["id"] = format!("{:032x}", fnv(id)).into();
    let time = |call: usize, pass: usize| factor * (call + 1) as f64 * processes[pass];
    run["run"]["experiments"][0]["points"] = points(&calls(), "rate", processes.len(), time);
    run
}

fn calls() -> Vec<Value> {
    let calls = CALLS.iter();
    let points = calls.map(|call| json!([["call", call], ["optimisation", 3]]));
    points.collect()
}

/// Points with these levels. In each pass, a thousand operations take `time` of the index of the point and of the pass,
/// in units of 10 ms.
fn points(
    levels: &[Value],
    metric: &str,
    passes: usize,
    time: impl Fn(usize, usize) -> f64,
) -> Value {
    let example = &TEMPLATE["run"]["experiments"][0]["points"][0];
    let point = |(index, levels): (usize, &Value)| {
        let batch = |pass: usize| {
            let mut batch = example["batches"][0].clone();
            batch["pass"] = pass.into();
            batch["samples"][0]["metric"] = metric.into();
            let wall_ns = (time(index, pass) * 1e7) as u64;
            let once = json!({ "work": 1000.0, "wall_ns": wall_ns });
            batch["samples"][0]["reading"] = json!({ "once": once });
            batch
        };
        let mut point = example.clone();
        point["point"] = levels.clone();
        point["batches"] = (0..passes).map(batch).collect();
        point
    };
    levels.iter().enumerate().map(point).collect()
}

/// A recorded run of the test data, with each timing 20 % longer `times` times over.
fn recorded(name: &str, times: &str) -> Value {
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/load");
    let packed = File::open(format!("{fixtures}/{name}.oscope.json.gz")).expect("a fixture");
    let mut run: Value = serde_json::from_reader(GzDecoder::new(packed)).expect("a run");
    for _ in 0..times.parse().expect("a number") {
        let id = run["run"]["header"]["id"].as_str().expect("an id");
        run["run"]["header"]["id"] = format!("f{}", &id[1..]).into();
        slow_down(&mut run["run"]["experiments"], None);
    }
    run
}

/// Makes each timing in readings in `value` 20 % longer; `name` is the name of a value in a reading.
fn slow_down(value: &mut Value, name: Option<&str>) {
    const TIMINGS: [&str; 6] = [
        "wall_ns",
        "short_wall_ns",
        "p5_ns",
        "p50_ns",
        "p95_ns",
        "p99_ns",
    ];
    match value {
        Value::Object(fields) => {
            for (key, field) in fields {
                let is_in_reading = name.is_some() || key == "reading";
                slow_down(field, is_in_reading.then_some(key));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| slow_down(item, name)),
        Value::Number(time) if name.is_some_and(|it| TIMINGS.contains(&it)) => {
            *value = match time.as_u64() {
                Some(whole_ns) => (whole_ns * 6 / 5).into(),
                None => (time.as_f64().expect("ns") * 1.2).into(),
            };
        }
        _ => {}
    }
}

/// The run of a node. Its processes differ by a few per mille, and nodes by as much.
fn node_run(node: &str, id: &str, factor: f64) -> Value {
    const PROCESSES: usize = 6;
    let time = |experiment: &str, point: usize, process: usize| {
        let noise = fnv(&format!("{node} {experiment} {point} {process}")) % 1000;
        (point + 1) as f64 * (1.0 + 0.006 * (noise as f64 / 1000.0 - 0.5))
    };
    let mut document = session(id, factor, &[]);
    let run = &mut document["run"];
    run["header"]["machine_fingerprint"] = format!("{:016x}", fnv(node)).into();
    run["header"]["tags"] = json!({});
    let of_calls = |point, process| factor * time("calls", point, process);
    let calls = &mut run["experiments"][0];
    calls["points"] = points(&self::calls()[..6], "rate", PROCESSES, of_calls);
    let mut copies = calls.clone();
    let axis = |name: &str, kind: &str| json!({ "name": name, "title": name, "kind": kind });
    copies["definition"]["id"] = "memory.copy".into();
    copies["definition"]["axes"] = json!([axis("block_size", "bytes"), axis("method", "choice")]);
    copies["definition"]["metrics"][0]["name"] = "copy".into();
    copies["definition"]["metrics"][0]["unit"] = "bytes_per_second".into();
    let levels = SIZES.map(|size| json!([["block_size", size], ["method", "memcpy"]]));
    let of_copies = |point, process| time("copies", point, process);
    copies["points"] = points(&levels, "copy", PROCESSES, of_copies);
    let all = run["experiments"].as_array_mut();
    all.expect("a list").push(copies);
    document
}
