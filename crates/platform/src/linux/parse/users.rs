//! `/proc/self/uid_map`: the users that a user namespace knows.

/// True if the namespace knows every user, as the first one does
/// ([user_namespaces(7)](https://man7.org/linux/man-pages/man7/user_namespaces.7.html)).
pub(crate) fn maps_all_users(map: &str) -> bool {
    let counts = map.lines().map(|line| {
        let count = line.split_ascii_whitespace().nth(2)?;
        count.parse::<u64>().ok()
    });
    // The last number is no user.
    counts.sum::<Option<u64>>() >= Some(u64::from(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::maps_all_users;

    #[test]
    fn only_the_first_namespace_knows_all_users() {
        assert!(maps_all_users("         0          0 4294967295\n"));
        assert!(maps_all_users("0 0 1000\n1000 1000 4294966295\n"));
        for part in [
            "",
            "0 1000 1\n",
            "0 100000 65536\n",
            "0 0 x\n",
            "0 0\n",
            "0 0 -1\n",
        ] {
            assert!(!maps_all_users(part), "{part}");
        }
    }
}
