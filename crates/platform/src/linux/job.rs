use super::pmix::{
    ALL_RANKS, Content, DONE_AT_ONCE, GLOBAL, HOST_NAME, JOB_SIZE, LOCAL_RANK, Library, NOT_FOUND,
    Process, SUCCESS, TIMEOUT, Value,
};
use crate::job::{JobError, Published, Result};
use libc::{c_char, c_int, c_void};
use std::ffi::CStr;
use std::ptr;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// Time for answers that the launcher has from the start.
const KNOWN: Duration = Duration::from_secs(10);

/// The name of this node, as its system reports it.
pub fn host_name() -> Option<String> {
    let name = rustix::system::uname();
    let name = name.nodename().to_string_lossy().into_owned();
    Some(name).filter(|name| !name.is_empty())
}

/// This process as a member of a job, until it is dropped.
#[derive(Debug)]
pub struct Job {
    library: Library,
    own: Process,
    size: u32,
}

impl Job {
    /// Joins the job for which a launcher started this process.
    pub fn join() -> Result<Self> {
        // Without a launcher, some versions make a job of one process.
        if std::env::var_os("PMIX_NAMESPACE").is_none() {
            return Err(JobError::NoLauncher);
        }
        let library = Library::load()?;
        let mut own = Process {
            namespace: [0; 256],
            rank: 0,
        };
        // SAFETY: it fills `own`, which has its type, and reads none of no attributes.
        let status = unsafe { (library.init)(&raw mut own, ptr::null(), 0) };
        library.check("reach the launcher", status)?;
        let mut job = Self {
            library,
            own,
            size: 0,
        };
        job.size = match job.known(ALL_RANKS, JOB_SIZE)? {
            Content::Number(size) => size,
            _ => return Err(unusable("number of processes")),
        };
        Ok(job)
    }

    /// The number of this process, from 0.
    pub fn rank(&self) -> u32 {
        self.own.rank
    }

    /// Number of processes in the job.
    pub fn size(&self) -> u32 {
        self.size
    }

    /// The number of this process among those on its node, from 0.
    pub fn rank_on_node(&self) -> Result<u16> {
        match self.known(self.own.rank, LOCAL_RANK)? {
            Content::Number(rank) => rank.try_into().ok(),
            _ => None,
        }
        .ok_or_else(|| unusable("rank on this node"))
    }

    /// The launcher's name for the node of process `rank`.
    pub fn host_of(&self, rank: u32) -> Result<String> {
        match self.known(rank, HOST_NAME)? {
            Content::Text(name) => Ok(name),
            _ => Err(unusable("host name")),
        }
    }

    /// Waits until the processes `ranks` are here, this one among them, at most for `limit`. All of them
    /// must name the same processes. One that gave up still counts as here: after that, the calls of
    /// these processes no longer match.
    ///
    /// # Errors
    /// If they are not here in time, or the launcher refuses.
    pub fn fence(&self, ranks: &[u32], limit: Duration) -> Result<()> {
        let (sender, receiver) = channel();
        let processes = ranks.iter().map(|rank| Process {
            rank: *rank,
            ..self.own
        });
        let waiting = Box::into_raw(Box::new(Waiting {
            processes: processes.collect(),
            sender,
        }));
        // SAFETY: `waiting` is valid until `finished` takes it, and its processes with it.
        let status = unsafe {
            let processes: &[Process] = &(*waiting).processes;
            let (first, count) = (processes.as_ptr(), processes.len());
            (self.library.fence)(first, count, ptr::null(), 0, finished, waiting.cast())
        };
        if status != SUCCESS {
            // SAFETY: nobody else has the box: there will be no callback.
            drop(unsafe { Box::from_raw(waiting) });
        }
        match status {
            SUCCESS => {
                let status = receiver.recv_timeout(limit).map_err(late(limit))?;
                self.library.check("wait for other processes", status)
            }
            DONE_AT_ONCE => Ok(()),
            refused => self.library.check("wait for other processes", refused),
        }
    }

    /// Publishes `bytes` as `name` to the other processes for as long as this one is in the job. Each
    /// name is published once.
    pub fn publish(&self, name: &'static CStr, bytes: &[u8]) -> Result<()> {
        let mut value = Value::bytes(bytes);
        // SAFETY: the library copies the value and its bytes, which live until it returns.
        let status = unsafe { (self.library.put)(GLOBAL, name.as_ptr(), &raw mut value) };
        self.library.check("publish a value", status)?;
        // SAFETY: the library is initialised.
        let status = unsafe { (self.library.commit)() };
        self.library.check("publish a value", status)
    }

    /// Sends what process `rank` publishes as `name` to `receiver`. Of a process that has published
    /// nothing, that is as soon as it does. Of another one it is what is there now, or
    /// [`JobError::NotYet`]: ask again. There may never be an answer, since launchers do not report that
    /// a process died, and some honour no time limit.
    pub fn request(
        &self,
        name: &'static CStr,
        rank: u32,
        receiver: Sender<Published>,
    ) -> Result<()> {
        let library = self.library;
        self.ask(rank, name, move |answer| {
            let bytes = match answer {
                Ok(Content::Bytes(bytes)) => Ok(bytes),
                Ok(_) => Err(unusable("bytes")),
                // For a process of the same node, the launcher waits a little by itself.
                Err(NOT_FOUND | TIMEOUT) => Err(JobError::NotYet),
                Err(status) => Err(refused(library, "get a value", status)),
            };
            // The receiver may have given up by now.
            let _ = receiver.send((rank, bytes));
        })
    }

    /// A fact about process `rank` that the launcher knows from the start.
    fn known(&self, rank: u32, key: &'static CStr) -> Result<Content> {
        let (sender, receiver) = channel();
        self.ask(rank, key, move |answer| {
            // The receiver may have given up by now.
            let _ = sender.send(answer);
        })?;
        let answer = receiver.recv_timeout(KNOWN).map_err(late(KNOWN))?;
        answer.map_err(|status| refused(self.library, "describe the job", status))
    }

    /// Calls `then` with the answer, or with the status of a failure, in the library's thread.
    fn ask(
        &self,
        rank: u32,
        key: &'static CStr,
        then: impl FnOnce(std::result::Result<Content, c_int>) + Send + 'static,
    ) -> Result<()> {
        let question = Box::into_raw(Box::new(Question {
            process: Process { rank, ..self.own },
            then: Box::new(then),
        }));
        // SAFETY: `question` is valid until `answered` takes it, and its process with it; the key is
        // static.
        let status = unsafe {
            let process = &raw const (*question).process;
            let key: *const c_char = key.as_ptr();
            (self.library.get)(process, key, ptr::null(), 0, answered, question.cast())
        };
        if status != SUCCESS {
            // SAFETY: nobody else has the box: there will be no callback.
            drop(unsafe { Box::from_raw(question) });
        }
        self.library.check("ask for a value", status)
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        // A refusal changes nothing for a process that leaves.
        // SAFETY: the library is initialised, and this is the last call. Questions without an answer keep
        // their boxes.
        let _ = unsafe { (self.library.finalize)(ptr::null(), 0) };
    }
}

/// A fence under way.
struct Waiting {
    processes: Vec<Process>,
    sender: Sender<c_int>,
}

/// A question under way.
struct Question {
    process: Process,
    then: Box<dyn FnOnce(std::result::Result<Content, c_int>) + Send>,
}

/// Called once by the library with what [`Job::ask`] gave it.
unsafe extern "C" fn answered(status: c_int, value: *mut Value, question: *mut c_void) {
    // SAFETY: the box that `ask` gave away for this call.
    let question = unsafe { Box::from_raw(question.cast::<Question>()) };
    let content = match status {
        // SAFETY: null, or the library's value, which lives until this function returns.
        SUCCESS => unsafe { value.as_ref().map_or(Content::Other, |it| it.content()) },
        status => return (question.then)(Err(status)),
    };
    (question.then)(Ok(content));
}

/// Called once by the library with what [`Job::fence`] gave it.
unsafe extern "C" fn finished(status: c_int, waiting: *mut c_void) {
    // SAFETY: the box that `fence` gave away for this call.
    let waiting = unsafe { Box::from_raw(waiting.cast::<Waiting>()) };
    // The receiver may have given up by now.
    let _ = waiting.sender.send(status);
}

fn refused(library: Library, action: &'static str, status: c_int) -> JobError {
    let refusal = library.check(action, status);
    refusal.expect_err("a callback without an answer has the status of a failure")
}

fn unusable(what: &str) -> JobError {
    JobError::Failed(format!("PMIx gave no usable {what}"))
}

fn late(limit: Duration) -> impl FnOnce(RecvTimeoutError) -> JobError {
    move |_| JobError::Failed(format!("no answer within {limit:?}"))
}

#[cfg(test)]
mod tests {
    use super::{Job, JobError, host_name};

    #[test]
    fn a_process_without_a_launcher_is_in_no_job() {
        if std::env::var_os("PMIX_NAMESPACE").is_some() {
            println!("skipped: a launcher started this test");
            return;
        }
        assert!(matches!(Job::join(), Err(JobError::NoLauncher)));
    }

    #[test]
    fn a_host_has_the_name_that_the_kernel_shows() {
        let shown = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
        assert_eq!(host_name().unwrap_or_default(), shown.trim_end());
    }
}
