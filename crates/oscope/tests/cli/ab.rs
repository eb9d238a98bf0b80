//! The memory of commands that `oscope ab` starts.

use crate::common::{Place, ends, json};
use testing::Command;

const MIB: u64 = 1 << 20;

#[test]
fn the_memory_of_a_command_is_its_own() {
    let place = Place::new();
    let large = "head -c 60000000 /dev/zero | tail -c 60000000";
    let large = format!("sh -c '{large}'");
    let export = place.name("export.json");
    let options = ["ab", "-r", "10", "--shell", "none", "--export-json"];
    let mut compare = place.oscope(&[&options[..], &[&export, "--", "true", &large]].concat());
    ends(&mut compare, "0");
    let exported = json(place.read("export.json").as_bytes());
    let peaks = |index: usize| -> Vec<u64> {
        let peaks = &exported["results"][index]["memory_usage_byte"];
        serde_json::from_value(peaks.clone()).expect("bytes")
    };
    let [small, large] = [peaks(0), peaks(1)];
    assert_eq!(small.len(), 10);
    assert!(large.iter().all(|peak| *peak > 40 * MIB), "{large:?}");
    // That of oscope itself is larger than 10 MiB.
    assert!(small.iter().all(|peak| *peak < 4 * MIB), "{small:?}");
    if let Some(usual) = peak_by_time() {
        let most = *small.iter().max().expect("ten of them");
        assert!(most.abs_diff(usual) < MIB / 2, "{most} {usual}");
    } else {
        eprintln!("skipped in part: there is no GNU time");
    }
    check!(place => "ab -r 2 true true | 0 | !> < ");
}

/// Peak memory of `true` by GNU time.
fn peak_by_time() -> Option<u64> {
    let peak = || {
        let mut time = Command::new("/usr/bin/time");
        let time = time.args(["-f", "%M", "true"]).output().ok()?;
        let kib: u64 = String::from_utf8(time.stderr).ok()?.trim().parse().ok()?;
        Some(kib << 10)
    };
    (0..10).map(|_| peak()).max().flatten()
}
