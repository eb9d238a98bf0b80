//! `memory.copy`: the speed at which one core copies memory, by size and by method.

use super::{SHARE_OF_MEMORY, hierarchy, of_block, of_library};
use crate::estimates::{by_ratio, highest, ratio};
use crate::figures::{curves, lines, logarithmic};
use crate::planning::powers;
use crate::prelude::*;
use kernels::{COPY_METHODS, CopyMethod};
use platform::memory::{Mapping, PageSize};
use std::hint::black_box;

pub(crate) struct Copy;

pub(super) const BLOCK_SIZE: AxisOf<Bytes> = AxisOf::new("block_size", "block size");
const METHOD: AxisOf<Method> = AxisOf::new("method", "method");
const COPY: Metric = Metric::bandwidth("copy", "copy").bounded(MOST_BYTES_PER_SECOND);

/// The methods of [`COPY_METHODS`], whether this processor has them or not.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
enum Method {
    /// Every processor has it; the others are compared with it.
    Memcpy,
    #[choice("non-temporal stores")]
    NonTemporalStores,
    #[choice("rep movsb")]
    RepMovsb,
}

/// One register of 64 bytes loaded and one stored in a cycle at 8 GHz.
const MOST_BYTES_PER_SECOND: f64 = 64.0 * 8e9;
const LEAST_MEMORY: u64 = 2 * MIB * SHARE_OF_MEMORY;

const DESIGN: Design = Design {
    id: "memory.copy",
    title: "Copying memory",
    question: "How fast does one core copy memory, and which method is best at which size?",
    method: "One core copies a block to another, back-to-back. Both are in base pages that were \
             touched before. memcpy: the C library's function, which chooses by length and \
             processor. Non-temporal stores: the widest vector registers, with stores that bypass \
             the caches. rep movsb: the processor's own instruction for copies. Each byte of the \
             block counts once, though it is both read and written (STREAM counts it twice). The \
             time of one is that of n copies over n, less the fixed cost that fewer copies show.",
    source: "common practice (lmbench's bw_mem bcopy, STREAM's copy)",
    axes: &[BLOCK_SIZE.axis(), METHOD.axis()],
    metrics: &[COPY],
};

impl Method {
    /// The copy itself, if this processor has it.
    fn here(self) -> Option<CopyMethod> {
        let mut methods = COPY_METHODS.iter();
        let (_, copy) = methods.find(|(name, _)| *name == self.name())?;
        Some(*copy)
    }
}

impl Experiment for Copy {
    fn design(&self) -> &'static Design {
        &DESIGN
    }

    fn needs(&self, _setting: &Setting) -> Vec<Need> {
        vec![Need::Memory(Bytes(LEAST_MEMORY))]
    }

    fn points(&self, setting: &Setting) -> Vec<Point> {
        let last = hierarchy::last_bytes(&setting.machine);
        let largest = (2 * last).clamp(128 * MIB, 512 * MIB);
        // The source and the target together take no more than their share.
        let largest = largest.min(setting.available_bytes / SHARE_OF_MEMORY / 2);
        let sizes: Vec<u64> = match setting.profile {
            Profile::Quick => vec![8 * KIB, 256 * KIB, 8 * MIB],
            Profile::Standard => powers(KIB, 64 * MIB).step_by(2).collect(),
            Profile::Thorough => powers(KIB, 64 * MIB).collect(),
        };
        let sizes = sizes.into_iter().filter(|size| *size < largest);
        let sizes = sizes.chain([largest / KIB * KIB]).filter(|size| *size > 0);
        let with_methods = |size| {
            let available = Method::ALL.iter().filter(|it| it.here().is_some());
            available.map(move |method| point(size, *method))
        };
        sizes.flat_map(with_methods).collect()
    }

    fn shares_process(&self, _point: &Point) -> bool {
        true
    }

    fn counterpart(&self, point: &Point, _metric: &str, _other: System) -> Option<Counterpart> {
        let is_library = point.level(METHOD) == Ok(Method::Memcpy);
        is_library.then(|| of_library(point))
    }

    fn component(&self, point: &Point, _metric: &str) -> Option<Component> {
        Some(of_block(point.level(BLOCK_SIZE).ok()?, None))
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let size = point.level(BLOCK_SIZE)?.0 as usize;
        let method = point.level(METHOD)?;
        let copy = method
            .here()
            .ok_or_else(|| unsupported(format!("this processor cannot copy with {method}")))?;
        let [mut source, mut target] = [
            Mapping::anonymous(size, PageSize::Base)?,
            Mapping::anonymous(size, PageSize::Base)?,
        ];
        // All pages that were never written share one page of zeros.
        source.populate()?;
        target.populate()?;
        kernels::write(source.as_mut_slice(), sampler.seed());
        sampler.repeat(COPY, size as f64, |copies| {
            for _ in 0..copies {
                copy(
                    black_box(target.as_mut_slice()),
                    black_box(source.as_slice()),
                );
            }
            Ok(())
        })
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        let usual = results.along(BLOCK_SIZE, COPY, &[METHOD.at(Method::Memcpy)]);
        let ends = [("largest", usual.last()), ("smallest", usual.first())];
        let faster = |(key, end): (&str, Option<&(Bytes, _)>)| faster(key, end?.0, results);
        ends.into_iter().filter_map(faster).collect()
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        let axes = (
            BLOCK_SIZE,
            logarithmic("bytes copied", Unit::BytesPerSecond),
        );
        let lines = lines(results, COPY, BLOCK_SIZE, METHOD, &[]);
        vec![Figure {
            marks: hierarchy::marks(&[], results.machine),
            ..curves(COPY, "Copying memory", axes, lines)
        }]
    }
}

fn point(size: u64, method: Method) -> Point {
    Point::new().at(BLOCK_SIZE, Bytes(size)).at(METHOD, method)
}

/// The fastest method but memcpy at one size.
fn fastest_other<'r>(results: &'r Results, size: Bytes) -> Option<(Method, &'r Estimate)> {
    let others = Method::ALL.iter().filter(|it| **it != Method::Memcpy);
    highest(others.filter_map(|method| {
        let levels = [BLOCK_SIZE.at(size), METHOD.at(*method)];
        Some((*method, results.sound(COPY, &levels)?))
    }))
}

/// The fastest method at one size, if another than memcpy is faster.
fn faster(key: &str, size: Bytes, results: &Results) -> Option<Finding> {
    let copy = results.sound(COPY, &[BLOCK_SIZE.at(size), METHOD.at(Method::Memcpy)])?;
    let (method, other) = fastest_other(results, size)?;
    let gain = ratio(other, copy)?;
    let said = sentence!(
        "Blocks of {size} are copied at {other} with {method}, {gain} as fast as with memcpy.",
        method = method.name(),
    );
    let finding = by_ratio(key, said, &gain).weighing(0.5);
    (finding.grade == Grade::Certain && gain.value > 1.0).then_some(finding)
}
