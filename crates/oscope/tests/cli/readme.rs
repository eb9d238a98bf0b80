//! Runs the examples of the README.

#[test]
fn the_readme_tells_the_truth() {
    trycmd::TestCases::new()
        .env("NO_COLOR", "1")
        .env("LC_ALL", "C.UTF-8")
        .case("../../README.md");
}
