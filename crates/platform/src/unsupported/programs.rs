use crate::programs::Program;

pub(crate) fn running() -> Vec<Program> {
    Vec::new()
}
