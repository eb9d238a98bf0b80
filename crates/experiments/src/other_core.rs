//! The choice of a second core, for experiments with two sides.

use instrument::experiment::MeasureError;
use platform::placement::{cpus_of_core, current_cpu, package, parent_cpus};

/// A CPU of another core than the calling thread's, if possible in the same package; `None` if there
/// is no other core. It is one of those that the parent process may use: a worker is pinned, its
/// parent is not.
///
/// # Errors
/// If the system does not report them.
pub(crate) fn cpu_of_another_core() -> platform::Result<Option<usize>> {
    let cpus = parent_cpus()?.into_iter();
    let Some(here) = current_cpu() else {
        return Ok(None);
    };
    let siblings = cpus_of_core(here);
    let others = cpus.filter(|cpu| *cpu != here && !siblings.contains(cpu));
    // `max_by_key` returns the last of several equal CPUs.
    Ok(others.max_by_key(|cpu| package(*cpu) == package(here)))
}

/// As [`cpu_of_another_core`], where nothing can be measured without one.
pub(crate) fn needed_cpu_of_another_core() -> Result<usize, MeasureError> {
    let refused = || MeasureError::Unsupported("this program may use only one core".into());
    cpu_of_another_core()?.ok_or_else(refused)
}

#[cfg(test)]
mod tests {
    use super::cpu_of_another_core;
    use platform::placement::{allowed_cpus, cpus_of_core, current_cpu, pin_to};

    #[test]
    fn another_core_is_not_this_one() {
        // Placement belongs to a thread, so the test starts its own.
        let placed = std::thread::spawn(|| {
            let allowed = allowed_cpus().expect("this system has them");
            let here = *allowed.last().expect("one at least");
            pin_to(&[here]).expect("it is allowed");
            match cpu_of_another_core().expect("this system has them") {
                Some(cpu) => {
                    assert!(!cpus_of_core(here).contains(&cpu));
                    pin_to(&[cpu]).expect("it is allowed");
                    assert_eq!(current_cpu(), Some(cpu));
                }
                None => println!("not shown: there is only one core"),
            }
        });
        placed.join().expect("it does not panic");
    }
}
