//! A worker for the tests of this crate: what `wildgym worker` is in the program.

fn main() -> std::io::Result<()> {
    wildgym_sandbox::worker::serve()
}
