//! The measurement that holds a setting against the usual one, before it is set.

use advice::{Setting, Value};

/// What `oscope ab` measures to try a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trial {
    /// The experiment.
    pub experiment: &'static str,
    /// `AXIS=USUAL,NEW`.
    pub vary: String,
    /// `AXIS=LEVEL` for all that stays.
    pub at: Vec<String>,
}

/// The trial of `setting`, which is called `name`; `None` where nothing is to be tried, since it is as
/// usual, or where no experiment varies just it.
pub fn trial(name: &str, setting: &Setting) -> Option<Trial> {
    if setting.value == setting.usual {
        return None;
    }
    let [usual, new] = [&setting.usual, &setting.value].map(plain);
    let of_block = |pass: &str| Trial {
        experiment: "file.block_size",
        vary: format!("block_size={usual},{new}"),
        at: vec![format!("pass={pass}")],
    };
    Some(match name {
        "read_block_size" => of_block("read warm"),
        "read_cold_block_size" => of_block("read cold"),
        "write_block_size" => of_block("write"),
        "loop_piece_size" | "loop_piece_size_l1" | "loop_piece_size_l2" | "loop_piece_size_l3" => {
            Trial {
                experiment: "memory.subloop",
                vary: format!("piece_size={usual},{new}"),
                at: vec![format!("block_size={usual}")],
            }
        }
        "direct_queue_depth" => Trial {
            experiment: "file.engine",
            vary: format!("engine=io_uring {usual},io_uring {new}"),
            at: vec!["through=direct".into()],
        },
        "start_programs_by" => Trial {
            experiment: "process.calls",
            vary: "call=fork+exec+wait,posix_spawn+wait".into(),
            at: vec!["optimisation=3".into()],
        },
        _ => return None,
    })
}

fn plain(value: &Value) -> String {
    match value {
        Value::Number(number) => number.to_string(),
        Value::Choice(choice) => choice.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::trial;
    use advice::{Setting, Value};

    fn setting(value: u64) -> Setting {
        Setting {
            title: "block size".into(),
            value: Value::Number(value),
            unit: None,
            usual: Value::Number(4096),
            gain: None,
            because: "It follows.".into(),
            experiments: Vec::new(),
        }
    }

    #[test]
    fn every_trial_varies_axes_that_its_experiment_has() {
        for rule in experiments::advice() {
            let setting = Setting {
                value: Value::Number(64),
                usual: Value::Number(1),
                ..setting(1)
            };
            let Some(trial) = trial(rule.setting, &setting) else {
                continue;
            };
            let experiment = experiments::find(trial.experiment).expect("it is one");
            let definition = experiment.definition();
            for level in trial.at.iter().chain([&trial.vary]) {
                let (axis, _) = level.split_once('=').expect("an axis");
                assert!(definition.axis(axis).is_some(), "{level}");
            }
        }
    }

    #[test]
    fn a_setting_is_held_against_the_usual_one() {
        let found = trial("write_block_size", &setting(131_072)).expect("it can be tried");
        assert_eq!(found.vary, "block_size=4096,131072");
        assert_eq!(found.at, ["pass=write"]);
        assert_eq!(
            trial("write_block_size", &setting(4096)),
            None,
            "nothing changes"
        );
        assert_eq!(trial("spin_in_sections_up_to", &setting(1)), None);
    }
}
