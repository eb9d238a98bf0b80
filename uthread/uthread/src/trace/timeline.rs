//! The trace as a text timeline.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{Kind, Trace};
use crate::thread::Wait;

/// State of a thread in one column; the greatest value wins if the state changes within the column.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Cell {
    Absent,
    Asleep,
    Waiting,
    WaitingForLock,
    Ready,
    Running,
}

impl Cell {
    const fn character(self) -> char {
        match self {
            Self::Absent => ' ',
            Self::Asleep => 'z',
            Self::Waiting => '.',
            Self::WaitingForLock => 'w',
            Self::Ready => '-',
            Self::Running => '#',
        }
    }

    const fn after(kind: Kind) -> Option<Self> {
        Some(match kind {
            Kind::Create | Kind::Preempt | Kind::Yield | Kind::Wake => Self::Ready,
            Kind::Run => Self::Running,
            Kind::Block(Wait::Lock | Wait::Urgent) => Self::WaitingForLock,
            Kind::Block(Wait::Sleep) => Self::Asleep,
            Kind::Block(_) => Self::Waiting,
            Kind::Exit => Self::Absent,
            Kind::Priority(_) | Kind::Tick => return None,
        })
    }
}

impl Trace {
    /// One line per thread, `width` columns wide: `#` runs, `-` is ready, `w` waits for a lock, `z`
    /// sleeps, `.` waits for another event.
    ///
    /// ```
    /// let runtime = uthread::Runtime::builder().trace(100).build().unwrap();
    /// runtime.run(|| ());
    /// assert!(runtime.trace().timeline(40).starts_with("main |"));
    /// ```
    pub fn timeline(&self, width: usize) -> String {
        let (Some(first), Some(last)) = (self.events().first(), self.events().last()) else {
            return "nothing was recorded\n".into();
        };
        let span_ns = (last.time_ns - first.time_ns).max(1);
        let column = |time_ns: u64| {
            let part = (time_ns - first.time_ns) as f64 / (span_ns + 1) as f64;
            (part * width as f64) as usize
        };
        let mut rows = BTreeMap::new();
        for event in self.events() {
            let row = rows
                .entry(event.thread)
                .or_insert_with(|| (vec![Cell::Absent; width], 0, Cell::Absent));
            let Some(next) = Cell::after(event.kind) else {
                continue;
            };
            let (cells, from, state) = row;
            let to = column(event.time_ns);
            for cell in cells.iter_mut().take(to + 1).skip(*from) {
                *cell = (*cell).max(*state);
            }
            (*from, *state) = (to, next);
        }
        let labels: BTreeMap<_, _> = rows.keys().map(|id| (*id, self.label(*id))).collect();
        let longest = labels
            .values()
            .map(|label| label.chars().count())
            .max()
            .unwrap_or(0);
        let mut text = String::new();
        for (id, (cells, from, state)) in &mut rows {
            // A thread that has not ended continues beyond the last event.
            for cell in cells.iter_mut().skip(*from) {
                *cell = (*cell).max(*state);
            }
            let cells: String = cells.iter().map(|cell| cell.character()).collect();
            let _ = writeln!(text, "{:longest$} |{cells}|", labels[id]);
        }
        let _ = writeln!(
            text,
            "{:longest$}  {:.3} ms in all; # runs, - ready, w waits for a lock, z sleeps, . waits",
            "",
            span_ns as f64 / 1e6,
        );
        text
    }
}
