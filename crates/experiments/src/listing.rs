//! Listings of the reports, as variants of the experiments whose own loops differ from them.

use crate::prelude::*;
use instrument::point::DesignAxis;

/// The axis of the listing, on which planned points have no level.
pub(crate) const LISTING: AxisOf<Listing> = AxisOf::new("listing", "listing");
/// It takes this one name.
pub(crate) const NAMED: DesignAxis = LISTING.only_if_named(&["as printed"]);

/// A report's listing, where the loop differs.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Listing {
    /// The loop that the report printed.
    AsPrinted,
}

/// True if this point is measured by the report's listing.
pub(crate) fn is_listed(point: &Point) -> bool {
    point.level(LISTING) == Ok(Listing::AsPrinted)
}

/// The points of the report's listing.
pub(crate) fn listed<'r>(results: &Results<'r>) -> Results<'r> {
    results.only(is_listed)
}
