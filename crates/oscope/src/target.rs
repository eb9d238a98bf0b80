//! Output files: written completely or not at all. They replace existing files only if allowed.

use crate::arguments::{Common, Output};
use crate::exit::WrongUse;
use crate::{output, stored};
use anyhow::{Context, Result, bail};
use files::{Partial, Watch};
use platform::file::{OpenMode, is_stream};
use record::store::is_store;
use std::fs::{self, File};
use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};

/// An output file.
pub struct Target {
    path: PathBuf,
    replaces: Replaces,
}

/// The files that an output file may replace.
#[derive(Clone, Copy)]
pub enum Replaces {
    Nothing,
    /// Only files that oscope wrote, as this function determines.
    Own(fn(&Path) -> bool),
    Anything,
}

impl Replaces {
    /// Everything with `--force`, else nothing.
    pub fn with(force: bool) -> Self {
        if force { Self::Anything } else { Self::Nothing }
    }
}

impl Target {
    /// The file given by `--output`.
    pub fn asked(output: &Output, common: &Common) -> Result<Self> {
        Self::new(output.path(), Replaces::with(output.force), common)
    }

    /// As [`Target::asked`], for a document that nobody reads on a terminal, such as "a page": without `--output` it
    /// needs a pipe or a file.
    pub fn for_document(document: &str, output: &Output, common: &Common) -> Result<Self> {
        if output.output.is_none() {
            refuse_terminal(document, "name a file with `--output FILE`")?;
        }
        Self::asked(output, common)
    }

    /// A file at `path`, or standard output (`-`). Fails immediately if it could not be written
    /// later, before there are results to lose. Never replaces a store.
    pub fn new(path: &Path, replaces: Replaces, common: &Common) -> Result<Self> {
        spare_stores(path, common)?;
        let target = Self {
            path: path.to_owned(),
            replaces,
        };
        // A pipe is opened only for writing the contents.
        let is_stream = fs::metadata(path).is_ok_and(|metadata| is_stream(&metadata));
        if !is_standard_output(path) && !is_stream {
            drop(target.begin(&Watch::default())?);
        }
        Ok(target)
    }

    /// As [`Target::new`], for an option that names a file and stands beside `--force`.
    pub fn if_named(path: Option<&PathBuf>, force: bool, common: &Common) -> Result<Option<Self>> {
        let replaces = Replaces::with(force);
        path.map(|path| Self::new(path, replaces, common))
            .transpose()
    }

    /// The file's path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the file. Waits for the reader of a pipe until `watch` says to stop.
    pub fn write(&self, contents: &[u8], watch: &Watch<'_>) -> Result<()> {
        if is_standard_output(&self.path) {
            return say(contents);
        }
        let partial = self.begin(watch)?;
        let written = partial.write_all(contents, watch);
        let finished = written.and_then(|()| partial.finish());
        finished.map_err(|error| self.refused(error))
    }

    fn begin(&self, watch: &Watch<'_>) -> Result<Partial> {
        let path = &self.path;
        let mut force = false;
        match (fs::metadata(path), self.replaces) {
            // Writing to a stream replaces nothing.
            (Ok(metadata), _) if is_stream(&metadata) => force = true,
            (Ok(metadata), _) if !metadata.is_file() && !metadata.is_dir() => bail!(WrongUse(
                format!("{} is a device: name a file", path.display())
            )),
            (_, Replaces::Anything) => force = true,
            (Ok(metadata), Replaces::Own(is_own)) if metadata.is_file() => {
                if !is_own(path) {
                    bail!(
                        "{} is there already, and oscope did not write it: move it away",
                        path.display()
                    );
                }
                force = true;
            }
            _ => {}
        }
        let begun = Partial::begin(path, OpenMode::Plain, force, None, watch);
        begun.map_err(|error| self.refused(error))
    }

    /// The error to report if the file cannot be written.
    fn refused(&self, error: files::Error) -> anyhow::Error {
        let path = self.path.display().to_string();
        if let files::Error::Directory(_) = error {
            return WrongUse(format!("{path} is a directory: name a file in it")).into();
        }
        let names_it = error.to_string().contains(&path);
        let refused = anyhow::Error::from(error);
        if names_it {
            refused
        } else {
            refused.context(format!("cannot write {path}"))
        }
    }
}

/// Writes a page, if there is one, and then prints `text`: standard output may fail, or have no reader.
pub fn write_and_show(page: Option<(Target, String)>, text: &str, common: &Common) -> Result<()> {
    let written = page
        .as_ref()
        .map(|(target, page)| target.write(page.as_bytes(), &Watch::default()));
    let shown = output::show_painted(text);
    written.transpose()?;
    if let Some((target, _)) = page.filter(|_| !common.quiet) {
        output::say(&format!("page: {}", target.path().display()));
    }
    shown
}

/// Refuses to print a document that nobody reads on a terminal; `instead` is what to do.
pub fn refuse_terminal(document: &str, instead: &str) -> Result<(), WrongUse> {
    if !std::io::stdout().is_terminal() {
        return Ok(());
    }
    Err(WrongUse(format!(
        "{document} is not printed on a terminal: {instead}, or use a pipe"
    )))
}

/// Writes contents to standard output; a terminal gets sanitised text.
fn say(contents: &[u8]) -> Result<()> {
    match std::str::from_utf8(contents) {
        _ if !std::io::stdout().is_terminal() => output::print(contents),
        Ok(text) => output::show(text),
        Err(_) => bail!(WrongUse(
            "this is no text for a terminal: name a file with `--output`".into()
        )),
    }
}

/// True if `path` is a name of standard output, which may be a regular file. Opening it again would
/// write from its start, and replacing it would leave the caller with the old file.
fn is_standard_output(path: &Path) -> bool {
    ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].contains(&path.to_str().unwrap_or(""))
}

/// Refuses to write to a store or to SQLite's files beside it.
fn spare_stores(path: &Path, common: &Common) -> Result<(), WrongUse> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let beside = ["-wal", "-shm", "-journal"]
        .iter()
        .filter_map(|suffix| Some(path.with_file_name(name.strip_suffix(suffix)?)));
    let in_use = stored::path(common).ok();
    for store in std::iter::once(path.to_owned()).chain(beside) {
        let is_in_use = in_use.as_ref().is_some_and(|used| is_same(used, &store));
        if is_in_use || is_store(&store) {
            return Err(WrongUse(format!(
                "{} belongs to a store of runs, which is never written over: name another file",
                path.display()
            )));
        }
    }
    Ok(())
}

/// True if two paths lead to the same file, which need not exist.
fn is_same(one: &Path, other: &Path) -> bool {
    let place = |path: &Path| -> Option<PathBuf> {
        path.canonicalize().ok().or_else(|| {
            let folder = files::folder(path).canonicalize().ok()?;
            Some(folder.join(path.file_name()?))
        })
    };
    place(one).is_some_and(|place_of_one| place(other) == Some(place_of_one))
}

/// True if a file is a page of oscope: each has a marker in its head.
pub fn is_page(path: &Path) -> bool {
    const HEAD_BYTES: u64 = 4096;
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(HEAD_BYTES).read_to_end(&mut head));
    let generator = r#"<meta name="generator" content="oscope "#;
    read.is_ok() && String::from_utf8_lossy(&head).contains(generator)
}

/// Creates a directory and its missing parents.
pub fn make_directory(path: &Path) -> Result<()> {
    fs::create_dir_all(path)
        .with_context(|| format!("cannot make the directory {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::{Replaces, Target};
    use crate::arguments::Common;
    use files::Watch;
    use std::fs;
    use std::path::Path;

    fn target(path: &Path, replaces: Replaces) -> anyhow::Result<Target> {
        Target::new(path, replaces, &Common::default())
    }

    fn write(path: &Path, replaces: Replaces, contents: &[u8]) -> anyhow::Result<()> {
        target(path, replaces)?.write(contents, &Watch::default())
    }

    #[test]
    fn a_file_that_is_there_stays_unless_it_may_be_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("page.html");
        write(&path, Replaces::Nothing, b"first").unwrap();
        let error = write(&path, Replaces::Nothing, b"second").unwrap_err();
        assert!(error.to_string().contains("--force"), "{error}");
        write(&path, Replaces::Own(|_| false), b"second").unwrap_err();
        assert_eq!(fs::read(&path).unwrap(), b"first");
        write(&path, Replaces::Own(|_| true), b"second").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"second");
        write(&path, Replaces::Anything, b"third").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"third");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_appears_after_the_first_look_stays_too() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("page.html");
        let page = target(&path, Replaces::Nothing).unwrap();
        fs::write(&path, "mine").unwrap();
        page.write(b"page", &Watch::default()).unwrap_err();
        assert_eq!(fs::read(&path).unwrap(), b"mine");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_directory_that_is_not_there_is_named() {
        let nowhere = Path::new("/nonexistent/page.html");
        let error = target(nowhere, Replaces::Anything).err().unwrap();
        let error = format!("{error:#}");
        assert!(error.contains("/nonexistent/page.html"), "{error}");
    }
}
