//! Fleets as a user sees them: runs of several nodes that were made up from one, of which one is slow by
//! a known factor.

mod common;

use common::Place;
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;

const NODES: [&str; 5] = ["n1", "n2", "n3", "n4", "n5"];
const CALLS: [&str; 6] = [
    "getpid",
    "read 1 byte",
    "write 1 byte",
    "lseek",
    "stat",
    "open+close",
];
const SIZES: [u64; 4] = [64 << 20, 128 << 20, 256 << 20, 512 << 20];

/// A folder of exported runs.
struct Fleet {
    place: Place,
    template: Value,
}

impl Fleet {
    fn new() -> Self {
        let place = Place::new();
        let mut export = place.oscope(&["export", "reference:pentium4-2003-linux"]);
        let output = export.unwrap();
        let mut template: Value = serde_json::from_slice(&output.stdout).expect("an exported run");
        // A changed run would not match its checksums.
        let document = template.as_object_mut().expect("a document");
        document.remove("checksums");
        template["run"]["header"]["version"] = "0.1.0".into();
        fs::create_dir(place.path("runs")).expect("a folder");
        Self { place, template }
    }

    /// A fleet of all nodes, of which `slow` has system calls that take `factor` times as long.
    fn with(slow: &str, factor: f64) -> Self {
        let fleet = Self::new();
        for node in NODES {
            let own = if node == slow { factor } else { 1.0 };
            fleet.write(node, &fleet.run(node, own));
        }
        fleet
    }

    /// The run of a node.
    fn run(&self, node: &str, factor: f64) -> Value {
        let mut document = self.template.clone();
        let run = &mut document["run"];
        run["header"]["id"] = format!("{:032x}", fnv(node)).into();
        run["header"]["machine_fingerprint"] = format!("{:016x}", fnv(node)).into();
        run["header"]["tags"] = json!({});
        let ms = |index: usize| 1e7 * (index + 1) as f64;
        let calls = CALLS.iter().enumerate().map(|(index, call)| {
            let point = json!([["call", call], ["optimisation", 3]]);
            self.point(&point, "latency", factor * ms(index), node)
        });
        let calls: Vec<Value> = calls.collect();
        let copies = SIZES.iter().enumerate().map(|(index, size)| {
            let point = json!([["block_size", size], ["method", "memcpy"]]);
            self.point(&point, "copy", ms(index), node)
        });
        let copies: Vec<Value> = copies.collect();
        run["experiments"] = json!([
            experiment("process.calls", "latency", "nanoseconds", "lower", &calls),
            experiment("memory.copy", "copy", "bytes_per_second", "higher", &copies),
        ]);
        document
    }

    /// A point whose processes differ by a few per mille, and nodes by as much.
    fn point(&self, point: &Value, metric: &str, ns: f64, node: &str) -> Value {
        let example = &self.template["run"]["experiments"][0]["points"][0];
        let batch = |process: usize| {
            let mut batch = example["batches"][0].clone();
            let noise = fnv(&format!("{node} {point} {process}")) % 1000;
            let ns = ns * (1.0 + 0.006 * (noise as f64 / 1000.0 - 0.5));
            batch["pass"] = process.into();
            batch["samples"][0]["metric"] = metric.into();
            batch["samples"][0]["reading"] =
                json!({ "once": { "work": 1000.0, "wall_ns": ns as u64 } });
            batch
        };
        let mut record = example.clone();
        record["point"] = point.clone();
        record["batches"] = (0..6).map(batch).collect();
        record
    }

    fn path(&self, node: &str) -> PathBuf {
        self.place.path(&format!("runs/{node}.oscope.json"))
    }

    fn write(&self, node: &str, run: &Value) {
        fs::write(self.path(node), run.to_string()).expect("a file in the place");
    }

    fn runs(&self) -> String {
        self.place
            .path("runs")
            .to_str()
            .expect("a plain path")
            .to_owned()
    }

    fn judge(&self, options: &[&str]) -> assert_cmd::Command {
        let runs = self.runs();
        let arguments = [&["fleet", "judge", &runs], options].concat();
        self.place.oscope(&arguments)
    }

    fn judged(&self) -> Value {
        let output = self
            .judge(&["--json"])
            .output()
            .expect("the program starts");
        serde_json::from_slice(&output.stdout).expect("what --json prints is JSON")
    }
}

fn experiment(id: &str, metric: &str, unit: &str, better: &str, points: &[Value]) -> Value {
    let axis = |name: &str, kind: &str| json!({ "name": name, "title": name, "kind": kind });
    json!({
        "definition": {
            "id": id,
            "title": id,
            "question": "?",
            "method": "",
            "source": "",
            "axes": [axis("block_size", "bytes"), axis("call", "choice"), axis("method", "choice"),
                     axis("optimisation", "count")],
            "metrics": [{ "name": metric, "title": metric, "unit": unit, "better": better,
                          "version": 1, "bound": null }],
            "isolation": "fresh_process",
        },
        "skipped": null,
        "points": points,
    })
}

fn fnv(text: &str) -> usize {
    text.bytes().fold(0x811c_9dc5, |hash, byte| {
        ((hash ^ usize::from(byte)) * 0x0100_0193) & 0xffff_ffff
    })
}

#[test]
fn a_slow_node_is_named_with_its_component() {
    let fleet = Fleet::with("n3", 1.12);
    let page = fleet.place.path("fleet.html");
    let path = page.to_str().expect("a plain path");
    fleet
        .judge(&["--page", path])
        .assert()
        .code(3)
        .stdout(contains("5 nodes: 1 slower, 4 healthy").and(contains("system calls")))
        .stderr(contains("page: "));
    let html = fs::read_to_string(page).expect("a page");
    assert!(html.contains("<a href=\"#n3\">n3</a>"), "{html}");
    assert_eq!(html.matches("class=\"slower\"").count(), 3 + CALLS.len());
    assert!(!html.contains("<script"));

    let judged = fleet.judged();
    assert_eq!(
        judged["counts"],
        json!({ "slower": 1, "faster": 0, "alike": 4 })
    );
    let node = &judged["nodes"][0];
    assert_eq!(node["node"], "n3");
    assert_eq!(node["because"], json!(["system calls"]));
    let ratio = node["components"]["system calls"]["ratio"]
        .as_f64()
        .expect("a number");
    assert!((ratio * 1.12 - 1.0).abs() < 0.01, "{ratio}");
    let memory = &node["components"]["memory"];
    assert_eq!(memory["verdict"], "alike");
    assert_eq!(memory["values"], SIZES.len());
}

#[test]
fn healthy_nodes_are_said_to_be_so() {
    let fleet = Fleet::with("none", 1.0);
    fleet
        .judge(&[])
        .assert()
        .success()
        .stdout(contains("5 nodes: 5 healthy"));
}

#[test]
fn a_part_of_the_experiments_can_be_judged() {
    let fleet = Fleet::with("n3", 1.12);
    fleet.judge(&["--only", "memory"]).assert().success();
    fleet.judge(&["--only", "process.calls"]).assert().code(3);
    fleet.judge(&["--margin", "20"]).assert().success();
}

#[test]
fn a_node_that_got_worse_is_told_beside_itself_before() {
    // n5 was slow before and is as slow now; a new kernel made all calls slower; n3 got slower beyond that.
    let before = Fleet::with("n5", 1.3);
    let now = Fleet::new();
    for (node, factor) in NODES.into_iter().zip([1.5, 1.5, 1.8, 1.5, 1.95]) {
        let mut run = now.run(node, factor);
        run["run"]["header"]["id"] = format!("{:032x}", fnv(node) + 1).into();
        now.write(node, &run);
    }
    let page = now.place.path("fleet.html");
    let path = page.to_str().expect("a plain path");
    let since = before.runs();
    now.judge(&["--since", &since, "--page", path])
        .assert()
        .code(3)
        .stdout(
            contains("5 nodes since the earlier runs: 1 slower, 4 unchanged")
                .and(contains(
                    "The nodes changed together in system calls: 0.667 × as fast as before",
                ))
                .and(contains("now │").and(contains("before │")))
                .and(contains("n5").not()),
        );
    let html = fs::read_to_string(page).expect("a page");
    assert!(html.contains(">before</th>"), "{html}");

    let json = now.judge(&["--since", &since, "--json"]).output();
    let json: Value = serde_json::from_slice(&json.expect("it starts").stdout).expect("JSON");
    assert_eq!(json["since"], true);
    let node = &json["nodes"][0];
    assert_eq!(node["node"], "n3");
    let value = &node["differing"][0];
    let change = value["here"].as_f64().zip(value["elsewhere"].as_f64());
    let (here, elsewhere) = change.expect("numbers");
    assert!((here / elsewhere / 1.8 - 1.0).abs() < 0.02, "{value}");

    now.judge(&["--since", &now.runs()])
        .assert()
        .code(2)
        .stderr(contains("name it on one side only"));
}

#[test]
fn a_bad_file_is_told_and_the_others_are_judged() {
    let fleet = Fleet::with("none", 1.0);
    fs::write(fleet.path("broken"), "{\"format\":\"oscope-run\",").expect("a file");
    fleet
        .judge(&[])
        .assert()
        .code(1)
        .stdout(contains("5 nodes: 5 healthy"))
        .stderr(contains("broken.oscope.json: the file is cut off"));
    fleet.write("n2", &fleet.run("n2", 1.3));
    fleet
        .judge(&[])
        .assert()
        .code(3)
        .stderr(contains("cut off"));
    let only_broken = fleet.path("broken");
    let only_broken = only_broken.to_str().expect("a plain path");
    let judge = ["fleet", "judge", only_broken];
    let mut judge = fleet.place.oscope(&judge);
    judge.assert().code(2).stderr(contains("oscope export"));
}

#[test]
fn too_few_nodes_are_refused() {
    let fleet = Fleet::new();
    fleet
        .judge(&[])
        .assert()
        .code(2)
        .stderr(contains("has no exported run"));
    fleet.write("n1", &fleet.run("n1", 1.0));
    fleet
        .judge(&[])
        .assert()
        .code(2)
        .stderr(contains("runs of 1 node:"));
    fleet.write("n2", &fleet.run("n2", 1.0));
    fleet
        .judge(&[])
        .assert()
        .code(2)
        .stderr(contains("oscope compare"));
    fleet.write("n3", &fleet.run("n3", 1.0));
    fleet
        .judge(&[])
        .assert()
        .success()
        .stdout(contains("Three nodes"));
}

#[test]
fn names_and_identities_are_compared() {
    let fleet = Fleet::with("none", 1.0);
    // The same run under another name, and another run of a machine that is there already.
    fleet.write("copy", &fleet.run("n1", 1.0));
    let mut clone = fleet.run("clone", 1.0);
    clone["run"]["header"]["machine_fingerprint"] = format!("{:016x}", fnv("n2")).into();
    fleet.write("clone", &clone);
    fleet
        .judge(&[])
        .assert()
        .success()
        .stdout(contains("copy and n1 have the same run").and(contains("clone and n2 have one")));
}

#[test]
fn a_tag_names_the_node_and_a_folder_holds_its_sessions() {
    let fleet = Fleet::with("none", 1.0);
    let mut named = fleet.run("n1", 1.0);
    named["run"]["header"]["tags"] = json!({ "host": "rack1-node1" });
    fleet.write("n1", &named);
    fs::create_dir(fleet.place.path("runs/n6")).expect("a folder");
    for session in ["n6/1", "n6/2"] {
        fleet.write(session, &fleet.run(session, 1.0));
    }
    let judged = fleet.judged();
    let nodes = judged["nodes"].as_array().expect("a list").iter();
    let runs: Vec<(&str, usize)> = nodes
        .map(|node| {
            let runs = node["runs"].as_array().expect("a list");
            (node["node"].as_str().expect("a name"), runs.len())
        })
        .collect();
    let expected = [
        ("n2", 1),
        ("n3", 1),
        ("n4", 1),
        ("n5", 1),
        ("n6", 2),
        ("rack1-node1", 1),
    ];
    assert_eq!(runs, expected);
}

#[test]
fn versions_that_differ_are_told_and_only_the_same_meaning_is_compared() {
    let fleet = Fleet::with("none", 1.0);
    let mut other = fleet.run("n1", 1.0);
    other["run"]["header"]["version"] = "9.9.9".into();
    other["run"]["experiments"][0]["definition"]["metrics"][0]["version"] = 2.into();
    fleet.write("n1", &other);
    // The node is not judged as the others are.
    fleet.judge(&[]).assert().code(1).stdout(
        contains("The versions of oscope differ")
            .and(contains("n1 has too few values of system calls"))
            .and(contains("n1: system calls"))
            .and(contains("version 2 of the metric")),
    );
}

#[test]
fn what_means_something_else_on_another_system_is_not_compared() {
    let fleet = Fleet::with("n1", 2.0);
    for node in NODES {
        let mut run = fleet.run(node, if node == "n1" { 2.0 } else { 1.0 });
        let system = if node == "n1" { "Windows NT" } else { "Linux" };
        run["run"]["environment"]["kernel_name"] = system.into();
        fleet.write(node, &run);
    }
    fleet.judge(&[]).assert().code(1).stdout(
        contains("5 nodes: 5 healthy")
            .and(contains("n1 has too few values of system calls"))
            .and(contains(
                "it means something else on Windows than on the system of most nodes",
            )),
    );
}

#[test]
fn what_a_name_hides_does_no_harm() {
    let fleet = Fleet::with("n3", 1.3);
    let mut named = fleet.run("n3", 1.3);
    named["run"]["header"]["tags"] = json!({ "host": "<b>\u{1b}[31m&" });
    fleet.write("n3", &named);
    let page = fleet.place.path("fleet.html");
    let path = page.to_str().expect("a plain path");
    let judged = fleet.judge(&["--page", path]).assert().code(3);
    judged.stdout(contains("\u{1b}").not());
    let html = fs::read_to_string(page).expect("a page");
    assert!(!html.contains("<b>") && !html.contains('\u{1b}'));
}

#[test]
fn what_is_printed_as_json_follows_its_schema() {
    const SCHEMA: &str = include_str!("../../report/schema/fleet-1.schema.json");
    let schema: Value = serde_json::from_str(SCHEMA).expect("a schema is JSON");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    for factor in [1.0, 1.5] {
        let judged = Fleet::with("n2", factor).judged();
        let errors = validator.iter_errors(&judged);
        let errors: Vec<String> = errors.map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}");
        assert_eq!(judged["format"], 1);
    }
}

#[test]
fn a_fleet_without_a_launcher_says_how_to_get_one() {
    let place = Place::new();
    let mut run = place.oscope(&["fleet", "run", "process.calls", "--output"]);
    run.arg(place.path("runs"))
        .env_remove("PMIX_NAMESPACE")
        .assert()
        .code(2)
        .stderr(
            contains("no launcher")
                .and(contains("mpirun"))
                .and(contains("srun --mpi=pmix"))
                .and(contains("oscope fleet judge")),
        );
    assert!(!place.path("runs").exists());
    assert!(!place.store.exists());
}

#[test]
fn a_fleet_of_unknown_experiments_is_refused_before_anything_else() {
    let place = Place::new();
    place
        .oscope(&["fleet", "run", "memory.nothing"])
        .assert()
        .code(2)
        .stderr(contains("memory.nothing"));
}

#[test]
fn a_network_without_a_launcher_says_how_to_get_one() {
    let place = Place::new();
    place
        .oscope(&["fleet", "network"])
        .env_remove("PMIX_NAMESPACE")
        .assert()
        .code(2)
        .stderr(contains("no launcher").and(contains("srun --mpi=pmix")));
    place
        .oscope(&["fleet", "network", "--passes", "0"])
        .assert()
        .code(2)
        .stderr(contains("--passes"));
}

/// A folder with what `osu_bw` and `osu_latency` print for five nodes, of which the third one sends slowly.
fn fabric() -> Place {
    let place = Place::new();
    fs::create_dir(place.path("fabric")).expect("a folder");
    for from in NODES {
        for to in NODES.into_iter().filter(|to| *to != from) {
            for pass in 1..=3 {
                let slow = if from == "n3" { 0.4 } else { 1.0 };
                let noise = 1.0 + 0.002 * (fnv(&format!("{from}{to}{pass}")) % 7) as f64;
                let text = format!(
                    "# OSU MPI Latency Test v5.3\n# Size  Latency (us)\n0 1.0\n1 {:.2}\n\
                     # OSU MPI Bandwidth Test v5.3\n# Size  Bandwidth (MB/s)\n1 3.0\n4194304 {:.2}\n",
                    1.2 * noise,
                    9000.0 * slow * noise
                );
                let file = place.path("fabric").join(format!("{from},{to},{pass}.osu"));
                fs::write(file, text).expect("room");
            }
        }
    }
    place
}

#[test]
fn what_osu_printed_is_judged() {
    let place = fabric();
    let folder = place.path("fabric").display().to_string();
    let page = place.path("fabric.html").display().to_string();
    place
        .oscope(&["fleet", "fabric", &folder, "--page", &page])
        .assert()
        .code(3)
        .stdout(contains("n3").and(contains("MPI throughput, 4 MiB")));
    let page = fs::read_to_string(place.path("fabric.html")).expect("it is written");
    assert!(page.contains("osu_bw") && !page.contains("rounds in which"));
    let output = place
        .oscope(&["fleet", "fabric", &folder, "--json"])
        .assert()
        .code(3);
    let judged: Value = serde_json::from_slice(&output.get_output().stdout).expect("JSON");
    assert_eq!(judged["origin"], "osu");
    assert_eq!(
        judged["passes"], 6,
        "each pair has its latency from both ends"
    );
    let ports = judged["ports"].as_array().expect("a list");
    assert_eq!(ports.len(), 1, "{ports:?}");
    assert_eq!(
        (&ports[0]["name"], &ports[0]["aspect"]),
        (&json!("n3"), &json!("sending"))
    );
}

#[test]
fn output_that_cannot_be_read_is_told_and_the_rest_is_judged() {
    let place = fabric();
    let at = |name: &str| place.path("fabric").join(name);
    fs::write(at("n1,n2,1.osu"), "mpirun was unable to launch\n").expect("room");
    fs::write(at("notes.txt"), "no pair").expect("room");
    let folder = place.path("fabric").display().to_string();
    place
        .oscope(&["fleet", "fabric", &folder])
        .assert()
        .code(3)
        .stdout(contains(
            "n1,n2,1.osu: it has no output of osu_latency or osu_bw",
        ));
    let notes = at("notes.txt").display().to_string();
    place
        .oscope(&["fleet", "fabric", &notes])
        .assert()
        .code(2)
        .stderr(contains("FROM,TO.osu"));
    let empty = place.path("empty");
    fs::create_dir(&empty).expect("a folder");
    place
        .oscope(&["fleet", "fabric", &empty.display().to_string()])
        .assert()
        .code(2)
        .stderr(contains("FROM,TO.osu"));
}
