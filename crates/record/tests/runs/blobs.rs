//! A batch is stored as the bytes that `blob.rs` describes, and each of their bits is guarded.

use crate::common::{complete, new_store};
use instrument::sample::{Batch, Disturbance, Legs, Reading, Sample};
use oscope_record::store::{Error, RunSelector, Store};
use oscope_record::{Part, Run};
use platform::usage::Usage;
use rusqlite::Connection;
use tempfile::TempDir;

/// A store with one run.
struct Stored {
    store: Store,
    plain: Connection,
    _folder: TempDir,
}

impl Stored {
    fn new(run: &Run) -> Self {
        let (folder, path, mut store) = new_store();
        store.insert(run).unwrap();
        let plain = Connection::open(&path).unwrap();
        plain.pragma_update(None, "synchronous", "off").unwrap();
        Self {
            store,
            plain,
            _folder: folder,
        }
    }

    /// The key and the bytes of each batch.
    fn blobs(&self) -> Vec<(i64, Vec<u8>)> {
        let rows = self.plain.prepare("SELECT key, content FROM batches");
        let mut rows = rows.unwrap();
        let rows = rows.query_map((), |row| Ok((row.get(0)?, row.get(1)?)));
        rows.unwrap().map(Result::unwrap).collect()
    }

    /// The parts that are damaged once a bit of a batch is flipped, which is then mended.
    fn flipped(&self, key: i64, blob: &[u8], bit: usize) -> Vec<Part> {
        let mut wrong = blob.to_vec();
        wrong[bit / 8] ^= 1 << (bit % 8);
        let change = "UPDATE batches SET content = ?2 WHERE key = ?1";
        self.plain.execute(change, (key, wrong)).unwrap();
        let read = self.store.run(&RunSelector::Latest);
        self.plain.execute(change, (key, blob)).unwrap();
        match read {
            Err(Error::DamagedRun { parts, .. }) => parts,
            other => panic!("bit {bit}: {other:?}"),
        }
    }
}

#[test]
fn a_batch_has_this_layout() {
    let mut run = complete(1);
    let sample = Sample {
        metric: "ab".into(),
        reading: Reading::Legs(Legs {
            iterations: 300,
            work: 1.0,
            wall_ns: vec![5, 6],
            ..Legs::default()
        }),
        usage: Usage {
            user_ns: 1,
            ..Usage::default()
        },
        at_ns: 128,
    };
    let batch = Batch {
        samples: vec![sample],
        remarks: vec!["c".into()],
        warm: true,
        cpu: Some(3),
        started_ns: 7,
        wall_ns: 8,
        disturbance: Disturbance {
            stolen_ns: None,
            others_ns: Some(-1),
        },
        pass: Some(9),
        full_speed_ns: None,
        full_speed: None,
    };
    let [first, ..] = &mut run.experiments[0].points[..] else {
        panic!("it has points");
    };
    first.batches = vec![batch];
    let stored = Stored::new(&run);
    let one = 1.0_f64.to_le_bytes();
    let expected = [
        &[1, 1, 2, b'a', b'b'][..],
        &[0, 0xac, 2],
        &one,
        &[2, 5, 6, 0, 0, 0, 0],
        &[1, 0, 0, 0, 0, 0, 0x80, 1],
        &[1, 1, b'c', 1, 1, 3, 7, 8],
        &[0, 1, 1, 1, 9, 0, 0],
    ];
    assert_eq!(stored.blobs()[0].1, expected.concat());
}

#[test]
fn each_flipped_bit_of_a_batch_is_found() {
    let stored = Stored::new(&complete(1));
    let (key, blob) = stored.blobs().remove(0);
    for bit in 0..8 * blob.len() {
        let parts = stored.flipped(key, &blob, bit);
        let is_it = matches!(parts[..], [Part::Batch { batch: 0, .. }]);
        assert!(is_it, "bit {bit}: {parts:?}");
    }
    let mended = stored.store.run(&RunSelector::Latest).unwrap();
    assert_eq!(mended, complete(1));
}
