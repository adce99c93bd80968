//! The tools, one file each. A tool is listed in [`crate::catalog`].

pub mod execute_code;
