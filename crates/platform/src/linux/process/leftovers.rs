//! Processes that programs leave behind. They become children of this process.

use std::cell::RefCell;
use std::collections::HashSet;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, getpid, kill_process, set_child_subreaper, waitid,
};

use crate::linux::read;

/// Time that a process has to end itself after SIGTERM.
const PATIENCE: Duration = Duration::from_millis(500);
/// Time for all of them. The kernel may hold a process that was killed.
const MOST_PATIENCE: Duration = Duration::from_secs(5);
const GLANCE: Duration = Duration::from_millis(1);

#[derive(Debug)]
pub(super) struct Leftovers {
    /// A child of this process that is none of them.
    helper: Option<Pid>,
    kept: RefCell<HashSet<Pid>>,
}

impl Leftovers {
    pub(super) fn new(helper: Option<Pid>) -> Self {
        // Before Linux 3.4, they become children of init, and are not found.
        let _ = set_child_subreaper(Some(getpid()));
        Self {
            helper,
            kept: RefCell::default(),
        }
    }

    pub(super) fn keep(&self) {
        self.kept.borrow_mut().extend(self.running());
    }

    pub(super) fn end(&self) -> usize {
        let kept = self.kept.borrow();
        end(|| {
            let running = self.running();
            running.filter(|child| !kept.contains(child)).collect()
        })
    }

    pub(super) fn end_all(&self) -> usize {
        end(|| self.running().collect())
    }

    /// Those that have not exited. Waits for the others. None if the system does not list children.
    fn running(&self) -> impl Iterator<Item = Pid> {
        // The first thread adopts them.
        let own = getpid();
        let list = read::text(format!("/proc/self/task/{own}/children")).unwrap_or_default();
        let children: Vec<Pid> = list
            .split(' ')
            .filter_map(|id| Pid::from_raw(id.parse().ok()?))
            .collect();
        let helper = self.helper;
        let others = children.into_iter().filter(move |it| Some(*it) != helper);
        others.filter(|child| !has_exited(*child))
    }
}

/// True if the child has exited; it is no zombie after this.
fn has_exited(child: Pid) -> bool {
    let now = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
    match waitid(WaitId::Pid(child), now) {
        Ok(status) => status.is_some(),
        Err(errno) => errno != Errno::INTR,
    }
}

/// Ends the processes that `find` returns until there are none. Returns their number.
fn end(find: impl Fn() -> Vec<Pid>) -> usize {
    let mut asked = HashSet::new();
    let begin = Instant::now();
    loop {
        let left = find();
        if left.is_empty() || begin.elapsed() > MOST_PATIENCE {
            return asked.len();
        }
        for child in left {
            // It fails only if the child has exited, and the child is not waited for before.
            if asked.insert(child) {
                let _ = kill_process(child, Signal::TERM);
                // A stopped process notices a signal only then.
                let _ = kill_process(child, Signal::CONT);
            } else if begin.elapsed() > PATIENCE {
                let _ = kill_process(child, Signal::KILL);
            }
        }
        sleep(GLANCE);
    }
}
