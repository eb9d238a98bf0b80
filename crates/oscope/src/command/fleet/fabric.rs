//! `oscope fleet fabric`: the network under MPI, from the output of OSU's benchmarks.

use super::files::{entries, expanded, is_file, text};
use super::network::show;
use crate::arguments::Common;
use crate::arguments::fleet::Fabric as Arguments;
use crate::exit::{Exit, WrongUse, refuse};
use crate::output::harmless;
use crate::target::Target;
use anyhow::Result;
use report::network::osu::{PairOutput, gathering, tables};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

/// The endings of files that are read in a directory.
const ENDINGS: [&str; 3] = ["osu", "out", "txt"];
/// Output of these benchmarks takes a few kB.
const MOST_BYTES: u64 = 64 << 20;

pub fn execute(arguments: &Arguments, common: &Common) -> Result<Exit> {
    let judging = &arguments.judging;
    let page = Target::if_named(judging.page.as_ref(), judging.force, common)?;
    let (mut all, mut failed) = (Vec::new(), Vec::new());
    for path in files(&arguments.files)? {
        let (from, to) = nodes(&path).ok_or_else(|| {
            WrongUse(format!(
                "{}: the name of a file has to name its pair: FROM,TO.osu, or FROM,TO,1.osu for the first of several",
                path.display()
            ))
        })?;
        match read(&path) {
            Ok(printed) => match tables(&printed) {
                Ok(tables) => all.push(PairOutput { from, to, tables }),
                Err(reason) => failed.push(format!("{}: {reason}.", path.display())),
            },
            Err(error) => failed.push(format!("{}: {error:#}.", path.display())),
        }
    }
    if all.is_empty() {
        refuse!("no file can be used. {}", few(&failed).join(" "));
    }
    let mut gathered = gathering(&all);
    for reason in few(&failed) {
        gathered.fail_node(harmless(&reason));
    }
    show(&gathered.judge(judging.margin), page.as_ref(), common)
}

/// The first of many sentences, and the number of the others.
fn few(sentences: &[String]) -> Vec<String> {
    const MOST: usize = 5;
    let more = sentences.len().saturating_sub(MOST);
    let first = sentences.iter().take(MOST).cloned();
    let rest = (more > 0).then(|| format!("{more} more cannot be used."));
    first.chain(rest).collect()
}

/// The files that `paths` name, those of directories included.
fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let outputs = |directory: &Path| {
        let mut found = entries(directory)?;
        found.retain(|it| is_output(it));
        Ok(found)
    };
    let missing = "no file that is called FROM,TO.osu, after two nodes";
    expanded(paths, Path::to_owned, outputs, missing)
}

fn is_output(path: &Path) -> bool {
    let is_text = path.extension().and_then(OsStr::to_str);
    is_text.is_some_and(|it| ENDINGS.contains(&it)) && is_file(path) && nodes(path).is_some()
}

/// The two nodes, by the name of a file.
fn nodes(path: &Path) -> Option<(String, String)> {
    let name = text(path.file_name()?);
    let ending = ENDINGS
        .iter()
        .find_map(|ending| name.strip_suffix(ending)?.strip_suffix('.'));
    let mut parts = ending.unwrap_or(&name).split(',');
    let mut next = || {
        let part = parts.next().map(str::trim).filter(|it| !it.is_empty());
        part.map(str::to_owned)
    };
    let (from, to) = (next()?, next()?);
    (from != to).then_some((from, to))
}

fn read(path: &Path) -> Result<String> {
    let metadata = fs::metadata(path)?;
    anyhow::ensure!(metadata.is_file(), "it is no plain file");
    anyhow::ensure!(
        metadata.len() <= MOST_BYTES,
        "it is too large to be such output"
    );
    Ok(String::from_utf8_lossy(&fs::read(path)?).into_owned())
}

#[cfg(test)]
mod tests {
    use super::nodes;
    use std::path::Path;

    #[test]
    fn a_file_is_called_after_its_pair() {
        let of = |name: &str| nodes(Path::new(name));
        let pair = |from: &str, to: &str| Some((from.to_owned(), to.to_owned()));
        assert_eq!(of("d/n1,n2.osu"), pair("n1", "n2"));
        assert_eq!(
            of("n1.example.org,n2.example.org,3.txt"),
            pair("n1.example.org", "n2.example.org")
        );
        assert_eq!(of("n1,n2.example.org"), pair("n1", "n2.example.org"));
        assert_eq!(of("n1,n1.osu"), None);
        assert_eq!(of("n1.osu"), None);
        assert_eq!(of(",n2.osu"), None);
    }
}
