//! A machine on one screen.

use crate::common::Place;

#[test]
fn a_glance_shows_one_screen_writes_its_picture_and_is_a_run() {
    let place = Place::new();
    let glance = "glance --dir $scratch --svg $here.svg";
    check!(place => "{glance} | 0,1 | > Latency ladder | > system call | > Memory staircase | > one core reads");
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
