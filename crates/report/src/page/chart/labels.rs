//! Placement of labels without overlap.

use super::svg::text_width;

/// Moves `wanted` positions apart to a distance of at least `gap`. Keeps their order, and keeps
/// them between `low` and `high` if there is room. The result is in the order of `wanted`.
pub(super) fn spread(wanted: &[f64], gap: f64, low: f64, high: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|&a, &b| wanted[a].total_cmp(&wanted[b]));
    let mut placed = wanted.to_vec();
    let mut next = low;
    for &index in &order {
        placed[index] = placed[index].max(next);
        next = placed[index] + gap;
    }
    let mut last = high;
    for &index in order.iter().rev() {
        placed[index] = placed[index].min(last);
        last = placed[index] - gap;
    }
    placed
}

/// A label in one of several rows above a plot.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Placed {
    /// Row number, counted from the plot upwards.
    pub(super) row: usize,
    /// True if it lies left of its position, because it would leave the chart on the right.
    pub(super) leftwards: bool,
}

/// Places labels of the given widths at the given positions, in ascending order, in as few rows as
/// possible, between `left` and `right`. No labels overlap. As far as there is room, the line from a
/// label down to the plot crosses no label in a lower row.
pub(super) fn rows(places: &[(f64, f64)], left: f64, right: f64) -> Vec<Placed> {
    let fits_right = |index: &usize| places[*index].0 + places[*index].1 <= right;
    // A label on the right of its line is free of the lines of all labels before it, and one on the left
    // of those after it: in this order, few rows suffice.
    let (onwards, back): (Vec<usize>, Vec<usize>) = (0..places.len()).partition(fits_right);
    let mut taken: Vec<Taken> = Vec::new();
    for index in onwards.into_iter().rev().chain(back) {
        let (x, width) = places[index];
        let fits_left = x - width >= left;
        let may_be = |leftwards: bool| {
            if leftwards {
                fits_left
            } else {
                fits_right(&index) || !fits_left
            }
        };
        let label = |row, leftwards| Taken {
            index,
            x,
            width,
            row,
            leftwards,
        };
        let rows = 0..=taken.len();
        let all = rows.flat_map(|row| [false, true].map(|leftwards| label(row, leftwards)));
        let mut candidates: Vec<Taken> = all.filter(|label| may_be(label.leftwards)).collect();
        // A label on the left is worth a row, and not two.
        candidates.sort_by_key(|label| 2 * label.row + 3 * usize::from(label.leftwards));
        let is_apart = |label: &&Taken| !taken.iter().any(|it| label.overlaps(it));
        let is_uncrossed = |label: &&Taken| {
            let mut others = taken.iter();
            others.all(|it| !label.is_crossed_by(it) && !it.is_crossed_by(label))
        };
        let apart = || candidates.iter().filter(is_apart);
        let free = apart().find(is_uncrossed).or_else(|| apart().next());
        let free = free.cloned();
        taken.extend(free);
    }
    taken.sort_by_key(|label| label.index);
    let told = |label: &Taken| Placed {
        row: label.row,
        leftwards: label.leftwards,
    };
    taken.iter().map(told).collect()
}

/// A label that has its place.
#[derive(Clone)]
struct Taken {
    index: usize,
    /// The position of its line.
    x: f64,
    width: f64,
    row: usize,
    leftwards: bool,
}

impl Taken {
    fn ends(&self) -> (f64, f64) {
        if self.leftwards {
            (self.x - self.width, self.x)
        } else {
            (self.x, self.x + self.width)
        }
    }

    fn overlaps(&self, other: &Self) -> bool {
        const GAP: f64 = 8.0;
        let ((from, to), (other_from, other_to)) = (self.ends(), other.ends());
        self.row == other.row && from <= other_to + GAP && other_from <= to + GAP
    }

    /// True if the line of a label in a higher row goes through this one.
    fn is_crossed_by(&self, other: &Self) -> bool {
        let (from, to) = self.ends();
        other.row > self.row && from < other.x && other.x < to
    }
}

/// `text`, shortened by an ellipsis in the middle if it is wider than `width` pixels: the labels of
/// a chart differ at the end as often as at the beginning.
pub(super) fn shortened(text: &str, font_size: f64, width: f64) -> String {
    if text_width(text, font_size) <= width {
        return text.to_owned();
    }
    let letters: Vec<char> = text.chars().collect();
    let keeping = |kept: usize| -> String {
        let (start, end) = (kept.div_ceil(2), letters.len() - kept / 2);
        let ends = [&letters[..start], &['…'], &letters[end..]];
        ends.into_iter().flatten().collect()
    };
    let fits = |short: &String| text_width(short, font_size) <= width;
    let shorter = (0..letters.len()).rev().map(keeping).find(fits);
    shorter.unwrap_or_else(|| keeping(0))
}

#[cfg(test)]
mod tests {
    use super::{Placed, rows, shortened, spread};

    #[test]
    fn labels_are_spread_in_their_order() {
        assert_eq!(
            spread(&[10.0, 11.0, 50.0], 10.0, 0.0, 100.0),
            [10.0, 20.0, 50.0]
        );
        assert_eq!(spread(&[99.0, 98.0], 10.0, 0.0, 100.0), [100.0, 90.0]);
    }

    #[test]
    fn labels_that_would_meet_get_rows_of_their_own() {
        let placed = rows(
            &[(0.0, 50.0), (30.0, 50.0), (70.0, 20.0), (95.0, 50.0)],
            0.0,
            100.0,
        );
        assert_eq!(
            placed.iter().map(|label| label.row).collect::<Vec<_>>(),
            [2, 1, 0, 3]
        );
        assert!(placed[3].leftwards);
    }

    /// True if labels overlap, and the number of lines that cross a label in a lower row.
    fn faults(places: &[(f64, f64)]) -> (bool, usize) {
        let labels = rows(places, 0.0, 340.0);
        let all: Vec<_> = places.iter().zip(&labels).collect();
        let ends = |(x, width): &(f64, f64), label: &Placed| {
            let from = if label.leftwards { x - width } else { *x };
            (from, from + width)
        };
        let mut overlaps = false;
        let mut crossed = 0;
        for (index, (place, label)) in all.iter().enumerate() {
            let (from, to) = ends(place, label);
            for (other_place, other) in &all {
                let line = other_place.0;
                crossed += usize::from(other.row > label.row && from < line && line < to);
            }
            for (other_place, other) in &all[..index] {
                let (other_from, other_to) = ends(other_place, other);
                overlaps |= other.row == label.row && from < other_to && other_from < to;
            }
        }
        (overlaps, crossed)
    }

    #[test]
    fn labels_never_overlap_and_a_line_seldom_crosses_one() {
        let as_seen = [(138.0, 71.0), (205.0, 65.0), (262.0, 55.0)];
        assert_eq!(faults(&as_seen), (false, 0));
        let sets = (0..2000_u32).map(|seed| {
            let digit =
                |place: u32| f64::from(seed.wrapping_mul(2_654_435_761) >> (place * 5) & 31);
            let mut xs = [digit(0), digit(1), digit(2), digit(3)].map(|x| 10.0 * x);
            xs.sort_by(f64::total_cmp);
            xs.map(|x| (x, 30.0 + digit(4)))
        });
        let all: Vec<_> = sets.map(|places| faults(&places)).collect();
        assert!(all.iter().all(|(overlaps, _)| !overlaps));
        let crossed = all.iter().filter(|(_, crossed)| *crossed > 0).count();
        assert!(crossed < all.len() / 8, "{crossed} of {}", all.len());
    }

    #[test]
    fn long_labels_are_cut() {
        assert_eq!(shortened("read", 10.0, 100.0), "read");
        assert_eq!(shortened("a very long name", 10.0, 33.0), "a …e");
        assert_eq!(shortened("wide", 10.0, 0.0), "…");
    }
}
