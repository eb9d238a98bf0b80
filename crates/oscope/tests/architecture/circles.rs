//! No files of a crate use each other in a circle.
//!
//! A file uses another file if one of its paths leads there. Use of a parent module's own items,
//! such as constants shared by a folder, is no circle: the parent is the folder itself. Re-exports
//! count as the file that defines the item.

use proc_macro2::{TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use syn::visit::{self, Visit};
use syn::{Attribute, Item, ItemMod, ItemUse, Macro, UseTree, Visibility};

/// The names of a module and its parents: `["process", "ipc"]`.
type Module = Vec<String>;

#[test]
fn no_files_use_each_other_in_a_circle() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut circles = Vec::new();
    for crates in ["crates", "uthread"] {
        for folder in fs::read_dir(workspace.join(crates)).expect("the crates are there") {
            let source = folder.expect("it can be listed").path().join("src");
            if source.is_dir() {
                circles.extend(circles_in(&source));
            }
        }
    }
    assert!(circles.is_empty(), "{}", circles.join("\n"));
}

fn circles_in(source: &Path) -> Vec<String> {
    let paths = files(source);
    let files: BTreeMap<Module, Paths> = paths
        .iter()
        .map(|path| (module(source, path), Paths::read(path)))
        .collect();
    let uses: BTreeMap<&Module, BTreeSet<&Module>> = files
        .keys()
        .map(|module| (module, used(module, &files)))
        .collect();
    let reached = |from| {
        let mut reached = BTreeSet::new();
        let mut next = vec![from];
        while let Some(module) = next.pop() {
            next.extend(uses[module].iter().filter(|used| reached.insert(**used)));
        }
        reached
    };
    let reached: BTreeMap<&Module, _> = files.keys().map(|it| (it, reached(it))).collect();
    let mut circles = BTreeSet::new();
    for module in files.keys() {
        let circle: Vec<_> = reached[module]
            .iter()
            .filter(|other| reached[**other].contains(module))
            .map(|other| other.join("::"))
            .collect();
        if !circle.is_empty() {
            let name = source
                .parent()
                .and_then(Path::file_name)
                .unwrap_or_default();
            circles.insert(format!("{}: {}", name.display(), circle.join(", ")));
        }
    }
    circles.into_iter().collect()
}

/// The Rust files in a folder and below.
pub(super) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).expect("it is there") {
        let path = entry.expect("it can be listed").path();
        if path.is_dir() {
            files.extend(self::files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

fn module(source: &Path, file: &Path) -> Module {
    let below = file.strip_prefix(source).expect("it lies there");
    let names = below.with_extension("");
    let mut names: Module = names
        .iter()
        .map(|name| name.to_string_lossy().into_owned())
        .collect();
    if matches!(
        names.last().map(String::as_str),
        Some("mod" | "lib" | "main")
    ) {
        names.pop();
    }
    names
}

/// The modules that a module uses, except its parents.
fn used<'m>(module: &Module, files: &'m BTreeMap<Module, Paths>) -> BTreeSet<&'m Module> {
    let found = files[module].found.iter();
    found
        .filter_map(|path| home(module, path, files))
        .filter(|used| !module.starts_with(used))
        .collect()
}

/// The module that defines the target of `path` in `module`.
fn home<'m>(
    module: &Module,
    path: &[String],
    files: &'m BTreeMap<Module, Paths>,
) -> Option<&'m Module> {
    let path = absolute(module, path)?;
    let lengths = (0..=path.len()).rev();
    let mut prefixes = lengths.filter_map(|length| files.get_key_value(&path[..length]));
    let (found, file) = prefixes.next()?;
    let Some(name) = path.get(found.len()) else {
        return Some(found);
    };
    match file.reexported.get(name) {
        Some(from) if found != module => home(found, from, files),
        _ => Some(found),
    }
}

/// The path from the crate root; `None` if it leads to another crate.
fn absolute(module: &Module, path: &[String]) -> Option<Module> {
    let mut base = module.clone();
    let mut rest = path;
    match rest.first()?.as_str() {
        "crate" => {
            base.clear();
            rest = &rest[1..];
        }
        "self" => rest = &rest[1..],
        "super" => {
            while rest.first().is_some_and(|name| name == "super") {
                base.pop()?;
                rest = &rest[1..];
            }
        }
        // A child module, or another crate if no module has the name.
        _ => {}
    }
    base.extend_from_slice(rest);
    Some(base)
}

/// Every path of a file outside of tests.
#[derive(Default)]
struct Paths {
    found: Vec<Vec<String>>,
    /// Re-exported names, and the paths they come from.
    reexported: BTreeMap<String, Vec<String>>,
}

impl Paths {
    fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).expect("it can be read");
        let mut paths = Self::default();
        paths.visit_file(&syn::parse_file(&text).expect("it compiles"));
        paths
    }

    fn expand(&mut self, before: &[String], tree: &UseTree, is_private: bool) {
        let after = |name: &syn::Ident| [before, &[name.to_string()]].concat();
        let (name, path) = match tree {
            UseTree::Path(path) => {
                return self.expand(&after(&path.ident), &path.tree, is_private);
            }
            UseTree::Group(group) => {
                let trees = group.items.iter();
                return trees.for_each(|tree| self.expand(before, tree, is_private));
            }
            UseTree::Name(name) => (name.ident.to_string(), after(&name.ident)),
            UseTree::Rename(name) => (name.rename.to_string(), after(&name.ident)),
            UseTree::Glob(_) => ("*".into(), before.to_vec()),
        };
        if is_private {
            self.found.push(path);
        } else {
            self.reexported.insert(name, path);
        }
    }

    /// Finds the paths of two names or more: a single name is mostly a variable.
    fn look_in(&mut self, tokens: TokenStream) {
        let mut path = Vec::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(name) => {
                    if colons != 2 {
                        self.end(&mut path);
                    }
                    path.push(name.to_string());
                    colons = 0;
                }
                TokenTree::Punct(sign) if sign.as_char() == ':' && colons < 2 => colons += 1,
                TokenTree::Group(group) => {
                    self.end(&mut path);
                    self.look_in(group.stream());
                    colons = 0;
                }
                _ => {
                    self.end(&mut path);
                    colons = 0;
                }
            }
        }
        self.end(&mut path);
    }

    fn end(&mut self, path: &mut Vec<String>) {
        let path = std::mem::take(path);
        if path.len() > 1 {
            self.found.push(path);
        }
    }
}

impl<'ast> Visit<'ast> for Paths {
    fn visit_item(&mut self, item: &'ast Item) {
        let attributes: &[Attribute] = match item {
            Item::Mod(item) => &item.attrs,
            Item::Fn(item) => &item.attrs,
            Item::Use(item) => &item.attrs,
            _ => &[],
        };
        let is_test = |attribute: &Attribute| {
            let tokens = attribute
                .meta
                .require_list()
                .map(|list| list.tokens.to_string());
            attribute.path().is_ident("cfg") && tokens.is_ok_and(|tokens| tokens == "test")
        };
        if !attributes.iter().any(is_test) {
            visit::visit_item(self, item);
        }
    }

    /// Paths in an inline module are relative to one level further down.
    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        let mut inner = Self::default();
        visit::visit_item_mod(&mut inner, item);
        let outside = inner.found.into_iter().filter_map(|mut path| {
            match path.first()?.as_str() {
                "super" => drop(path.remove(0)),
                "crate" => {}
                _ => return None,
            }
            Some(path)
        });
        self.found.extend(outside.filter(|path| !path.is_empty()));
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        let is_private = matches!(item.vis, Visibility::Inherited);
        self.expand(&[], &item.tree, is_private);
    }

    /// The tokens of a macro are not parsed, so paths in them are looked for.
    fn visit_macro(&mut self, called: &'ast Macro) {
        visit::visit_macro(self, called);
        self.look_in(called.tokens.clone());
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names = path
            .segments
            .iter()
            .map(|segment| segment.ident.to_string());
        self.found.push(names.collect());
        visit::visit_path(self, path);
    }
}

#[test]
fn files_that_use_each_other_are_found() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let write = |name: &str, text: &str| {
        let file = folder.path().join(name);
        fs::create_dir_all(file.parent().expect("it has one")).expect("made");
        fs::write(file, text).expect("written");
    };
    write("lib.rs", "mod one; mod two; mod three;");
    write("one.rs", "use crate::two::{Two, Inner}; pub struct One;");
    write(
        "two/mod.rs",
        "mod inner; pub use inner::Inner; pub struct Two;",
    );
    write("two/inner.rs", "use super::Two; pub struct Inner(Two);");
    write(
        "three.rs",
        "#[cfg(test)] mod tests { use crate::one::One; }",
    );
    assert_eq!(circles_in(folder.path()), Vec::<String>::new());
    write(
        "two/inner.rs",
        "pub fn inner(one: super::super::one::One) { drop(one) }",
    );
    let is_found = || {
        let circles = circles_in(folder.path());
        assert_eq!(circles.len(), 1, "{circles:?}");
        assert!(circles[0].ends_with(": one, two::inner"), "{circles:?}");
    };
    is_found();
    write(
        "two/inner.rs",
        "pub fn inner() { let all = vec![(1, [crate::one::One::new()])]; }",
    );
    is_found();
}
