//! A test program that starts itself in a role and checks what becomes of that process.

use oscope_platform::scratch::Removal;
use std::io::Write;
use std::time::Duration;

/// Timeout after which a step counts as stuck.
pub const PATIENCE: Duration = Duration::from_mins(5);

pub const REMOVAL: Removal = Removal {
    exit_wait: PATIENCE,
    unchanged_for: Duration::from_hours(24),
    is_own_name: |_| false,
};

pub type Check = (&'static str, fn());

/// Plays the role that the command line names, or checks everything.
pub fn main(checks: &[Check], play: fn(&[String])) {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some("role") => play(&arguments[1..]),
        // The query of test runners for the list of tests.
        Some("--list") => checks.iter().for_each(|(name, _)| println!("{name}: test")),
        _ => {
            for (name, check) in checks {
                check();
                println!("{name}: ok");
            }
        }
    }
}

/// Tells the parent a line.
pub fn say(line: &str) {
    println!("{line}");
    std::io::stdout().flush().expect("the parent reads");
}
