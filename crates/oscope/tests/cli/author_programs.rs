//! The programs of the reports, called as their authors called them.

use crate::common::Place;

#[test]
fn programs_of_the_reports_take_their_authors_arguments_and_print_their_lines() {
    let place = Place::new();
    let program = "reproduce program";
    check!(place => "
        {program} A run $new -w 4096 20 | 0 | > File of size : 81920 bytes created | 2> oscope file write
        {program} A run $new -w 4096 10 | 1 | 2> --force | >
        {program} A run $new -w 4096 20 --quiet | 2
        {program} --force A run $new -w 4096 20 | 0 | > 81920 bytes
        {program} B run $new -r 4096 20 | 0 | > Runtime: 0.
        {program} C master $new | 2 | 2> report C names no program that takes arguments
        {program} A run $new -x 4096 20 | 2 | 2> run FILE -r BLOCK_SIZE COUNT
        {program} A rm $new | 2 | 2> fast FILE
        {program} A run $missing -r 4096 20 | 1 | 2> missing
    ");
    place.prints(&format!(
        "{program} --overwrite --quiet A run $new -w 4096 20"
    ));
    let sum = place.json("file read $new --json")["xor"].clone();
    let xor = sum.as_str().expect("a sum");
    assert_eq!(
        place.json(&format!("{program} --json A run $new -r 4096 20"))["xor"],
        sum
    );
    let read = place.prints(&format!("{program} A run $new -r 4096 20"));
    assert_eq!(read, format!("xor: {xor}\n"));
    let fast = place.prints(&format!("{program} A fast $new"));
    assert_eq!(fast.matches(&format!("xor : {xor}")).count(), 2, "{fast}");
    assert!(fast.contains("Number of threads : 3\n"), "{fast}");
    let decimal = u32::from_str_radix(xor, 16).expect("a sum");
    let fast = place.prints(&format!("{program} B fast $new"));
    assert!(
        fast.contains(&format!("XOR of the File Decimal: {decimal}\n")),
        "{fast}"
    );
    let mapped = place.prints(&format!("{program} B fast_mmap $new"));
    assert!(
        mapped.contains(&format!("XOR of the File Hex: {xor}\n")),
        "{mapped}"
    );
}
