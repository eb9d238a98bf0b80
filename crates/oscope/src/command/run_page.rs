//! The page of a run.

use super::browser;
use crate::arguments::{Common, Run as Arguments};
use crate::exit::refuse;
use crate::progress::Voice;
use crate::stored;
use crate::target::{Replaces, Target, make_directory};
use anyhow::Result;
use files::Watch;
use record::store::DEFAULT_NAME;
use report::{Analysis, page};
use std::cell::Cell;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The page of a run, and what the command line asks for it.
pub struct RunPage {
    place: Place,
    /// True if it is to be opened in a browser, and was not yet.
    opens: Cell<bool>,
    /// The run that the place was reported for.
    reported: Cell<Option<u64>>,
}

enum Place {
    None,
    /// The file given by `--page`.
    Asked(Target),
    /// In the store's folder for pages, named after the run's number. An existing page there belongs to a deleted
    /// store.
    Numbered(PathBuf),
}

impl RunPage {
    /// Checks that the page can be written, before the measurement starts.
    pub fn new(arguments: &Arguments, common: &Common) -> Result<Self> {
        Ok(Self {
            place: Place::new(arguments, common)?,
            opens: Cell::new(arguments.open),
            reported: Cell::new(None),
        })
    }

    /// Writes the page of run `number`. Reports its place once, and opens it if that is asked for.
    pub fn write(
        &self,
        analysis: &Analysis<'_>,
        number: u64,
        (common, voice): (&Common, &Voice),
        stop: &Watch<'_>,
    ) -> Result<()> {
        let numbered;
        let target = match &self.place {
            Place::None => return Ok(()),
            Place::Asked(target) => target,
            Place::Numbered(folder) => {
                numbered = Place::numbered(folder, number, common)?;
                &numbered
            }
        };
        target.write(page::render(analysis).as_bytes(), stop)?;
        if self.reported.replace(Some(number)) != Some(number) {
            voice.say(&format!("page: {}", target.path().display()));
        }
        if self.opens.get() {
            browser::open(target.path())?;
            self.opens.set(false);
        }
        Ok(())
    }
}

impl Place {
    fn new(arguments: &Arguments, common: &Common) -> Result<Self> {
        let mut asked = Target::if_named(arguments.page.as_ref(), arguments.force, common)?;
        // A store that cannot be written is refused before anything else is made.
        drop(stored::open(common)?);
        if let Some(asked) = &mut asked {
            let is_lost = arguments.open || arguments.watch;
            if is_lost && asked.is_standard_output() {
                refuse!("`--open` and `--watch` need a page in a file, not on standard output");
            }
            if arguments.watch {
                // It replaces the pages of this run.
                *asked = Target::new(asked.path(), Replaces::Own(is_page), common)?;
            }
        }
        if let Some(asked) = asked {
            return Ok(Self::Asked(asked));
        }
        if arguments.no_page {
            return Ok(Self::None);
        }
        let folder = folder(&stored::path(common)?);
        make_directory(&folder)?;
        Self::numbered(&folder, 0, common)?;
        Ok(Self::Numbered(folder))
    }

    /// The page of run `number`. No run has the number 0.
    fn numbered(folder: &Path, number: u64, common: &Common) -> Result<Target> {
        let path = folder.join(format!("run-{number}.html"));
        Target::new(&path, Replaces::Own(is_page), common)
    }
}

/// The folder for the pages of a store, next to it. Each store has a folder of its own.
fn folder(store: &Path) -> PathBuf {
    let pages = files::folder(store).join("pages");
    match store.file_name() {
        Some(name) if name != DEFAULT_NAME => pages.join(name),
        _ => pages,
    }
}

/// True if a file is a page of oscope: each has a marker in its head.
fn is_page(path: &Path) -> bool {
    const HEAD_BYTES: u64 = 4096;
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(HEAD_BYTES).read_to_end(&mut head));
    let generator = r#"<meta name="generator" content="oscope "#;
    read.is_ok() && String::from_utf8_lossy(&head).contains(generator)
}
