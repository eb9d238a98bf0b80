//! The trace as JSON for Perfetto and `chrome://tracing` (*Trace Event Format*).

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::{Event, Kind, Trace};

impl Trace {
    /// The trace in the format of <https://ui.perfetto.dev>. Each thread is a row that shows when
    /// the thread runs; its other events are marks.
    ///
    /// ```
    /// let runtime = uthread::Runtime::builder().trace(100).build().unwrap();
    /// runtime.run(|| uthread::spawn(|| ()).join().unwrap());
    /// assert!(runtime.trace().chrome_json().contains("thread_name"));
    /// ```
    pub fn chrome_json(&self) -> String {
        let mut items = Vec::new();
        let threads: BTreeSet<_> = self.events().iter().map(|event| event.thread).collect();
        for thread in threads {
            let name = escaped(&self.label(thread));
            items.push(format!(
                r#"{{"ph":"M","pid":1,"tid":{thread},"name":"thread_name","args":{{"name":"{name}"}}}}"#
            ));
        }
        for events in &self.workers {
            push_events(&mut items, events);
        }
        format!("{{\"traceEvents\":[\n{}\n]}}\n", items.join(",\n"))
    }
}

fn push_events(items: &mut Vec<String>, events: &[Event]) {
    let mut running: Option<Event> = None;
    for event in events {
        let (time_us, thread) = (event.time_ns as f64 / 1e3, event.thread);
        let stops = matches!(
            event.kind,
            Kind::Run | Kind::Preempt | Kind::Yield | Kind::Block(_) | Kind::Exit
        );
        if stops && let Some(run) = running.take() {
            let begin_us = run.time_ns as f64 / 1e3;
            items.push(format!(
                r#"{{"ph":"X","pid":1,"tid":{},"ts":{begin_us:.3},"dur":{:.3},"name":"run","args":{{"worker":{}}}}}"#,
                run.thread,
                time_us - begin_us,
                run.worker,
            ));
        }
        if event.kind == Kind::Run {
            running = Some(*event);
        } else {
            items.push(format!(
                r#"{{"ph":"i","s":"t","pid":1,"tid":{thread},"ts":{time_us:.3},"name":"{}","args":{{"worker":{}}}}}"#,
                words(event.kind),
                event.worker,
            ));
        }
    }
}

fn words(kind: Kind) -> String {
    match kind {
        Kind::Create => "create".into(),
        Kind::Run => "run".into(),
        Kind::Tick => "tick".into(),
        Kind::Preempt => "preempt".into(),
        Kind::Yield => "yield".into(),
        Kind::Block(wait) => wait.to_string(),
        Kind::Wake => "wake".into(),
        Kind::Priority(priority) => format!("priority {priority}"),
        Kind::Exit => "exit".into(),
    }
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '"' | '\\' => escaped.extend(['\\', character]),
            control if control < ' ' => {
                let _ = write!(escaped, "\\u{:04x}", control as u32);
            }
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn names_are_fit_for_json() {
        assert_eq!(escaped("a\"b\\c\nd"), "a\\\"b\\\\c\\u000ad");
    }
}
