//! A redacted run contains nothing that names its machine or people, and is otherwise unchanged.

use crate::common::{complete, exported, new_store};
use instrument::sample::Batch;
use oscope_record::store::{RunSelector, Store};
use oscope_record::{Proof, Redactor, Run, csv, file};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

/// A run with a value in every field.
fn known() -> Run {
    let mut run = complete(7);
    run.header.name = Some("before-upgrade".into());
    let mut value = serde_json::to_value(run).unwrap();
    value["header"]["command_line"] = json!([
        "oscope",
        "run",
        "memory",
        "--dir",
        "/home/x",
        "--name=new disk"
    ]);
    value["machine"]["product"] = "Acme Rack 9000".into();
    value["environment"]["frequency"]["driver"] = "intel_pstate".into();
    value["environment"]["frequency"]["governor"] = "performance".into();
    let environment = json!({
        "os_name": "Debian GNU/Linux",
        "os_version": "12 (bookworm)",
        "kernel_name": "Linux",
        "kernel_version": "#1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1 (2024-02-01)",
        "clock_source": "tsc",
        "transparent_huge_pages": "madvise",
        "uptime_seconds": 12_345.5,
        "command_line": ["/usr/local/bin/oscope", "run", "memory.bandwidth"],
        "build": {
            "program_version": "0.1.0", "compiler": "rustc 1.95.0 (59807616e 2026-04-14)",
            "target": "x86_64-unknown-linux-gnu", "optimisation_level": "3",
            "flags": "-C target-cpu=native",
        },
    });
    for (field, known) in environment.as_object().unwrap() {
        value["environment"][field] = known.clone();
    }
    serde_json::from_value(value).unwrap()
}

/// Texts from a fixed set, and texts that only the program writes.
const FIXED: &[&str] = &[
    "id",
    "started",
    "ended",
    "profile",
    "kind",
    "overcommit",
    "address_randomisation",
    "metric",
    "definition",
    "warnings",
];

/// Plants `secret` in every free text of a run; returns the number of places.
fn plant(value: &mut Value, secret: &dyn Fn(&str) -> String) -> usize {
    match value {
        // The ending of a point is one of four texts.
        Value::String(text) if text == "target_reached" => 0,
        Value::String(text) => {
            *text = secret(text);
            1
        }
        Value::Array(values) => values.iter_mut().map(|value| plant(value, secret)).sum(),
        Value::Object(fields) => {
            let all = std::mem::take(fields);
            let mut places = 0;
            for (mut name, mut value) in all {
                if name == "point" {
                    // Pairs of an axis, which the program names, and a level.
                    let levels = value.as_array_mut().unwrap().iter_mut();
                    places += levels
                        .map(|pair| plant(&mut pair[1], secret))
                        .sum::<usize>();
                } else if !FIXED.contains(&name.as_str()) {
                    places += plant(&mut value, secret);
                }
                if name == "disk" || name == "meltdown" {
                    name = secret(&name);
                }
                fields.insert(name, value);
            }
            places
        }
        _ => 0,
    }
}

fn redactor() -> Redactor {
    Redactor::new([3; 32])
}

/// Everything that is exported of `run`, as text.
fn text(run: &Run) -> String {
    let mut bytes = exported(run);
    csv::write(run, &mut bytes).unwrap();
    #[cfg(feature = "parquet")]
    oscope_record::parquet::write(run, &mut bytes).unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn no_secret_is_left_in_any_field(
        secret in "[a-z]{3}q[0-9]zj[A-Za-z0-9]{5,10}",
        template in select(vec![
            "<S>", "/home/<S>/x", "<T> <S>", "<S> <T>", "host=<S>", "<S>:5735", "user@<S>", "a,<S>;b",
            "'<S>'", "<T>\n<S>", "<S>.<T>", "--<S>", "--dir=<S>", "<T>-<S>", "C:\\<S>", "rw <S>",
            "https://<S>/<T>", "(<S>)", "1<S>", "<S>1",
        ]),
    ) {
        let mut value = serde_json::to_value(known()).unwrap();
        let planted = |text: &str| template.replace("<S>", &secret).replace("<T>", text);
        let places = plant(&mut value, &planted);
        prop_assert!(places >= 50, "{}", places);
        let run: Run = serde_json::from_value(value).unwrap();
        prop_assert!(text(&run).contains(&secret));
        let redacted = redactor().run(run);
        let text = text(&redacted);
        if let Some(at) = text.find(&secret) {
            let around = &text[text.floor_char_boundary(at.saturating_sub(80))..at];
            prop_assert!(false, "{template}: …{around}");
        }
    }
}

#[test]
fn what_describes_the_kind_of_machine_stays() {
    let run = known();
    let redacted = serde_json::to_value(redactor().run(run.clone())).unwrap();
    let run = serde_json::to_value(run).unwrap();
    for place in [
        "/machine/cpu",
        "/machine/hypervisor",
        "/environment/build",
        "/environment/mitigations",
        "/environment/kernel_release",
        "/environment/kernel_version",
        "/environment/os_name",
        "/environment/os_version",
        "/environment/frequency",
        "/storage/mount_options",
        "/storage/block_device",
        "/storage/scheduler",
        "/header/id",
        "/header/started",
        "/header/proven",
        "/experiments/0/points/0/batches/0/remarks",
        "/experiments/1/skipped",
    ] {
        assert!(run.pointer(place).is_some(), "{place}");
        assert_eq!(redacted.pointer(place), run.pointer(place), "{place}");
    }
}

#[test]
fn what_names_the_machine_is_a_mark() {
    let redacted = redactor().run(known());
    let header = &redacted.header;
    assert!(header.redacted);
    assert!(header.name.as_ref().unwrap().starts_with("name-"));
    assert!(header.directory.to_str().unwrap().starts_with("path-"));
    assert_eq!(header.machine_fingerprint.len(), 16);
    assert_ne!(
        header.machine_fingerprint,
        known().header.machine_fingerprint
    );
    assert_eq!(
        header.command_line[..4],
        ["oscope", "run", "memory", "--dir"]
    );
    assert!(header.command_line[4].starts_with("argument-"));
    assert!(header.command_line[5].starts_with("--name=argument-"));
    let product = redacted.machine.product.as_ref().unwrap();
    assert!(product.starts_with("product-"));
    let source = redacted.storage.as_ref().unwrap().source.as_ref().unwrap();
    assert!(source.starts_with("source-"));
    assert_eq!(redacted.environment.uptime_seconds, None);
}

#[test]
fn every_number_stays_and_time_begins_with_the_run() {
    let later = |batch: &mut Batch| {
        let hour_ns = 3_600_000_000_000;
        batch.started_ns += hour_ns;
        let samples = batch.samples.iter_mut();
        samples.for_each(|sample| sample.at_ns += hour_ns);
    };
    let mut run = known();
    let points = run.experiments[0].points.iter_mut();
    points
        .flat_map(|record| &mut record.batches)
        .for_each(later);
    let redacted = redactor().run(run.clone());
    let batches = |run: &Run| run.experiments[0].points[0].batches.clone();
    assert_eq!(batches(&redacted)[0].started_ns, 0);
    for (mut after, before) in batches(&redacted).into_iter().zip(batches(&run)) {
        later(&mut after);
        assert_eq!(after, before);
    }
}

#[test]
fn marks_are_those_of_the_key() {
    let once = redactor().run(known());
    assert_eq!(redactor().run(known()), once);
    assert_eq!(
        Redactor::new([4; 32]).run(once.clone()),
        once,
        "once is enough"
    );
    let other = Redactor::new([4; 32]).run(known());
    assert_ne!(
        other.header.machine_fingerprint,
        once.header.machine_fingerprint
    );
    assert_ne!(other.header.name, once.header.name);
    let drawn = || Redactor::draw().unwrap().run(known()).header.name;
    assert_ne!(drawn(), drawn());
}

#[test]
fn a_redacted_run_is_a_run_like_any_other() {
    let redacted = redactor().run(known());
    let bytes = exported(&redacted);
    assert_eq!(file::import(bytes.as_slice()).unwrap(), redacted);
    assert_eq!(file::verify(bytes.as_slice()).unwrap(), Proof::Proven);
    let (_folder, _, mut store) = new_store();
    store.insert(&redacted).unwrap();
    assert_eq!(store.run(&RunSelector::Latest).unwrap(), redacted);
    assert_eq!(store.verify(None).unwrap().runs[0].proof, Proof::Proven);
    let mut again = Vec::new();
    store.export(&RunSelector::Latest, &mut again).unwrap();
    assert_eq!(again, bytes, "with the checksums of the store");
}

#[test]
fn every_store_has_a_secret_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let key = |name: &str| {
        let store = Store::open(&folder.path().join(name)).unwrap();
        store.redaction_key().unwrap()
    };
    assert_eq!(key("a.db"), key("a.db"));
    assert_ne!(key("a.db"), key("b.db"));
}
