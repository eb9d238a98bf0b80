//! The loops: their results, and the machine code of this program.

mod agreement;
mod disassembly;
mod level_code;
mod levels;
mod machine_code;
mod vectors;
