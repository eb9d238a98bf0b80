//! The page's view of advice.

use crate::advice::{FIRST, commands, foremost, gain, missing, ranked, value};
use advice::{Advice, Setting};

/// A recommended setting, ready for its template.
pub(super) struct SettingView {
    /// Title of the setting.
    pub(super) title: String,
    /// The recommended value.
    pub(super) value: String,
    /// The usual value; `None` if it is the recommended one.
    pub(super) usual: Option<String>,
    /// The gain with its interval; `None` if uncertain.
    pub(super) gain: Option<(String, Option<String>)>,
    pub(super) because: String,
    /// The command that sets it, and the one that takes it back, where it gains.
    pub(super) set: Option<String>,
    pub(super) undo: Option<String>,
    /// Ids and titles of the experiments that support it.
    pub(super) from: Vec<(String, String)>,
}

impl SettingView {
    fn new(
        name: &str,
        setting: &Setting,
        place_of: impl Fn(&str) -> Option<(String, String)>,
    ) -> Self {
        let gains = gain(setting).is_some();
        let commands = gains.then(|| commands(name, setting));
        let (set, undo) = commands.map_or((None, None), |found| (Some(found.set), found.undo));
        Self {
            set,
            undo,
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

/// The settings at the top of the page.
pub(super) fn first(advice: &Advice) -> Vec<SettingView> {
    let foremost = foremost(advice, FIRST).into_iter();
    foremost
        .map(|(name, setting)| SettingView::new(name, setting, |_| None))
        .collect()
}

/// All settings, the largest gain first.
pub(super) fn settings(
    advice: &Advice,
    place_of: impl Fn(&str) -> Option<(String, String)>,
) -> Vec<SettingView> {
    let ranked = ranked(advice).into_iter();
    ranked
        .map(|(name, setting)| SettingView::new(name, setting, &place_of))
        .collect()
}

/// The settings that the run does not support, each with a command that may do so.
pub(super) fn untold(advice: &Advice) -> Vec<(&'static str, String)> {
    let missing = missing(advice).into_iter();
    missing
        .map(|(title, experiments)| (title, format!("oscope run {}", experiments.join(" "))))
        .collect()
}
