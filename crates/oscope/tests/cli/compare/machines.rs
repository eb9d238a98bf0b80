//! Machines of one kind: references, and what is slow or fast compared with them.

use super::conditions::{recorded, slow_down};
use crate::common::{Place, ends};
use crate::documents::is_valid;
use serde_json::{Value, json};

/// A word that identifies a machine or its people.
const SECRET: &str = "qz7acmewidgets";

/// The exported file of an idle run on a machine of its own, changed by `change`. Its path, as text. The processor is of a
/// family that no machine has, so that no reference is part of the program.
fn run_of(place: &Place, machine: &str, change: impl Fn(&mut Value)) -> String {
    let mut run = recorded("idle-1");
    let header = &mut run["run"]["header"];
    header["machine_fingerprint"] = machine.into();
    header["id"] = format!("{machine:0>32}").into();
    run["run"]["machine"]["cpu"]["family"] = 999.into();
    change(&mut run);
    place.file(&format!("{machine}.oscope.json"), run.to_string())
}

/// An environment with references that idle runs of these machines give.
fn with_references(machines: &[&str]) -> Place {
    let place = Place::new();
    for machine in machines {
        let run = run_of(&place, machine, |_| ());
        check!(place => "reference add {run} | 0 | > machines/authenticamd-999-17-kvm-linux-");
    }
    place
}

/// Makes every timing of `run` twice as long.
fn halve_speed(run: &mut Value) {
    (0..4).for_each(|_| slow_down(run));
}

#[test]
fn a_run_that_is_slower_than_three_others_of_its_kind_is_called_slow() {
    let place = with_references(&["a", "b", "c"]);
    let slow = run_of(&place, "d", halve_speed);
    let alike = run_of(&place, "e", |_| ());
    let other = run_of(&place, "f", |run| {
        halve_speed(run);
        run["run"]["machine"]["hypervisor"] = "Xen".into();
    });
    check!(place => "
        show {slow} | 0 | > Slow for this processor under KVM | > a system call takes | > others
        report {slow} | 0 | > Slow for this processor under KVM
        card {slow} | 0 | > Slow for this
        show {alike} | 0 | !> for this processor
        show {other} | 0 | !> for this processor
    ");
    let shown = place.json(&format!("show {slow} --json"));
    assert_eq!(shown["unusual"]["slow"][0]["machines"], 3);
    assert_eq!(shown["unusual"]["fast"], json!([]));
}

#[test]
fn two_others_and_the_machine_itself_are_too_few() {
    let place = with_references(&["a", "b", "c"]);
    let again = run_of(&place, "c", halve_speed);
    check!(place => "show {again} | 0 | !> for this processor");
}

#[test]
fn a_reference_names_neither_its_machine_nor_people() {
    let place = Place::new();
    let run = run_of(&place, "a", |document| {
        let run = &mut document["run"];
        run["header"]["redacted"] = false.into();
        run["header"]["machine_fingerprint"] = SECRET.into();
        run["header"]["name"] = SECRET.into();
        run["header"]["directory"] = format!("/home/{SECRET}").into();
        run["header"]["tags"] = json!({ "site": SECRET });
        run["machine"]["cpu"]["model"] = format!("AMD EPYC {SECRET}").into();
        run["machine"]["product"] = SECRET.into();
        run["environment"]["kernel_release"] = format!("6.1-{SECRET}").into();
        run["storage"]["source"] = format!("{SECRET}.example:/export 10.1.2.3").into();
        run["storage"]["block_device"] = SECRET.into();
    });
    check!(place => "reference add {run} | 0");
    let files = place.names("machines");
    let file = place.read(&format!("machines/{}", files[0]));
    for secret in [SECRET, "10.1.2.3", "/home"] {
        assert!(!file.contains(secret), "{file}");
    }
    assert!(
        file.contains("AMD EPYC") && file.contains("getpid"),
        "{file}"
    );
}

#[test]
fn a_reference_is_replaced_only_with_force() {
    let place = with_references(&["a"]);
    let run = run_of(&place, "a", halve_speed);
    check!(place => "
        reference add {run} | 1 | 2> --force
        reference add {run} --force | 0
    ");
    assert_eq!(place.names("machines").len(), 1);
}

#[test]
fn a_run_that_cannot_be_a_reference_is_refused_with_the_reason() {
    let place = Place::new();
    let busy = place.file("busy.oscope.json", recorded("busy-1").to_string());
    let others = run_of(&place, "a", |run| {
        run["run"]["machine"]["cpu"]["family"] = Value::Null;
    });
    check!(place => "
        reference add {busy} | 1 | 2> other programs kept | 2> oscope doctor
        reference add {others} | 1 | 2> vendor, family and model
        reference add reference:unnamed-files | 1 | 2> were printed
    ");
    assert!(!place.path("machines").exists());
}

#[test]
fn references_are_listed_and_those_that_cannot_be_read_are_reported() {
    let place = with_references(&["a"]);
    place.file("machines/newer.json", r#"{ "format": 2 }"#);
    place.file(
        "machines/control.json",
        r#"{ "format": 1, "kind": "\u001b" }"#,
    );
    check!(place => "
        reference list | 0 | > authenticamd-999-17 | > quick profile | 2> format 2 is unknown
            | 2> control.json is left out
    ");
    for line in [
        "reference list --json",
        "reference add $a.oscope.json --force --json",
    ] {
        let printed = ends(&mut place.line(line), "0").stdout;
        is_valid(&printed, "report/schema/machines-1", line);
    }
}
