//! Which pairs, readings and sizes are measured.

use super::{READING, RECEIVER, SENDER, SIZE};
use crate::transfer::reading::Reading;
use ::transfer::method::{ReceiveMethod, SendMethod};
use instrument::experiment::MeasureError;
use instrument::plan::{Profile, Setting};
use instrument::point::{Level, Point};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// Source, target and what a process leaves behind for the next take no more than this part of the
/// room and of the memory.
const SHARE: u64 = 6;

/// How the two sides move a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) sender: SendMethod,
    pub(super) receiver: ReceiveMethod,
}

const fn pair(sender: SendMethod, receiver: ReceiveMethod) -> Pair {
    Pair { sender, receiver }
}

/// Read and write on both sides, to which everything is compared.
pub(super) const PLAIN: Pair = pair(SendMethod::File, ReceiveMethod::File);

/// The pairs of the report, those that leave out copies, and rings. The quick profile takes the first
/// five.
pub(super) const PAIRS: [Pair; 9] = [
    PLAIN,
    pair(SendMethod::Mmap, ReceiveMethod::File),
    pair(SendMethod::File, ReceiveMethod::Mmap),
    pair(SendMethod::Mmap, ReceiveMethod::Mmap),
    pair(SendMethod::SendFile, ReceiveMethod::File),
    pair(SendMethod::Splice, ReceiveMethod::File),
    pair(SendMethod::ZeroCopy, ReceiveMethod::File),
    pair(SendMethod::SendFile, ReceiveMethod::Splice),
    pair(SendMethod::Uring, ReceiveMethod::Uring),
];
const QUICK_PAIRS: usize = 5;

impl Pair {
    /// The pair of a point.
    pub(super) fn of(point: &Point) -> Result<Self, MeasureError> {
        let (sender, receiver) = (point.choice(SENDER)?, point.choice(RECEIVER)?);
        let unknown = |name| MeasureError::Unsupported(format!("there is no method '{name}'"));
        let found = SendMethod::ALL
            .into_iter()
            .find(|method| method.name() == sender);
        let sender = found.ok_or_else(|| unknown(sender))?;
        let found = ReceiveMethod::ALL
            .into_iter()
            .find(|method| method.name() == receiver);
        Ok(pair(sender, found.ok_or_else(|| unknown(receiver))?))
    }

    /// What a point of the pair has on its axes.
    pub(super) fn levels(self, reading: Reading) -> [(&'static str, Level); 3] {
        [
            (SENDER, self.sender.name().into()),
            (RECEIVER, self.receiver.name().into()),
            (READING, reading.name().into()),
        ]
    }

    /// Its name for people.
    pub(super) fn label(self) -> String {
        format!("{} to {}", self.sender, self.receiver)
    }

    fn point(self, reading: Reading, size: u64) -> Point {
        let levels = self.levels(reading).into_iter();
        let point = levels.fold(Point::new(), |point, (axis, level)| point.with(axis, level));
        point.with(SIZE, size)
    }
}

/// All points: each pair at each size, and the other readings where the report looked at them.
pub(super) fn all(setting: &Setting) -> Vec<Point> {
    let pairs = match setting.profile {
        Profile::Quick => &PAIRS[..QUICK_PAIRS],
        Profile::Standard | Profile::Thorough => &PAIRS,
    };
    let sizes = sizes(setting);
    let first = sizes
        .iter()
        .flat_map(|size| pairs.iter().map(|pair| pair.point(Reading::First, *size)));
    let again = read_again(&sizes).into_iter().flat_map(|size| {
        let both = [PAIRS[0], PAIRS[1]];
        both.into_iter().flat_map(move |pair| {
            [Reading::Again, Reading::RandomOrder].map(|reading| pair.point(reading, size))
        })
    });
    first.chain(again).collect()
}

/// Room and memory that the points need, in bytes.
pub(super) fn room(setting: &Setting) -> u64 {
    SHARE / 2 * sizes(setting).last().copied().unwrap_or(1)
}

fn sizes(setting: &Setting) -> Vec<u64> {
    let by_fours = |exponent: u32| (0..).map(|step| KIB << (2 * step)).take(exponent as usize);
    let wanted: Vec<u64> = match setting.profile {
        Profile::Quick => vec![1, KIB, 64 * KIB, MIB, 16 * MIB, 64 * MIB],
        Profile::Standard => [1].into_iter().chain(by_fours(10)).collect(),
        Profile::Thorough => [1].into_iter().chain(by_fours(11)).collect(),
    };
    let room = u64::min(setting.free_bytes, setting.available_bytes) / SHARE;
    wanted
        .into_iter()
        .filter(|size| *size == 1 || *size <= room)
        .collect()
}

/// The sizes at which files are sent again: where a mapping stays in place as a whole, and pages are
/// many.
fn read_again(sizes: &[u64]) -> Vec<u64> {
    let mapped_whole = sizes.iter().filter(|size| (MIB..=16 * MIB).contains(*size));
    mapped_whole.copied().max().into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::{KIB, MIB, PAIRS, Pair, all, room, sizes};
    use crate::made_up::setting;
    use instrument::plan::{Profile, Setting};

    #[test]
    fn the_quick_profile_is_small() {
        let points = all(&setting(Profile::Quick));
        assert_eq!(points.len(), 34);
        assert_eq!(room(&setting(Profile::Quick)), 192 * MIB);
    }

    #[test]
    fn sizes_grow_by_fours_as_far_as_there_is_room() {
        let standard = sizes(&setting(Profile::Standard));
        assert_eq!(standard[..3], [1, KIB, 4 * KIB]);
        assert_eq!(standard.last(), Some(&(256 * MIB)));
        let thorough = setting(Profile::Thorough);
        assert_eq!(sizes(&thorough).last(), Some(&(1024 * MIB)));
        let narrow = Setting {
            free_bytes: 6 * MIB,
            ..thorough
        };
        assert_eq!(sizes(&narrow).last(), Some(&MIB));
        let none = Setting {
            free_bytes: 0,
            ..narrow
        };
        assert_eq!(sizes(&none), [1]);
    }

    #[test]
    fn a_point_names_its_pair() {
        for point in all(&setting(Profile::Standard)) {
            assert!(PAIRS.contains(&Pair::of(&point).expect("one of ours")));
        }
    }
}
