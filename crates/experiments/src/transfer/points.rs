//! Which pairs, readings and sizes are measured.

use super::{READING, RECEIVER, SENDER, SIZE, TO};
use crate::transfer::reading::Reading;
use ::transfer::Cover;
use ::transfer::method::{ReceiveMethod, SendMethod};
use instrument::experiment::MeasureError;
use instrument::link::Link;
use instrument::plan::{Profile, Setting};
use instrument::point::{Level, Point};
use std::time::Duration;

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

/// All points: each pair at each size, and the other readings where the report looked at them. To
/// another machine only the sizes that go often enough.
pub(super) fn all(setting: &Setting) -> Vec<Point> {
    let sizes = sizes(setting);
    let Some(Ok(link)) = &setting.link else {
        return of(&sizes, setting.profile, Cover::Summed);
    };
    let cover = link_cover(link);
    let affordable = (1..=sizes.len())
        .map(|count| of(&sizes[..count], setting.profile, cover))
        .take_while(|points| can_go(points, link, setting))
        .last();
    // Where not even one byte does, that is what there is to be told.
    let points = affordable.unwrap_or_else(|| of(&sizes[..1], setting.profile, cover));
    let to = |point: Point| {
        let start = Point::new().with(TO, link.address.as_str());
        let levels = point.levels();
        levels.fold(start, |point, (axis, level)| {
            point.with(axis, level.clone())
        })
    };
    points.into_iter().map(to).collect()
}

/// The protection of contents on their way to another machine: a seal where there is a token.
pub(super) fn link_cover(link: &Link) -> Cover {
    if link.token_file.is_some() {
        Cover::Sealed
    } else {
        Cover::Summed
    }
}

/// The points of these sizes, by the pairs that can protect contents so.
fn of(sizes: &[u64], profile: Profile, cover: Cover) -> Vec<Point> {
    let pairs = match profile {
        Profile::Quick => &PAIRS[..QUICK_PAIRS],
        Profile::Standard | Profile::Thorough => &PAIRS,
    };
    let can_protect = |pair: &&Pair| pair.sender.can(cover) && pair.receiver.can(cover);
    let pairs: Vec<_> = pairs.iter().filter(can_protect).collect();
    let first = sizes
        .iter()
        .flat_map(|size| pairs.iter().map(|pair| pair.point(Reading::First, *size)));
    let again = read_again(sizes).into_iter().flat_map(|size| {
        let both = [PAIRS[0], PAIRS[1]];
        both.into_iter().flat_map(move |pair| {
            [Reading::Again, Reading::RandomOrder].map(|reading| pair.point(reading, size))
        })
    });
    first.chain(again).collect()
}

/// Whether there is time for half of the processes that are wanted at each point, in each of which a
/// file goes once to warm the connection up and once to be measured.
fn can_go(points: &[Point], link: &Link, setting: &Setting) -> bool {
    let transfers = setting.profile.precision().min_processes as u32;
    let sizes = points.iter().filter_map(|point| point.number(SIZE).ok());
    let wanted: Duration = sizes.map(|size| link.time_of(size) * transfers).sum();
    wanted <= Duration::from_nanos(setting.point_budget_ns()) * points.len() as u32
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
    let here = u64::min(setting.free_bytes, setting.available_bytes) / SHARE;
    let room = match &setting.link {
        Some(Ok(link)) => here.min(link.room_bytes),
        _ => here,
    };
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
    use super::super::{SIZE, TO, TransferOfFiles};
    use super::{KIB, MIB, PAIRS, Pair, all, room, sizes};
    use crate::made_up::setting;
    use instrument::link::Link;
    use instrument::plan::{Plan, Profile, Setting};
    use instrument::quantity::Nanoseconds;
    use std::time::Duration;

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

    fn to(megabytes_per_second: f64, profile: Profile) -> Setting {
        let link = Link {
            address: "there:5735".into(),
            token_file: None,
            round_trip: Duration::from_micros(200),
            bytes_per_second: megabytes_per_second * 1e6,
            room_bytes: 512 * MIB,
        };
        Setting {
            link: Some(Ok(link)),
            ..setting(profile)
        }
    }

    fn largest(setting: &Setting, budget: Option<Nanoseconds>) -> u64 {
        let plan = Plan::new(&[&TransferOfFiles], setting, budget, 1);
        let points = plan.experiments[0].points.as_ref().expect("there are some");
        let sizes = points
            .iter()
            .map(|point| point.number(SIZE).expect("each has one"));
        sizes.max().expect("there are some")
    }

    #[test]
    fn over_a_slow_line_files_are_small_enough_for_the_time_there_is() {
        assert_eq!(largest(&to(2000.0, Profile::Quick), None), 64 * MIB);
        assert_eq!(largest(&to(11.7, Profile::Quick), None), MIB);
        assert_eq!(largest(&to(0.1, Profile::Quick), None), KIB);
        assert_eq!(largest(&to(0.0001, Profile::Quick), None), 1);
        assert_eq!(largest(&to(11.7, Profile::Standard), None), 4 * MIB);
        // With more time they may be larger, with less they have to be smaller.
        let seconds = |seconds: f64| Some(Nanoseconds(seconds * 1e9));
        assert_eq!(largest(&to(11.7, Profile::Quick), seconds(200.0)), 16 * MIB);
        assert_eq!(largest(&to(11.7, Profile::Quick), seconds(3.0)), 64 * KIB);
        // No more than there is room for.
        assert_eq!(largest(&to(1e6, Profile::Thorough), None), 256 * MIB);
    }

    #[test]
    fn points_to_another_machine_name_it() {
        let setting = to(11.7, Profile::Quick);
        for point in all(&setting) {
            assert_eq!(point.choice(TO), Ok("there:5735"));
            assert!(PAIRS.contains(&Pair::of(&point).expect("one of ours")));
        }
        let lost = Setting {
            link: Some(Err("there is no way".into())),
            ..setting
        };
        let plan = Plan::new(&[&TransferOfFiles], &lost, None, 1);
        assert_eq!(plan.experiments[0].points, Err("there is no way".into()));
        assert!(!plan.experiments[0].is_left_out);
    }

    #[test]
    fn a_point_names_its_pair() {
        for point in all(&setting(Profile::Standard)) {
            assert!(PAIRS.contains(&Pair::of(&point).expect("one of ours")));
        }
    }
}
