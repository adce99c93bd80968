//! Files as other programs write them, and files that no program should have written.
