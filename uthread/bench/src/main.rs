//! Measures one peer and prints `metric nanoseconds` lines, or makes a table of such lines.
//!
//! ```text
//! uthread-peers measure PEER [METRIC]     one line for each metric
//! uthread-peers table < LINES             lines of `peer metric value`, gathered from many processes
//! ```

mod measure;
mod peers;
mod table;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["table"] => table::print(std::io::stdin().lines()),
        ["measure", peer] | ["measure", peer, _] if peers::measure(peer) => {}
        _ => {
            eprintln!("usage: uthread-peers measure PEER [METRIC] | table");
            eprintln!("peers: {}", peers::NAMES.join(" "));
            std::process::exit(2);
        }
    }
}
