//! Fleets as a user sees them: runs of several nodes that were made up from one, of which one is slow by
//! a known factor.

use crate::common::{Place, ends, fnv, json, list, made_up, made_up_batch, printed};
use crate::documents::is_valid;
use serde_json::{Value, json};

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
        let mut template = made_up(&place);
        template["run"]["header"]["version"] = "0.1.0".into();
        place.directory("runs");
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
            let noise = fnv(&format!("{node} {point} {process}")) % 1000;
            let noise = 1.0 + 0.006 * (noise as f64 / 1000.0 - 0.5);
            let mut batch = made_up_batch(example, process, ns * noise);
            batch["samples"][0]["metric"] = metric.into();
            batch
        };
        let mut record = example.clone();
        record["point"] = point.clone();
        record["batches"] = (0..6).map(batch).collect();
        record
    }

    fn write(&self, node: &str, run: &Value) {
        let file = format!("runs/{node}.oscope.json");
        self.place.file(&file, run.to_string());
    }

    /// Judges the fleet, and checks the output by the cells of a row.
    fn judge(&self, options: &str, expected: &str) -> String {
        let judge = format!("fleet judge $runs {options}");
        printed(&mut self.place.line(&judge), expected)
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

#[test]
fn a_slow_node_is_named_with_its_component() {
    let fleet = Fleet::with("n3", 1.12);
    fleet.judge(
        "--page $fleet.html",
        "3 | > 5 nodes: 1 slower, 4 healthy | > system calls | 2> page: ",
    );
    let html = fleet.place.read("fleet.html");
    assert!(html.contains("<a href=\"#n3\">n3</a>"), "{html}");
    assert_eq!(html.matches("class=\"slower\"").count(), 3 + CALLS.len());
    assert!(!html.contains("<script"));

    let judged = fleet.judge("--json", "3");
    is_valid(judged.as_bytes(), "report/schema/fleet-1", "fleet judge");
    let judged = json(judged.as_bytes());
    let counts = json!({ "slower": 1, "faster": 0, "alike": 4 });
    assert_eq!(judged["counts"], counts);
    let node = &judged["nodes"][0];
    assert_eq!(node["node"], "n3");
    assert_eq!(node["because"], json!(["system calls"]));
    let ratio = node["components"]["system calls"]["ratio"].as_f64();
    let ratio = ratio.expect("a number");
    assert!((ratio * 1.12 - 1.0).abs() < 0.01, "{ratio}");
    let memory = &node["components"]["memory"];
    assert_eq!(memory["verdict"], "alike");
    assert_eq!(memory["values"], SIZES.len());
    // A part of the experiments can be judged.
    fleet.judge("--only memory", "0");
    fleet.judge("--only process.calls", "3");
    fleet.judge("--margin 20", "0");
}

#[test]
fn a_node_that_got_worse_is_compared_with_itself_before() {
    // n5 was slow before and is as slow now; a new kernel made all calls slower; n3 got slower beyond that.
    let before = Fleet::with("n5", 1.3);
    let now = Fleet::new();
    for (node, factor) in NODES.into_iter().zip([1.5, 1.5, 1.8, 1.5, 1.95]) {
        let mut run = now.run(node, factor);
        run["run"]["header"]["id"] = format!("{:032x}", fnv(node) + 1).into();
        now.write(node, &run);
    }
    let since = format!("--since {}", before.place.name("runs"));
    now.judge(
        &format!("{since} --page $fleet.html"),
        "3 | > 5 nodes since the earlier runs: 1 slower, 4 unchanged \
         | > The nodes changed together in system calls: 0.667 × as fast as before \
         | > now │ | > before │ | !> n5",
    );
    let html = now.place.read("fleet.html");
    assert!(html.contains(">before</th>"), "{html}");

    let judged = json(now.judge(&format!("{since} --json"), "3").as_bytes());
    assert_eq!(judged["since"], true);
    let node = &judged["nodes"][0];
    assert_eq!(node["node"], "n3");
    let value = &node["differing"][0];
    let change = value["here"].as_f64().zip(value["elsewhere"].as_f64());
    let (here, elsewhere) = change.expect("numbers");
    assert!((here / elsewhere / 1.8 - 1.0).abs() < 0.02, "{value}");
    now.judge("--since $runs", "2 | 2> name it on one side only");
}

#[test]
fn a_bad_file_is_named_and_the_others_are_judged() {
    let fleet = Fleet::with("none", 1.0);
    fleet.judge("", "0 | > 5 nodes: 5 healthy");
    let broken = "{\"format\":\"oscope-run\",";
    let broken = fleet.place.file("runs/broken.oscope.json", broken);
    fleet.judge(
        "",
        "1 | > 5 nodes: 5 healthy | 2> broken.oscope.json: the file is cut off",
    );
    fleet.write("n2", &fleet.run("n2", 1.3));
    fleet.judge("", "3 | 2> cut off");
    check!(fleet.place => "fleet judge {broken} | 2 | 2> oscope export");
}

#[test]
fn too_few_nodes_are_refused() {
    let fleet = Fleet::new();
    for (node, expected) in [
        (None, "2 | 2> has no exported run"),
        (Some("n1"), "2 | 2> runs of 1 node:"),
        (Some("n2"), "2 | 2> oscope compare"),
        (Some("n3"), "0 | > Three nodes"),
    ] {
        if let Some(node) = node {
            fleet.write(node, &fleet.run(node, 1.0));
        }
        fleet.judge("", expected);
    }
}

#[test]
fn a_tag_names_the_node_and_a_folder_holds_its_sessions() {
    let fleet = Fleet::with("none", 1.0);
    let mut named = fleet.run("n1", 1.0);
    named["run"]["header"]["tags"] = json!({ "host": "rack1-node1" });
    fleet.write("n1", &named);
    fleet.place.directory("runs/n6");
    for session in ["n6/1", "n6/2"] {
        fleet.write(session, &fleet.run(session, 1.0));
    }
    let judged = json(fleet.judge("--json", "0").as_bytes());
    let nodes = list(&judged, "nodes").iter();
    let runs: Vec<_> = nodes
        .map(|node| (node["node"].as_str(), list(node, "runs").len()))
        .collect();
    let nodes = ["n2", "n3", "n4", "n5", "n6", "rack1-node1"].map(Some);
    let expected: Vec<_> = nodes.into_iter().zip([1, 1, 1, 1, 2, 1]).collect();
    assert_eq!(runs, expected);
}

#[test]
fn only_values_of_the_same_meaning_are_compared() {
    let fleet = Fleet::new();
    for node in NODES {
        let (factor, system) = match node {
            "n1" => (2.0, "Windows NT"),
            _ => (1.0, "Linux"),
        };
        let mut run = fleet.run(node, factor);
        run["run"]["environment"]["kernel_name"] = system.into();
        fleet.write(node, &run);
    }
    fleet.judge(
        "",
        "1 | > 5 nodes: 5 healthy | > n1 has too few values of system calls \
         | > it means something else on Windows than on the system of most nodes",
    );
}

#[test]
fn a_name_with_control_characters_does_no_harm() {
    let fleet = Fleet::with("n3", 1.3);
    let mut named = fleet.run("n3", 1.3);
    named["run"]["header"]["tags"] = json!({ "host": "<b>\u{1b}[31m&" });
    fleet.write("n3", &named);
    fleet.judge("--page $fleet.html", "3 | !> \u{1b}");
    let html = fleet.place.read("fleet.html");
    assert!(!html.contains("<b>") && !html.contains('\u{1b}'));
}

#[test]
fn a_fleet_without_a_launcher_says_how_to_get_one() {
    let place = Place::new();
    for (line, expected) in [
        (
            "fleet run process.calls --output $runs",
            "2 | 2> no launcher | 2> mpirun | 2> srun --mpi=pmix | 2> oscope fleet judge",
        ),
        ("fleet network", "2 | 2> no launcher | 2> srun --mpi=pmix"),
        ("fleet network --passes 0", "2 | 2> --passes"),
        ("fleet run memory.nothing", "2 | 2> memory.nothing"),
    ] {
        let mut command = place.line(line);
        ends(command.env_remove("PMIX_NAMESPACE"), expected);
    }
    assert!(!place.path("runs").exists() && !place.store.exists());
}

/// A folder with the output of `osu_bw` and `osu_latency` for five nodes, of which the third one sends slowly.
fn fabric() -> Place {
    let place = Place::new();
    place.directory("fabric");
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
                place.file(&format!("fabric/{from},{to},{pass}.osu"), text);
            }
        }
    }
    place
}

#[test]
fn the_output_of_osu_is_judged() {
    let place = fabric();
    check!(place => "
        fleet fabric $fabric --page $fabric.html | 3 | > n3 | > MPI throughput, 4 MiB
    ");
    let page = place.read("fabric.html");
    assert!(page.contains("osu_bw") && !page.contains("rounds in which"));
    let judged = printed(&mut place.line("fleet fabric $fabric --json"), "3");
    let judged = json(judged.as_bytes());
    assert_eq!(judged["origin"], "osu");
    // Each pair has its latency from both ends.
    assert_eq!(judged["passes"], 6);
    let ports = list(&judged, "ports");
    assert_eq!(ports.len(), 1, "{ports:?}");
    assert_eq!(ports[0]["name"], "n3");
    assert_eq!(ports[0]["aspect"], "sending");
}

#[test]
fn output_that_cannot_be_read_is_named_and_the_rest_is_judged() {
    let place = fabric();
    place.file("fabric/n1,n2,1.osu", "mpirun was unable to launch\n");
    place.file("fabric/notes.txt", "no pair");
    place.directory("empty");
    check!(place => "
        fleet fabric $fabric | 3
            | > n1,n2,1.osu: it has no output of osu_latency or osu_bw
        fleet fabric $fabric/notes.txt | 2 | 2> FROM,TO.osu
        fleet fabric $empty            | 2 | 2> FROM,TO.osu
    ");
}
