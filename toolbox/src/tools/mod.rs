//! The tools, one file each. A tool is listed in [`crate::catalog`].
