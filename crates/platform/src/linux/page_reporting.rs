//! Free page reporting: the balloon device of a virtual machine tells the host which pages are free
//! (`Documentation/mm/free_page_reporting.rst`).

use std::fs;
use std::path::Path;

use super::machine::page_bytes;
use super::parse::has_feature;
use super::read::{number, text, word};

const BUSES: &str = "/sys/bus";
/// The number of a balloon among the virtio devices (virtio 1.3, section 5).
const BALLOON: &str = "0x0005";
/// The bit of `VIRTIO_BALLOON_F_REPORTING`.
const REPORTING: usize = 5;
const ORDER: &str = "/sys/module/page_reporting/parameters/page_reporting_order";

/// True if this virtual machine reports its free pages to its host, which may take them back
/// ([free page reporting](https://docs.kernel.org/mm/free_page_reporting.html)).
// A balloon device does so.
pub fn reports_free_pages() -> Option<bool> {
    reported_by(Path::new(BUSES))
}

fn reported_by(buses: &Path) -> Option<bool> {
    if !buses.exists() {
        return None;
    }
    let devices = fs::read_dir(buses.join("virtio/devices"));
    let devices = devices.into_iter().flatten().flatten();
    let is_balloon = |path: &Path| word(path.join("device")).is_some_and(|it| it == BALLOON);
    let balloons = devices.map(|entry| entry.path());
    let mut balloons = balloons.filter(|path| is_balloon(path));
    balloons.try_fold(false, |reports, balloon| {
        let features = text(balloon.join("features"))?;
        Some(has_feature(&features, REPORTING)? || reports)
    })
}

/// Size of the smallest free block that the kernel reports, in bytes.
pub(super) fn reported_block_bytes() -> Option<u64> {
    block_bytes(number(ORDER)?)
}

/// An order that was never set is the largest number, which is no size.
fn block_bytes(order: u32) -> Option<u64> {
    let pages = 1_u64.checked_shl(order)?;
    pages.checked_mul(page_bytes() as u64)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_balloon_with_the_feature_reports() {
        let buses = tempfile::tempdir().unwrap();
        let device = |number: u32, kind: &str, features: &str| {
            let device = buses.path().join(format!("virtio/devices/virtio{number}"));
            fs::create_dir_all(&device).unwrap();
            fs::write(device.join("device"), format!("{kind}\n")).unwrap();
            fs::write(device.join("features"), format!("{features}\n")).unwrap();
        };
        assert_eq!(reported_by(buses.path()), Some(false));
        device(0, "0x0002", "11111111");
        device(1, "0x0005", "01000001");
        assert_eq!(reported_by(buses.path()), Some(false));
        device(2, "0x0005", "01100101");
        assert_eq!(reported_by(buses.path()), Some(true));
        device(3, "0x0005", "");
        assert_eq!(reported_by(buses.path()), None);
        assert_eq!(reported_by(&buses.path().join("hidden")), None);
    }

    #[test]
    fn an_order_is_a_size_unless_it_was_never_set() {
        assert_eq!(block_bytes(9), Some((page_bytes() as u64) << 9));
        assert_eq!(block_bytes(u32::MAX), None);
        assert_eq!(block_bytes(63), None);
    }
}
