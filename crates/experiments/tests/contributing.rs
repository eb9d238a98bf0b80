//! The example of an experiment in `CONTRIBUTING.md`: it compiles, it measures, and the page
//! has it word for word.

#[allow(
    dead_code,
    unused_imports,
    reason = "one experiment does not need all of it"
)]
#[path = "../src/prelude.rs"]
mod prelude;
#[path = "contributing/yielding.rs"]
mod yielding;

use instrument::clock::{SystemClock, calibrate};
use instrument::experiment::Experiment;
use instrument::plan::Profile;
use instrument::point::Point;
use instrument::sample::Batch;
use instrument::sampler::{Sampler, Task};
use std::path::PathBuf;
use yielding::Yielding;

#[test]
fn the_example_is_what_is_compiled_here() {
    let page = include_str!("../../../CONTRIBUTING.md");
    let example = include_str!("contributing/yielding.rs");
    assert!(
        page.contains(&format!("```rust\n{example}```")),
        "CONTRIBUTING.md and tests/contributing/yielding.rs have grown apart"
    );
}

#[test]
fn the_example_measures() {
    let precision = Profile::Quick.precision();
    let task = Task::new(precision, calibrate(), PathBuf::from("/"), 1);
    let mut batch = Batch::default();
    let mut sampler = Sampler::new(&SystemClock, &task, &mut batch);
    let measured = Yielding.measure(&Point::new(), &mut sampler);
    measured.expect("any system can yield");
    let [sample, ..] = &batch.samples[..] else {
        panic!("it has no samples");
    };
    assert_eq!(Yielding.definition().metrics[0].name, sample.metric);
}
