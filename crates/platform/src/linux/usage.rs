use std::fs::{self, DirEntry};
use std::mem::MaybeUninit;

use super::check;
use super::parse::{colon_field, text};
use crate::error::{Error, Result};
use crate::load::{CpuTime, Interruptions};
use crate::programs::Program;
use crate::usage::{Consumption, Usage};

/// Bytes that this process has caused to be read from storage so far: `read_bytes` of
/// [proc_pid_io(5)](https://man7.org/linux/man-pages/man5/proc_pid_io.5.html), which counts reads
/// of a block device and not hits in the page cache. Windows counts what all processes read. `None` if the
/// system does not count it.
pub fn storage_read_bytes() -> Option<u64> {
    colon_field(&text("/proc/self/io")?, "read_bytes")?
        .parse()
        .ok()
}

impl Usage {
    /// Usage of all threads of this process.
    pub fn of_process() -> Result<Usage> {
        getrusage(libc::RUSAGE_SELF)
    }

    /// Usage of the calling thread.
    pub fn of_thread() -> Result<Usage> {
        getrusage(libc::RUSAGE_THREAD)
    }
}

impl Consumption {
    /// Usage of this process.
    pub fn read() -> Result<Consumption> {
        let own = rusage(libc::RUSAGE_SELF)?;
        let children = rusage(libc::RUSAGE_CHILDREN)?;
        let cpu_ns = |usage: &libc::rusage| {
            let usage = from_rusage(usage);
            usage.user_ns + usage.system_ns
        };
        Ok(Consumption {
            cpu_ns: cpu_ns(&own) + cpu_ns(&children),
            read_bytes: moved_bytes(&own)[0] + moved_bytes(&children)[0],
            written_bytes: moved_bytes(&own)[1] + moved_bytes(&children)[1],
            own_peak_bytes: peak_bytes(&own),
            child_peak_bytes: peak_bytes(&children),
        })
    }
}

fn getrusage(who: libc::c_int) -> Result<Usage> {
    rusage(who).map(|usage| from_rusage(&usage))
}

pub(crate) fn rusage(who: libc::c_int) -> Result<libc::rusage> {
    let mut usage = MaybeUninit::<libc::rusage>::uninit();
    // SAFETY: `usage` has room for the result.
    check(unsafe { libc::getrusage(who, usage.as_mut_ptr()) })
        .map_err(Error::os("ask for the resource usage"))?;
    // SAFETY: the call succeeded, so all of it was written.
    Ok(unsafe { usage.assume_init() })
}

/// Peak resident memory of the largest process among those that `usage` counts.
pub(crate) fn peak_bytes(usage: &libc::rusage) -> u64 {
    usage.ru_maxrss as u64 * 1024
}

/// Bytes read from storage, and written.
pub(crate) fn moved_bytes(usage: &libc::rusage) -> [u64; 2] {
    /// The unit of the counts, whatever the device.
    const BLOCK_BYTES: u64 = 512;
    [usage.ru_inblock, usage.ru_oublock].map(|blocks| blocks as u64 * BLOCK_BYTES)
}

pub(crate) fn from_rusage(usage: &libc::rusage) -> Usage {
    let ns = |time: libc::timeval| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1_000;
    Usage {
        user_ns: ns(usage.ru_utime),
        system_ns: ns(usage.ru_stime),
        minor_faults: usage.ru_minflt as u64,
        major_faults: usage.ru_majflt as u64,
        voluntary_switches: usage.ru_nvcsw as u64,
        involuntary_switches: usage.ru_nivcsw as u64,
    }
}

impl CpuTime {
    /// Reads the current counts.
    pub fn read() -> Option<CpuTime> {
        cpu_time(
            &text("/proc/stat")?,
            rustix::param::clock_ticks_per_second(),
        )
    }
}

/// Runnable processes, averaged over 1, 5 and 15 minutes.
pub fn load_average() -> Option<[f64; 3]> {
    let text = text("/proc/loadavg")?;
    let mut averages = text.split(' ').map_while(|average| average.parse().ok());
    Some([averages.next()?, averages.next()?, averages.next()?])
}

/// The interruptions of `cpu` so far, from
/// [/proc/interrupts](https://man7.org/linux/man-pages/man5/proc_interrupts.5.html), `/proc/softirqs` and `/proc/stat`.
/// `None` if the system does not count them, or the CPU is offline.
pub fn interruptions(cpu: usize) -> Option<Interruptions> {
    let ticks_per_second = rustix::param::clock_ticks_per_second();
    let [interrupts, timer] = counts_of_cpu(&text("/proc/interrupts")?, cpu)?;
    let [softirqs, _] = counts_of_cpu(&text("/proc/softirqs")?, cpu)?;
    Some(Interruptions {
        interrupts,
        timer,
        softirqs,
        stolen_ns: stolen_ns(&text("/proc/stat")?, cpu, ticks_per_second)?,
    })
}

/// All running processes visible to this one; empty if the system does not report them.
pub fn running() -> Vec<Program> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let ticks_per_second = rustix::param::clock_ticks_per_second();
    let is_process = |entry: &DirEntry| entry.file_name().to_string_lossy().parse::<u32>().is_ok();
    entries
        .flatten()
        .filter(is_process)
        .filter_map(|entry| program(&text(entry.path().join("stat"))?, ticks_per_second))
        .collect()
}

/// The lines of `/proc/stat` that begin with `cpu`, in ticks of 1 s / `ticks_per_second`. `None`
/// without a line for all CPUs together.
///
/// Guest time is omitted: the kernel includes it in user and nice. Kernels before 2.6.11 have fewer
/// columns; missing columns count as 0.
pub(super) fn cpu_time(text: &str, ticks_per_second: u64) -> Option<CpuTime> {
    let tick_ns = 1_000_000_000_u64.checked_div(ticks_per_second)?;
    let total = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let mut columns = total.split_ascii_whitespace().map(|ticks| {
        let ticks: u64 = ticks.parse().unwrap_or(0);
        ticks.saturating_mul(tick_ns)
    });
    let [user, nice, system, idle, iowait, irq, softirq, steal] =
        std::array::from_fn(|_| columns.next().unwrap_or(0));
    let sum = |times: &[u64]| times.iter().copied().fold(0, u64::saturating_add);
    let is_one = |line: &&str| line.starts_with("cpu") && !line.starts_with("cpu ");
    Some(CpuTime {
        cpus: text.lines().filter(is_one).count(),
        busy_ns: sum(&[user, nice, system, irq, softirq]),
        idle_ns: sum(&[idle, iowait]),
        steal_ns: steal,
    })
}

/// The time stolen from `cpu`: the eighth number of its line in `/proc/stat`.
pub(super) fn stolen_ns(text: &str, cpu: usize, ticks_per_second: u64) -> Option<u64> {
    let name = format!("cpu{cpu} ");
    let times = text.lines().find_map(|line| line.strip_prefix(&name))?;
    let ticks: u64 = times.split_ascii_whitespace().nth(7)?.parse().ok()?;
    Some(ticks.saturating_mul(1_000_000_000_u64.checked_div(ticks_per_second)?))
}

/// The sum of the column of `cpu`, and that of the lines whose description names a timer. The first line names the
/// CPUs that are online. Lines with fewer numbers count something for all CPUs together. `None` without a column for
/// `cpu`.
pub(super) fn counts_of_cpu(text: &str, cpu: usize) -> Option<[u64; 2]> {
    let (header, lines) = text.split_once('\n')?;
    let name = format!("CPU{cpu}");
    let column = header.split_whitespace().position(|of| of == name)?;
    let columns = header.split_whitespace().count();
    let mut sums = [0_u64; 2];
    for line in lines.lines() {
        let Some((_, cells)) = line.split_once(':') else {
            continue;
        };
        let counts = cells.split_whitespace().take(columns);
        let counts: Vec<u64> = counts.map_while(|count| count.parse().ok()).collect();
        if counts.len() == columns {
            sums[0] = sums[0].saturating_add(counts[column]);
            if cells.contains("timer") {
                sums[1] = sums[1].saturating_add(counts[column]);
            }
        }
    }
    Some(sums)
}

/// The process of one line; `None` if the line has another format.
pub(super) fn program(stat: &str, ticks_per_second: u64) -> Option<Program> {
    // The name is in parentheses and may itself contain parentheses and spaces.
    let (id, rest) = stat.split_once(" (")?;
    let (name, fields) = rest.rsplit_once(") ")?;
    // After the name: the state is field 3, user and system ticks are fields 14 and 15.
    let mut ticks = fields.split(' ').skip(11).map(str::parse::<u64>);
    let (user, system) = (ticks.next()?.ok()?, ticks.next()?.ok()?);
    let cpu_ns = u128::from(user) + u128::from(system);
    let cpu_ns = cpu_ns * 1_000_000_000 / u128::from(ticks_per_second.max(1));
    Some(Program {
        id: id.parse().ok()?,
        name: name.to_owned(),
        cpu_ns: u64::try_from(cpu_ns).ok()?,
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;
    use crate::memory::{Mapping, PageSize};

    #[test]
    fn page_faults_and_waits_of_this_thread_count() {
        const PAGES: usize = 100;
        let mut memory = Mapping::anonymous(PAGES * 65536, PageSize::Base).unwrap();
        let before = Usage::of_thread().unwrap();
        memory
            .as_mut_slice()
            .iter_mut()
            .step_by(65536)
            .for_each(|byte| *byte = 1);
        std::thread::sleep(Duration::from_millis(1));
        let used = Usage::of_thread().unwrap().since(&before);
        assert!(used.minor_faults >= PAGES as u64, "{used:?}");
        assert!(used.voluntary_switches >= 1, "{used:?}");
        assert_eq!(before.since(&before), Usage::default());
    }

    #[test]
    fn a_child_that_was_waited_for_counts_with_its_parent() {
        let before = Consumption::read().unwrap();
        // The shell spins, and reports the time that it used.
        let spin = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; cat /proc/$$/stat";
        let ended = testing::Command::new("sh").args(["-c", spin]).output();
        let stat = String::from_utf8(ended.unwrap().stdout).unwrap();
        let fields = stat.rsplit(") ").next().unwrap().split(' ');
        let ticks: u64 = fields
            .skip(11)
            .take(2)
            .map(|it| it.parse::<u64>().unwrap())
            .sum();
        let after = Consumption::read().unwrap();
        // POSIX tools and Linux count 100 ticks a second here.
        assert!(
            after.cpu_ns >= before.cpu_ns + ticks * 10_000_000,
            "{after:?}"
        );
        assert!(after.own_peak_bytes > 0 && after.child_peak_bytes > 0);
        assert!(after.written_bytes >= before.written_bytes);
    }

    #[test]
    fn the_total_and_the_number_of_cpus_are_read() {
        let text = "\
cpu  3704 1 892 100775 386 2 54 9 0 0
cpu0 2122 0 531 49971 251 0 19 1 0 0
cpu11 1581 0 361 50804 135 0 35 1 0 0
intr 156853 0 0
ctxt 239671
";
        let expected = CpuTime {
            cpus: 2,
            busy_ns: (3704 + 1 + 892 + 2 + 54) * 10_000_000,
            idle_ns: (100_775 + 386) * 10_000_000,
            steal_ns: 90_000_000,
        };
        assert_eq!(cpu_time(text, 100), Some(expected));
    }

    #[test]
    fn interruptions_are_those_of_the_cpu_and_timers_are_named() {
        let text = "\
           CPU0       CPU2
 24:          1          20  IO-APIC   5-edge      ACPI:Ged
 30:          0          300                        arch_timer
LOC:         40         5000   Local timer interrupts
ERR:     100000
";
        assert_eq!(counts_of_cpu(text, 0), Some([41, 40]));
        assert_eq!(counts_of_cpu(text, 2), Some([5320, 5300]));
        assert_eq!(counts_of_cpu(text, 1), None);
        assert_eq!(counts_of_cpu("", 0), None);
        let text = "cpu  1 1 1 1 1 1 1 9\ncpu1 1 1 1 1 1 1 1 5\ncpu11 1 1 1 1 1 1 1 4 0\n";
        assert_eq!(stolen_ns(text, 1, 100), Some(50_000_000));
        assert_eq!(stolen_ns(text, 11, 100), Some(40_000_000));
        assert_eq!(stolen_ns(text, 0, 100), None);
    }

    #[test]
    fn timers_interrupt_this_cpu() {
        let cpu = crate::placement::allowed_cpus().unwrap()[0];
        let Some(counted) = interruptions(cpu) else {
            return println!("skipped: this system does not count interrupts");
        };
        assert!(
            counted.timer > 0 && counted.timer <= counted.interrupts,
            "{counted:?}"
        );
        assert!(counted.softirqs > 0, "{counted:?}");
    }

    #[test]
    fn a_text_without_a_total_is_refused() {
        assert_eq!(cpu_time("cpu0 1 2 3 4\n", 100), None);
        assert_eq!(cpu_time("cpu  1 2 3 4\n", 0), None);
    }

    proptest! {
        #[test]
        fn parsers_of_stat_never_panic(
            text in "(cpu[0-9x]{0,2} ([0-9]{0,22} ){0,12}\\n){0,4}|[0-9]{0,3} \\(.{0,9}\\) ([0-9SR]{0,22} ){0,30}|( CPU[0-9]){1,3}\\n([A-Z]{1,3}:( [0-9]{0,22}){0,4}\\n){0,3}|.{0,40}",
            hz: u64,
        ) {
            let _ = cpu_time(&text, hz);
            let _ = program(&text, hz);
            let _ = counts_of_cpu(&text, 0);
            let _ = stolen_ns(&text, 0, hz);
        }
    }

    #[test]
    fn a_name_may_hold_anything() {
        let line = "42 (a) (b c) S 1 42 42 0 -1 4194560 900 0 0 0 7 3 0 0 20 0 1 0 5 1 2";
        let program = program(line, 100).unwrap();
        assert_eq!((program.id, program.name.as_str()), (42, "a) (b c"));
        assert_eq!(program.cpu_ns, 100_000_000);
    }
}
