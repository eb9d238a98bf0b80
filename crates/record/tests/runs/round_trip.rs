//! Recorded, imported and exported runs come back unchanged.

use crate::common::{exported, new_store, random, replay};
use oscope_record::store::{RunSelector, Store};
use oscope_record::{Run, file};
use proptest::prelude::*;

fn read_back(store: &Store) -> Run {
    store.run(&RunSelector::Latest).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_run_is_rebuilt_from_its_events(run in random::run(), interrupted: bool) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("oscope.db");
        let mut expected = run.clone();
        expected.header.ended = None;
        expected.header.interrupted = false;

        let mut store = Store::open(&path).unwrap();
        let begun = Run { experiments: Vec::new(), ..expected.clone() };
        let mut recorder = store.begin(&begun).unwrap();
        replay(&run, &mut recorder).unwrap();

        // The view of another process while the run is still in progress.
        let reader = Store::open_read_only(&path).unwrap();
        prop_assert_eq!(&read_back(&reader), &expected);
        prop_assert_eq!(reader.unfinished().unwrap().len(), 1);

        recorder.finish(interrupted).unwrap();
        let finished = read_back(&store);
        prop_assert!(finished.header.ended.is_some());
        expected.header.ended = finished.header.ended;
        expected.header.interrupted = interrupted;
        prop_assert_eq!(&finished, &expected);
        prop_assert_eq!(store.unfinished().unwrap().len(), 0);

        let summary = store.runs().unwrap().remove(0);
        prop_assert_eq!(summary.samples, run.sample_count() as u64);
        prop_assert_eq!(summary.experiments, run.experiments.len() as u64);
        let points: usize = run.experiments.iter().map(|experiment| experiment.points.len()).sum();
        prop_assert_eq!(summary.points, points as u64);
    }

    #[test]
    fn an_exported_run_is_imported_and_stored_whole(run in random::run()) {
        let imported = file::import(exported(&run).as_slice()).unwrap();
        prop_assert_eq!(&imported, &run);
        let (_folder, _, mut store) = new_store();
        store.insert(&imported).unwrap();
        prop_assert_eq!(read_back(&store), run);
        // What may be stored can be analysed.
        for experiment in &imported.experiments {
            let results = experiment.results(&imported.machine);
            prop_assert!(results.points.len() <= experiment.points.len());
        }
    }
}
