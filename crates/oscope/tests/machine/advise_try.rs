//! `oscope advise --try` as a user sees it.

use crate::alone;
use crate::common::{Place, ends, is_root};
use std::fs;

const HUGE_PAGES: &str = "/sys/kernel/mm/transparent_hugepage/enabled";

#[test]
fn a_setting_of_the_kernel_is_tried_and_put_back() {
    let _alone = alone();
    let Ok(before) = fs::read_to_string(HUGE_PAGES) else {
        return println!("skipped: this kernel has no transparent huge pages");
    };
    let place = Place::new();
    let mut tried = place.line("advise --try transparent_huge_pages --budget 2s --dir $scratch");
    if is_root() && fs::OpenOptions::new().write(true).open(HUGE_PAGES).is_ok() {
        let expected = "0 | > memory.page_fault | > if it gains, to set: echo  | > to undo: echo ";
        ends(&mut tried, expected);
    } else {
        println!("skipped: a part, since this setting cannot be changed here");
        ends(&mut tried, "1,2");
    }
    assert_eq!(fs::read_to_string(HUGE_PAGES).expect("it is there"), before);
}
