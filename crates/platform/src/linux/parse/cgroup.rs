/// One line of `/proc/self/cgroup`
/// ([cgroups(7)](https://man7.org/linux/man-pages/man7/cgroups.7.html)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::linux) struct Membership {
    /// The controllers of a version 1 hierarchy; none for version 2.
    pub(in crate::linux) controllers: Vec<String>,
    /// The group within the hierarchy, beginning with a slash.
    pub(in crate::linux) group: String,
}

/// The groups of a process, one in each hierarchy.
pub(in crate::linux) fn memberships(text: &str) -> Vec<Membership> {
    text.lines()
        .filter_map(|line| {
            let mut parts = line.splitn(3, ':');
            let _hierarchy = parts.next()?;
            let controllers = parts.next()?;
            let group = parts.next()?;
            group.starts_with('/').then(|| Membership {
                controllers: controllers
                    .split(',')
                    .filter(|controller| !controller.is_empty())
                    .map(str::to_owned)
                    .collect(),
                group: group.to_owned(),
            })
        })
        .collect()
}

/// The number of CPUs of a quota of `quota` per `period`; `None` means unlimited, written as `max`
/// (version 2) or −1 (version 1).
pub(in crate::linux) fn cpu_quota(quota: &str, period: &str) -> Option<f64> {
    let quota: u64 = quota.trim().parse().ok()?;
    let period: u64 = period.trim().parse().ok().filter(|period| *period > 0)?;
    Some(quota as f64 / period as f64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn reads_both_versions() {
        let text =
            "4:memory:/user/a:b\n2:cpu,cpuacct:/\n1:name=systemd:/\n0::/user.slice\nbroken\n";
        let memberships = memberships(text);
        assert_eq!(memberships.len(), 4);
        assert_eq!(memberships[0].group, "/user/a:b");
        assert_eq!(memberships[1].controllers, ["cpu", "cpuacct"]);
        assert!(memberships[3].controllers.is_empty());
        assert_eq!(memberships[3].group, "/user.slice");
    }

    #[test]
    fn a_quota_is_a_number_of_cpus_or_unlimited() {
        assert_eq!(cpu_quota("150000", "100000\n"), Some(1.5));
        assert_eq!(cpu_quota("max", "100000"), None);
        assert_eq!(cpu_quota("-1\n", "100000"), None);
        assert_eq!(cpu_quota("1", "0"), None);
    }

    proptest! {
        #[test]
        fn never_panics(text in "([0-9]{0,2}:[a-z,]{0,5}:/?[a-z:]{0,5}\\n){0,4}|.{0,40}") {
            let _ = memberships(&text);
            let _ = cpu_quota(&text, &text);
        }
    }
}
