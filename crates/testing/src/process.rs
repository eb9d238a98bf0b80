use std::io::{self, Read};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Output};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

/// A program that a test has started. As [`Child`], but it is killed when dropped, and after
/// [`LONGEST_WAIT`](crate::LONGEST_WAIT): then each wait for it ends, as does each read from its pipes.
#[derive(Debug)]
pub struct Process {
    child: Arc<Mutex<Child>>,
    id: u32,
    started: Instant,
    /// Longest time that it may run.
    limit: Duration,
    /// The command, for messages.
    command: String,
    /// Its input, if piped.
    pub stdin: Option<ChildStdin>,
    /// Its output, if piped.
    pub stdout: Option<ChildStdout>,
    /// Its messages, if piped.
    pub stderr: Option<ChildStderr>,
    /// Ends the thread that would kill it.
    _watched: Sender<()>,
}

impl Process {
    pub(crate) fn start(command: &mut Command, limit: Duration) -> io::Result<Self> {
        let mut child = command.spawn()?;
        let (watched, end) = mpsc::channel();
        let (stdin, stdout, stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let id = child.id();
        let child = Arc::new(Mutex::new(child));
        let shared = Arc::clone(&child);
        thread::spawn(move || {
            if end.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                let _ = lock(&shared).kill();
            }
        });
        Ok(Self {
            child,
            id,
            started: Instant::now(),
            limit,
            command: format!("{command:?}"),
            stdin,
            stdout,
            stderr,
            _watched: watched,
        })
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// As [`Child::kill`].
    pub fn kill(&mut self) -> io::Result<()> {
        lock(&self.child).kill()
    }

    /// As [`Child::try_wait`].
    pub fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        lock(&self.child).try_wait()
    }

    /// As [`Child::wait`].
    ///
    /// # Errors
    /// If its parent is another process.
    ///
    /// # Panics
    /// With the command, if it does not end.
    pub fn wait(&mut self) -> io::Result<ExitStatus> {
        self.stdin = None;
        let mut pause = Duration::from_millis(1);
        loop {
            let status = self.try_wait()?;
            let is_late = self.started.elapsed() >= self.limit;
            assert!(!is_late, "{} did not end", self.command);
            if let Some(status) = status {
                return Ok(status);
            }
            sleep(pause);
            pause = (2 * pause).min(Duration::from_millis(20));
        }
    }

    /// As [`Child::wait_with_output`].
    ///
    /// # Errors
    /// If its parent is another process.
    ///
    /// # Panics
    /// With the command, if it does not end, or leaves a process behind that holds its output.
    pub fn wait_with_output(mut self) -> io::Result<Output> {
        let stdout = self.stdout.take().map(all_of);
        let stderr = self.stderr.take().map(all_of);
        let status = self.wait()?;
        let read = |stream: Option<Receiver<Vec<u8>>>| {
            let limit = self.limit.saturating_sub(self.started.elapsed());
            stream.map_or_else(Vec::new, |stream| {
                stream.recv_timeout(limit).unwrap_or_else(|_| {
                    panic!("{} left a process that holds its output", self.command)
                })
            })
        };
        Ok(Output {
            status,
            stdout: read(stdout),
            stderr: read(stderr),
        })
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let mut child = lock(&self.child);
        let _ = child.kill();
        let _ = child.wait();
    }
}

fn lock(child: &Mutex<Child>) -> MutexGuard<'_, Child> {
    child.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads a stream to its end in a separate thread.
fn all_of(mut stream: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // An error ends it as the end does.
        let _ = stream.read_to_end(&mut bytes);
        let _ = sender.send(bytes);
    });
    receiver
}

#[cfg(all(test, unix))]
mod tests {
    use std::io::Read;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::process::{Command, Stdio};
    use std::time::Duration;

    use super::Process;

    #[test]
    fn a_program_that_does_not_end_is_killed_and_named() {
        let start = || {
            let mut command = Command::new("sleep");
            command.arg("1000").stdout(Stdio::piped());
            Process::start(&mut command, Duration::from_millis(100)).expect("sleep(1)")
        };
        let mut read = start();
        let mut pipe = read.stdout.take().expect("it is piped");
        assert_eq!(pipe.read_to_end(&mut Vec::new()).expect("a pipe"), 0);
        let mut waited = start();
        let panic = catch_unwind(AssertUnwindSafe(|| waited.wait())).expect_err("it is late");
        let words = panic.downcast_ref::<String>().expect("a message");
        assert!(words.contains("\"sleep\" \"1000\" did not end"), "{words}");
    }

    #[test]
    fn output_that_a_process_left_behind_holds_is_named() {
        let mut command = Command::new("sh");
        let script = "sleep 1000 & echo $! >&2";
        command
            .args(["-c", script])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut shell = Process::start(&mut command, Duration::from_secs(5)).expect("a shell");
        let mut left = [0; 20];
        let mut messages = shell.stderr.take().expect("it is piped");
        let count = messages.read(&mut left).expect("a pipe");
        let panic = catch_unwind(AssertUnwindSafe(|| shell.wait_with_output()));
        let left = String::from_utf8_lossy(&left[..count]);
        let killed = Command::new("kill").arg(left.trim()).status();
        assert!(killed.expect("kill(1)").success());
        let panic = panic.expect_err("its output stays open");
        let words = panic.downcast_ref::<String>().expect("a message");
        assert!(
            words.contains("left a process that holds its output"),
            "{words}"
        );
    }
}
