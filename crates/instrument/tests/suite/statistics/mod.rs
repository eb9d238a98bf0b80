//! Intervals, predictions and comparisons: by golden values, by properties, and by recorded runs.

mod changes;
mod golden;
mod moderation;
mod modes;
mod peers;
mod prediction;
mod prediction_properties;
mod properties;
mod sequential;
mod strata;
