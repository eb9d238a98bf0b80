//! `--redact`: no output contains anything that identifies a machine or its people.

use crate::common::{Place, UNPROVEN, ends, in_six_passes, json};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use flate2::read::{GzDecoder, ZlibDecoder};
use serde_json::{Value, json};
use std::fs;
use std::io::Read as _;

/// An identifying word that no output may contain.
const SECRET: &str = "qz7acmewidgets";

/// A run with the secret in each free text.
fn planted(place: &Place) -> String {
    let text = fs::read_to_string(UNPROVEN).expect("a run");
    let text = in_six_passes(&text, "0123456789abcdef0123456789abcdef");
    let mut document: Value = serde_json::from_str(&text).expect("JSON");
    let run = &mut document["run"];
    run["header"]["name"] = format!("before {SECRET}").into();
    run["header"]["tags"] = json!({ SECRET: "x", "site": format!("{SECRET}-east") });
    run["header"]["directory"] = format!("/home/{SECRET}/scratch").into();
    run["header"]["machine_fingerprint"] = SECRET.into();
    let line = [
        format!("/opt/{SECRET}/oscope"),
        "run".into(),
        "file".into(),
        "--dir".into(),
        format!("/home/{SECRET}/scratch"),
        format!("--to={SECRET}:5735"),
    ];
    run["header"]["command_line"] = json!(line);
    run["environment"]["command_line"] = json!(line);
    for field in [
        "os_name",
        "os_version",
        "kernel_release",
        "kernel_version",
        "clock_source",
    ] {
        run["environment"][field] = format!("Linux {SECRET} 6.1").into();
    }
    run["environment"]["build"]["flags"] = format!("-C linker=/home/{SECRET}/ld").into();
    run["environment"]["mitigations"] = json!({ "meltdown": SECRET });
    run["machine"]["cpu"]["model"] = format!("Intel(R) Xeon(R) {SECRET}").into();
    run["machine"]["product"] = format!("{SECRET} Rack").into();
    run["machine"]["installation"] = SECRET.into();
    run["storage"]["mount_point"] = format!("/home/{SECRET}").into();
    run["storage"]["source"] = format!("{SECRET}.example:/export").into();
    run["storage"]["block_device"] = SECRET.into();
    run["storage"]["mount_options"] = json!(["rw", format!("username={SECRET}"), "addr=10.1.2.3"]);
    let points = &mut run["experiments"][0]["points"];
    for point in points.as_array_mut().expect("points") {
        for batch in point["batches"].as_array_mut().expect("batches") {
            batch["remarks"] = json!([format!("read from /home/{SECRET}/x, user {SECRET}")]);
        }
        if let Some(failed) = point.pointer_mut("/closing/ending/failed") {
            *failed = format!("{SECRET} said: no such file: '/home/{SECRET}/x' (10.1.2.3)").into();
        }
    }
    run["experiments"][1]["skipped"] = format!("{SECRET} has no right to it").into();
    place.file("planted.oscope.json", document.to_string())
}

/// An environment with that run in its store.
fn stored() -> Place {
    let place = Place::new();
    let file = planted(&place);
    check!(place => "import {file} | 0");
    fs::remove_file(file).expect("it was there");
    place
}

/// All contents of `text`, including the compressed parts of a page.
fn unpacked(text: &str) -> String {
    let is_packed = |c: char| c.is_ascii_alphanumeric() || "+/=".contains(c);
    let pieces = text.split(|c| !is_packed(c)).filter(|it| it.len() > 40);
    let mut all = text.to_owned();
    for piece in pieces {
        let Ok(packed) = BASE64_STANDARD.decode(piece) else {
            continue;
        };
        let mut inside = String::new();
        let mut packed = ZlibDecoder::new(packed.as_slice());
        if packed.read_to_string(&mut inside).is_ok() {
            all += &inside;
        }
    }
    all.to_lowercase()
}

#[test]
fn no_output_of_a_redacted_run_names_anybody() {
    let place = stored();
    let all = [
        "export",
        "export --format csv",
        "export --format markdown",
        "export --format openmetrics",
        "export --format google-benchmark",
        #[cfg(feature = "parquet")]
        "export --format parquet",
        "report",
        "card",
        "show",
        "show --json",
        "show latest file",
    ];
    let printed = |line: &str| {
        let output = ends(&mut place.line(line), "0").stdout;
        unpacked(&String::from_utf8_lossy(&output))
    };
    let mut open = 0;
    for line in all {
        open += usize::from(printed(line).contains(SECRET));
        let without = printed(&format!("{line} --redact"));
        for secret in [SECRET, "10.1.2.3"] {
            assert!(!without.contains(secret), "{line} --redact names {secret}");
        }
        assert!(!without.is_empty());
    }
    assert!(open >= 5, "{open} outputs without --redact name it");
}

#[test]
fn a_chart_can_be_redacted_as_well() {
    let place = Place::new();
    let fixture = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../record/tests/fixtures/recorded.oscope.json.gz"
    );
    let mut unpacked = Vec::new();
    let mut packed = GzDecoder::new(fs::File::open(fixture).expect("a fixture"));
    packed.read_to_end(&mut unpacked).expect("it is whole");
    place.file("run.oscope.json", unpacked);
    let plot = "plot process.wakeup --run $run.oscope.json";
    let drawn = place.prints(plot);
    assert!(drawn.starts_with("<svg"));
    // It names nobody anyhow.
    assert!(place.prints(&format!("{plot} --redact")) == drawn);
}

#[test]
fn a_redacted_run_can_be_used_like_any_other() {
    let (place, elsewhere) = (stored(), Place::new());
    check!(place => "
        export --redact --output $shared.oscope.json | 0 | 2>
        verify $shared.oscope.json | 0
        compare latest $shared.oscope.json | 2 | 2> share a run
    ");
    let text = place.read("shared.oscope.json");
    assert_eq!(json(text.as_bytes())["run"]["header"]["redacted"], true);
    let shared = place.name("shared.oscope.json");
    let other = fs::read_to_string(UNPROVEN).expect("a run");
    elsewhere.file("other.oscope.json", in_six_passes(&other, &"f".repeat(32)));
    check!(elsewhere => "
        import {shared} | 0
        show | 0 | > This run is redacted
        verify | 0
        compare latest $other.oscope.json | 0
    ");
    let page = unpacked(&elsewhere.prints("report"));
    assert!(page.contains("marks replace what named"));
    // Redacting twice changes nothing.
    assert!(elsewhere.prints("export --redact") == text);
}

#[test]
fn the_marks_of_a_store_are_the_same_and_those_of_another_are_not() {
    let place = stored();
    let first = place.prints("export --redact");
    assert!(first == place.prints("export --redact"));
    assert!(first != stored().prints("export --redact"));
}

#[test]
fn without_a_store_the_marks_are_those_of_one_output() {
    let place = Place::new();
    planted(&place);
    let [one, other] = [(); 2].map(|()| {
        let mut export = place.line("export $planted.oscope.json --redact");
        ends(&mut export, "0 | 2> the marks of this output").stdout
    });
    assert!(one != other);
    assert!(!unpacked(&String::from_utf8_lossy(&one)).contains(SECRET));
    assert!(!place.store.exists(), "nothing was made for it");
}
