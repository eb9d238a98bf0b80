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
/// possible without overlap, between `left` and `right`. Placement starts with the last label, so
/// that no line from a label down to the plot crosses a label in a lower row.
pub(super) fn rows(places: &[(f64, f64)], left: f64, right: f64) -> Vec<Placed> {
    const GAP: f64 = 8.0;
    let mut taken: Vec<Vec<(f64, f64)>> = Vec::new();
    let mut place = |&(x, width): &(f64, f64)| {
        let leftwards = x + width > right && x - width >= left;
        let (from, to) = if leftwards {
            (x - width, x)
        } else {
            (x, x + width)
        };
        let free =
            |row: &Vec<(f64, f64)>| row.iter().all(|(a, b)| to + GAP < *a || *b + GAP < from);
        let row = taken.iter().position(free).unwrap_or(taken.len());
        if row == taken.len() {
            taken.push(Vec::new());
        }
        taken[row].push((from, to));
        Placed { row, leftwards }
    };
    let mut labels: Vec<Placed> = places.iter().rev().map(&mut place).collect();
    labels.reverse();
    labels
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
    use super::{rows, shortened, spread};

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
            [1, 2, 1, 0]
        );
        assert!(placed[3].leftwards);
    }

    #[test]
    fn long_labels_are_cut() {
        assert_eq!(shortened("read", 10.0, 100.0), "read");
        assert_eq!(shortened("a very long name", 10.0, 33.0), "a …e");
        assert_eq!(shortened("wide", 10.0, 0.0), "…");
    }
}
