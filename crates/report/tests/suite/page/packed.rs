//! The compressed data of the page, and the page after its script has run.

use super::{select, selector};
use crate::fixture;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use flate2::read::ZlibDecoder;
use oscope_report::page;
use scraper::Html;
use serde::de::DeserializeOwned;

/// The JSON that `page` contains in compressed form in its script element `id`.
pub fn unpacked<T: DeserializeOwned>(page: &Html, id: &str) -> T {
    let packed: String = select(page, &format!("script#{id}"))[0].text().collect();
    let packed = BASE64_STANDARD.decode(packed).expect("base 64");
    serde_json::from_reader(ZlibDecoder::new(packed.as_slice())).expect("JSON")
}

/// `page` after its script has replaced each placeholder element by its part.
pub fn whole(page: &str) -> String {
    let parts: Vec<String> = unpacked(&Html::parse_document(page), "parts");
    let mut whole = page.to_owned();
    for (index, part) in parts.iter().enumerate() {
        let name = whole
            .find(&format!(" data-part=\"{index}\""))
            .expect("a place");
        let start = whole[..name].rfind('<').expect("a tag");
        let end_tag = format!("</{}>", &whole[start + 1..name]);
        let end = name + whole[name..].find(&end_tag).expect("its end") + end_tag.len();
        whole.replace_range(start..end, part);
    }
    whole
}

#[test]
fn a_whole_page_has_every_chart_on_each_scale_and_every_table() {
    let analysis = fixture::analysis();
    let page = page::render(&analysis);
    assert!(page.contains("data-part"), "nothing is held back");
    assert!(
        !page.contains("<noscript"),
        "a chart waits for what paper does not have"
    );
    let document = Html::parse_document(&whole(&page));
    assert_eq!(document.errors, Vec::<String>::new());
    let count = |text| select(&document, text).len();
    assert_eq!(count("[data-part]"), 0);
    let chapters = count("article > details.fold > summary");
    assert_eq!(chapters, analysis.experiments.len());
    for figure in select(&document, "figure") {
        let scales = figure.select(&selector(".scale input")).count().max(1);
        assert_eq!(figure.select(&selector("svg.chart")).count(), scales);
    }
    assert!(count(".estimates") > 0);
    assert_eq!(count(".estimates > .scroll"), count(".estimates"));
}
