//! Placement of labels without overlap.

use super::svg::text_width;

/// A label in one of several rows above a plot, with a line from its position down to the plot.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PlacedLabel {
    x: f64,
    width: f64,
    /// Row number, counted from the plot upwards.
    pub(super) row: usize,
    /// True if it lies left of its position, because it would leave the chart on the right.
    pub(super) leftwards: bool,
}

/// Places labels of the given widths at the given positions, in ascending order, in as few rows as
/// possible, between `left` and `right`. No labels overlap. As far as there is room, the line from a
/// label down to the plot crosses no label in a lower row.
pub(super) fn rows(places: &[(f64, f64)], left: f64, right: f64) -> Vec<PlacedLabel> {
    let fits_right = |index: &usize| places[*index].0 + places[*index].1 <= right;
    // A label on the right of its line is free of the lines of all labels before it, and one on the left
    // of those after it: in this order, few rows suffice.
    let (onwards, back): (Vec<usize>, Vec<usize>) = (0..places.len()).partition(fits_right);
    let mut taken: Vec<Option<PlacedLabel>> = vec![None; places.len()];
    for index in onwards.into_iter().rev().chain(back) {
        let (x, width) = places[index];
        let fits_left = x - width >= left;
        let sides: &[bool] = match (fits_right(&index), fits_left) {
            (true, true) => &[false, true],
            (false, true) => &[true],
            (_, false) => &[false],
        };
        let all = (0..=places.len()).flat_map(|row| sides.iter().map(move |side| (row, *side)));
        let mut candidates: Vec<PlacedLabel> = all
            .map(|(row, leftwards)| PlacedLabel {
                x,
                width,
                row,
                leftwards,
            })
            .collect();
        // A label on the left is worth a row, and not two.
        candidates.sort_by_key(|label| 2 * label.row + 3 * usize::from(label.leftwards));
        let others = || taken.iter().flatten();
        candidates.retain(|label| others().all(|it| !label.overlaps(it)));
        let is_uncrossed = |label: &&PlacedLabel| {
            others().all(|it| !label.is_crossed_by(it) && !it.is_crossed_by(label))
        };
        let best = candidates.iter().find(is_uncrossed).or(candidates.first());
        taken[index] = best.cloned();
    }
    taken.into_iter().flatten().collect()
}

impl PlacedLabel {
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

/// `text` in lines of at most `width` pixels. Only a word that is longer is shortened.
pub(super) fn wrapped(text: &str, width: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let word = shortened(word, width);
        match lines.last_mut() {
            Some(line) if text_width(&format!("{line} {word}")) <= width => {
                line.extend([" ", word.as_str()]);
            }
            _ => lines.push(word),
        }
    }
    lines
}

/// `text`, shortened by an ellipsis in the middle if it is wider than `width` pixels: the labels of
/// a chart differ at the end as often as at the beginning.
pub(super) fn shortened(text: &str, width: f64) -> String {
    if text_width(text) <= width {
        return text.to_owned();
    }
    let letters: Vec<char> = text.chars().collect();
    let keeping = |kept: usize| -> String {
        let (start, end) = (kept.div_ceil(2), letters.len() - kept / 2);
        let ends = [&letters[..start], &['…'], &letters[end..]];
        ends.into_iter().flatten().collect()
    };
    let fits = |short: &String| text_width(short) <= width;
    let shorter = (0..letters.len()).rev().map(keeping).find(fits);
    shorter.unwrap_or_else(|| keeping(0))
}

#[cfg(test)]
mod tests {
    use super::{rows, shortened, wrapped};

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
        let pairs = || {
            labels
                .iter()
                .flat_map(|one| labels.iter().map(move |it| (one, it)))
        };
        let crossed = pairs().filter(|(one, other)| one.is_crossed_by(other));
        let mut overlapping =
            pairs().filter(|(one, other)| !std::ptr::eq(*one, *other) && one.overlaps(other));
        (overlapping.next().is_some(), crossed.count())
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
    fn names_continue_on_further_lines_and_only_a_long_word_is_shortened() {
        let name = "mmap of offset 0, as printed";
        assert_eq!(wrapped(name, 110.0), ["mmap of offset", "0, as printed"]);
        assert_eq!(wrapped(name, 1000.0), [name]);
        assert_eq!(wrapped("a/very/long/path ends", 60.0), ["a/v…ath", "ends"]);
        assert_eq!(wrapped("", 60.0), Vec::<String>::new());
    }

    #[test]
    fn long_labels_are_cut() {
        assert_eq!(shortened("read", 100.0), "read");
        assert_eq!(shortened("a very long name", 42.0), "a …e");
        assert_eq!(shortened("wide", 0.0), "…");
    }
}
