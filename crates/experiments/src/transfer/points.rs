//! The pairs, readings and sizes that are measured.

use super::endpoint::Link;
use super::levels::{Address, FROM_MAPPING, PAIRS, PLAIN, Pair, QUICK_PAIRS, Reading, SIZE, TO};
use crate::prelude::*;
use ::transfer::Cover;
use instrument::estimate::FEWEST_PROCESSES;
use std::time::Duration;

/// Source, target and the previous process's target together take at most this part of the room
/// and of the memory.
const SHARE: u64 = 6;

/// All points: each pair at each size, and the other readings where the report looked at them. To
/// another machine only the sizes that go often enough.
pub(super) fn all(setting: &Setting) -> Vec<Point> {
    let sizes = sizes(setting);
    let Some(Ok(link)) = setting.given.get::<Link>() else {
        return of(&Point::new(), &sizes, setting.profile, Cover::Summed);
    };
    let start = Point::new().at(TO, Address(link.address.clone()));
    let points = |count| of(&start, &sizes[..count], setting.profile, link.cover());
    let affordable = (1..=sizes.len())
        .map(points)
        .take_while(|points| can_go(points, &link, setting))
        .last();
    // If not even one byte goes often enough, the points of one byte say so.
    affordable.unwrap_or_else(|| points(1))
}

/// The points of these sizes, of the pairs that can protect contents in this way.
fn of(start: &Point, sizes: &[Bytes], profile: Profile, cover: Cover) -> Vec<Point> {
    let pairs = match profile {
        Profile::Quick => &PAIRS[..QUICK_PAIRS],
        Profile::Standard | Profile::Thorough => &PAIRS,
    };
    let mut points = Vec::new();
    for size in sizes {
        let can_protect = |pair: &&Pair| pair.sender.can(cover) && pair.receiver.can(cover);
        let pairs = pairs.iter().filter(can_protect);
        points.extend(pairs.map(|pair| pair.point(start, Reading::First, *size)));
    }
    if let Some(size) = read_again(sizes) {
        for pair in [PLAIN, FROM_MAPPING] {
            let again = [Reading::Again, Reading::RandomOrder];
            points.extend(again.map(|reading| pair.point(start, reading, size)));
        }
    }
    points
}

/// True if there is time for the processes that an estimate of each point needs. In each, a file goes
/// once to warm the connection up and once to be measured.
fn can_go(points: &[Point], link: &Link, setting: &Setting) -> bool {
    let transfers = 2 * FEWEST_PROCESSES as u32;
    let sizes = points.iter().filter_map(|point| point.level(SIZE).ok());
    let wanted: Duration = sizes.map(|size| link.time_of(size.0) * transfers).sum();
    wanted <= Duration::from_nanos(setting.point_budget_ns()) * points.len() as u32
}

/// Room and memory that the points need, in bytes.
pub(super) fn room(setting: &Setting) -> u64 {
    SHARE / 2 * sizes(setting).last().map_or(1, |size| size.0)
}

fn sizes(setting: &Setting) -> Vec<Bytes> {
    let by_fours = |exponent: u32| (0..).map(|step| KIB << (2 * step)).take(exponent as usize);
    let wanted: Vec<u64> = match setting.profile {
        Profile::Quick => vec![1, 64 * KIB, MIB, 16 * MIB],
        Profile::Standard => [1].into_iter().chain(by_fours(10)).collect(),
        Profile::Thorough => [1].into_iter().chain(by_fours(11)).collect(),
    };
    let here = u64::min(setting.free_bytes, setting.available_bytes) / SHARE;
    let room = match setting.given.get::<Link>() {
        Some(Ok(link)) => here.min(link.room_bytes),
        _ => here,
    };
    wanted
        .into_iter()
        .filter(|size| *size == 1 || *size <= room)
        .map(Bytes)
        .collect()
}

/// The size at which files are sent again: where a mapping stays in place as a whole, and pages are
/// many.
fn read_again(sizes: &[Bytes]) -> Option<Bytes> {
    let mapped_whole = Bytes(MIB)..=Bytes(16 * MIB);
    let sizes = sizes.iter().filter(|size| mapped_whole.contains(size));
    sizes.copied().max()
}

#[cfg(test)]
mod tests {
    use super::super::TransferOfFiles;
    use super::{Address, Link, PAIRS, Pair, SIZE, TO, all, room, sizes};
    use crate::made_up::setting;
    use crate::prelude::*;
    use instrument::plan::Plan;
    use instrument::quantity::Nanoseconds;
    use std::time::Duration;

    #[test]
    fn the_quick_profile_is_small() {
        let points = all(&setting(Profile::Quick));
        assert_eq!(points.len(), 24);
        assert_eq!(room(&setting(Profile::Quick)), 48 * MIB);
    }

    #[test]
    fn sizes_grow_by_fours_as_far_as_there_is_room() {
        let standard = sizes(&setting(Profile::Standard));
        assert_eq!(standard[..3], [1, KIB, 4 * KIB].map(Bytes));
        assert_eq!(standard.last(), Some(&Bytes(256 * MIB)));
        let thorough = setting(Profile::Thorough);
        assert_eq!(sizes(&thorough).last(), Some(&Bytes(1024 * MIB)));
        let narrow = Setting {
            free_bytes: 6 * MIB,
            ..thorough
        };
        assert_eq!(sizes(&narrow).last(), Some(&Bytes(MIB)));
        let none = Setting {
            free_bytes: 0,
            ..narrow
        };
        assert_eq!(sizes(&none), [Bytes(1)]);
    }

    fn to(megabytes_per_second: f64, profile: Profile) -> Setting {
        let link = Link {
            address: "there:5735".into(),
            token_file: None,
            round_trip: Duration::from_micros(200),
            bytes_per_second: megabytes_per_second * 1e6,
            room_bytes: 512 * MIB,
        };
        let mut setting = setting(profile);
        setting.given.add(Ok(link));
        setting
    }

    fn largest(setting: &Setting, budget: Option<Nanoseconds>) -> u64 {
        let plan = Plan::new(&[&TransferOfFiles], setting, budget, 1);
        let points = plan.experiments[0].points.as_ref().expect("there are some");
        let sizes = points
            .iter()
            .map(|point| point.level(SIZE).expect("each has one").0);
        sizes.max().expect("there are some")
    }

    #[test]
    fn over_a_slow_line_files_are_small_enough_for_the_time_there_is() {
        assert_eq!(largest(&to(2000.0, Profile::Quick), None), 16 * MIB);
        assert_eq!(largest(&to(11.7, Profile::Quick), None), 64 * KIB);
        assert_eq!(largest(&to(0.1, Profile::Quick), None), 1);
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
        let mut setting = to(11.7, Profile::Quick);
        for point in all(&setting) {
            assert_eq!(point.level(TO), Ok(Address("there:5735".into())));
            assert!(PAIRS.contains(&Pair::of(&point).expect("one of ours")));
        }
        let lost = Err("there is no way".into());
        setting.given.add::<Link>(lost);
        let plan = Plan::new(&[&TransferOfFiles], &setting, None, 1);
        assert_eq!(plan.experiments[0].points, Err("there is no way".into()));
        assert!(!plan.experiments[0].is_left_out);
    }
}
