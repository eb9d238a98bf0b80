//! Runs the examples of the README.

#[test]
fn the_examples_of_the_readme_are_right() {
    trycmd::TestCases::new()
        .env("NO_COLOR", "1")
        .env("LC_ALL", "C.UTF-8")
        .case("../../README.md");
}
