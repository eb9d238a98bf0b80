//! A machine on one screen.

use crate::common::{Place, printed};

#[test]
fn a_glance_shows_one_screen_writes_its_picture_and_is_a_run() {
    let place = Place::new();
    let glance = "glance --dir $scratch --svg $here.svg";
    let shown = printed(&mut place.line(glance), "0,1 | > machine");
    // A busy machine measures little in the time, and says so.
    let is_whole = shown.contains("system call") && shown.contains("one core reads");
    let says_why = shown.contains("the time was too short for");
    assert!(is_whole || says_why, "{shown}");
    assert!(place.read("here.svg").starts_with("<svg"));
    let points = place.samples();
    check!(place => "{glance} | 1,2 | > | 2> here.svg is there already");
    assert_eq!(place.samples(), points);
    check!(place => "
        show latest process.calls | 0 | > getpid
        run --resume latest | 2 | > | 2> it was not measured by `oscope run`
        glance --compare-with nothing | 2 | > | 2> nothing
        glance --svg $here.png --dir $scratch | 2 | > | 2> .svg");
}
