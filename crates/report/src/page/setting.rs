//! The first settings, above all chapters.

use crate::Analysis;
use crate::advice::{FIRST, commands, foremost, gain, value};
use crate::document::capitalised;

/// A setting, ready for its template.
pub(super) struct SettingView {
    /// Title of the setting.
    pub(super) title: String,
    /// The recommended value.
    pub(super) value: String,
    /// The usual value.
    pub(super) usual: String,
    /// The gain.
    pub(super) gain: Option<String>,
    /// The command that sets it.
    pub(super) set: String,
}

/// The settings that gain most.
pub(super) fn first(analysis: &Analysis<'_>) -> Vec<SettingView> {
    let system = analysis.run.environment.system();
    let foremost = foremost(&analysis.advice, FIRST).into_iter();
    let view = |(name, setting): (&str, &advice::Setting)| SettingView {
        title: capitalised(&setting.title),
        value: value(setting, &setting.value),
        usual: value(setting, &setting.usual),
        gain: gain(setting).map(|(centre, _)| centre),
        set: commands(name, setting, system).set,
    };
    foremost.map(view).collect()
}
