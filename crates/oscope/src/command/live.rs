//! What is shown while a run goes on. A run of everything shows a glance at the machine, and its ladder of latencies then
//! stays on the terminal and gets more exact. With `--watch`, the page is written before each pass.

use super::run_page::RunPage;
use crate::arguments::Common;
use crate::exit::words;
use crate::progress::Progress;
use crate::{machines, sanitise, stored, style};
use anyhow::Result;
use files::Watch;
use instrument::runner::{Event, Observer, ObserverError};
use record::store::RunSelector;
use report::document::Document;
use report::terminal::{self, Style};
use report::{Analysis, view};

/// Rows of a terminal that the ladder leaves for the line of progress and the prompt.
const OTHER_ROWS: usize = 3;

/// The progress of a run, and what is known of it before each pass, while nothing is timed.
pub struct Live<'a> {
    pub progress: Progress,
    /// The pass before which the glance is known; `None` if none is to be shown.
    pub glance_before: Option<usize>,
    /// The ladder that stays on the terminal, and the width that it was painted for.
    pub ladder: Option<(Document<'static>, usize)>,
    /// The page that is written before each pass, with the run's number.
    pub page: Option<(&'a RunPage, u64)>,
    pub selector: RunSelector,
    pub common: &'a Common,
    pub stop: Watch<'a>,
}

impl Observer for Live<'_> {
    fn observe(&mut self, event: &Event<'_>) -> Result<(), ObserverError> {
        match *event {
            Event::Pass { pass, .. } => {
                if let Err(error) = self.show(pass) {
                    self.progress.voice.warn(&words(&error));
                }
            }
            Event::Taken { .. } => self.follow_width(),
            _ => {}
        }
        self.progress.observe(event)
    }
}

impl Live<'_> {
    fn show(&mut self, pass: usize) -> Result<()> {
        // Once it is printed, only a terminal shows more of it.
        let shows_glance = self.glance_before.is_some_and(|known| {
            pass == known || pass > known && style::size_of_stderr().is_some()
        });
        let page = self.page.filter(|_| pass > 0);
        if !shows_glance && page.is_none() {
            return Ok(());
        }
        let Some(store) = stored::open_if_there(self.common)? else {
            return Ok(());
        };
        let run = sanitise::run(store.run(&self.selector)?)?;
        let mut analysis = Analysis::new(&run);
        if shows_glance {
            self.show_glance(&analysis, self.glance_before == Some(pass));
        }
        if let Some((page, number)) = page {
            stored::add_settings_of_system(&mut analysis, Some(&store))?;
            machines::add_to(&mut analysis, self.common);
            let to = (self.common, &self.progress.voice);
            page.write(&analysis, number, to, &self.stop)?;
        }
        Ok(())
    }

    /// Shows the whole glance once. On a terminal with room for it, the ladder stays above the line of progress.
    fn show_glance(&mut self, analysis: &Analysis<'_>, is_first: bool) {
        let style = style::of_stderr(self.common);
        let ladder = view::ladder(analysis);
        let rows = painted(&ladder, &style).lines().count() + OTHER_ROWS;
        let has_room = style::size_of_stderr().is_some_and(|(has, _)| has >= rows);
        let stays = has_room && self.progress.keep_above(&painted(&ladder, &style));
        self.ladder = stays.then_some((ladder, style.width));
        if is_first {
            let glance = view::glance(analysis, None, !stays);
            self.progress.voice.show(&painted(&glance, &style));
        }
    }

    /// Paints the ladder again if the terminal has another width now.
    fn follow_width(&mut self) {
        let Some((ladder, painted_for)) = &mut self.ladder else {
            return;
        };
        let style = style::of_stderr(self.common);
        if style.width != *painted_for {
            *painted_for = style.width;
            // A terminal that gets narrower breaks the lines that were kept, and they cannot be replaced. One
            // that refuses shows the old lines too.
            let _ = console::Term::stderr().clear_screen();
            self.progress.keep_above(&painted(ladder, &style));
        }
    }
}

/// `document` under an empty line.
fn painted(document: &Document<'_>, style: &Style) -> String {
    format!("\n{}", terminal::paint(document, style, false))
}
