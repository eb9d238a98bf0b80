//! A chart as pixels.

use resvg::{tiny_skia, usvg};

/// Pixels to a pixel of the chart, for screens that have many.
const SCALE: f32 = 2.0;

/// Why a chart could not be turned into pixels.
#[derive(Debug, thiserror::Error)]
pub enum PngError {
    /// Without letters a chart tells nothing.
    #[error("this system has no fonts to write a chart with; install some, as fonts-dejavu-core")]
    NoFonts,
    /// The chart is not what it should be.
    #[error("the chart cannot be drawn: {0}")]
    Chart(#[from] usvg::Error),
    /// The picture cannot be held or written.
    #[error("the picture cannot be made: {0}")]
    Picture(String),
}

/// `svg`, a chart as [`plot`](super::plot()) draws it, as a PNG file.
///
/// # Errors
/// Where there are no fonts; nothing else is known to go wrong.
pub fn png(svg: &str) -> Result<Vec<u8>, PngError> {
    let mut options = usvg::Options::default();
    let fonts = options.fontdb_mut();
    fonts.load_system_fonts();
    let family = |face: &usvg::fontdb::FaceInfo| Some(face.families.first()?.0.clone());
    // Better any letters than none, where the system has not those that the chart asks for.
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
