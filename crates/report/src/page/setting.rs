//! The page's view of advice.

use super::evidence::{Words, words};
use crate::Analysis;
use crate::advice::{
    FIRST, FOR_ADMINISTRATORS, by_audience, commands, foremost, gain, gain_of, trial,
    untold as untold_by, value,
};
use advice::{Setting, SystemSetting};
use platform::environment::System;

/// The settings for one kind of people.
pub(super) struct AudienceView {
    pub(super) heading: &'static str,
    pub(super) settings: Vec<SettingView>,
}

impl AudienceView {
    /// True if one of the settings is known to gain.
    pub(super) fn gains(&self) -> bool {
        self.settings.iter().any(|setting| setting.gain.is_some())
    }
}

/// A setting, ready for its template.
pub(super) struct SettingView {
    /// Title of the setting.
    pub(super) title: String,
    /// The recommended value; of a setting of the system for which none is known, its value now.
    pub(super) value: String,
    /// The usual value; `None` if it is the recommended one.
    pub(super) usual: Option<String>,
    /// The gain with its interval; `None` if uncertain.
    pub(super) gain: Option<(String, Option<String>)>,
    /// Words in place of a gain.
    pub(super) without_gain: &'static str,
    pub(super) because: Vec<Words>,
    /// The commands that set it, take it back and measure before and after, where it gains.
    pub(super) set: Option<String>,
    pub(super) undo: Option<String>,
    pub(super) attempt: Option<String>,
    /// Ids and titles of the experiments that support it.
    pub(super) from: Vec<(String, String)>,
}

impl SettingView {
    fn new(
        name: &str,
        setting: &Setting,
        system: Option<System>,
        place_of: impl Fn(&str) -> Option<(String, String)>,
    ) -> Self {
        let gain = gain(setting);
        let commands = gain.is_some().then(|| commands(name, setting, system));
        let (set, undo) = commands.map_or((None, None), |found| (Some(found.set), found.undo));
        let attempt = trial(name, setting).filter(|_| gain.is_some());
        let is_usual = setting.usual == setting.value;
        Self {
            title: setting.title.clone(),
            value: value(setting, &setting.value),
            usual: (!is_usual).then(|| value(setting, &setting.usual)),
            gain,
            without_gain: if is_usual {
                "as usual"
            } else {
                "no certain gain"
            },
            because: words(&setting.because),
            set,
            undo,
            attempt: attempt.map(|_| format!("oscope advise --try {name}")),
            from: setting
                .experiments
                .iter()
                .filter_map(|id| place_of(id))
                .collect(),
        }
    }

    fn of_system(setting: &SystemSetting) -> Self {
        let SystemSetting {
            name: _,
            title,
            now,
            value,
            gain,
            because,
            set,
            undo,
        } = setting.clone();
        Self {
            title,
            usual: value.as_ref().map(|_| now.clone()),
            value: value.unwrap_or(now),
            gain: gain.as_ref().map(gain_of),
            without_gain: "as it is",
            because: words(&because),
            set,
            undo,
            attempt: None,
            from: Vec::new(),
        }
    }
}

/// The settings at the top of the page.
pub(super) fn first(analysis: &Analysis<'_>) -> Vec<SettingView> {
    let system = analysis.run.environment.system();
    let foremost = foremost(&analysis.advice, FIRST).into_iter();
    foremost
        .map(|(name, setting)| SettingView::new(name, setting, system, |_| None))
        .collect()
}

/// All settings by who can act on them, the largest gain first.
pub(super) fn settings(
    analysis: &Analysis<'_>,
    place_of: impl Fn(&str) -> Option<(String, String)>,
) -> Vec<AudienceView> {
    let advice = &analysis.advice;
    let system = analysis.run.environment.system();
    let of = |(heading, theirs): (_, Vec<(&str, &Setting)>)| AudienceView {
        heading,
        settings: theirs
            .into_iter()
            .map(|(name, setting)| SettingView::new(name, setting, system, &place_of))
            .collect(),
    };
    let mut all: Vec<AudienceView> = by_audience(advice).into_iter().map(of).collect();
    if !advice.system.is_empty() {
        all.push(AudienceView {
            heading: FOR_ADMINISTRATORS,
            settings: advice.system.iter().map(SettingView::of_system).collect(),
        });
    }
    all
}

/// The settings that the run does not tell, each with the reason.
pub(super) fn untold(analysis: &Analysis<'_>) -> Vec<(&'static str, Vec<Words>)> {
    let untold = untold_by(analysis).into_iter();
    untold
        .map(|setting| (setting.title, words(&setting.reason)))
        .collect()
}
