//! A chart as a PNG image.

use resvg::{tiny_skia, usvg};

/// Image pixels per chart pixel, for high-resolution screens.
const SCALE: f32 = 2.0;

/// The reason why a chart could not be rendered.
#[derive(Debug, thiserror::Error)]
pub enum PngError {
    /// A chart without text is useless.
    #[error("this system has no fonts to write a chart with; install some, as fonts-dejavu-core")]
    NoFonts,
    /// The chart is not valid SVG.
    #[error("the chart cannot be drawn: {0}")]
    Chart(#[from] usvg::Error),
    /// The image cannot be allocated or encoded.
    #[error("the picture cannot be made: {0}")]
    Picture(String),
}

/// Renders `svg`, a chart of [`plot`](super::plot()), as a PNG file.
///
/// # Errors
/// [`PngError`] if the system has no fonts, or if the image cannot be made.
pub fn png(svg: &str) -> Result<Vec<u8>, PngError> {
    let mut options = usvg::Options::default();
    let fonts = options.fontdb_mut();
    fonts.load_system_fonts();
    let family = |face: &usvg::fontdb::FaceInfo| Some(face.families.first()?.0.clone());
    // If the system does not have the fonts of the chart, any font is better than no text.
    let any = fonts.faces().find_map(family).ok_or(PngError::NoFonts)?;
    let known = |name: &str| {
        let mut families = fonts.faces().flat_map(|face| &face.families);
        families.any(|(family, _)| family == name)
    };
    let sans = ["Noto Sans", "Liberation Sans", "DejaVu Sans"]
        .into_iter()
        .find(|name| known(name));
    let sans = sans.map_or(any, str::to_owned);
    fonts.set_sans_serif_family(sans);
    let tree = usvg::Tree::from_str(svg, &options)?;
    let size = tree.size();
    let [width, height] =
        [size.width(), size.height()].map(|length| (length * SCALE).ceil() as u32);
    let mut picture = tiny_skia::Pixmap::new(width, height)
        .ok_or_else(|| PngError::Picture(format!("{width} by {height} pixels")))?;
    let scale = tiny_skia::Transform::from_scale(SCALE, SCALE);
    resvg::render(&tree, scale, &mut picture.as_mut());
    picture
        .encode_png()
        .map_err(|error| PngError::Picture(error.to_string()))
}
