//! Pages in a browser.

use anyhow::{Result, bail};
use std::io::Result as IoResult;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Programs that open a file as the user's desktop does, with their first arguments: the first that works.
const OPENERS: &[&[&str]] = if cfg!(windows) {
    &[&["rundll32", "url.dll,FileProtocolHandler"]]
} else {
    &[&["xdg-open"], &["wslview"]]
};

/// Opens `page` in a browser.
///
/// # Errors
/// If no program does that here; the error names the file.
pub fn open(page: &Path) -> Result<()> {
    let page = std::path::absolute(page)?;
    let mut failures = Vec::new();
    for &opener in OPENERS {
        match start(opener, &page).and_then(|mut child| early_end(&mut child)) {
            Ok(None) => return Ok(()),
            Ok(Some(end)) if end.success() => return Ok(()),
            Ok(Some(end)) => failures.push(format!("{}: {end}", opener[0])),
            Err(error) => failures.push(format!("{}: {error}", opener[0])),
        }
    }
    let failures = failures.join("; ");
    bail!(
        "no browser was opened ({failures}): the page is {}",
        page.display()
    )
}

fn start(opener: &[&str], page: &Path) -> IoResult<Child> {
    let mut command = Command::new(opener[0]);
    command.args(&opener[1..]).arg(page);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    // Ctrl-C ends the run, not the browser.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.spawn()
}

/// How the program ended, if it did so soon: some run until the browser is closed.
fn early_end(child: &mut Child) -> IoResult<Option<ExitStatus>> {
    const SOON: Duration = Duration::from_secs(2);
    const STEP: Duration = Duration::from_millis(20);
    let begun = Instant::now();
    while begun.elapsed() < SOON {
        if let Some(end) = child.try_wait()? {
            return Ok(Some(end));
        }
        thread::sleep(STEP);
    }
    Ok(None)
}
