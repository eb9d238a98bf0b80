//! Output files: written completely or not at all. They replace existing files only if allowed.

use crate::arguments::{Common, Output};
use crate::exit::{WrongUse, first_error, refuse};
use crate::{output, stored};
use anyhow::{Context, Result, bail};
use files::{Partial, Watch, is_standard_output, names_standard_output};
use platform::file::{OpenMode, is_stream};
use record::store::is_store;
use std::fs;
use std::io::IsTerminal;
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
        output::keep_for(path, common);
        if !names_standard_output(path) && !is_stream {
            drop(target.begin(&Watch::default())?);
        }
        Ok(target)
    }

    /// As [`Target::new`], for an option that names a file for a command that also prints a report.
    pub fn if_named(path: Option<&PathBuf>, force: bool, common: &Common) -> Result<Option<Self>> {
        let Some(path) = path else { return Ok(None) };
        keep_apart(&[path], common)?;
        Self::new(path, Replaces::with(force), common).map(Some)
    }

    /// True if the contents go to standard output.
    pub fn is_standard_output(&self) -> bool {
        names_standard_output(&self.path)
    }

    /// The file's path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the file. Waits for the reader of a pipe until `watch` asks to stop.
    pub fn write(&self, contents: &[u8], watch: &Watch<'_>) -> Result<()> {
        if names_standard_output(&self.path) {
            return print(contents);
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

/// Writes a page, if one is asked for, and then prints a report: on standard error if standard output has the page.
pub fn publish(
    page: Option<&Target>,
    contents: impl FnOnce() -> String,
    report: &str,
    common: &Common,
) -> Result<()> {
    let write = |page: &Target| {
        page.write(contents().as_bytes(), &Watch::default())?;
        output::note(common, &format!("page: {}", page.path().display()));
        Ok(())
    };
    let written = page.map_or(Ok(()), write);
    first_error([written, output::show_painted(report)])
}

/// Refuses outputs of one command that would replace each other, or mix with its report.
pub fn keep_apart(outputs: &[&Path], common: &Common) -> Result<(), WrongUse> {
    for (index, output) in outputs.iter().enumerate() {
        let name = output.display();
        if let Some(other) = outputs[..index].iter().find(|other| are_one(other, output)) {
            let other = other.display();
            refuse!("{other} and {name} are the same file: name two files");
        }
        if names_standard_output(output) && common.json {
            refuse!("`--json` writes to standard output, as {name} does: name a file");
        }
        if !names_standard_output(output) && is_standard_output(output) {
            refuse!(
                "{name} is the standard output of this command, where its report goes: name another file"
            );
        }
    }
    Ok(())
}

/// True if contents for both paths would reach one place, where the second replaces or follows the first.
fn are_one(one: &Path, other: &Path) -> bool {
    let is_null = platform::file::null_device().is_ok_and(|null| is_same(null, one));
    let both_are_standard_output = names_standard_output(one) && names_standard_output(other);
    both_are_standard_output || is_same(one, other) && !is_null
}

/// Refuses to print a document that nobody reads on a terminal; `instead` is what to do.
pub fn refuse_terminal(document: &str, instead: &str) -> Result<(), WrongUse> {
    if !std::io::stdout().is_terminal() {
        return Ok(());
    }
    refuse!("{document} is not printed on a terminal: {instead}, or use a pipe")
}

/// Writes contents to standard output; a terminal gets sanitised text.
fn print(contents: &[u8]) -> Result<()> {
    match std::str::from_utf8(contents) {
        _ if !std::io::stdout().is_terminal() => output::print(contents),
        Ok(text) => output::print(output::harmless(text).as_bytes()),
        Err(_) => bail!(WrongUse(
            "this is no text for a terminal: name a file with `--output`".into()
        )),
    }
}

/// Refuses to write to a store or to SQLite's files next to it.
fn spare_stores(path: &Path, common: &Common) -> Result<(), WrongUse> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let auxiliary = ["-wal", "-shm", "-journal"]
        .iter()
        .filter_map(|suffix| Some(path.with_file_name(name.strip_suffix(suffix)?)));
    let in_use = stored::path(common).ok();
    for store in std::iter::once(path.to_owned()).chain(auxiliary) {
        let is_in_use = in_use.as_ref().is_some_and(|used| is_same(used, &store));
        if is_in_use || is_store(&store) {
            refuse!(
                "{} belongs to a store of runs, which is never written over: name another file",
                path.display()
            );
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

    #[test]
    fn a_file_that_appears_after_the_check_stays() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("page.html");
        let page = Target::new(&path, Replaces::Nothing, &Common::default()).unwrap();
        fs::write(&path, "mine").unwrap();
        page.write(b"page", &Watch::default()).unwrap_err();
        assert_eq!(fs::read(&path).unwrap(), b"mine");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn two_outputs_of_a_command_in_one_place_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("sub")).unwrap();
        fs::write(dir.path().join("file"), "").unwrap();
        std::fs::hard_link(dir.path().join("file"), dir.path().join("other")).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink("file", dir.path().join("link")).unwrap();
        let apart = |names: [&str; 2], json| {
            let paths = names.map(|name| dir.path().join(name));
            let common = Common {
                json,
                ..Common::default()
            };
            super::keep_apart(&[&paths[0], &paths[1]], &common).is_ok()
        };
        assert!(apart(["new", "newer"], true));
        // A file with two names is replaced under one of them only.
        assert!(apart(["file", "other"], false));
        assert!(!apart(["new", "sub/../new"], false));
        if cfg!(unix) {
            assert!(!apart(["/dev/stdout", "/dev/fd/1"], false));
            assert!(!apart(["file", "link"], false));
            assert!(apart(["/dev/null", "/dev/null"], false));
            assert!(apart(["/dev/stdout", "new"], false));
            assert!(!apart(["/dev/stdout", "new"], true));
        }
    }
}
