//! The page as its reader sees it.

mod charts;
mod document;
mod escaping;
mod packed;
mod recorded;

use scraper::{ElementRef, Html, Selector};

pub fn selector(text: &str) -> Selector {
    Selector::parse(text).expect("a selector")
}

/// The elements of a page, in its order.
pub fn select<'d>(document: &'d Html, text: &str) -> Vec<ElementRef<'d>> {
    document.select(&selector(text)).collect()
}
