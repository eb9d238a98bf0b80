//! Availability of transparent huge pages for a mapping
//! (`Documentation/admin-guide/mm/transhuge.rst`).

use std::path::Path;

use super::parse::selected;
use super::read::{number, text};
use crate::error::{Error, Result};

const SETTINGS: &str = "/sys/kernel/mm/transparent_hugepage";

/// The size of a transparent huge page, in bytes.
pub(super) fn huge_page_bytes() -> Option<u64> {
    size(Path::new(SETTINGS))
}

fn size(settings: &Path) -> Option<u64> {
    number(settings.join("hpage_pmd_size"))
}

/// `madvise` succeeds even if huge pages are switched off, so this check comes first.
pub(super) fn ensure_allowed() -> Result<()> {
    // A kernel that cannot report it cannot set it either.
    let disabled = rustix::thread::transparent_huge_pages_are_disabled().unwrap_or(false);
    match refusal(Path::new(SETTINGS), disabled) {
        None => Ok(()),
        Some(reason) => Err(Error::NoHugePages { reason }),
    }
}

/// The reason for a lack of huge pages. Since Linux 6.8 each size has its own setting; by default
/// it inherits the setting for all sizes.
fn refusal(settings: &Path, disabled_for_process: bool) -> Option<String> {
    let of_all = settings.join("enabled");
    let of_size =
        size(settings).map(|bytes| settings.join(format!("hugepages-{}kB/enabled", bytes >> 10)));
    let decisive = [of_size, Some(of_all)]
        .into_iter()
        .flatten()
        .find_map(|setting| {
            let choice = selected(&text(&setting)?)?.to_owned();
            (choice != "inherit").then_some((setting, choice))
        });
    match decisive {
        None => Some("this kernel has no transparent huge pages".to_owned()),
        Some((setting, choice)) if choice == "never" => Some(format!(
            "{} says never; as root, write madvise to it",
            setting.display()
        )),
        Some(_) if disabled_for_process => {
            Some("they are disabled for this process (PR_SET_THP_DISABLE)".to_owned())
        }
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_setting_of_the_size_goes_before_that_of_all_sizes() {
        let dir = tempfile::tempdir().unwrap();
        let settings = dir.path();
        let write = |name, text| fs::write(settings.join(name), text).unwrap();
        let refused_by = |name: &str| {
            let setting = settings.join(name).display().to_string();
            refusal(settings, false).is_some_and(|reason| reason.starts_with(&setting))
        };
        assert!(refusal(settings, false).unwrap().contains("this kernel"));

        write("enabled", "always [madvise] never\n");
        write("hpage_pmd_size", "2097152\n");
        assert_eq!(refusal(settings, false), None);
        assert!(refusal(settings, true).unwrap().contains("this process"));

        write("enabled", "always madvise [never]\n");
        assert!(refused_by("enabled"));
        fs::create_dir(settings.join("hugepages-2048kB")).unwrap();
        write(
            "hugepages-2048kB/enabled",
            "always [inherit] madvise never\n",
        );
        assert!(refused_by("enabled"));
        write(
            "hugepages-2048kB/enabled",
            "always inherit [madvise] never\n",
        );
        assert_eq!(refusal(settings, false), None);

        write("enabled", "[always] madvise never\n");
        write(
            "hugepages-2048kB/enabled",
            "always inherit madvise [never]\n",
        );
        assert!(refused_by("hugepages-2048kB/enabled"));
    }
}
