//! `--vary KEY=A,B,…`: what varies between the measurements of an experiment.

use std::str::FromStr;

/// The thing that varies, and its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vary {
    pub varied: Varied,
    /// Two or more, no two of them equal. The first is what the others are held against.
    pub values: Vec<String>,
}

/// The thing that varies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Varied {
    /// The directory of the scratch files.
    Directory,
    /// A variable in the environment of the measuring processes.
    Environment(String),
    /// A setting of the kernel, by its path.
    Setting(String),
    /// An axis of the experiment.
    Axis(String),
}

impl Vary {
    /// The thing that varies, as the command line names it.
    pub fn key(&self) -> String {
        match &self.varied {
            Varied::Directory => "dir".into(),
            Varied::Environment(name) => format!("env:{name}"),
            Varied::Setting(path) => format!("sysfs:{path}"),
            Varied::Axis(axis) => axis.clone(),
        }
    }
}

impl FromStr for Vary {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (key, values) = text
            .split_once('=')
            .ok_or("what varies is KEY=A,B,…, as in dir=/mnt/a,/mnt/b or pages=base,huge")?;
        let varied = match key.split_once(':') {
            _ if key == "dir" => Varied::Directory,
            Some(("env", name)) if !name.is_empty() => Varied::Environment(name.into()),
            Some(("sysfs", path)) if path.starts_with('/') => Varied::Setting(path.into()),
            None if !key.is_empty() => Varied::Axis(key.into()),
            _ => {
                return Err(format!(
                    "'{key}' cannot vary: name `dir`, `env:NAME`, `sysfs:/PATH` or an axis"
                ));
            }
        };
        let values: Vec<String> = values.split(',').map(str::to_owned).collect();
        let is_environment = matches!(varied, Varied::Environment(_));
        if !is_environment && values.iter().any(String::is_empty) {
            return Err(format!("a value of '{key}' is empty"));
        }
        let is_repeated = |(index, value)| values[..index].contains(value);
        if values.iter().enumerate().any(is_repeated) {
            return Err(format!("a value of '{key}' is named twice"));
        }
        if values.len() < 2 {
            return Err(format!("a comparison takes two values of '{key}' or more"));
        }
        Ok(Self { varied, values })
    }
}

#[cfg(test)]
mod tests {
    use super::{Varied, Vary};
    use proptest::prelude::*;

    fn varied(text: &str) -> Result<Varied, String> {
        text.parse().map(|vary: Vary| vary.varied)
    }

    #[test]
    fn each_kind_is_told_by_its_key() {
        assert_eq!(varied("dir=a,b"), Ok(Varied::Directory));
        assert_eq!(varied("pages=base,huge"), Ok(Varied::Axis("pages".into())));
        assert_eq!(varied("env:A=,1"), Ok(Varied::Environment("A".into())));
        let path = "/proc/sys/vm/swappiness";
        let setting = Ok(Varied::Setting(path.into()));
        assert_eq!(varied(&format!("sysfs:{path}=1,2")), setting);
    }

    #[test]
    fn what_cannot_be_compared_is_refused() {
        for wrong in [
            "dir",
            "dir=a",
            "dir=a,a",
            "dir=a,",
            "=a,b",
            "env:=a,b",
            "sysfs:x=1,2",
            "x:y=1,2",
        ] {
            assert!(varied(wrong).is_err(), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_understood_or_refused(text in ".{0,40}") {
            if let Ok(vary) = text.parse::<Vary>() {
                prop_assert!(vary.values.len() >= 2);
            }
        }

        #[test]
        fn values_are_what_was_named(
            axis in "[a-z_]{4,9}",
            values in prop::collection::hash_set("[a-z0-9/=:]{1,6}", 2..5),
        ) {
            let values: Vec<String> = values.into_iter().collect();
            let text = format!("{axis}={}", values.join(","));
            let vary: Vary = text.parse().expect("it is well formed");
            prop_assert_eq!(vary, Vary { varied: Varied::Axis(axis), values });
        }
    }
}
