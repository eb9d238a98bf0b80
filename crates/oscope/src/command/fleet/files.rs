//! The files of a fleet, each with the name of its node.

use crate::exit::refuse;
use crate::output::on_one_line;
use anyhow::{Context, Result};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// An exported run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeFile {
    pub path: PathBuf,
    /// The name of its node, unless the run itself has another.
    pub node: String,
}

/// The exported runs that `paths` name, those of directories included.
pub fn all(paths: &[PathBuf]) -> Result<Vec<NodeFile>> {
    let file = |path: &Path| NodeFile {
        node: name(path),
        path: path.to_owned(),
    };
    let missing = "no exported run, a file whose name ends in .json: `oscope export` writes one";
    expanded(paths, file, of_directory, missing)
}

/// Each of `paths` that is a file, and what each directory holds; `missing` is what is missing in an empty one.
pub(super) fn expanded<T>(
    paths: &[PathBuf],
    file: impl Fn(&Path) -> T,
    directory: impl Fn(&Path) -> Result<Vec<T>>,
    missing: &str,
) -> Result<Vec<T>> {
    let mut all = Vec::new();
    for path in paths {
        if !path.is_dir() {
            all.push(file(path));
            continue;
        }
        let mut found = directory(path)?;
        if found.is_empty() {
            refuse!("{} has {missing}", path.display());
        }
        all.append(&mut found);
    }
    Ok(all)
}

/// The exported runs in a directory: each file is a node, and each folder is one with its files.
fn of_directory(directory: &Path) -> Result<Vec<NodeFile>> {
    let mut files = Vec::new();
    for path in entries(directory)? {
        if path.is_dir() {
            let node = text(path.file_name().unwrap_or_default());
            let sessions = entries(&path)?.into_iter().filter(|it| is_run(it));
            files.extend(sessions.map(|path| NodeFile {
                path,
                node: node.clone(),
            }));
        } else if is_run(&path) {
            files.push(NodeFile {
                node: name(&path),
                path,
            });
        }
    }
    Ok(files)
}

/// The paths in a directory, in the order of their names.
pub(super) fn entries(directory: &Path) -> Result<Vec<PathBuf>> {
    let cannot_read = || format!("cannot read {}", directory.display());
    let entries = fs::read_dir(directory).with_context(cannot_read)?;
    let paths = entries.map(|entry| Ok(entry?.path()));
    let mut paths = paths
        .collect::<Result<Vec<PathBuf>>>()
        .with_context(cannot_read)?;
    paths.sort();
    Ok(paths)
}

fn is_run(path: &Path) -> bool {
    path.extension() == Some(OsStr::new("json")) && is_file(path)
}

/// True for a regular file, and where this user may not look: reading it reports that.
pub(super) fn is_file(path: &Path) -> bool {
    match fs::metadata(path) {
        Ok(found) => found.is_file(),
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    }
}

/// The name of the node by that of its file, without `.oscope.json`.
fn name(path: &Path) -> String {
    let name = text(path.file_name().unwrap_or_default());
    let endings = [".oscope.json", ".json"];
    let short = endings.iter().find_map(|ending| name.strip_suffix(ending));
    short
        .filter(|it| !it.is_empty())
        .unwrap_or(&name)
        .to_owned()
}

/// A file's name, or a part of it, as a name to show.
pub(super) fn text(name: &OsStr) -> String {
    on_one_line(&name.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::name;
    use std::path::Path;

    #[test]
    fn a_node_is_called_as_its_file() {
        assert_eq!(
            name(Path::new("runs/node1.cluster.oscope.json")),
            "node1.cluster"
        );
        assert_eq!(name(Path::new("node1.json")), "node1");
        assert_eq!(name(Path::new("node1")), "node1");
        assert_eq!(name(Path::new(".json")), ".json");
    }
}
