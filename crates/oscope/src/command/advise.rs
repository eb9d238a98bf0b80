//! `oscope advise`: the settings that programs should use here.

use crate::arguments::{Advise, Common, HeaderLanguage};
use crate::exit::Exit;
use crate::target::{Replaces, Target, make_directory};
use crate::{output, stored, style};
use anyhow::Result;
use files::Watch;
use report::{Analysis, advice, terminal};
use std::path::Path;

pub fn execute(arguments: &Advise, common: &Common) -> Result<Exit> {
    let run = stored::run(common, &arguments.run)?;
    let advice = Analysis::new(&run).advice;
    let json = || serde_json::to_string_pretty(&advice).map(|text| text + "\n");
    if arguments.save {
        let path = ::advice::default_path()?;
        let folder = path.parent().expect("a file in a folder of oscope's own");
        make_directory(folder)?;
        let target = Target::new(&path, Replaces::Own(is_advice), common)?;
        target.write(json()?.as_bytes(), &Watch::default())?;
        output::show(&format!("{}\n", path.display()))?;
        return Ok(Exit::Done);
    }
    let text = match arguments.header {
        Some(HeaderLanguage::C) => advice::c_header(&advice),
        None if arguments.env => advice::environment(&advice),
        None if common.json => json()?,
        None => terminal::advice(&advice, &style::of_stdout()),
    };
    output::show_painted(&text)?;
    Ok(Exit::Done)
}

/// True if a file is advice, of any format.
fn is_advice(path: &Path) -> bool {
    matches!(
        ::advice::load_from(path),
        Ok(_) | Err(::advice::Error::OtherFormat { .. })
    )
}
