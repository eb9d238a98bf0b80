//! The measurement that holds a setting against the usual one, before it is set.

use super::command::plain;
use advice::Setting;
use experiments::trial::Trial;

/// The trial of `setting`, which is called `name`; `None` where nothing is to be tried, since it is as
/// usual, or where no experiment varies just it.
pub fn trial(name: &str, setting: &Setting) -> Option<Trial> {
    if setting.value == setting.usual {
        return None;
    }
    experiments::trial::of_advice(name, &plain(&setting.usual), &plain(&setting.value))
}

#[cfg(test)]
mod tests {
    use super::trial;
    use advice::{Setting, Value};

    #[test]
    fn a_setting_is_held_against_the_usual_one() {
        let setting = |value: u64| Setting {
            title: "block size".into(),
            value: Value::Number(value),
            unit: None,
            usual: Value::Number(4096),
            gain: None,
            because: "It follows.".into(),
            experiments: Vec::new(),
        };
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
