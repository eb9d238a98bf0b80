//! Several runs of one machine as one.

use crate::common::{batch, complete};
use oscope_record::Run;

#[test]
fn of_each_point_the_newest_that_was_measured_counts() {
    let (newest, mut older) = (complete(2), complete(1));
    for (record, index) in older.experiments[0].points.iter_mut().zip(7..) {
        record.batches = vec![batch(index)];
    }
    older.experiments[1].skipped = None;
    let together = Run::together([newest.clone(), older.clone()]).unwrap();
    assert_eq!(together.header, newest.header);
    let points = &together.experiments[0].points;
    assert_eq!(points[0], newest.experiments[0].points[0]);
    assert_eq!(points[1], older.experiments[0].points[1]);
    assert_eq!(together.experiments[1].skipped, None);
    assert_eq!(Run::together([]), None);
}

#[test]
fn metrics_of_another_version_are_not_taken_together() {
    let (newest, mut older) = (complete(2), complete(1));
    older.experiments[0].definition.metrics[0].version += 1;
    older.experiments[0].points[1].batches = vec![batch(7)];
    let together = Run::together([newest.clone(), older]).unwrap();
    assert_eq!(together.experiments[0], newest.experiments[0]);
}
