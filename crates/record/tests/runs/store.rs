//! Finding, listing and deleting runs, and several processes at one store.

use crate::common::{
    assert_matches, batch, begun, change, complete, definition, new_store, replay, start, stored,
    take,
};
use instrument::limits::{Limited, Limits, Used};
use instrument::plan::Profile;
use instrument::point::{Level, Point};
use instrument::runner::{Event, Observer};
use instrument::sample::FullSpeed;
use oscope_record::Proof;
use oscope_record::store::{BlankSelector, Error, HistoryQuery, HistoryRun, RunSelector, Store};
use std::fs::DirEntry;
use std::path::Path;
use tempfile::TempDir;

fn select(text: &str) -> RunSelector {
    text.parse().unwrap()
}

/// Three runs: 1 "alpha", 2 "beta" and 3 "alpha", of which 2 started last.
fn three() -> (TempDir, Store) {
    let (folder, _, mut store) = new_store();
    for (id, name, minute) in [
        (0xabcd1 << 108, "alpha", 1),
        (0xabcd2 << 108, "beta", 9),
        (3, "alpha", 2),
    ] {
        let mut run = begun(id);
        run.header.name = Some(name.to_owned());
        run.header.started = format!("2026-03-01T12:0{minute}:00Z").parse().unwrap();
        store.insert(&run).unwrap();
    }
    (folder, store)
}

fn name_of(store: &Store, selector: &str) -> Option<String> {
    store.run(&select(selector)).unwrap().header.name
}

#[test]
fn a_run_is_found_by_number_name_and_id() {
    let (_folder, store) = three();
    assert_eq!(name_of(&store, "latest").as_deref(), Some("beta"));
    assert_eq!(name_of(&store, " 1 ").as_deref(), Some("alpha"));
    assert_eq!(name_of(&store, "beta").as_deref(), Some("beta"));
    assert_eq!(name_of(&store, "abcd2").as_deref(), Some("beta"));
    assert_eq!(name_of(&store, "ABCD1").as_deref(), Some("alpha"));
    assert_eq!("  ".parse::<RunSelector>(), Err(BlankSelector));
}

#[test]
fn what_is_ambiguous_or_unknown_comes_with_candidates() {
    let (_folder, store) = three();
    let numbers = |selector: &str| match store.run(&select(selector)).unwrap_err() {
        Error::Ambiguous { candidates, .. } => candidates
            .iter()
            .map(|candidate| candidate.number)
            .collect::<Vec<_>>(),
        other => panic!("{other}"),
    };
    assert_eq!(numbers("alpha"), [3, 1]);
    assert_eq!(numbers("abcd"), [2, 1]);
    let message = |selector: &str| store.run(&select(selector)).unwrap_err().to_string();
    assert_eq!(
        message("betta"),
        "there is no run 'betta'; did you mean 2 (beta, abcd2000)?"
    );
    assert!(
        message("abc").contains("did you mean"),
        "three digits of an id are too few"
    );
    assert!(message("99").contains("2 (beta, abcd2000), 3 (alpha, 00000000) or 1 (alpha"));
    let (_folder, _, empty) = new_store();
    let message = empty.run(&RunSelector::Latest).unwrap_err().to_string();
    assert_eq!(message, "there is no run 'latest'; the store is empty");
}

/// The history in `store` of the points with blocks of 4 KiB.
fn history(store: &Store, metric: Option<&str>, limit: usize) -> Vec<HistoryRun> {
    let query = HistoryQuery {
        fingerprint: "one",
        experiment: "file.block_size",
        metric,
        limit,
    };
    let mut found = Vec::new();
    let is_wanted = |point: &Point| point.get("block_size").and_then(Level::number) == Some(4096);
    store
        .history(&query, is_wanted, |run| found.push(run))
        .unwrap();
    found
}

#[test]
fn a_history_goes_back_over_the_runs_of_one_machine() {
    let (_folder, _, mut store) = new_store();
    let mut whole = complete(1);
    let measured = &mut whole.experiments[0].points[0];
    measured.batches[0].samples[1].metric = "latency".into();
    for (id, machine, minute) in [(1, "one", 3), (2, "one", 1), (3, "one", 2), (4, "other", 9)] {
        let mut run = whole.clone();
        run.header.id = format!("{id:032x}");
        run.header.machine_fingerprint = machine.to_owned();
        run.header.started = format!("2026-03-01T12:0{minute}:00Z").parse().unwrap();
        store.insert(&run).unwrap();
    }
    let numbers = |runs: &[HistoryRun]| runs.iter().map(|run| run.number).collect::<Vec<_>>();
    assert_eq!(numbers(&history(&store, None, 9)), [1, 3, 2]);
    let newest = history(&store, None, 2);
    assert_eq!(numbers(&newest), [1, 3]);
    let record = &whole.experiments[0];
    for run in newest {
        assert_eq!(*run.definition, record.definition);
        let [(point, batches)] = run.points.as_slice() else {
            panic!("one point is wanted: {run:?}")
        };
        assert_eq!(**point, record.points[0].point);
        assert_eq!(*batches, record.points[0].batches);
    }
    let latency = &history(&store, Some("latency"), 1)[0].points[0].1;
    let samples = latency.iter().map(|batch| batch.samples.len());
    assert_eq!(samples.collect::<Vec<_>>(), [1, 0]);
    assert_eq!(
        latency[0].samples[0],
        record.points[0].batches[0].samples[1]
    );
}

#[test]
fn later_runs_know_full_speeds_and_visits_without_batches() {
    let (_folder, mut store) = three();
    let mut run = complete(9);
    run.header.started = "2040-01-01T00:00:00Z".parse().unwrap();
    let fingerprint = run.header.machine_fingerprint.clone();
    let speed = |core_type, best_chain_ns, alone_ratio| FullSpeed {
        core_type,
        chain_ns: 2500.0,
        best_chain_ns,
        alone_ratio,
        longest_chain_ns: Some(2800.0),
        earlier_chain_ns: core_type.map(|_| (best_chain_ns, 2600.0)),
    };
    let seen = [
        speed(Some(0), 2400.0, 0.75),
        speed(Some(1), 3000.0, 1.5),
        speed(Some(0), 2350.0, 0.8),
    ];
    let point = &mut run.experiments[0].points[0];
    point.batches = (0..4).map(batch).collect();
    for (batch, seen) in point.batches.iter_mut().zip(seen) {
        batch.full_speed = Some(seen);
    }
    point.batches[3].full_speed = None;
    for other in run
        .experiments
        .iter_mut()
        .flat_map(|it| &mut it.points)
        .skip(1)
    {
        other.batches.clear();
    }
    store.insert(&run).unwrap();
    // They are known without the batches.
    change(store.path(), "UPDATE batches SET content = x''");
    let visit_ns = |fingerprint: &str, profile| {
        let costs = store.visit_costs(fingerprint, profile).unwrap();
        costs.visit_ns("file.block_size", &run.experiments[0].points[0].point)
    };
    assert_eq!(visit_ns(&fingerprint, Profile::Quick), Some(30e6));
    assert_eq!(visit_ns(&fingerprint, Profile::Standard), None);
    assert_eq!(visit_ns("another", Profile::Quick), None);
    assert_eq!(
        store.full_speeds(&fingerprint).unwrap(),
        [speed(Some(0), 2350.0, 0.75), speed(Some(1), 3000.0, 1.5)]
    );
    assert_eq!(store.full_speeds("another").unwrap(), []);
}

#[test]
fn a_deleted_run_takes_all_with_it_and_leaves_its_number() {
    let (_folder, path, mut store) = new_store();
    store.insert(&complete(1)).unwrap();
    assert_eq!(store.delete(&[select("1")]).unwrap(), [1]);
    let plain = rusqlite::Connection::open(&path).unwrap();
    for table in ["runs", "machines", "experiments", "points", "batches"] {
        let sql = format!("SELECT count(*) FROM {table}");
        let rows: u64 = plain.query_row(&sql, [], |row| row.get(0)).unwrap();
        assert_eq!(rows, 0, "{table}");
    }
    assert_eq!(store.insert(&complete(2)).unwrap(), 2);
    assert_matches!(
        store.delete(&[select("2"), select("1")]),
        Err(Error::Unknown { .. })
    );
    assert_eq!(store.runs().unwrap().len(), 1, "all or none");
}

#[test]
fn a_run_under_way_is_neither_deleted_nor_continued() {
    let (_folder, path, mut recording) = new_store();
    let mut other = Store::open(&path).unwrap();
    other.insert(&complete(1)).unwrap();
    let recorder = recording.begin(&begun(2)).unwrap();
    let is_refused = |error: Error| assert_matches!(error, Error::UnderWay(2));
    is_refused(other.delete(&[select("1"), select("2")]).unwrap_err());
    assert_eq!(other.runs().unwrap().len(), 2);
    let stopped = other.run(&select("2")).unwrap();
    is_refused(other.resume(&stopped, 9e10).map(drop).unwrap_err());
    recorder.finish(false).unwrap();
    drop(recording);
    other.delete(&[select("1"), select("2")]).unwrap();
    assert_eq!(other.runs().unwrap(), []);
}

#[test]
fn a_recorder_whose_run_is_gone_says_so() {
    let (_folder, path, mut store) = new_store();
    let mut recorder = store.begin(&begun(1)).unwrap();
    let definition = definition("file.many");
    start(&mut recorder, &definition, &[Point::new()]);
    change(&path, "PRAGMA foreign_keys = ON; DELETE FROM runs");
    let lost = take(&mut recorder, &definition, &Point::new(), &batch(0)).unwrap_err();
    assert!(lost.to_string().contains("deleted by another"), "{lost}");
    let lost = recorder.finish(false).unwrap_err();
    assert_matches!(lost, Error::Changed(_));
}

#[test]
fn a_run_stays_proven_after_a_write_that_failed() {
    let (_folder, path, mut store) = new_store();
    let mut recorder = store.begin(&begun(1)).unwrap();
    let definition = definition("file.many");
    let point = Point::new();
    start(&mut recorder, &definition, std::slice::from_ref(&point));
    let change = |sql: &str| change(&path, sql);
    take(&mut recorder, &definition, &point, &batch(0)).unwrap();
    change("CREATE TRIGGER failing BEFORE UPDATE ON runs BEGIN SELECT RAISE(ABORT, 'no'); END");
    take(&mut recorder, &definition, &point, &batch(1)).unwrap_err();
    change("DROP TRIGGER failing");
    take(&mut recorder, &definition, &point, &batch(2)).unwrap();
    recorder.finish(false).unwrap();
    let stored = store.run(&select("1")).unwrap();
    let batches = &stored.experiments[0].points[0].batches;
    assert_eq!(batches[..], [batch(0), batch(2)]);
    assert_eq!(store.verify(None).unwrap().runs[0].proof, Proof::Proven);
}

#[test]
fn a_run_is_stored_once() {
    let (_folder, _, mut store) = new_store();
    store.insert(&complete(7)).unwrap();
    let again = store.insert(&complete(7)).unwrap_err();
    assert_matches!(again, Error::AlreadyStored { number: 1, .. });
    assert_matches!(
        store.begin(&begun(7)),
        Err(Error::AlreadyStored { number: 1, .. })
    );
    assert_eq!(store.runs().unwrap().len(), 1);
}

#[test]
fn a_run_with_an_impossible_value_is_refused_and_nothing_is_changed() {
    let (_folder, _, mut store) = new_store();
    let mut run = complete(1);
    run.experiments[0].points[0].batches[1].samples[0].at_ns = u64::MAX;
    let error = store.insert(&run).unwrap_err();
    assert_matches!(error, Error::Invalid(_));
    assert!(
        error.to_string().contains("at_ns is 18446744073709551615"),
        "{error}"
    );
    assert_eq!(store.runs().unwrap(), []);
}

#[test]
fn two_recorders_share_a_store() {
    let (_folder, path, _) = new_store();
    let recorders: Vec<_> = (1..=2)
        .map(|id| {
            let path = path.clone();
            std::thread::spawn(move || {
                let run = complete(id);
                let mut store = Store::open(&path).unwrap();
                let mut recorder = store.begin(&begun(id)).unwrap();
                let definition = definition("file.many");
                let point = Point::new();
                start(&mut recorder, &definition, std::slice::from_ref(&point));
                for index in 0..200 {
                    take(&mut recorder, &definition, &point, &batch(index)).unwrap();
                }
                replay(&run, &mut recorder).unwrap();
                recorder.finish(false).unwrap();
            })
        })
        .collect();
    for recorder in recorders {
        recorder.join().unwrap();
    }
    let store = Store::open_read_only(&path).unwrap();
    for id in ["1", "2"] {
        let run = store.run(&select(id)).unwrap();
        assert_eq!(run.experiments[0].points[0].batches.len(), 200);
        assert_eq!(run.experiments[1..], complete(0).experiments);
    }
    assert!(!store.verify(None).unwrap().has_damage());
}

/// The names in the directory of a store.
fn names_next_to(path: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(path.parent().unwrap()).unwrap();
    let name = |entry: std::io::Result<DirEntry>| entry.unwrap().file_name().into_string();
    let mut names: Vec<String> = entries.map(|entry| name(entry).unwrap()).collect();
    names.sort_unstable();
    names
}

#[test]
fn a_reader_changes_nothing_and_leaves_nothing_next_to_the_store() {
    let (_folder, path) = stored(1);
    let before = std::fs::read(&path).unwrap();
    let mut reader = Store::open_read_only(&path).unwrap();
    let refused = reader.insert(&complete(2));
    assert_matches!(refused, Err(Error::ReadOnly(_)));
    assert_eq!(reader.run(&RunSelector::Latest).unwrap(), complete(0));
    drop(reader);
    assert_eq!(names_next_to(&path), ["oscope.db"]);
    assert!(std::fs::read(&path).unwrap() == before, "it was only read");
}

#[test]
fn readers_next_to_a_writer_see_whole_runs_and_leave_it_its_log() {
    let (_folder, path, mut writer) = new_store();
    let mut last = None;
    for id in 1..=4 {
        let reader = Store::open_read_only(&path).unwrap();
        writer.insert(&complete(id)).unwrap();
        assert_eq!(reader.runs().unwrap().len() as u128, id);
        drop(reader);
        assert!(names_next_to(&path).contains(&"oscope.db-wal".to_owned()));
        last = Some(Store::open_read_only(&path).unwrap());
    }
    // The writer ends first: then the reader is the one that cleans up.
    drop(writer);
    let last = last.unwrap();
    assert_eq!(last.run(&select("4")).unwrap(), complete(4));
    drop(last);
    assert_eq!(names_next_to(&path), ["oscope.db"]);
    let again = Store::open_read_only(&path).unwrap();
    assert_eq!(again.run(&select("4")).unwrap(), complete(4));
}

#[test]
fn several_processes_may_make_the_store_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("oscope.db");
    std::thread::scope(|scope| {
        let opening: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| Store::open(&path).map(drop)))
            .collect();
        for opened in opening {
            opened.join().unwrap().unwrap();
        }
    });
}

#[test]
fn a_batch_of_a_point_that_was_not_announced_is_an_error() {
    let (_folder, _, mut store) = new_store();
    let mut recorder = store.begin(&begun(1)).unwrap();
    let error = take(&mut recorder, &definition("a"), &Point::new(), &batch(0)).unwrap_err();
    assert_matches!(error.downcast_ref(), Some(Error::NotAnnounced(_)));
}

#[test]
fn the_limits_of_a_run_and_what_it_took_are_kept_and_proven() {
    let (_folder, _, mut store) = new_store();
    let limits: Limits = "processor=25%,memory=512MiB".parse().unwrap();
    let mut run = begun(7);
    run.header.limited = Some(Limited { limits, used: None });
    let used = Used {
        cpu_ns: 12,
        written_bytes: 1 << 40,
        ..Used::default()
    };
    let mut recorder = store.begin(&run).unwrap();
    assert_eq!(recorder.note_use(used).unwrap(), used);
    // A process that is killed after this has noted what it used.
    drop(recorder);
    let stopped = store.run(&select("1")).unwrap();
    let limited = stopped.header.limited;
    assert_eq!(limited.and_then(|limited| limited.used), Some(used));
    let mut recorder = store.resume(&stopped, 9e10).unwrap();
    for written_bytes in [5, 6] {
        let later = Used {
            cpu_ns: 1,
            written_bytes,
            ..Used::default()
        };
        recorder.observe(&Event::Using { used: later }).unwrap();
    }
    recorder.finish(false).unwrap();
    let used = Used {
        cpu_ns: 13,
        written_bytes: (1 << 40) + 6,
        ..Used::default()
    };
    let stored = store.run(&select("1")).unwrap();
    let kept = Limited {
        limits,
        used: Some(used),
    };
    assert_eq!(stored.header.limited, Some(kept));

    let mut without = store.begin(&begun(8)).unwrap();
    without.note_use(used).unwrap();
    without.finish(false).unwrap();
    assert_eq!(store.run(&select("2")).unwrap().header.limited, None);
    assert!(!store.verify(None).unwrap().has_damage());
}

#[test]
fn a_stopped_run_grows_further_and_stays_proven() {
    let (_folder, _, mut store) = new_store();
    let mut run = complete(5);
    run.header.ended = Some("2026-03-01T12:01:00Z".parse().unwrap());
    run.header.interrupted = true;
    store.insert(&run).unwrap();
    let stopped = store.run(&select("1")).unwrap();

    let definition = definition("file.block_size");
    let open = stopped.experiments[0].points[0].point.clone();
    let mut recorder = store.resume(&stopped, 9e10).unwrap();
    take(&mut recorder, &definition, &open, &batch(2)).unwrap();
    recorder.finish(false).unwrap();

    let grown = store.run(&select("1")).unwrap();
    let [measured, failed] = &grown.experiments[0].points[..] else {
        panic!("it has two points");
    };
    assert_eq!(measured.batches, [batch(0), batch(1), batch(2)]);
    assert_eq!(measured.closing, None, "its end is no end any more");
    assert_eq!(failed, &stopped.experiments[0].points[1]);
    assert!(grown.is_finished());
    assert!(grown.header.budget_ns > stopped.header.budget_ns);
    let verified = store.verify(Some(&select("1"))).unwrap();
    assert!(!verified.runs[0].proof.is_damage(), "{verified:?}");
    assert_eq!(
        store.runs().unwrap()[0].samples,
        grown.sample_count() as u64
    );

    let late = store.resume(&stopped, 9e10).unwrap_err();
    assert_matches!(late, Error::Changed(_));
}
