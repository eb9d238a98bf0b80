//! `oscope advise`: the settings that programs should use here.

use crate::arguments::{Advise, Common, HeaderLanguage};
use crate::exit::Exit;
use crate::{output, stored, style};
use anyhow::{Context, Result};
use report::{Analysis, advice, terminal};

pub fn execute(arguments: &Advise, common: &Common) -> Result<Exit> {
    let run = stored::run(common, &arguments.run)?;
    let advice = Analysis::new(&run).advice;
    let json = || serde_json::to_string_pretty(&advice).map(|text| text + "\n");
    if arguments.save {
        let path = ::advice::default_path()?;
        let folder = path.parent().expect("a file in a folder of oscope's own");
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot make the directory {}", folder.display()))?;
        output::replace(&path, json()?.as_bytes())?;
        output::show(&format!("{}\n", path.display()))?;
        return Ok(Exit::Done);
    }
    let text = match arguments.header {
        Some(HeaderLanguage::C) => advice::c_header(&advice),
        None if arguments.env => advice::environment(&advice),
        None if common.json => json()?,
        None => terminal::advice(&advice, &style::of_stdout()),
    };
    output::show(&text)?;
    Ok(Exit::Done)
}
