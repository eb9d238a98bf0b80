//! Tags of a run that say where in a fleet it was measured.

use record::Run;

/// The tag for the name of the host.
pub const HOST: &str = "host";
/// The tag for the part of the host that was measured: `cpu 7`, `socket 1`.
pub const PART: &str = "part";
/// The tag for the switches above the host, the outermost first: `s0.s5`.
pub const SWITCH: &str = "switch";

/// The name of the node that a run tells: its host, with the part of it.
pub fn name(run: &Run) -> Option<String> {
    let host = tag(run, HOST)?;
    Some(match tag(run, PART) {
        Some(part) => format!("{host} {part}"),
        None => host,
    })
}

/// A tag that is not empty.
pub(super) fn tag(run: &Run, key: &str) -> Option<String> {
    let value = run.header.tags.get(key);
    value.filter(|value| !value.is_empty()).cloned()
}
