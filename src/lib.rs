//! wildgym.
