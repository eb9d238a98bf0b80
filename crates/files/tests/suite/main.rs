//! Reading, writing and copying of files by each method.

mod agreement;
mod faults;
mod holes;
