//! Advice as the page shows it.

use crate::advice::{FIRST, foremost, gain, missing, ranked, value};
use advice::{Advice, Setting};

/// A setting that programs should use, ready for its template.
pub(super) struct SettingView {
    /// What it sets.
    pub(super) title: String,
    /// What to use.
    pub(super) value: String,
    /// What is usual; `None` where that is what to use.
    pub(super) usual: Option<String>,
    /// What it gains, with the interval; `None` where that is not certain.
    pub(super) gain: Option<(String, Option<String>)>,
    pub(super) because: String,
    /// Ids and titles of the experiments that it comes from.
    pub(super) from: Vec<(String, String)>,
}

impl SettingView {
    fn new(setting: &Setting, place_of: impl Fn(&str) -> Option<(String, String)>) -> Self {
        Self {
            title: setting.title.clone(),
            value: value(setting, &setting.value),
            usual: (setting.usual != setting.value).then(|| value(setting, &setting.usual)),
            gain: gain(setting),
            because: setting.because.clone(),
            from: setting
                .experiments
                .iter()
                .filter_map(|id| place_of(id))
                .collect(),
        }
    }
}

/// The settings that stand above all else.
pub(super) fn first(advice: &Advice) -> Vec<SettingView> {
    let foremost = foremost(advice, FIRST).into_iter();
    foremost
        .map(|setting| SettingView::new(setting, |_| None))
        .collect()
}

/// All settings, those that gain most first.
pub(super) fn settings(
    advice: &Advice,
    place_of: impl Fn(&str) -> Option<(String, String)>,
) -> Vec<SettingView> {
    let ranked = ranked(advice).into_iter();
    ranked
        .map(|(_, setting)| SettingView::new(setting, &place_of))
        .collect()
}

/// What could be advised but is not told by the run, and the command that may tell it.
pub(super) fn untold(advice: &Advice) -> Vec<(&'static str, String)> {
    let missing = missing(advice).into_iter();
    missing
        .map(|(title, experiments)| (title, format!("oscope run {}", experiments.join(" "))))
        .collect()
}
