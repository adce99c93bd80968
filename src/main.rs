//! The `wildgym` program.

fn main() {}
