//! The page of a run.

use crate::arguments::{Common, Run as Arguments};
use crate::progress::Progress;
use crate::stored;
use crate::target::{Replaces, Target, make_directory};
use anyhow::Result;
use files::Watch;
use platform::signal::Interrupt;
use report::{Analysis, page};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The location of a run's page.
pub enum Page {
    None,
    /// The file given by `--page`.
    Asked(Target),
    /// Beside the store, named after the run's number. An existing page there belongs to a deleted
    /// store.
    Numbered(PathBuf),
}

impl Page {
    /// Checks that the page can be written, before the measurement starts.
    pub fn new(arguments: &Arguments, common: &Common) -> Result<Self> {
        let asked = Target::if_named(arguments.page.as_ref(), arguments.force, common)?;
        // A store that cannot be written is refused before anything else is made.
        drop(stored::open(common)?);
        if let Some(asked) = asked {
            return Ok(Self::Asked(asked));
        }
        if arguments.no_page {
            return Ok(Self::None);
        }
        let folder = files::folder(&stored::path(common)?).join("pages");
        make_directory(&folder)?;
        Self::numbered(&folder, 0, common)?;
        Ok(Self::Numbered(folder))
    }

    /// The page of run `number`. No run has the number 0.
    fn numbered(folder: &Path, number: u64, common: &Common) -> Result<Target> {
        let path = folder.join(format!("run-{number}.html"));
        Target::new(&path, Replaces::Own(is_page), common)
    }

    pub fn write(
        &self,
        analysis: &Analysis<'_>,
        number: u64,
        interrupt: Interrupt,
        common: &Common,
        progress: &Progress,
    ) -> Result<()> {
        let numbered;
        let target = match self {
            Self::None => return Ok(()),
            Self::Asked(target) => target,
            Self::Numbered(folder) => {
                numbered = Self::numbered(folder, number, common)?;
                &numbered
            }
        };
        let page = page::render(analysis)?;
        target.write(page.as_bytes(), &Watch::stopped_by(interrupt.flag()))?;
        progress.say(&format!("page: {}", target.path().display()));
        Ok(())
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
